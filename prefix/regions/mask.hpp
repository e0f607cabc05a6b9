#pragma once
// On which CPUs a program may run: where fewer are paid for, or worth it, its mask is narrowed, so
// that every pool that asks the system starts as many threads. Values in, values out
// (docs/inside/decisions/run.md).

#include <optional>
#include <string>
#include <vector>

#include "regions/environment.hpp"
#include "regions/program_file.hpp"

namespace kilter::regions {

enum class cpu_choice {
  paid,  ///< as many as the quota pays for
  fast,  ///< of these, those of the fastest kind
  all,   ///< the mask stays
};
/// "paid", "fast" or "all".
[[nodiscard]] std::optional<cpu_choice> cpu_choice_from(const std::string&);

struct mask_plan {
  std::vector<int> cpus{};  ///< ascending; empty: the mask stays
  /// ascending: what it is chosen from, and what threads get back once the quota pays for all of it
  std::vector<int> among{};
  /// one line: why these, or why the mask stays although fewer are paid for; empty: there is
  /// nothing to say
  std::string why{};
};

/// What decides besides the CPUs.
struct mask_circumstances {
  cpu_choice choice = cpu_choice::paid;
  /// the CPU on which we are: where nothing is known it is as good as any, and others that are
  /// about to start are elsewhere
  int on = -1;
  bool same_teams = false;  ///< teams keep the size that they have without Kilter
  /// our library is in the program: it answers those who ask for the computer's CPUs, and chooses
  /// again while the program runs
  bool loaded = false;
};

/// The mask is narrowed to a quota only where that can be undone, and not for a program that
/// chooses CPUs itself or whose user does.
[[nodiscard]] mask_plan plan_mask(const surroundings&, const program_file&, const user_environment&,
                                  const mask_circumstances&);

/// Where a program with such a mask runs.
[[nodiscard]] surroundings within(const surroundings&, const mask_plan&);

/// What the library goes by, KILTER_MASK: "0-3;1;DIRECTORY:DIRECTORY", what the mask is chosen
/// from, the mask, and where the quota is written.
[[nodiscard]] std::string told_mask(const mask_plan&,
                                    const std::vector<std::string>& quota_directories);

}  // namespace kilter::regions
