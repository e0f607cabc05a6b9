#pragma once
// The threads on which regions of ours run: one for each CPU of the process but the one where the program's own thread is.

#include "regions/openmp/team.hpp"

namespace kilter::regions {

/// One region at a time; whoever finds the pool taken does without it.
[[nodiscard]] bool claim_pool() noexcept;
void release_pool() noexcept;

/// Threads that can have a member each, the program's own included. A region with more members is libgomp's: they may wait for one another by means of their own.
[[nodiscard]] std::uint32_t pool_size() noexcept;

/// By whoever has claimed the pool. `prepare` is called before anybody begins.
void run_on_pool(runtime, body* run, void* data, std::uint32_t members, void (*prepare)(team&, const void*), const void* with) noexcept;

}  // namespace kilter::regions
