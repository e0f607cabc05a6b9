#pragma once
// OpenBLAS with threads of its own, as Python's packages bring it: it gets fewer while others use
// CPUs, and more again when they are gone. docs/inside/decisions/run-regions.md.

#include <cstdint>

namespace kilter::regions {

struct blas_numbers {
  std::uint32_t libraries = 0;  ///< OpenBLAS found in this process
  /// that the first one has by itself, and the fewest that it got; 0: nobody has looked yet
  std::uint32_t threads = 0, fewest = 0;
  std::uint64_t changes = 0;
};
[[nodiscard]] blas_numbers blas_so_far() noexcept;

/// In the child of a fork, which has none of the threads.
void forget_blas() noexcept;

}  // namespace kilter::regions
