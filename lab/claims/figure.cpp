#include "claims/figure.hpp"

#include <algorithm>
#include <array>

#include "statistics/stats.hpp"

namespace kilter::lab {

std::string_view name_of(figure_kind k) noexcept {
  constexpr std::array<std::string_view, 6> names = {"bars", "shares", "stacks",
                                                     "heat", "lines",  "starts"};
  return names[static_cast<std::size_t>(k)];
}

namespace {

/// For each iteration along the groups, over the seeds and all that is drawn there.
std::vector<double> disturbed_iterations(const figure& f, const cell_values& values) {
  std::vector<std::vector<double>> began(f.group.values.size());
  for (const figure_point& p : f.points) {
    const cell& here = p.of.left.front();
    const auto all =
        values({"iteration_disturbed", here.run, {{"iteration", f.group.values[p.group]}}});
    began[p.group].insert(began[p.group].end(), all.begin(), all.end());
  }
  std::vector<double> part;
  for (const auto& all : began) part.push_back(mean(all));
  return part;
}

}  // namespace

drawn_figure draw(const figure& f, const cell_values& values) {
  drawn_figure d{.what = f, .experiment = {}, .seeds = 0, .got = {}, .disturbed = {}, .traces = {}};
  for (const figure_point& p : f.points) {
    const std::vector<double> all = evaluate(p.of, values);
    d.seeds = std::max(d.seeds, static_cast<std::uint32_t>(all.size()));
    d.got.push_back(estimate_of(all));
  }
  if (f.group.name == "iteration") d.disturbed = disturbed_iterations(f, values);
  return d;
}

bool belongs_to(const figure& f, std::span<const std::string> ids) {
  return std::ranges::any_of(
      f.claims, [&](const std::string& id) { return std::ranges::find(ids, id) != ids.end(); });
}

}  // namespace kilter::lab
