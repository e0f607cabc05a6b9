#pragma once
// Loops of independent iterations as the benchmarks see a runtime: one that computes next to
// nothing, one that waits for memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "peers/peer.hpp"

namespace kilter::bench {

enum class loop_sort : std::uint8_t {
  light,  ///< two integer operations on the index, summed
  /// x[i] = x[i] / 2 + y[i] on floats: two reads and a write of memory that no cache holds
  stream,
};

struct loop_arrays {
  explicit loop_arrays(std::size_t length) : n(length), x(length, 1.0f), y(length, 1.0f) {}
  std::size_t n;
  std::vector<float> x, y;

  static std::uint64_t light(std::size_t i) noexcept { return i * i ^ (i >> 3); }
  void stream(std::size_t first, std::size_t last) noexcept {
    float* const to = x.data();
    const float* const from = y.data();
    for (std::size_t i = first; i < last; ++i) to[i] = to[i] * 0.5f + from[i];
  }
};

/// All calls come from one thread, which a peer may count among its threads. After the constructor
/// all threads exist.
class loop_contender {
 public:
  virtual ~loop_contender() = default;
  loop_contender() = default;
  loop_contender(const loop_contender&) = delete;
  loop_contender& operator=(const loop_contender&) = delete;
  /// Returns the sum of a light loop; 0 for the other.
  virtual std::uint64_t run(loop_sort) = 0;
};

enum class tbb_partitioner : std::uint8_t { simple_auto, equal, affinity };
enum class omp_schedule : std::uint8_t { equal, dynamic, guided };

[[nodiscard]] std::unique_ptr<loop_contender> make_kilter_loops(const runtime_options&,
                                                                loop_arrays&);
/// parallel_for and parallel_reduce over a blocked_range with the default grain.
[[nodiscard]] std::unique_ptr<loop_contender> make_onetbb_loops(const threads&, tbb_partitioner,
                                                                loop_arrays&);
/// `parallel for` with that schedule; dynamic in pieces of 65,536, since its default of one
/// iteration is no choice for such bodies.
[[nodiscard]] std::unique_ptr<loop_contender> make_openmp_loops(const threads&, omp_schedule,
                                                                loop_arrays&);

}  // namespace kilter::bench
