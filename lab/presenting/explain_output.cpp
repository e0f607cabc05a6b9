#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"
#include "presenting/explain.hpp"
#include "presenting/result_trace.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

constexpr std::size_t shown_places = 8;
/// A shorter time, as a part of the run, is no reason to do anything.
constexpr double worth_a_change = 0.05;
/// So many times what a core's speed alone would give it is still about that.
constexpr double about = 1.2;

double to_four_digits(double v) { return std::round(v * 1e4) / 1e4; }

document cited(const cited_task& t) {
  return {{"task", t.task},
          {"type", t.type},
          {"leader", t.leader},
          {"width", t.width},
          {"start_s", t.start_s},
          {"seconds", to_tenth_ns(t.seconds)},
          {"usual_s", t.usual_s > 0.0 ? document(to_tenth_ns(t.usual_s)) : document(nullptr)}};
}

document cited(const std::vector<cited_task>& tasks) {
  document list = document::array();
  for (const cited_task& t : tasks) list.push_back(cited(t));
  return list;
}

document share_document(const share_there& s) {
  const document undisturbed =
      s.undisturbed ? document(to_four_digits(*s.undisturbed)) : document(nullptr);
  return {{"there", s.there},
          {"all", s.all},
          {"last_s", s.last_s ? document(*s.last_s) : document(nullptr)},
          {"equal_share", to_four_digits(s.equal)},
          {"undisturbed_share", undisturbed},
          {"expected_share", to_four_digits(s.expected)}};
}

const char* name_of(treatment t) {
  switch (t) {
    case treatment::avoided: return "avoided";
    case treatment::helped: return "helped";
    case treatment::as_always: return "as_always";
    case treatment::unused: break;
  }
  return "unused";
}

std::string from_text(double s) { return s > 0.0 ? seconds_text(s) : "0 s"; }

std::string task_text(const cited_task& t) {
  return fmt::format("task {} ({}) at ({},{}) took {} from {}", t.task, printable(t.type), t.leader,
                     t.width, seconds_text(t.seconds), from_text(t.start_s));
}

std::string sample_text(const cited_task& t) {
  return task_text(t) +
         (t.usual_s > 0.0 ? fmt::format("; {} are usual there", seconds_text(t.usual_s)) : "");
}

std::string treatment_text(const slow_period& p) {
  switch (p.how) {
    case treatment::avoided: return "avoided";
    case treatment::helped: return "critical tasks went elsewhere; it helped with others";
    case treatment::as_always: return "not avoided";
    case treatment::unused: break;
  }
  if (p.tasks.expected * static_cast<double>(p.tasks.all) < fewest_expected)
    return "too few tasks to tell whether it was avoided";
  return "few critical tasks, as without the disturbance";
}

std::string share_text(const char* what, const share_there& s) {
  if (s.all == 0) return fmt::format("    {}: none began then\n", what);
  const std::string last = s.last_s ? fmt::format(", the last from {}", from_text(*s.last_s)) : "";
  return fmt::format(
      "    {}: {} of {} on places with it ({:.0f} %){}; {} {:.0f} %, and {:.0f} % if its speed "
      "alone decided\n",
      what, s.there, s.all, 100 * s.share(), last,
      s.undisturbed ? "undisturbed" : "an equal share is", 100 * s.undisturbed.value_or(s.equal),
      100 * s.expected);
}

std::string period_text(const slow_period& p) {
  std::string out =
      fmt::format("  core {}, from {} to {}: learned to be up to {:.{}f} times slower; {}\n",
                  p.core, from_text(p.from_s), p.to_s ? seconds_text(*p.to_s) : "the end", p.most,
                  p.most < 10.0 ? 2 : 0, treatment_text(p));
  out += share_text("critical tasks", p.critical) + share_text("all tasks", p.tasks);
  for (const cited_task& t : p.samples) out += fmt::format("    {}\n", sample_text(t));
  if (p.samples.empty())
    out += "    no kept task on it alone took visibly longer than others elsewhere\n";
  if (p.back)
    out += fmt::format("    back from {} on: {}, as usual\n", seconds_text(*p.to_s),
                       task_text(*p.back));
  return out;
}

std::string learned_text(double seconds, std::uint32_t width) {
  if (!(seconds > 0.0)) return "nothing learned";
  return width == 1 ? seconds_text(seconds)
                    : fmt::format("{} x {} cores = {}", seconds_text(seconds), width,
                                  seconds_text(seconds * width));
}

std::string seldom_text(const seldom_place& s) {
  return fmt::format(
      "  {} at ({},{}): only {} task{}, the last from {}; learned {}; cheapest is ({},{}) with "
      "{}\n    {}\n",
      printable(s.type), s.leader, s.width, s.tasks, s.tasks == 1 ? "" : "s", from_text(s.last_s),
      learned_text(s.seconds, s.width), s.best_leader, s.best_width,
      learned_text(s.best_seconds, s.best_width), sample_text(s.tries.front()));
}

std::string never_text(const never_used& n) {
  std::string out = fmt::format("  {} never at", printable(n.type));
  for (std::size_t i = 0; i < std::min(shown_places, n.places.size()); ++i)
    out += fmt::format(" ({},{})", n.places[i].first, n.places[i].second);
  if (n.places.size() > shown_places)
    out += fmt::format(" and {} other places", n.places.size() - shown_places);
  return out + "\n";
}

bool is_avoided(const slow_period& p) {
  return p.how == treatment::avoided || p.how == treatment::helped;
}

/// The longest of those with `property` that is worth a change.
template <class Property>
const slow_period* longest(const explained_run& r, Property property) {
  const auto length = [&](const slow_period& p) { return p.to_s.value_or(r.seconds) - p.from_s; };
  const slow_period* found = nullptr;
  for (const slow_period& p : r.periods)
    if (property(p) && length(p) >= worth_a_change * r.seconds &&
        (!found || length(p) > length(*found)))
      found = &p;
  return found;
}

/// What to do about all of it.
std::string so_what(const explained_run& r) {
  const auto kept = [](const slow_period& p) { return p.how == treatment::as_always; };
  if (const slow_period* p = longest(r, kept)) {
    const double got = 100 * p->tasks.share(), worth = 100 * p->tasks.expected;
    if (got > about * worth)
      return fmt::format(
          "So core {} held others up: it got {:.0f} % of the tasks, and its speed is worth {:.0f} "
          "%. Compare with another policy, or without that core (--cores).",
          p->core, got, worth);
    return fmt::format(
        "So core {} may stay: it got {:.0f} % of the tasks, about what its speed is "
        "worth.",
        p->core, got);
  }
  if (const slow_period* p = longest(r, is_avoided))
    return fmt::format("So core {} may stay: {} keeps away from it what others wait for.", p->core,
                       printable(r.policy));
  if (const slow_period* p = longest(r, [](const slow_period&) { return true; }))
    return fmt::format("So it cannot be told whether core {} should stay: run more tasks.",
                       p->core);
  return "So all cores may stay: none was slowed for long.";
}

std::string run_text(const explained_run& r) {
  const std::string scenario = r.disturb == "none" ? "undisturbed" : r.disturb;
  std::string out = fmt::format("{}, {}: {}, {} tasks\n", printable(r.policy), printable(scenario),
                                seconds_text(r.seconds), r.tasks);
  if (r.windows > 1)
    out += fmt::format(
        "  the result keeps {} of the tasks, in {} stretches of time; counts and samples are of "
        "those\n",
        r.kept, r.windows);
  if (!r.learned)
    return out +
           "  nothing was learned, so nothing was avoided for a reason that the table knows\n"
           "  So a slow core holds others up unseen" +
           (r.policy == "auto" ? ": run more tasks.\n" : "; auto, the default, learns.\n");
  for (const slow_period& p : r.periods) out += period_text(p);
  if (r.brief_periods > 0)
    out += fmt::format("  and {} shorter periods in which a core was slowed\n", r.brief_periods);
  if (r.periods.empty())
    out += fmt::format(
        "  no core was learned to be {} times slower or worse, so none was avoided for that\n",
        slowed_from);
  else if (std::none_of(r.periods.begin(), r.periods.end(), is_avoided))
    out += "  no core was avoided for that\n";
  for (const work_of_type& w : r.per_unit)
    out += fmt::format(
        "  what is learned of {} is per unit of work; a typical task takes {:.3g} times as long\n",
        printable(w.type), w.units);
  for (std::size_t i = 0; i < std::min(shown_places, r.seldom.size()); ++i)
    out += seldom_text(r.seldom[i]);
  if (r.seldom.size() > shown_places)
    out += fmt::format("  and {} more places with few tasks; --json has them all\n",
                       r.seldom.size() - shown_places);
  for (const never_used& n : r.never) out += never_text(n);
  return out + "  " + so_what(r) + "\n";
}

}  // namespace

document explain_document(const std::vector<explained_run>& runs) {
  document list = document::array();
  for (const explained_run& r : runs) {
    document findings = document::array();
    for (const slow_period& p : r.periods)
      findings.push_back({{"kind", "slowed_core"},
                          {"core", p.core},
                          {"from_s", p.from_s},
                          {"to_s", p.to_s ? document(*p.to_s) : document(nullptr)},
                          {"slowdown", to_four_digits(p.most)},
                          {"treatment", name_of(p.how)},
                          {"critical", share_document(p.critical)},
                          {"tasks", share_document(p.tasks)},
                          {"samples", cited(p.samples)},
                          {"back", p.back ? cited(*p.back) : document(nullptr)}});
    for (const seldom_place& s : r.seldom)
      findings.push_back(
          {{"kind", "seldom_place"},
           {"type", s.type},
           {"leader", s.leader},
           {"width", s.width},
           {"tasks", s.tasks},
           {"last_s", s.last_s},
           {"seconds", s.seconds > 0.0 ? document(s.seconds) : document(nullptr)},
           {"best",
            {{"leader", s.best_leader}, {"width", s.best_width}, {"seconds", s.best_seconds}}},
           {"samples", cited(s.tries)}});
    for (const never_used& n : r.never) {
      document places = document::array();
      for (const auto& [leader, width] : n.places)
        places.push_back({{"leader", leader}, {"width", width}});
      findings.push_back({{"kind", "never_used"}, {"type", n.type}, {"places", places}});
    }
    list.push_back({{"policy", r.policy},
                    {"disturb", r.disturb},
                    {"seconds", r.seconds},
                    {"tasks", r.tasks},
                    {"tasks_kept", r.kept},
                    {"learned", r.learned},
                    {"brief_periods", r.brief_periods},
                    {"findings", findings}});
  }
  return {{"schema", "kilter.explain/1"}, {"runs", list}};
}

std::string explain_text(const std::vector<explained_run>& runs) {
  std::string out;
  for (const explained_run& r : runs) out += (out.empty() ? "" : "\n") + run_text(r);
  return out;
}

}  // namespace kilter::lab
