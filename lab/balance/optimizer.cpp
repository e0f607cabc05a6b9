#include "balance/optimizer.hpp"

#include <algorithm>

namespace kilter::balance {

namespace {

constexpr swap_configuration start{};

double step_quantum(double from_s, int steps) {
  const auto at = std::find(adaptive_quanta_s.begin(), adaptive_quanta_s.end(), from_s) -
                  adaptive_quanta_s.begin();
  return adaptive_quanta_s[static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(at + steps, 0, adaptive_quanta_s.size() - 1))];
}

double shorter(double quantum_s, double floor_s) {
  return std::max(step_quantum(quantum_s, -1), floor_s);
}
double longer(double quantum_s) { return step_quantum(quantum_s, +1); }
std::uint32_t larger(std::uint32_t swap_size, std::uint32_t most) {
  return std::max(swap_size, std::min(swap_size + 2, most));
}

swap_configuration relaxed(swap_configuration c) {
  if (c.quantum_s != start.quantum_s)
    c.quantum_s = step_quantum(c.quantum_s, c.quantum_s < start.quantum_s ? +1 : -1);
  if (c.swap_size > start.swap_size)
    c.swap_size -= std::min(2u, c.swap_size - start.swap_size);
  else
    c.swap_size += std::min(2u, start.swap_size - c.swap_size);
  return c;
}

}  // namespace

workload_mix mix_of(std::span<const thread_view> threads) {
  std::int64_t surplus = 0;  // of memory over compute
  for (const thread_view& t : threads)
    if (!t.background)
      surplus += t.kind == thread_class::memory ? 1 : t.kind == thread_class::compute ? -1 : 0;
  return surplus == 0  ? workload_mix::balanced
         : surplus < 0 ? workload_mix::more_compute
                       : workload_mix::more_memory;
}

std::uint32_t most_swapped(std::span<const thread_view> threads) {
  const auto own = std::ranges::count_if(
      threads, [](const thread_view& t) { return t.movable && !t.background; });
  return std::max(2u, static_cast<std::uint32_t>(own) / 4 * 2);
}

swap_configuration next_configuration(swap_configuration c, goal g, workload_mix mix, bool fair,
                                      bool bidirectional, std::uint32_t most) {
  if (g == goal::none) return c;
  if (fair) return bidirectional ? relaxed(c) : c;
  if (g == goal::performance)
    return {mix == workload_mix::more_compute ? larger(c.swap_size, most) : c.swap_size,
            longer(c.quantum_s)};
  switch (mix) {
    case workload_mix::balanced: return {c.swap_size, shorter(c.quantum_s, 0.1)};
    case workload_mix::more_compute: return {larger(c.swap_size, most), shorter(c.quantum_s, 0.2)};
    case workload_mix::more_memory: return {larger(c.swap_size, most), shorter(c.quantum_s, 0.5)};
  }
  return c;
}

}  // namespace kilter::balance
