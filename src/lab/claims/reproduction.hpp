#pragma once
// Runs published experiments in virtual time and judges their claims.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/claims/experiment_file.hpp"
#include "lab/claims/figure.hpp"
#include "lab/claims/observed.hpp"
#include "lab/claims/thread_measures.hpp"
#include "lab/claims/verdict.hpp"
#include "lab/session/progress.hpp"

namespace kilter::lab {

/// Where the experiment files are: $KILTER_EXPERIMENTS, else those that came with Kilter. input_error if there are none.
[[nodiscard]] std::string experiments_directory();

/// The claims that `wanted` names: "all", a paper ("S0") or ids ("S0-11"). Throws input_error naming one that there is not.
[[nodiscard]] std::vector<std::string> chosen_claims(const std::vector<experiment_file>&, const std::vector<std::string>& wanted);

struct reproduced {
  std::vector<claim_result> claims;
  std::vector<drawn_figure> figures;
};

class reproduction {
 public:
  /// With `draws` the figures that belong to the claims are drawn too; that may need runs which no claim looks at.
  explicit reproduction(std::vector<experiment_file>, bool draws = false);

  /// How many calls of progress::step `run` makes, at most.
  [[nodiscard]] std::uint64_t steps(const std::vector<std::string>& ids) const;
  /// In the order of the files; fewer if the process is interrupted. Runs that several claims and figures look at are made once.
  reproduced run(const std::vector<std::string>& ids, progress&);

 private:
  [[nodiscard]] std::vector<double> values_of(const experiment_file&, const cell&, progress&);
  [[nodiscard]] const std::vector<thread_run>& thread_runs_of(const experiment_file&, const selection& run, progress&);
  [[nodiscard]] const std::vector<observed>& runs_of(const experiment_file&, const selection& run, progress&);

  [[nodiscard]] std::vector<const figure*> figures_of(const experiment_file&, const std::vector<std::string>& ids) const;
  [[nodiscard]] drawn_figure drawn(const experiment_file&, const figure&, progress&);

  std::vector<experiment_file> files_;
  bool draws_;
  std::map<std::string, std::optional<std::string>> traced_;   ///< by file and run: the place that is watched
  std::map<std::string, std::vector<observed>> done_;   ///< by file and run: one for each seed
  std::map<std::string, std::vector<thread_run>> threads_done_;  ///< likewise, of threads
};

}  // namespace kilter::lab
