#include "model/decider.hpp"

#include <algorithm>

#include "model/relaxed.hpp"

namespace kilter::model {

using sync::memory_order_relaxed;

namespace {
constexpr double check_every_s = 0.001;
// a core that reads slower than this is not worth a probe
constexpr double visible_slowdown = 1.3;
constexpr std::uint32_t agreeing = 3;  // samples that make a probe's finding count
// A place that nobody tried is tried after so many tasks' time at the place in use, within these
// limits.
constexpr double tasks_before_trial = 16.0;
constexpr double soonest_trial_s = 0.020;
constexpr double latest_trial_s = 0.040;
constexpr double longest_wait_s = 0.050;  // for the answer to a probe, or 16 tasks
// what was lost at a wide place keeps probes away for no longer
constexpr double longest_hold_off_s = 0.9;
}  // namespace

void decider::clear(table_row& r) noexcept {
  decision_state& d = r.decision;
  put(d.in_use, no_place);
  put(d.probing, no_place);
  for (auto* a :
       {&d.lost_s, &d.left_for_it_s, &d.wide_lost_s, &d.misled_s, &d.next_check_s, &d.spent_s})
    put(*a, 0.0);
  put(d.sent, false);
  put(d.left, 0);
  if (d.checking.exchange(true, sync::memory_order_acquire)) return;
  d.checked_s = -1.0;
  d.active_s = d.tried_at_active_s = d.sent_s = 0.0;
  d.checking.store(false, sync::memory_order_release);
}

place_id decider::settle(table_row& r, place_id best, objective o, double now_s,
                         allowed may) noexcept {
  if (!options_.neutral_prior && get(r.read_s[shape_.cell_of[best]]) == 0.0) {
    explored_.fetch_add(1, memory_order_relaxed);
    return best;
  }
  place_id chosen = best;
  if (options_.lost_time) {
    availability_.refresh(now_s);
    chosen = keep(r, best, o, now_s, may);
  }
  if (options_.ageing && now_s >= get(r.decision.next_check_s))
    chosen = probe(r, chosen, o, now_s, may);
  return chosen;
}

// Among places that promise the same, the one at home; a search alone would take the lowest core.
place_id decider::first(const table_row& r, place_id best, double now_s,
                        allowed may) const noexcept {
  const core_id home = availability_.home(now_s);
  for (const place_id p : shape_.machine.led_by(home))
    if (shape_.machine.at(p).width == shape_.machine.at(best).width &&
        time_s(r, p) <= 1.02 * time_s(r, best) && may(p))
      return p;
  return best;
}

place_id decider::keep(table_row& r, place_id best, objective o, double now_s,
                       allowed may) noexcept {
  decision_state& d = r.decision;
  place_id current = get(d.in_use);
  if (current == best) [[likely]] {
    if (get(d.lost_s) != 0.0) put(d.lost_s, 0.0);
    return current;
  }
  if (current == no_place) {
    const place_id start = first(r, best, now_s, may);
    // The others follow whoever decided first.
    if (d.in_use.compare_exchange_strong(current, start, memory_order_relaxed)) return start;
  }
  if (!may(current)) return best;
  const double here = value(r, current, o);
  const double there = value(r, best, o);
  if (there > here * (1.0 - options_.move_gain)) {
    if (get(d.lost_s) != 0.0) put(d.lost_s, 0.0);
    return current;
  }
  const double lost_s =
      get(d.lost_s) +
      (o == objective::cost ? (here - there) / shape_.machine.at(current).width : here - there);
  if (lost_s < options_.move_after_s) {
    put(d.lost_s, lost_s);
    return current;
  }
  const place_id to = first(r, best, now_s, may);
  move_on(r, to, now_s);
  return to;
}

// A core's availability is learned at width 1, and its visits are judged there. A wide place that
// stops now and then has short samples before: a probe finds it fast each time. So what was lost
// there, until it was left again, is a cost of probing too.
void decider::move_on(table_row& r, place_id to, double now_s) noexcept {
  decision_state& d = r.decision;
  if (const double lost_s = get(d.wide_lost_s); lost_s > 0.0)
    put(d.misled_s, get(d.misled_s) + std::min(lost_s, longest_hold_off_s * options_.probe_budget));
  const bool wide = shape_.machine.at(to).width > 1;
  put(d.left_for_it_s, wide ? time_s(r, get(d.in_use)) : 0.0);
  put(d.wide_lost_s, 0.0);
  put(d.lost_s, 0.0);
  put(d.in_use, to);
  if (!wide) availability_.arrive(shape_.machine.at(to).leader, now_s);
}

void decider::compare(table_row& r, double sample_s) noexcept {
  decision_state& d = r.decision;
  put(d.wide_lost_s, get(d.wide_lost_s) + sample_s - get(d.left_for_it_s));
}

place_id decider::probe(table_row& r, place_id chosen, objective o, double now_s,
                        allowed may) noexcept {
  decision_state& d = r.decision;
  if (get(d.checking) || d.checking.exchange(true, sync::memory_order_acquire)) return chosen;
  const double task_s = time_s(r, chosen);
  const bool paused = d.checked_s >= 0.0 &&
                      now_s - d.checked_s > options_.probe_after_s + tasks_before_trial * task_s;
  // Only time in which this row decides counts: a pause earns no right to probe.
  if (d.checked_s >= 0.0)
    d.active_s += std::clamp(now_s - d.checked_s, 0.0, 4.0 * (check_every_s + task_s));
  d.checked_s = now_s;

  // After a pause everything is old at once; what ran well before it is not the time for
  // experiments.
  if (paused) {
    put(d.next_check_s, now_s + soonest_trial_s);
    d.checking.store(false, sync::memory_order_release);
    return chosen;
  }

  place_id result = chosen;
  const place_id under_way = get(d.probing);
  if (under_way != no_place) {
    if (get(d.left) > 0 && !get(d.sent) && may(under_way)) {
      put(d.left, get(d.left) - 1);
      put(d.sent, true);
      d.sent_s = now_s;
      result = under_way;
    } else if (now_s - d.sent_s > std::max(longest_wait_s, tasks_before_trial * task_s)) {
      put(d.probing, no_place);  // the task may not run there, or its graph ended
      put(d.sent, false);
    }
  } else if (const place_id p = candidate(r, chosen, o, now_s, may); p != no_place) {
    put(r.cells[p].tried_s, now_s);
    if (get(r.cells[p].samples) == 0) d.tried_at_active_s = d.active_s;
    put(d.left, agreeing - 1);
    put(d.sent, true);
    put(d.probing, p);
    d.sent_s = now_s;
    result = p;
  }
  put(d.next_check_s, now_s + check_every_s);
  d.checking.store(false, sync::memory_order_release);
  return result;
}

// Never-sampled places first, then the stalest. Peers stand for one another at width 1, so a
// cluster is asked through one core.
place_id decider::candidate(const table_row& r, place_id chosen, objective o, double now_s,
                            allowed may) const noexcept {
  const decision_state& d = r.decision;
  const double task_s = time_s(r, chosen);
  const double trial_s =
      std::max(soonest_trial_s, std::min(tasks_before_trial * task_s, latest_trial_s));
  const double since_trial_s = d.active_s - d.tried_at_active_s;
  place_id untried = no_place, stale = no_place;
  double stale_since_s = now_s - options_.probe_after_s;
  for (std::uint32_t g = 0; g < shape_.groups.size(); ++g) {
    const peer_group& peers = shape_.groups[g];
    const bool own_group = g == shape_.group_of[chosen];
    std::uint32_t sampled = 0;
    double newest_s = -1.0, oldest_s = now_s;
    // the least slowed without a sample, the stalest with one
    place_id fresh = no_place, oldest = no_place;
    for (place_id p = peers.first; p < peers.first + peers.count; ++p) {
      const cell_state& c = r.cells[p];
      const bool eligible =
          p != chosen && availability_.slowdown(p) <= visible_slowdown &&
          (get(c.tried_s) < 0.0 || now_s - get(c.tried_s) > options_.probe_after_s);
      if (get(c.samples) == 0) {
        if (eligible &&
            (fresh == no_place || availability_.slowdown(p) < availability_.slowdown(fresh)) &&
            may(p))
          fresh = p;
        continue;
      }
      ++sampled;
      newest_s = std::max(newest_s, get(c.last_s));
      if (eligible && get(c.last_s) < oldest_s && may(p)) {
        oldest_s = get(c.last_s);
        oldest = p;
      }
    }
    if (fresh != no_place && (sampled == 0 || (own_group && sampled == 1))) {
      const double wait_s =
          own_group ? trial_s
                    : std::max(soonest_trial_s, 4.0 * tasks_before_trial * time_s(r, fresh));
      if (since_trial_s >= wait_s &&
          (untried == no_place || value(r, fresh, o) < value(r, untried, o)))
        untried = fresh;
    }
    if (peers.width == 1 && options_.two_factors) oldest_s = newest_s;
    if (oldest != no_place && oldest_s < stale_since_s &&
        !(own_group && peers.width == 1 && options_.two_factors)) {
      stale = oldest;
      stale_since_s = oldest_s;
    }
  }
  if (untried != no_place) return untried;
  if (stale != no_place &&
      get(d.spent_s) + get(d.misled_s) + time_s(r, stale) <= options_.probe_budget * d.active_s)
    return stale;
  return no_place;
}

void decider::answer(table_row& r, double sample_s) noexcept {
  decision_state& d = r.decision;
  if (!get(d.sent)) return;
  explored_.fetch_add(1, memory_order_relaxed);
  put(d.spent_s, get(d.spent_s) + sample_s);
  const place_id current = get(d.in_use);
  const double here_s = current == no_place ? 0.0 : time_s(r, current);
  if (get(d.left) > 0 && sample_s < here_s * (1.0 - options_.move_gain))
    put(d.next_check_s, 0.0);
  else
    put(d.probing, no_place);
  put(d.sent, false);
}

}  // namespace kilter::model
