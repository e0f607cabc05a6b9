#pragma once
// What libgomp's calls of tasks are for a member of ours; names and arguments are libgomp's.

#include <cstdint>

#include "openmp/runtime.hpp"

namespace kilter::regions {

using copy_function = void(void* to, void* from);

void own_GOMP_task(body*, void* data, copy_function*, long size, long align, bool may_wait,
                   unsigned flags, void** uses, int priority, void* event);
void own_GOMP_taskloop(body*, void* data, copy_function*, long size, long align, unsigned flags,
                       unsigned long count, int priority, long first, long end, long by);
void own_GOMP_taskloop_ull(body*, void* data, copy_function*, long size, long align, unsigned flags,
                           unsigned long count, int priority, unsigned long long first,
                           unsigned long long end, unsigned long long by);
void own_GOMP_taskwait();
void own_GOMP_taskwait_depend(void** uses);
void own_GOMP_taskwait_depend_nowait(void** uses);
void own_GOMP_taskyield();
void own_GOMP_taskgroup_start();
void own_GOMP_taskgroup_end();
void own_GOMP_taskgroup_reduction_register(std::uintptr_t*);
void own_GOMP_taskgroup_reduction_unregister(std::uintptr_t*);
void own_GOMP_task_reduction_remap(std::size_t count, std::size_t with_original, void** addresses);

}  // namespace kilter::regions
