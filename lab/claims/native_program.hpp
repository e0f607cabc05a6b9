#pragma once
// What a [[native]] scenario runs: a program of lab/apps/programs, or a graph as `kilter compare`
// runs it.

#include <memory>
#include <string>
#include <string_view>

#include "apps/programs/program.hpp"
#include "claims/experiment_file.hpp"

namespace kilter::lab {

struct native_program {
  std::string_view name;
  /// the type whose tasks hand out an iteration each and wait for it; empty: there is none
  std::string_view iteration_type;
};

/// Of the scenario.
[[nodiscard]] const native_program& program_of(const experiment_scenario&);

/// With its input in memory. input_error for a word that the program cannot have.
[[nodiscard]] std::unique_ptr<apps::program> make_program(const experiment_scenario&,
                                                          const machine&);

}  // namespace kilter::lab
