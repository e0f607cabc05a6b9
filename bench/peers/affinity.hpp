#pragma once
// Where threads that Kilter does not own may run.

#include <vector>

namespace kilter::bench {

/// CPUs that the calling thread may use.
[[nodiscard]] std::vector<int> allowed_cpus();
/// Limits the calling thread; without effect if the operating system refuses.
void restrict_thread(const std::vector<int>& cpus) noexcept;

}  // namespace kilter::bench
