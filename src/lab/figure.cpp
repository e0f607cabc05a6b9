#include "lab/figure.hpp"

#include <algorithm>
#include <array>

namespace kilter::lab {

std::string_view name_of(figure_kind k) noexcept {
  constexpr std::array<std::string_view, 6> names = {"bars", "shares", "stacks", "heat", "lines", "starts"};
  return names[static_cast<std::size_t>(k)];
}

drawn_figure draw(const figure& f, const cell_values& values) {
  drawn_figure d{.what = f, .experiment = {}, .seeds = 0, .got = {}, .traces = {}};
  for (const figure_point& p : f.points) {
    const std::vector<double> all = evaluate(p.of, values);
    d.seeds = std::max(d.seeds, static_cast<std::uint32_t>(all.size()));
    d.got.push_back(estimate_of(all));
  }
  return d;
}

bool belongs_to(const figure& f, std::span<const std::string> ids) {
  return std::ranges::any_of(f.claims, [&](const std::string& id) { return std::ranges::find(ids, id) != ids.end(); });
}

}  // namespace kilter::lab
