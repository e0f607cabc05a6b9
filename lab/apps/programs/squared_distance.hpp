#pragma once
// For files that are compiled with OpenMP, which lets the sum be made in vectors.

#include <cstddef>

namespace kilter::apps {

inline float squared_distance(const float* a, const float* b, std::size_t n) noexcept {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace kilter::apps
