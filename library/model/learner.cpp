#include "model/learner.hpp"

#include <algorithm>
#include <span>

#include "model/estimate.hpp"
#include "model/relaxed.hpp"

namespace kilter::model {

namespace {

/// The least own time of those peers that count, and of one that has `own_s`.
template <class Counts>
double least_of_peers(const table_row& r, const peer_group& peers, double own_s,
                      Counts&& counts) noexcept {
  double least_s = own_s;
  for (place_id p = peers.first; p < peers.first + peers.count; ++p)
    if (counts(r.cells[p])) least_s = std::min(least_s, get(r.cells[p].own_s));
  return least_s;
}

std::uint32_t groups_of(const shape& s) noexcept {
  return static_cast<std::uint32_t>(s.groups.size());
}

}  // namespace

learner::learner(const shape& s, const table_options& o, availability& a, slices& cut,
                 unit_times& units)
    : shape_(s),
      options_(o),
      availability_(a),
      slices_(cut),
      unit_times_(units),
      old_weight_(old_weight_of(o.sample_weight)) {}

void learner::learn(table_row& r, place_id p, const measured& m, double now_s) noexcept {
  if (!(m.sample_s > 0.0)) return;
  if (!get(r.sampled)) put(r.sampled, true);
  const bool told = options_.by_work && m.work > 0.0;
  const double units = told ? m.work : 1.0;
  if (told)
    unit_times_.learn(shape_.group_of[p],
                      body_s(m.sample_s, m.cpu_s) / units / availability_.slowdown(p));
  if (!options_.two_factors)
    average(r, p, m.sample_s / units);
  else if (shape_.groups[shape_.group_of[p]].width == 1)
    learn_single(r, p, m, units, now_s);
  else
    learn_wide(r, p, m.sample_s, units, now_s);
  if (!options_.two_factors && options_.ageing) put(r.cells[p].last_s, now_s);
}

void learner::average(table_row& r, place_id p, double sample_s) noexcept {
  cell_state& c = r.cells[p];
  auto& cell = r.read_s[shape_.cell_of[p]];
  const auto n = get(c.samples);
  put(c.samples, n + 1);
  put(cell, averaged(get(cell), n, sample_s, old_weight_));
  r.clusters[shape_.cluster_of(p)].changes.fetch_add(1, sync::memory_order_release);
  if (options_.neutral_prior && (n < 16 || n % 16 == 0)) publish(r);
}

void learner::learn_single(table_row& r, place_id p, const measured& m, double units,
                           double now_s) noexcept {
  cell_state& c = r.cells[p];
  const core_id core = shape_.machine.at(p).leader;
  // A row of very short tasks is one sample of their own time, but all of its wall-clock time
  // speaks for the core.
  const double wall_s = m.sample_s * m.tasks;
  const double as_near = 1.0 + r.far.extra(m.from_data, now_s);
  put(c.samples, get(c.samples) + m.tasks);
  const double skipped_s = get(c.skipped_s);
  const double observed_s = skipped_s + wall_s;
  if (is_skipped(skipped_s, get(c.own_s), get(c.remembered))) {
    put(c.skipped_s, observed_s);
  } else {
    put(c.skipped_s, 0.0);
    remember(r, p, body_s(m.sample_s, m.cpu_s) / units / as_near, observed_s, m.cpu_s > 0.0, now_s);
  }
  const auto& group = r.groups[shape_.group_of[p]];
  if (!get(c.settled) && !get(group.settled)) {
    availability_.occupied(core, wall_s, now_s);
    return;
  }
  if (m.from_data != distance::unknown)
    r.far.observe(m.from_data, body_s(m.sample_s, m.cpu_s) / units / get(group.reference_s), now_s);
  const double expected_s = get(group.reference_s) * m.tasks * units * as_near;
  const bool whole_before = availability_.ran_whole(core);
  availability_.observe(core, expected_s, wall_s, now_s);
  if (const double gap_s = wall_s - expected_s; gap_s > slices::shortest_gap_s) [[unlikely]] {
    const away gone = away_in(expected_s, gap_s, now_s);
    slices_.gap(core, gone.begin_s, gone.end_s, whole_before);
  }
  if (is_lost_slice(wall_s - expected_s, options_.move_after_s) && get(r.decision.in_use) == p)
    put(r.decision.lost_s, get(r.decision.lost_s) + wall_s - expected_s);
}

// The iterations of a loop need not be alike, so it is not their time but the time without the core
// that speaks for the core.
void learner::learn_loop(table_row& r, place_id p, double items, double work_s, double wall_s,
                         double now_s) noexcept {
  if (!options_.two_factors) return average(r, p, wall_s / items);
  put(r.cells[p].samples, get(r.cells[p].samples) + 1);
  remember(r, p, work_s / items, wall_s, true, now_s);
  availability_.observe(shape_.machine.at(p).leader, work_s, wall_s, now_s);
}

void learner::remember(table_row& r, place_id p, double sample_s, double observed_s, bool trusted,
                       double now_s) noexcept {
  cell_state& c = r.cells[p];
  std::uint32_t n = get(c.remembered);
  const double own_s = get(c.own_s);
  if (options_.ageing)
    n = still_counted(n, now_s - get(c.last_s), options_.probe_after_s, settled_samples);
  put(c.last_s, now_s);
  put(c.recent[n % cell_state::window], static_cast<float>(sample_s));
  put(c.remembered, ++n);

  if (get(c.settled)) {
    if (!is_due(n, sample_s, trusted)) return;
    const std::uint32_t reach = window_for(own_s);
    double now_own_s = 0.0;
    if (n >= cell_state::window && reach == cell_state::window)
      now_own_s = mean_without_gaps(c, own_s);
    if (now_own_s == 0.0) now_own_s = low_median(c, n, std::min(n, reach));
    if (differs(now_own_s, own_s)) put(c.own_s, now_own_s);
  } else {
    put(c.own_s, low_median(c, n, std::min(n, cell_state::window)));
    put(c.settled, trusted || n >= settled_samples);
  }
  put(c.given, false);
  update_reference(r, p, observed_s, now_s);
}

void learner::update_reference(table_row& r, place_id p, double observed_s, double now_s) noexcept {
  const std::uint32_t g = shape_.group_of[p];
  group_state& group = r.groups[g];
  const double own_s = get(r.cells[p].own_s);
  const bool settled = get(r.cells[p].settled);
  double reference_s = get(group.reference_s);
  if (!get(group.settled)) {
    reference_s = least_of_peers(r, shape_.groups[g], own_s,
                                 [](const cell_state& peer) { return get(peer.own_s) > 0.0; });
    put(group.settled, settled);
  } else if (!settled) {
    return;
  } else if (const reference_move where = move_of(reference_s, own_s);
             where == reference_move::falls) {
    reference_s = lowered(reference_s, own_s);
  } else if (where == reference_move::may_rise) {
    const double since_s = now_s - get(group.checked_s);
    if (!asks_peers(since_s, observed_s)) return;
    put(group.checked_s, now_s);
    const double least_s = least_of_peers(r, shape_.groups[g], own_s, [&](const cell_state& peer) {
      return holds_down(get(peer.settled), now_s - get(peer.last_s));
    });
    if (least_s <= reference_s) return;
    reference_s = raised(reference_s, least_s, since_s, observed_s);
  } else {
    return;
  }
  put(group.reference_s, reference_s);
  const double read_s = get(r.read_s[shape_.cell_of[p]]);
  if (read_s == 0.0 || differs(reference_s, read_s)) publish(r);
}

// A width that became slower says nothing about its cores at width 1: the place keeps its own time,
// a mean over the window.
void learner::learn_wide(table_row& r, place_id p, double sample_s, double units,
                         double now_s) noexcept {
  cell_state& c = r.cells[p];
  const double undisturbed_s = sample_s / units / availability_.slowdown(p);
  put(c.samples, get(c.samples) + 1);
  std::uint32_t n = get(c.remembered);
  if (options_.ageing) n = still_counted(n, now_s - get(c.last_s), options_.probe_after_s, 0);
  put(c.last_s, now_s);
  put(c.recent[n % cell_state::window], static_cast<float>(undisturbed_s));
  put(c.remembered, ++n);
  double own_s = get(c.own_s);
  if (n <= cell_state::window / 2)
    own_s = low_median(c, n, n);
  else
    own_s = wide_mean(own_s, undisturbed_s, sample_s, options_.window_s);
  put(c.own_s, own_s);
  put(c.settled, true);
  put(c.given, false);
  if (differs(own_s, get(r.read_s[shape_.cell_of[p]]))) publish(r);
}

void learner::preset(table_row& r, place_id p, double seconds) noexcept {
  cell_state& c = r.cells[p];
  put(c.samples, 1);
  put(r.sampled, true);
  put(c.own_s, seconds);
  put(c.settled, true);
  put(c.given, true);
  for (auto& s : c.recent) put(s, static_cast<float>(seconds));
  put(c.remembered, settled_samples);
  put(r.read_s[shape_.cell_of[p]], seconds);
  if (!options_.two_factors) return r.all_changed(shape_);
  group_state& group = r.groups[shape_.group_of[p]];
  const double reference_s = get(group.reference_s);
  if (reference_s == 0.0 || seconds < reference_s) put(group.reference_s, seconds);
  put(group.settled, true);
  publish(r);
}

saved_cell learner::save(const table_row& r, place_id p) const {
  const cell_state& c = r.cells[p];
  saved_cell s{.where = shape_.machine.at(p),
               .samples = get(c.samples),
               .seconds = get(r.read_s[shape_.cell_of[p]])};
  if (!options_.two_factors) return s;
  s.seconds = get(c.own_s);
  s.reference_s = s.where.width == 1 ? get(r.groups[shape_.group_of[p]].reference_s) : 0.0;
  s.settled = get(c.settled);
  s.given = get(c.given);
  const std::uint32_t n = get(c.remembered), kept = std::min(n, cell_state::window);
  for (std::uint32_t i = n - kept; i < n; ++i)
    s.recent.push_back(get(c.recent[i % cell_state::window]));
  return s;
}

void learner::restore(table_row& r, place_id p, const saved_cell& s) noexcept {
  cell_state& c = r.cells[p];
  put(c.samples, s.samples);
  put(r.sampled, true);
  put(r.read_s[shape_.cell_of[p]], s.seconds);
  if (!options_.two_factors) return;
  put(c.own_s, s.seconds);
  put(c.settled, s.settled);
  put(c.given, s.given);
  const auto kept =
      static_cast<std::uint32_t>(std::min<std::size_t>(s.recent.size(), cell_state::window));
  for (std::uint32_t i = 0; i < kept; ++i) put(c.recent[i], s.recent[i]);
  put(c.remembered, kept);
  group_state& group = r.groups[shape_.group_of[p]];
  if (s.reference_s > 0.0) put(group.reference_s, s.reference_s);
  if (s.settled) put(group.settled, true);
}

void learner::clear(table_row& r) noexcept {
  put(r.sampled, false);
  r.far.clear();
  for (place_id p = 0; p < shape_.places(); ++p) {
    cell_state& c = r.cells[p];
    put(c.samples, 0);
    put(c.remembered, 0);
    for (auto* a : {&c.own_s, &c.last_s, &c.skipped_s}) put(*a, 0.0);
    put(c.tried_s, -1.0);
    put(c.settled, false);
    put(c.given, false);
    put(r.read_s[shape_.cell_of[p]], 0.0);
  }
  for (std::uint32_t g = 0; g < shape_.groups.size(); ++g) {
    put(r.groups[g].reference_s, 0.0);
    put(r.groups[g].checked_s, 0.0);
    put(r.groups[g].settled, false);
  }
  if (options_.neutral_prior) publish(r);
  r.all_changed(shape_);
}

double learner::known_s(const table_row& r, std::uint32_t g) const noexcept {
  const peer_group& peers = shape_.groups[g];
  if (options_.two_factors && peers.width == 1) return get(r.groups[g].reference_s);
  double least_s = 0.0;
  for (place_id p = peers.first; p < peers.first + peers.count; ++p) {
    if (get(r.cells[p].samples) == 0) continue;
    const double s =
        options_.two_factors ? get(r.cells[p].own_s) : get(r.read_s[shape_.cell_of[p]]);
    if (s > 0.0 && (least_s == 0.0 || s < least_s)) least_s = s;
  }
  return least_s;
}

// How many times as long a core of the asked group takes, by the nominal speeds of the kinds; 1
// where the machine states none.
double learner::nominal_ratio(std::uint32_t asked, std::uint32_t known) const noexcept {
  const auto speed = [&](std::uint32_t g) {
    const machine& m = shape_.machine;
    return m.kinds()[m.clusters()[shape_.groups[g].cluster].kind].relative_speed;
  };
  const double of_asked = speed(asked), of_known = speed(known);
  return of_asked > 0.0 && of_known > 0.0 ? of_known / of_asked : 1.0;
}

// Lost slices are in the mean of a wide place, since they are a reason to leave it. They say
// nothing of other places.
double learner::typical_s(const table_row& r, std::uint32_t g) const noexcept {
  const peer_group& peers = shape_.groups[g];
  double least_s = known_s(r, g);
  if (least_s == 0.0 || !options_.two_factors || peers.width == 1) return least_s;
  for (place_id p = peers.first; p < peers.first + peers.count; ++p) {
    const cell_state& c = r.cells[p];
    if (const std::uint32_t n = get(c.remembered); n > 0)
      least_s = std::min(least_s, low_median(c, n, std::min(n, cell_state::window)));
  }
  return least_s;
}

// From what is known of the type, else of all types by their work, else from nothing.
template <class At>
double learner::guess_s(std::uint32_t g, std::uint32_t count, const At& known) const noexcept {
  const peer_group& asked = shape_.groups[g];
  const auto nearest = [&](std::uint32_t times, const auto& time) {
    nearest_guess guess(asked.width, unit_times_.of(g));
    for (std::uint32_t i = 0; i < times; ++i) {
      const auto [k, seconds] = time(i);
      if (!(seconds > 0.0)) continue;
      const peer_group& other = shape_.groups[k];
      const known_group there{.same_cluster = other.cluster == asked.cluster,
                              .width = other.width,
                              .seconds = seconds,
                              .unit_s = unit_times_.of(k)};
      if (guess.is_nearer(there)) guess.take(there, nominal_ratio(g, k));
    }
    return guess.seconds();
  };
  if (const double of_type_s = nearest(count, known); of_type_s > 0.0) return of_type_s;
  const auto of_units = [&](std::uint32_t k) { return known_time{k, unit_times_.of(k)}; };
  if (const double of_unit_s = nearest(groups_of(shape_), of_units); of_unit_s > 0.0)
    return of_unit_s;
  return nominal_guess_s(asked.width, nominal_ratio(g, 0));
}

double learner::prior_s(const table_row& r, std::uint32_t g) const noexcept {
  return guess_s(g, groups_of(shape_), [&](std::uint32_t k) {
    return known_time{k, typical_s(r, k)};
  });
}

void learner::publish(table_row& r) noexcept {
  if (get(r.publishing) || r.publishing.exchange(true, sync::memory_order_acquire)) return;
  // On a machine of many groups most of which are not known yet, each guess looks at the few that
  // are.
  std::size_t count = 0;
  for (std::uint32_t g = 0; g < groups_of(shape_); ++g)
    if (const double seconds = typical_s(r, g); seconds > 0.0)
      r.known_times[count++] = {g, seconds};
  const std::span known_times(r.known_times.get(), count);
  for (std::uint32_t g = 0; g < groups_of(shape_); ++g) {
    const peer_group& peers = shape_.groups[g];
    const double known = known_s(r, g);
    const double unknown_s = !options_.neutral_prior ? 0.0
                             : known > 0.0
                                 ? known
                                 : guess_s(g, static_cast<std::uint32_t>(known_times.size()),
                                           [&](std::uint32_t i) { return known_times[i]; });
    for (place_id p = peers.first; p < peers.first + peers.count; ++p) {
      auto& cell = r.read_s[shape_.cell_of[p]];
      const cell_state& c = r.cells[p];
      const bool sampled = get(c.samples) > 0;
      if (sampled && !options_.two_factors) continue;
      const double value = !sampled                            ? unknown_s
                           : peers.width == 1 && !get(c.given) ? known
                                                               : get(c.own_s);
      if (get(cell) != value) put(cell, value);
    }
  }
  r.all_changed(shape_);
  r.publishing.store(false, sync::memory_order_release);
}

}  // namespace kilter::model
