#pragma once
// The experiments of the source tree.

#include <vector>

#include "claims/experiment_file.hpp"

namespace kilter::lab::test {

inline const std::vector<experiment_file>& shipped() {
  static const auto files = read_experiments(KILTER_TEST_DATA "/../../lab/experiments");
  return files;
}

}  // namespace kilter::lab::test
