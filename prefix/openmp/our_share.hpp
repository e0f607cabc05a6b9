#pragma once
// Which CPUs are this program's while other programs of Kilter run beside it (sharing/page.hpp). A
// program without regions takes no part.

#include <cstdint>

#include "sharing/cpu_bits.hpp"

namespace kilter::regions {

/// Tells the others that this program could keep so many CPUs busy now, and hears which are its
/// own. For whoever begins a region or waits in one: most calls look at the clock alone, and every
/// 50 ms one takes some microseconds. Returns a number that is another one once our_share() is. Any
/// thread; nobody waits for another one.
std::uint32_t renew_share(std::uint32_t could_use) noexcept;

/// Empty: nobody else has something to do, so all CPUs are ours that the program may use. Those are
/// the CPUs of its first thread, so that one is not to be pinned to its share.
[[nodiscard]] sharing::cpu_bits our_share() noexcept;

/// In the child of a fork.
void forget_share() noexcept;

}  // namespace kilter::regions
