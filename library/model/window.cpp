#include "model/window.hpp"

#include <algorithm>

namespace kilter::model {

double low_median(const cell_state& c, std::uint32_t remembered, std::uint32_t count) noexcept {
  std::array<float, cell_state::window> sorted{};
  for (std::uint32_t i = 0; i < count; ++i)
    sorted[i] =
        c.recent[(remembered - 1 - i) % cell_state::window].load(sync::memory_order_relaxed);
  const auto middle = sorted.begin() + (count - 1) / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count);
  return *middle;
}

double mean_without_gaps(const cell_state& c, double typical_s) noexcept {
  const auto most = static_cast<float>(2.0 * typical_s + 0.0005);
  float sum = 0.0f;
  int kept = 0;
  for (const auto& r : c.recent) {
    const float s = r.load(sync::memory_order_relaxed);
    sum += s <= most ? s : 0.0f;
    kept += s <= most;
  }
  return 2 * kept > static_cast<int>(cell_state::window) ? static_cast<double>(sum) / kept : 0.0;
}

}  // namespace kilter::model
