#pragma once
// What libkilter_openmp.so told of the regions of a program (schema "kilter.regions/1").

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::regions {

/// Time that threads of a region had nothing to do, until one on this CPU had come as far.
struct wait_account {
  /// the system's number; -1: CPUs beyond the sixteenth that was waited for
  int cpu = -1;
  double seconds = 0.0;  ///< of all threads together
};

struct region_account {
  std::string module;                    ///< path of the shared object; empty: the program itself
  std::uint64_t offset = 0;              ///< of the region's function in it
  std::uint64_t calls = 0, on_pool = 0;  ///< executions, and those on threads of Kilter
  std::uint32_t members = 0;
  std::uint32_t threads = 0;  ///< that its members ran on
  double seconds = 0.0;
  std::string left_for;  ///< why it is left to its library; empty: it is not
  std::string library;   ///< "libgomp" or "libomp"
  std::vector<wait_account> waited{};
  /// "path/file.c:12", from debugging information; empty: not known
  std::string source{};
};

/// OpenBLAS in a process. It has none if `libraries` is 0.
struct blas_account {
  std::uint32_t libraries = 0;
  /// that the first one has by itself, and the fewest that it got; 0: the program was over before
  /// it was looked at
  std::uint32_t threads = 0, fewest = 0;
  std::uint64_t changes = 0;  ///< of all
};

struct process_account {
  int pid = 0;
  /// variable of the user, or a tool's function ("ompt_start_tool"), for which everything is left
  /// to the OpenMP library; empty: none
  std::string passed_on_for;
  std::uint64_t rescues = 0, exchanges = 0;
  std::uint64_t alone = 0;  ///< how often one thread was found to be quicker for whole teams
  blas_account blas{};
  std::vector<region_account> regions;
};

/// One entry a process of the program; lines that cannot be read are left out.
[[nodiscard]] std::vector<process_account> read_account(std::string_view text);

/// A line each, without an end of line; of a process the regions that take longest first. One line
/// if nothing was told.
[[nodiscard]] std::vector<std::string> account_lines(const std::vector<process_account>&,
                                                     const std::string& program);
/// As "processes" of "kilter.run/1" has them.
[[nodiscard]] nlohmann::ordered_json account_json(const std::vector<process_account>&);

}  // namespace kilter::regions
