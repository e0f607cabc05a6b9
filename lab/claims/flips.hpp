#pragma once
// Which single reading changes a verdict. A claim that holds under every reading is worth more than
// one that needs three.

#include <string>
#include <vector>

#include "claims/readings.hpp"
#include "claims/verdict.hpp"
#include "session/progress.hpp"

namespace kilter::lab {

struct flipped {
  std::string set;  ///< the reading, KEY=VALUE
  verdict said = verdict::differs;
};

struct claim_flips {
  std::string id;
  verdict published = verdict::differs, coded = verdict::differs;
  /// readings under which the verdict is another than published, in the order of readings.toml
  std::vector<flipped> by;
  /// readings that change what the claim looks at, and that its machine takes
  std::uint32_t tried = 0;
};

class flip_search {
 public:
  flip_search(std::vector<experiment_file>, const known_readings&, std::vector<std::string> ids);
  [[nodiscard]] std::uint64_t steps() const;
  /// In the order of the files; none if the process is interrupted.
  [[nodiscard]] std::vector<claim_flips> run(progress&);

 private:
  struct attempt {
    std::string set;  ///< empty: as published; "coded"
    std::vector<experiment_file> files;
    std::vector<std::string> ids;  ///< claims that it may change
  };
  std::vector<std::string> ids_;
  std::vector<attempt> attempts_;
};

}  // namespace kilter::lab
