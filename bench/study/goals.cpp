#include "study/goals.hpp"

namespace kilter::bench {

namespace {

/// The unpinned peer with the best median; null if none was measured.
const system_summary* best_unpinned_peer(const cell_summary& c) {
  const system_summary* best = nullptr;
  for (const system_summary& s : c.systems)
    if (is_unpinned_peer(s.name) && (!best || s.median > best->median)) best = &s;
  return best;
}

/// The peer with the best median, pinned or not; null if none was measured.
const system_summary* best_peer(const cell_summary& c) {
  const system_summary* best = nullptr;
  for (const system_summary& s : c.systems)
    if (is_peer(s.name) && (!best || s.median > best->median)) best = &s;
  return best;
}

/// How many times faster we are, over all runs of both: total seconds are what a user waits.
double speed_over(const system_summary& ours, const system_summary& other) {
  return other.mean_s / ours.mean_s;
}

}  // namespace

std::vector<goal_row> goals_of(const std::vector<cell_summary>& cells) {
  std::vector<goal_row> goals;
  for (const cell_summary& c : cells) {
    const system_summary* const ours = c.find(our_system);
    if (!ours) continue;
    const system_summary *const rws = c.find(stealing), *const peer = best_unpinned_peer(c);
    const std::uint32_t p = c.what.parallelism;
    const bool second = c.what.length == "1s", neighbour = c.what.disturb == "cpu";
    const auto add = [&](std::string goal, std::string than, double value, double limit,
                         bool at_least = true) {
      goals.push_back(
          {std::move(goal), c.name() + (than.empty() ? "" : ", " + than), value, limit, at_least});
    };
    if (c.what.barriers) {
      if (c.what.disturb == "cpu") {
        if (!c.bound_refuted)
          add("barriers with a co-runner, fraction of the bound", "", ours->median, 0.90);
        if (p <= 16 && rws)
          add("barriers of 16 tasks at most with a co-runner, speed over rws", "",
              speed_over(*ours, *rws), 1.15);
        const system_summary* const best = best_peer(c);
        if (p <= 16 && best)
          add("barriers of 16 tasks at most with a co-runner, speed over the best peer", best->name,
              speed_over(*ours, *best), 1.15);
      } else if (rws) {
        add(c.what.disturb == "none" ? "barriers undisturbed, speed over rws"
                                     : "barriers, irregular co-runner, speed over rws",
            "", speed_over(*ours, *rws), 0.97);
      }
      continue;
    }
    if (second && !c.bound_refuted)
      add("fraction of the bound in runs of 1 s", "", ours->median, 0.95);
    if (rws) add("speed over rws in every cell", "", speed_over(*ours, *rws), 0.97);
    if (p == 1 && peer && second)
      add("chain of 1 s, speed over the best unpinned peer", peer->name, speed_over(*ours, *peer),
          0.98);
    if (p == 1 && peer && c.what.length == "20ms")
      add("chain of 20 ms, speed over the best unpinned peer", peer->name, speed_over(*ours, *peer),
          0.95);
    if (p == 1 && rws && second && neighbour && c.what.body == "16us")
      add("chain with a co-runner, over both roots, speed over rws", "", speed_over(*ours, *rws),
          1.25);
    if (p == 2 && second && neighbour) {
      if (rws) add("P = 2 with a co-runner, speed over rws", "", speed_over(*ours, *rws), 1.12);
      if (peer)
        add("P = 2 with a co-runner, speed over the best unpinned peer", peer->name,
            speed_over(*ours, *peer), 1.12);
    }
    if (p <= 2 && second && neighbour && ours->critical_on_core_0)
      add("share of critical tasks on the disturbed core", "", *ours->critical_on_core_0, 0.10,
          false);
    if (ours->lost_ms)
      add("ms lost at a change of the wave (median)", "", *ours->lost_ms, 8.0, false);
  }
  return goals;
}

}  // namespace kilter::bench
