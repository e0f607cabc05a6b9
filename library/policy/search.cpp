#include "policy/search.hpp"

namespace kilter::search {

namespace {

bool all_online(view& v, place_id p, bool some_offline) noexcept {
  if (!some_offline) return true;
  const place& where = v.machine().at(p);
  for (core_id c = where.leader; c < where.leader + where.width; ++c)
    if (!v.online(c)) return false;
  return true;
}

bool usable(view& v, task_ref task, place_id p, bool some_offline) noexcept {
  return v.allows(task, p) && all_online(v, p, some_offline);
}

/// The best place so far; ties go to the smaller width, then to the lower leader, in whatever order
/// places are offered.
struct best_place {
  place_id where = no_place;
  place shape{};
  double value = 0.0;

  void offer(place_id p, const place& s, double v) noexcept {
    const bool better = where == no_place || v < value ||
                        (v == value && (s.width < shape.width ||
                                        (s.width == shape.width && s.leader < shape.leader)));
    if (better) *this = {p, s, v};
  }
};

template <class Accept>
place_id scan(view& v, task_ref task, std::span<const place_id> candidates, const aim& goal,
              Accept&& accept) noexcept {
  const bool explore_first = v.table().explore_first;
  const bool some_offline = v.load(offline_cell) != 0;
  best_place best;
  for (const place_id p : candidates) {
    const place& where = v.machine().at(p);
    if (!accept(where) || !usable(v, task, p, some_offline)) continue;
    const double time_s = v.time_s(task, p);
    if (explore_first && time_s == 0.0) return p;
    best.offer(p, where, goal.value(time_s, p, where.width));
  }
  return best.where;
}

/// X19 reads the cell of width 4 outside of its row, where there is always zero, for all cores but
/// the first of a cluster. So it takes that width as soon as none before it is untried.
place_id slipped(view& v, task_ref task, core_id here, place_id best) noexcept {
  const machine& m = v.machine();
  if (best != no_place && v.time_s(task, best) == 0.0) return no_place;
  if (m.clusters()[m.cores()[here].cluster].first == here) return no_place;
  for (const place_id p : m.containing(here))
    if (m.at(p).width == 4 && usable(v, task, p, v.load(offline_cell) != 0)) return p;
  return no_place;
}

constexpr auto any_place = [](const place&) noexcept { return true; };
constexpr auto single_core = [](const place& p) noexcept { return p.width == 1; };

}  // namespace

void note_offline(view& v) noexcept {
  std::uint64_t offline = 0;
  for (core_id c = 0; c < v.machine().core_count(); ++c)
    if (!v.online(c)) ++offline;
  v.store(offline_cell, offline);
}

place_id among(view& v, task_ref task, std::span<const place_id> candidates,
               const aim& goal) noexcept {
  return scan(v, task, candidates, goal, any_place);
}

place_id narrowest(view& v, task_ref task, core_id here) noexcept {
  for (const place_id p : v.machine().containing(here))
    if (v.allows(task, p)) return p;
  for (const place_id p : v.machine().scan_order())
    if (v.allows(task, p)) return p;
  return v.machine().single(here);
}

place_id local(view& v, task_ref task, core_id here, policy_options::local which,
               const aim& goal) noexcept {
  const auto candidates =
      which == policy_options::local::row ? v.machine().led_by(here) : v.machine().containing(here);
  if (const std::uint32_t every = v.table().refresh_every; every != 0 && v.random(every) == 0) {
    const place_id p = candidates[v.random(static_cast<std::uint32_t>(candidates.size()))];
    if (usable(v, task, p, v.load(offline_cell) != 0)) return p;
  }
  const place_id best = among(v, task, candidates, goal);
  if (which == policy_options::local::x19)
    if (const place_id wide = slipped(v, task, here, best); wide != no_place) return wide;
  return best != no_place ? best : narrowest(v, task, here);
}

place_id global(view& v, task_ref task, const aim& goal, widths which) noexcept {
  const auto everywhere = v.machine().scan_order();
  const bool some_offline = v.load(offline_cell) != 0,
             look_at_each = some_offline || goal.by_watts();
  place_id best = no_place;
  if (which == widths::one)
    best = look_at_each ? scan(v, task, everywhere, goal, single_core)
                        : v.best_place(task, goal.what, 1);
  if (best == no_place)
    best =
        look_at_each ? scan(v, task, everywhere, goal, any_place) : v.best_place(task, goal.what);
  if (best == no_place) return narrowest(v, task, v.machine().at(everywhere.front()).leader);
  if (goal.by_watts()) return best;
  const std::uint32_t max_width = which == widths::one ? v.machine().at(best).width : ~0u;
  const place_id settled = v.settle(task, best, goal.what, max_width);
  return all_online(v, settled, some_offline) ? settled : best;
}

}  // namespace kilter::search
