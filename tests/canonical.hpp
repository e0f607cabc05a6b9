#pragma once
// The example of Topcuoglu, Hariri and Wu (2002), Fig. 2, with what its plans must be (papers.md
// A6.5). tests/data/canonical.json is the same graph.

#include <array>
#include <cstdint>
#include <vector>

#include "policy/planner.hpp"

namespace kilter::canonical {

struct example {
  std::vector<double> seconds{14, 16, 9, 13, 19, 18, 11, 13, 19, 13, 8,  17, 12, 13, 10,
                              13, 16, 9, 7,  15, 11, 5,  11, 14, 18, 12, 20, 21, 7,  16};
  std::vector<planner::plan_edge> edges{{0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11}, {0, 5, 14},
                                        {1, 7, 19}, {1, 8, 16}, {2, 6, 23}, {3, 7, 27}, {3, 8, 23},
                                        {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};
  [[nodiscard]] planner::plan_input input() const { return {10, 3, seconds, edges}; }
};

/// As some public copies have it: task 4 takes 3 on P1.
inline example mistyped() {
  example e;
  e.seconds[9] = 3;
  return e;
}

struct span_of_task {
  std::uint32_t processor;
  double start_s, end_s;
};
inline constexpr std::array<span_of_task, 10> heft_schedule = {{{2, 0, 9},
                                                                {0, 27, 40},
                                                                {2, 9, 28},
                                                                {1, 18, 26},
                                                                {2, 28, 38},
                                                                {1, 26, 42},
                                                                {2, 38, 49},
                                                                {0, 57, 62},
                                                                {1, 56, 68},
                                                                {1, 73, 80}}};
inline constexpr std::array<span_of_task, 10> cpop_schedule = {{{1, 0, 16},
                                                                {1, 16, 35},
                                                                {0, 28, 39},
                                                                {2, 25, 42},
                                                                {1, 35, 48},
                                                                {2, 42, 51},
                                                                {0, 39, 46},
                                                                {2, 54, 68},
                                                                {1, 65, 77},
                                                                {1, 79, 86}}};

}  // namespace kilter::canonical
