#pragma once
// What earlier runs of programs told of their parallel regions: those that may run on threads of
// Kilter from their first execution on (schema "kilter.run-history/1").

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "regions/account.hpp"

namespace kilter::regions {

/// Tells whether a file is still the one that a region was seen in.
struct file_version {
  std::uint64_t bytes = 0;
  std::uint64_t changed_ns = 0;  ///< since the epoch
  friend bool operator==(const file_version&, const file_version&) = default;
};
/// By path; none: there is no such file.
using version_of = std::function<std::optional<file_version>(const std::string&)>;

struct known_module {
  file_version version;
  std::set<std::uint64_t> trusted;  ///< offsets of the regions' functions
};

/// By path of the program or shared object.
using region_history = std::map<std::string, known_module>;

/// An empty text is an empty history. input_error, without the file's name, if it is no history.
[[nodiscard]] region_history parse_region_history(std::string_view text);
[[nodiscard]] std::string region_history_text(const region_history&);

/// After a run of the program in that file. What was said of another version of a module is
/// forgotten.
void add_run(region_history&, const std::vector<process_account>&, const std::string& program,
             const version_of&);

/// For the library: a line "OFFSET PATH" each, in hexadecimal; no path: the program itself. Modules
/// that are not what they were are left out.
[[nodiscard]] std::string known_regions(const region_history&, const std::string& program,
                                        const version_of&);

}  // namespace kilter::regions
