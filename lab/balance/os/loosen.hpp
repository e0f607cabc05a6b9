#pragma once
// A thread that is held on a core that it shares, while a core that its own mask allows has nobody,
// is held for nothing: the kernel would have moved it.

#include <span>

#include "balance/os/mover.hpp"
#include "balance/os/targets.hpp"

namespace kilter::balance::os {

/// Gives threads their masks back until no held one that is runnable shares its core with another
/// runnable one beside a core that it may use and that has none. The threads' states must be up to
/// date.
void loosen(mover&, const core_map&, std::span<watched_thread* const>);

}  // namespace kilter::balance::os
