// Row kernels as plain functions: matrix product, copy, stencil.

#include <cstring>

#include "apps/kernels.hpp"

namespace kilter::apps {
namespace {

// Eight floats at once, in whatever registers the target has. Loads go through memcpy: rows need no
// alignment.
using lanes = float __attribute__((vector_size(32)));
constexpr std::size_t lane_count = 8;
constexpr std::size_t columns_at_once = 4;

[[gnu::always_inline]] inline void load(lanes& to, const float* from) noexcept {
  std::memcpy(&to, from, sizeof to);
}

[[gnu::always_inline]] inline float sum(const lanes& v) noexcept {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

// Dot products of one row of A with `Columns` rows of B transposed: the row of A is loaded once for
// all of them, and that many independent sums hide the latency of the additions.
template <std::size_t Columns>
[[gnu::always_inline]] inline void dot(const float* a, const float* bt, float* c,
                                       std::size_t n) noexcept {
  // They pass through the stack: without this a product takes a tenth more or less with how the
  // caller's frame happens to lie.
  alignas(64) lanes sums[Columns] = {};
  std::size_t k = 0;
  for (; k + lane_count <= n; k += lane_count) {
    lanes x;
    load(x, a + k);
    for (std::size_t j = 0; j < Columns; ++j) {
      lanes y;
      load(y, bt + j * n + k);
      sums[j] += x * y;
    }
  }
  for (std::size_t j = 0; j < Columns; ++j) {
    float total = sum(sums[j]);
    for (std::size_t rest = k; rest < n; ++rest) total += a[rest] * bt[j * n + rest];
    c[j] = total;
  }
}

[[gnu::always_inline]] inline void product(const float* a, const float* bt, float* c, std::size_t n,
                                           std::size_t row_begin, std::size_t row_end) noexcept {
  for (std::size_t i = row_begin; i < row_end; ++i) {
    const float* row = a + i * n;
    std::size_t j = 0;
    for (; j + columns_at_once <= n; j += columns_at_once)
      dot<columns_at_once>(row, bt + j * n, c + i * n + j, n);
    for (; j < n; ++j) dot<1>(row, bt + j * n, c + i * n + j, n);
  }
}

using product_function = void (*)(const float*, const float*, float*, std::size_t, std::size_t,
                                  std::size_t) noexcept;

void product_baseline(const float* a, const float* bt, float* c, std::size_t n,
                      std::size_t row_begin, std::size_t row_end) noexcept {
  product(a, bt, c, n, row_begin, row_end);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void product_avx2(const float* a, const float* bt, float* c,
                                              std::size_t n, std::size_t row_begin,
                                              std::size_t row_end) noexcept {
  product(a, bt, c, n, row_begin, row_end);
}
#endif

// Chosen by hand and not by an ifunc: resolvers of ifuncs run before the sanitizers are set up.
product_function choose() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return product_avx2;
#endif
  return product_baseline;
}

const product_function best_product = choose();

}  // namespace

void matmul_rows(const float* a, const float* bt, float* c, std::size_t n, std::size_t row_begin,
                 std::size_t row_end) noexcept {
  best_product(a, bt, c, n, row_begin, row_end);
}

// Row by row: one large memcpy would switch to stores that bypass the cache, and the cost of a task
// would depend on how it was cut.
void copy_rows(const float* in, float* out, std::size_t n, std::size_t row_begin,
               std::size_t row_end) noexcept {
  for (std::size_t i = row_begin; i < row_end; ++i)
    std::memcpy(out + i * n, in + i * n, n * sizeof(float));
}

void stencil_rows(const float* in, float* out, std::size_t n, std::size_t row_begin,
                  std::size_t row_end) noexcept {
  for (std::size_t i = row_begin; i < row_end; ++i) {
    const float* here = in + i * n;
    const float* up = here - n;
    const float* down = here + n;
    float* __restrict to = out + i * n;
    for (std::size_t j = 1; j + 1 < n; ++j)
      to[j] = here[j] + stencil_k * (up[j] + down[j] + here[j - 1] + here[j + 1] - 4.0f * here[j]);
  }
}

}  // namespace kilter::apps
