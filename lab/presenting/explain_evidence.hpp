#pragma once
// What a result says of a traced run, read strictly: every number is of the kind and in the range
// that the rest of `explain` counts on.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "presenting/document.hpp"

namespace kilter::lab {

using place_key = std::pair<std::uint32_t, std::uint32_t>;  // leader, width

/// A task of the result; all members of a wide one together.
struct kept_task {
  std::uint64_t task = 0;
  std::string type;
  std::uint32_t leader = 0, width = 1;
  bool critical = false;
  double start_s = 0.0, end_s = 0.0;
  [[nodiscard]] bool on(std::uint32_t core) const noexcept {
    return core >= leader && core < leader + width;
  }
  [[nodiscard]] double seconds() const noexcept { return end_s - start_s; }
};

struct learned_value {
  double t_s = 0.0;
  std::string type;
  std::uint32_t leader = 0, width = 1, core = 0;
  double seconds = 0.0;
  std::optional<double> slowdown;
  /// The only core that it can tell a slowdown of.
  [[nodiscard]] std::uint32_t about() const noexcept { return slowdown ? core : leader; }
};

struct evidence {
  std::vector<kept_task> tasks;      // by start
  std::vector<learned_value> table;  // by time
  double seconds = 0.0;
};

/// These throw input_error that says which member of the result is wrong, and document::exception
/// if one is missing or of another type.
[[nodiscard]] evidence evidence_of(const document& detail, bool paper_table);
[[nodiscard]] double seconds_of(const document& detail);
/// How many cores the result's machine has: 1 to 65536.
[[nodiscard]] std::uint32_t cores_of(const document& result);
[[nodiscard]] std::vector<place_key> places_of(const document& result);

}  // namespace kilter::lab
