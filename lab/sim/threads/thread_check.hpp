#pragma once
// What can be wrong with a machine or a program of threads before anything runs.

#include <span>

#include "sim/threads/thread_machine.hpp"
#include "sim/threads/thread_program.hpp"

namespace kilter::sim {

/// input_error names the program, the thread and the step.
void check_threads(const thread_machine&, std::span<const thread_program>);

}  // namespace kilter::sim
