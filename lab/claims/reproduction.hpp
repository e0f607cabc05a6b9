#pragma once
// Runs published experiments in virtual time, on request also natively, and judges their claims.

#include <cstdint>
#include <string>
#include <vector>

#include "claims/experiment_file.hpp"
#include "claims/figure.hpp"
#include "claims/verdict.hpp"
#include "session/progress.hpp"

namespace kilter::lab {

struct reproduced {
  std::vector<claim_result> claims;
  std::vector<drawn_figure> figures;
};

/// What is made beside the verdicts in virtual time.
struct reproduction_extras {
  /// the figures that belong to the claims; that may need runs which no claim looks at
  bool draws = false;
  bool natively = false;  ///< the verdicts of native cases, on this machine
};

/// From files to verdicts: what a claim needs is run, each run once; its numbers are taken of the
/// runs, and its verdict of the numbers.
class reproduction {
 public:
  explicit reproduction(std::vector<experiment_file>, const reproduction_extras& = {});

  /// How many calls of progress::step `run` makes, at most.
  [[nodiscard]] std::uint64_t steps(const std::vector<std::string>& ids) const;
  /// In the order of the files; fewer if the process is interrupted. Runs that several claims and
  /// figures look at are made once.
  reproduced run(const std::vector<std::string>& ids, progress&);

 private:
  std::vector<experiment_file> files_;
  reproduction_extras extras_;
};

}  // namespace kilter::lab
