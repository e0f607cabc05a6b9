#pragma once
// How many threads a program should have where it is about to run, and the variables that tell it
// so. Values in, values out (docs/inside/decisions/run.md).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kilter::regions {

/// A CPU that the program may use.
struct usable_cpu {
  int os_index = 0;
  /// nominal, against the slowest kind; 1 where kinds or speeds are not known
  double speed = 1.0;
  /// the same number for the logical CPUs of one core; -1: not known
  int core = -1;
};

/// Where the program is about to run.
struct surroundings {
  std::vector<usable_cpu> cpus;  ///< that mask and cpuset allow; at least one
  std::uint32_t online = 0;      ///< CPUs of the computer
  /// in CPUs, of all control groups; none: nothing limits
  std::optional<double> quota;
  std::optional<double> quota_of_own_group{};  ///< as far as the process's own group says it
};

/// How many threads, by how they share their work; each at least one.
struct team_sizes {
  std::uint32_t pool = 1;  ///< take work as it comes: every CPU that is paid for
  /// equal shares and a barrier: without CPUs that would hold all others up
  std::uint32_t equal = 1;
};

/// Speeds within this factor count as one kind.
inline constexpr double alike = 1.1;

/// "CPU 0", "CPUs 0, 2".
[[nodiscard]] std::string named_cpus(const std::vector<int>& cpus);

/// The CPUs that the quota pays for, fast ones in front.
[[nodiscard]] std::vector<usable_cpu> best_cpus(const surroundings&);
[[nodiscard]] team_sizes sizes_for(const surroundings&);
/// Kinds of cores are so different that equal shares hold the fast ones up.
[[nodiscard]] bool unequal(const surroundings&);

/// A variable that the program gets.
struct setting {
  std::string variable, value;
  std::string why;  ///< one line
};

/// A variable that it does not get, because the user has set it or another one that decides in its
/// place.
struct kept {
  std::string variable, value;  ///< the user's
  std::string instead_of;       ///< "OMP_NUM_THREADS=2"
};

/// What the library that is loaded into the program does there.
struct in_program {
  /// its OpenMP teams may have more members than CPUs, which our threads run in turn (may_fold)
  bool folds = false;
  /// it can change the number of OpenBLAS's threads while the program runs
  bool openblas = false;
};

struct environment_plan {
  team_sizes sizes;
  /// that number is changed, as others use CPUs and leave them: so nothing is set for OpenBLAS
  bool openblas_follows = false;
  std::vector<setting> set;
  std::vector<kept> left;
};

/// The user's variables by name; --set is among them.
using user_environment = std::map<std::string, std::string>;

/// What to set so that the program's runtimes start the right number of threads. Nothing that a
/// runtime would do by itself is set, so where all CPUs are equal and paid for, the plan is empty:
/// what others use is not looked at before the start, since it changes. `given`: what --set says,
/// which goes before everything. `same_teams`: teams keep the size that they have without Kilter,
/// so that sums are made in the same order. That goes before what `in_program` could do.
[[nodiscard]] environment_plan plan_environment(
    const surroundings&, user_environment,
    const std::vector<std::pair<std::string, std::string>>& given = {}, bool same_teams = false,
    const in_program& = {});

}  // namespace kilter::regions
