#pragma once
// Tasks as clang's programs know them. The ABI is that of LLVM's openmp/runtime.

#include <cstdint>

#include "openmp/kmpc.hpp"
#include "openmp/tasks.hpp"

namespace kilter::regions {

/// What the program has of a task; behind it the values that it keeps, and then addresses of what
/// it shares with others.
struct kmpc_task {
  using function = std::int32_t(std::int32_t thread, kmpc_task*);
  void* shared;
  function* routine;
  std::int32_t part;  ///< where an untied one goes on
  union {
    std::int32_t priority;
    function* clean_up;
  } one, two;
};

/// The innermost group of the member's task ends, and what its tasks have added up is added to the
/// program's variables.
void end_group_and_sums(member&) noexcept;

}  // namespace kilter::regions
