#pragma once
// Scenarios of disturbances from what somebody writes behind --disturb.

#include <string>
#include <vector>

#include "disturbing/disturbance.hpp"

namespace kilter::lab::test {

inline std::vector<std::vector<asked_disturbance>> scenarios(
    const std::vector<std::string>& texts) {
  std::vector<std::vector<asked_disturbance>> all;
  for (const std::string& text : texts) all.push_back(read_disturbances(text));
  return all;
}

}  // namespace kilter::lab::test
