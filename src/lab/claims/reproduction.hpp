#pragma once
// Runs published experiments in virtual time and judges their claims.

#include <cstdint>
#include <string>
#include <vector>

#include "lab/claims/experiment_file.hpp"
#include "lab/claims/figure.hpp"
#include "lab/claims/verdict.hpp"
#include "lab/session/progress.hpp"

namespace kilter::lab {

struct reproduced {
  std::vector<claim_result> claims;
  std::vector<drawn_figure> figures;
};

/// From files to verdicts: what a claim needs is run, each run once; its numbers are taken of the runs, and its verdict of the numbers.
class reproduction {
 public:
  /// With `draws` the figures that belong to the claims are drawn too; that may need runs which no claim looks at.
  explicit reproduction(std::vector<experiment_file>, bool draws = false);

  /// How many calls of progress::step `run` makes, at most.
  [[nodiscard]] std::uint64_t steps(const std::vector<std::string>& ids) const;
  /// In the order of the files; fewer if the process is interrupted. Runs that several claims and figures look at are made once.
  reproduced run(const std::vector<std::string>& ids, progress&);

 private:
  std::vector<experiment_file> files_;
  bool draws_;
};

}  // namespace kilter::lab
