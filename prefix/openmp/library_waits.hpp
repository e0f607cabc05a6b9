#pragma once
// How threads of the program's own library wait in the regions that are left to it, beside others:
// as long as it likes, or by sleeping at once. That is measured, for threads that hand work on by
// flags of their own are brought together on one CPU by sleeping (docs/openmp.md).
//
// libgomp sleeps at once while it has more threads than CPUs. So one more, which sleeps, is all
// that it takes, and it can be taken away again, in the middle of a region, too. libomp has a call
// for it.

#include <cstdint>

#include "openmp/region.hpp"

namespace kilter::regions {

/// By the thread that comes to it: a region of so many members is left to its library, from now on
/// until the other call.
void library_begins(region&, std::uint32_t members) noexcept;
/// Its members may wait for flags of their own. They never sleep for us: who is woken comes to the
/// CPU of who woke it, both stay there while they spin, and nothing that they come to tells of it
/// for seconds.
[[nodiscard]] bool may_not_sleep(region&) noexcept;
void library_ends() noexcept;
/// That thread comes to something in the region for which members wait.
void library_goes_on() noexcept;
/// Whether its threads are to sleep at once.
[[nodiscard]] bool library_sleeps(runtime) noexcept;
/// Regions that were left to libraries so far, if nobody else counts at the same time.
[[nodiscard]] std::int64_t library_regions() noexcept;
/// In a fork's child.
void forget_library_waits() noexcept;

}  // namespace kilter::regions
