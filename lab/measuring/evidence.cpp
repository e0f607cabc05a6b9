#include "measuring/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kilter/policy.hpp"
#include "measuring/rows.hpp"
#include "words/join.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

using trace::event;
using trace::event_kind;

/// A policy that leaves at most this part of its critical tasks where it had them keeps them away.
constexpr double keeps_away = 0.5;
/// Shares of its speed alone that differ by no more are alike for a co-runner.
constexpr double alike_for_co_runner = 0.1;

const result_row* line(const experiment_result& r, std::string_view policy,
                       std::string_view disturb) {
  for (const result_row& s : r.rows)
    if (s.policy == policy && s.disturb == disturb && !s.warm) return &s;
  return nullptr;
}

/// Cores that the scenario takes performance from; empty if it is all of them, since then none can
/// be avoided.
std::vector<core_id> disturbed_cores(const experiment& e, const scenario& s) {
  std::set<core_id> cores;
  for (const disturbance& d : s.parts) cores.insert(d.cores.begin(), d.cores.end());
  if (cores.size() == e.machine->core_count()) return {};
  return {cores.begin(), cores.end()};
}

std::string core_names(const std::vector<core_id>& cores) {
  return cores.size() == 1 ? fmt::format("core {}", cores[0])
                           : fmt::format("cores {}", joined(cores, ", "));
}

bool bound_refuted(const experiment_result& r, const std::string& disturb) {
  return std::any_of(r.rows.begin(), r.rows.end(), [&](const result_row& s) {
    return s.disturb == disturb && s.ratio_to_bound > beyond_the_bound;
  });
}

/// Why a run can be faster than its bound says.
std::string why_the_bound_fails(const experiment& e, const scenario& s, double run_s) {
  if (!e.simulated)
    return ", which cannot be: the loops that measure it got less of the machine than the runs did";
  if (e.graphs > 1 && !s.parts.empty())
    return ": it counts from the beginning of a graph, and what is timed goes on from the graph "
           "before";
  if (e.simulated->noise_sigma > 0.0)
    return fmt::format(
        ": it counts with the mean of what tasks take, and a run of {} may meet less of their "
        "noise",
        seconds_text(run_s));
  return ", which cannot be: the bound of this workload is wrong";
}

/// How the share of critical tasks on the disturbed core changed, for the policies where it changed
/// or could have.
void who_left_the_core(const experiment& e, const experiment_result& r,
                       std::vector<std::string>& out) {
  for (const scenario& s : e.scenarios) {
    const auto cores = disturbed_cores(e, s);
    if (cores.empty()) continue;
    std::vector<std::string> pieces, left;
    for (const std::string& p : e.policies) {
      const result_row *before = line(r, p, "none"), *with = line(r, p, s.name);
      if (!before || !with) continue;
      const auto share_there = [&](const result_row& row) {
        double share = 0.0;
        for (const auto& at : row.critical_share)
          if (std::ranges::any_of(cores, [&](core_id c) { return at.where.contains(c); }))
            share += at.share;
        return 100 * share;
      };
      const double at_first = share_there(*before), then = share_there(*with);
      pieces.push_back(fmt::format("{} {:.0f} % -> {:.0f} %", p, at_first, then));
      if (then <= keeps_away * at_first && at_first > 0.0) left.push_back(p);
    }
    if (!pieces.empty())
      out.push_back(fmt::format(
          "Share of critical tasks on {}, undisturbed -> with {}: {}. So {} what others wait for "
          "away from there.",
          core_names(cores), s.name, joined(pieces, ", "),
          left.empty()       ? "no policy keeps"
          : left.size() == 1 ? left.front() + " alone keeps"
                             : joined(left, ", ") + " keep"));
  }
}

/// The moment from which on at most a tenth of the decisions fell on the cores.
struct departure {
  std::size_t first = 0;  ///< index of the first decision of that part
  std::size_t still_there = 0;
};

std::optional<departure> find_departure(const std::vector<const event*>& decisions,
                                        const std::vector<core_id>& cores) {
  const auto touches = [&](const event* e) {
    const place where{e->leader, e->width};
    return std::any_of(cores.begin(), cores.end(), [&](core_id c) { return where.contains(c); });
  };
  std::optional<departure> found;
  std::size_t there = 0;
  for (std::size_t i = decisions.size(); i-- > 0;) {
    if (touches(decisions[i])) ++there;
    const bool leaves = !touches(decisions[i]) && (i == 0 || touches(decisions[i - 1]));
    if (leaves && there * 10 <= decisions.size() - i) found = departure{i, there};
  }
  if (!found || decisions.size() - found->first < 20) return std::nullopt;
  return found;
}

/// "16.2 us after its first sample, 33.1 us after 240": what the table said of a place before and
/// at a time.
std::string place_history(const detail& d, const std::string& name, core_id leader,
                          std::int64_t until_ns) {
  const event *first = nullptr, *last = nullptr;
  std::size_t samples = 0;
  for (const event& e : d.events)
    if (e.kind == event_kind::table && e.leader == leader && e.width == 1 && e.end_ns <= until_ns) {
      if (!first || e.end_ns < first->end_ns) first = &e;
      if (!last || e.end_ns >= last->end_ns) last = &e;
      ++samples;
    }
  if (!first) return fmt::format("{} had no sample", name);
  const std::string slowdown = last->aux > 0 ? fmt::format(", slowdown {:.2f}", last->aux) : "";
  if (samples == 1)
    return fmt::format("{} {} after 1 sample{}", name, seconds_text(first->value), slowdown);
  return fmt::format("{} {} after its first sample and {} after {}{}", name,
                     seconds_text(first->value), seconds_text(last->value), samples, slowdown);
}

void when_it_was_learned(const experiment& e, const experiment_result& r,
                         std::vector<std::string>& out) {
  for (const detail& d : r.details) {
    const auto s = std::find_if(e.scenarios.begin(), e.scenarios.end(),
                                [&](const scenario& x) { return x.name == d.disturb; });
    if (s == e.scenarios.end() || s->parts.empty()) continue;
    const auto cores = disturbed_cores(e, *s);
    if (cores.empty()) continue;
    std::vector<const event*> decisions;
    for (const event& x : d.events)
      if (x.kind == event_kind::decision) decisions.push_back(&x);
    if (decisions.size() < 20 || !policy_of(d.policy, e)->queues(*e.machine).learns) continue;
    std::sort(decisions.begin(), decisions.end(),
              [](const event* a, const event* b) { return a->start_ns < b->start_ns; });
    const std::string head =
        fmt::format("{}, {} (traced run of {}):", d.policy, d.disturb, seconds_text(d.seconds));
    const auto left = find_departure(decisions, cores);
    if (!left) {
      out.push_back(
          fmt::format("{} critical tasks never left {} for good.", head, core_names(cores)));
      continue;
    }
    if (left->first == 0) {
      out.push_back(
          fmt::format("{} critical tasks stayed off {} from the first one on, all but {} of {}.",
                      head, core_names(cores), left->still_there, decisions.size()));
      continue;
    }
    const event& first = *decisions[left->first];
    const double at_s = static_cast<double>(first.start_ns - d.start_ns) * 1e-9;
    std::vector<std::string> history;
    for (const core_id c : cores)
      history.push_back(place_history(d, fmt::format("core {}", c), c, first.start_ns));
    if (std::find(cores.begin(), cores.end(), first.leader) == cores.end())
      history.push_back(
          place_history(d, fmt::format("core {}", first.leader), first.leader, first.start_ns));
    out.push_back(
        fmt::format("{} from {} on {} was avoided, with {} of the {} later critical decisions on "
                    "it. The table then said: {}.",
                    head, seconds_text(std::max(at_s, 0.0)), core_names(cores), left->still_there,
                    decisions.size() - left->first, joined(history, "; ")));
  }
}

void what_the_co_runner_got(const experiment& e, const experiment_result& r,
                            std::vector<std::string>& out) {
  for (const scenario& s : e.scenarios) {
    std::vector<double> progress, share;
    for (const run_row& row : r.runs) {
      if (row.disturb != s.name) continue;
      if (row.disturber_progress) progress.push_back(*row.disturber_progress);
      if (row.achieved_share) share.push_back(*row.achieved_share);
    }
    const auto range = [](const std::vector<double>& v) {
      const auto [low, high] = std::minmax_element(v.begin(), v.end());
      const std::string least = fmt::format("{:.0f}", 100 * *low),
                        most = fmt::format("{:.0f}", 100 * *high);
      return least == most ? least + " %" : fmt::format("{} to {} %", least, most);
    };
    if (share.empty()) continue;
    std::string text =
        fmt::format("With {} the program had {} of the disturbed cores' time over {}", s.name,
                    range(share), counted(share.size(), "run"));
    if (!progress.empty()) {
      const auto [low, high] = std::ranges::minmax(progress);
      text += fmt::format("; the co-runner ran at {} of its speed alone. So {}", range(progress),
                          high - low <= alike_for_co_runner
                              ? "no policy won at its cost"
                              : "look at who won at its cost: it did not get the same in all runs");
    }
    out.push_back(text + ".");
  }
}

}  // namespace

std::vector<std::string> where_the_bound_fails(const experiment& e, const experiment_result& r) {
  std::vector<std::string> out;
  for (const scenario& s : e.scenarios) {
    if (!bound_refuted(r, s.name)) continue;
    const result_row* most = nullptr;
    for (const result_row& l : r.rows)
      if (l.disturb == s.name && (!most || l.ratio_to_bound > most->ratio_to_bound)) most = &l;
    out.push_back(
        fmt::format("{}, runs reached {:.2f} of the bound{}. Of this scenario the ratios to rws "
                    "hold, the column / bound does not.",
                    s.parts.empty() ? "Undisturbed" : fmt::format("With {}", s.name),
                    most->ratio_to_bound, why_the_bound_fails(e, s, most->makespan_s)));
  }
  return out;
}

std::vector<std::string> evidence_of(const experiment& e, const experiment_result& r) {
  std::vector<std::string> out = where_the_bound_fails(e, r);
  who_left_the_core(e, r, out);
  when_it_was_learned(e, r, out);
  what_the_co_runner_got(e, r, out);
  return out;
}

}  // namespace kilter::lab
