#include "presenting/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "kilter/error.hpp"
#include "presenting/explain_evidence.hpp"
#include "statistics/stats.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

// A pause of a slowdown that is shorter than this part of the run does not end its period: learned
// values swing with the slices of a co-runner.
constexpr double shortest_pause = 0.05;
constexpr std::size_t most_periods = 4;  // of one core
constexpr std::uint64_t fewest_for_a_share = 20;
constexpr double seldom_share = 0.01;
constexpr double many_units = 1.5;
constexpr double widest_quartiles = 1.5;
constexpr std::uint64_t seldom_tasks = 3, fewest_of_a_type = 50;

/// What the table expects of tasks on single cores where nothing is in the way: what was learned
/// over the slowdown of that moment; where the table knows no slowdowns, the least that it ever
/// held.
class usual_times {
 public:
  explicit usual_times(const evidence& e) {
    std::map<std::pair<std::string, std::uint32_t>, std::vector<double>> free_of_slowdown;
    for (const learned_value& v : e.table) {
      if (v.width != 1 || !(v.seconds > 0.0)) continue;
      if (v.slowdown) {
        free_of_slowdown[{v.type, v.leader}].push_back(v.seconds / *v.slowdown);
      } else {
        double& least = usual_s_.try_emplace({v.type, v.leader}, v.seconds).first->second;
        least = std::min(least, v.seconds);
      }
    }
    for (auto& [where, values] : free_of_slowdown) usual_s_[where] = median(std::move(values));
  }
  /// 0: nothing learned.
  [[nodiscard]] double on(const std::string& type, std::uint32_t core) const {
    const auto at = usual_s_.find({type, core});
    return at == usual_s_.end() ? 0.0 : at->second;
  }
  /// How many times longer than usual a task of width 1 took; 0 if that is not known.
  [[nodiscard]] double times(const kept_task& t) const {
    const double s = t.width == 1 ? on(t.type, t.leader) : 0.0;
    return s > 0.0 ? t.seconds() / s : 0.0;
  }
  /// The slowdown that a change of the table tells of `core`; 0: none.
  [[nodiscard]] double slowdown(const learned_value& v, std::uint32_t core) const {
    if (v.slowdown) return v.core == core ? *v.slowdown : 0.0;
    const double s = v.width == 1 && v.leader == core ? on(v.type, core) : 0.0;
    return s > 0.0 ? v.seconds / s : 0.0;
  }

 private:
  std::map<std::pair<std::string, std::uint32_t>, double> usual_s_;
};

/// What tasks took on cores that were not slowed, in times as learned: 1 unless they are so many
/// units of work.
struct ordinary_times {
  double typical = 1.0, high = 1.0;  // median, and what nine of ten stay below
  bool alike = true;                 // so that there is a usual time
};
/// By type; critical ones apart, since they often have more work than others of their type.
using ordinary_by_type = std::map<std::pair<std::string, bool>, ordinary_times>;

cited_task cite(const kept_task& t, const usual_times& usual, const ordinary_by_type& ordinary) {
  const auto at = ordinary.find({t.type, t.critical});
  const double scale = at == ordinary.end() ? 1.0 : at->second.alike ? at->second.typical : 0.0;
  return {t.task,
          t.type,
          t.leader,
          t.width,
          t.start_s,
          t.seconds(),
          t.width == 1 ? usual.on(t.type, t.leader) * scale : 0.0};
}

std::vector<slow_period> periods_of(const evidence& e, const usual_times& usual,
                                    std::uint32_t core) {
  std::vector<slow_period> periods;
  for (const learned_value& v : e.table) {
    const double s = usual.slowdown(v, core);
    if (s == 0.0) continue;
    slow_period* last = periods.empty() ? nullptr : &periods.back();
    if (s < slowed_from) {
      if (last && !last->to_s) last->to_s = v.t_s;
      continue;
    }
    if (!last || (last->to_s && v.t_s - *last->to_s >= shortest_pause * e.seconds)) {
      periods.push_back({.core = core,
                         .from_s = v.t_s,
                         .to_s = {},
                         .critical = {},
                         .tasks = {},
                         .samples = {},
                         .back = {}});
      last = &periods.back();
    }
    last->to_s.reset();
    last->most = std::max(last->most, s);
  }
  return periods;
}

template <class May>
share_there count(const std::vector<kept_task>& tasks, std::uint32_t core, std::uint32_t cores,
                  May&& may) {
  share_there s;
  double widths = 0.0;
  for (const kept_task& t : tasks) {
    if (!may(t)) continue;
    ++s.all;
    if (t.on(core)) {
      ++s.there;
      s.last_s = t.start_s;
    }
    widths += t.width;
  }
  if (s.all > 0) s.equal = std::min(1.0, widths / static_cast<double>(s.all) / cores);
  return s;
}

/// How many times slower `core` was than the others on average, by what the table learned in the
/// period; at least 1.
double against_others(const slow_period& p, const evidence& e, const usual_times& usual,
                      std::uint32_t cores) {
  std::vector<std::vector<double>> seen(cores);
  for (const learned_value& v : e.table)
    if (v.t_s >= p.from_s && v.t_s < p.to_s.value_or(e.seconds + 1.0) && v.about() < cores)
      if (const double s = usual.slowdown(v, v.about()); s > 0.0) seen[v.about()].push_back(s);
  double own = 1.0, others = 0.0;
  for (std::uint32_t c = 0; c < cores; ++c) {
    const double s = seen[c].empty() ? 1.0 : std::max(1.0, mean(seen[c]));
    if (c == p.core)
      own = s;
    else
      others += s / std::max(1u, cores - 1);
  }
  return cores > 1 ? std::max(1.0, own / others) : 1.0;
}

void count_shares(slow_period& p, const evidence& e, const usual_times& usual,
                  const evidence* undisturbed, std::uint32_t cores) {
  const double slower = against_others(p, e, usual, cores);
  const auto shares = [&](bool only_critical) {
    const auto counted = [&](const kept_task& t) { return t.critical || !only_critical; };
    const auto within = [&](const kept_task& t) {
      return counted(t) && t.start_s >= p.from_s && t.start_s < p.to_s.value_or(e.seconds + 1.0);
    };
    share_there s = count(e.tasks, p.core, cores, within);
    if (undisturbed) {
      const share_there before = count(undisturbed->tasks, p.core, cores, counted);
      if (before.all >= fewest_for_a_share) s.undisturbed = before.share();
    }
    const double free = s.undisturbed.value_or(s.equal);
    s.expected = free <= 0.0 ? 0.0 : free / slower / (1.0 - free + free / slower);
    return s;
  };
  p.critical = shares(true);
  p.tasks = shares(false);
}

treatment judge(const slow_period& p) {
  const auto tells = [](const share_there& s) {
    return s.expected * static_cast<double>(s.all) >= fewest_expected;
  };
  const auto low = [](const share_there& s) { return s.share() <= 0.5 * s.expected; };
  if (!tells(p.tasks)) return treatment::unused;
  if (tells(p.critical))
    return !low(p.critical) ? treatment::as_always
           : low(p.tasks)   ? treatment::avoided
                            : treatment::helped;
  if (low(p.tasks)) return treatment::avoided;
  const bool none_there =
      p.critical.all >= fewest_for_a_share && p.critical.share() <= 0.5 * p.critical.equal;
  return none_there ? treatment::unused : treatment::as_always;
}

ordinary_by_type ordinary_of(const evidence& e, const usual_times& usual,
                             const std::vector<slow_period>& all) {
  std::map<std::pair<std::string, bool>, std::vector<double>> elsewhere;
  for (const kept_task& t : e.tasks) {
    const auto slowed = [&](const slow_period& p) {
      return t.on(p.core) && t.end_s >= p.from_s && t.start_s < p.to_s.value_or(e.seconds + 1.0);
    };
    if (const double times = usual.times(t);
        times > 0.0 && std::none_of(all.begin(), all.end(), slowed))
      elsewhere[{t.type, t.critical}].push_back(times);
  }
  ordinary_by_type ordinary;
  for (auto& of_kind : elsewhere) {
    std::vector<double>& times = of_kind.second;
    std::sort(times.begin(), times.end());
    const auto of_hundred = [&](std::size_t percent) {
      return times[times.size() * percent / 100];
    };
    ordinary[of_kind.first] = {of_hundred(50), std::max(1.0, of_hundred(90)),
                               of_hundred(75) <= widest_quartiles * of_hundred(25)};
  }
  return ordinary;
}

/// The first task that took visibly longer than nine of ten on cores that were not slowed, and the
/// two that took longest. So the work in a task, if tasks of a type differ in it, is not taken for
/// interference.
void cite_samples(slow_period& p, const evidence& e, const usual_times& usual,
                  const ordinary_by_type& ordinary) {
  const double to_s = p.to_s.value_or(e.seconds + 1.0);
  const auto visibly = [&](const kept_task& t) {
    const auto at = ordinary.find({t.type, t.critical});
    return slowed_from * (at == ordinary.end() ? 1.0 : at->second.high);
  };
  std::vector<const kept_task*> slow;
  for (const kept_task& t : e.tasks) {
    if (!t.on(p.core)) continue;
    const double times = usual.times(t);
    if (t.end_s + 1e-9 >= p.from_s && t.start_s < to_s && times >= visibly(t)) slow.push_back(&t);
    if (!p.back && t.start_s >= to_s && times > 0.0 && times < visibly(t))
      p.back = cite(t, usual, ordinary);
  }
  std::vector<const kept_task*> chosen(
      slow.begin(), slow.begin() + std::min<std::ptrdiff_t>(1, std::ssize(slow)));
  std::stable_sort(slow.begin(), slow.end(), [&](const kept_task* a, const kept_task* b) {
    return usual.times(*a) > usual.times(*b);
  });
  for (const kept_task* t : slow)
    if (chosen.size() < 3 && std::find(chosen.begin(), chosen.end(), t) == chosen.end())
      chosen.push_back(t);
  std::sort(chosen.begin(), chosen.end(),
            [](const kept_task* a, const kept_task* b) { return a->start_s < b->start_s; });
  for (const kept_task* t : chosen) p.samples.push_back(cite(*t, usual, ordinary));
}

ordinary_by_type find_periods(explained_run& run, const evidence& e, const usual_times& usual,
                              const evidence* undisturbed, std::uint32_t cores) {
  std::vector<slow_period> all;
  for (std::uint32_t c = 0; c < cores; ++c)
    for (slow_period& p : periods_of(e, usual, c)) all.push_back(std::move(p));
  ordinary_by_type ordinary = ordinary_of(e, usual, all);
  const auto length = [&](const slow_period& p) { return p.to_s.value_or(e.seconds) - p.from_s; };
  for (std::uint32_t c = 0; c < cores; ++c) {
    std::vector<slow_period> own;
    for (const slow_period& p : all)
      if (p.core == c) own.push_back(p);
    std::stable_sort(own.begin(), own.end(), [&](const slow_period& a, const slow_period& b) {
      return length(a) > length(b);
    });
    if (own.size() > most_periods) {
      run.brief_periods += own.size() - most_periods;
      own.resize(most_periods, own.front());
    }
    for (slow_period& p : own) {
      count_shares(p, e, usual, undisturbed, cores);
      p.how = judge(p);
      cite_samples(p, e, usual, ordinary);
      run.periods.push_back(std::move(p));
    }
  }
  std::stable_sort(run.periods.begin(), run.periods.end(),
                   [](const slow_period& a, const slow_period& b) { return a.from_s < b.from_s; });
  return ordinary;
}

void find_seldom(explained_run& run, const evidence& e, const usual_times& usual,
                 const ordinary_by_type& ordinary, const std::vector<place_key>& places) {
  std::map<std::string, std::map<place_key, std::vector<const kept_task*>>> by_type;
  std::map<std::string, std::uint64_t> total;
  for (const kept_task& t : e.tasks) {
    by_type[t.type][{t.leader, t.width}].push_back(&t);
    ++total[t.type];
  }
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, double> learned_s;
  for (const learned_value& v : e.table) learned_s[{v.type, v.leader, v.width}] = v.seconds;
  for (const auto& [type, used] : by_type) {
    if (total[type] < fewest_of_a_type) continue;
    const auto few = std::max(
        seldom_tasks, static_cast<std::uint64_t>(seldom_share * static_cast<double>(total[type])));
    std::optional<std::pair<place_key, double>> best;
    for (const auto& [where, tasks] : used) {
      const auto at = learned_s.find({type, where.first, where.second});
      if (tasks.size() <= few || at == learned_s.end()) continue;
      if (!best || at->second * where.second < best->second * best->first.second)
        best = {where, at->second};
    }
    if (!best) continue;
    std::vector<seldom_place> seldom;
    for (const auto& [where, tasks] : used) {
      if (tasks.size() > few) continue;
      const auto at = learned_s.find({type, where.first, where.second});
      seldom_place s{.type = type,
                     .leader = where.first,
                     .width = where.second,
                     .tries = {},
                     .tasks = tasks.size(),
                     .last_s = tasks.back()->start_s,
                     .seconds = at == learned_s.end() ? 0.0 : at->second,
                     .best_leader = best->first.first,
                     .best_width = best->first.second,
                     .best_seconds = best->second};
      for (std::size_t i = 0; i < std::min<std::size_t>(2, tasks.size()); ++i)
        s.tries.push_back(cite(*tasks[i], usual, ordinary));
      seldom.push_back(std::move(s));
    }
    std::stable_sort(
        seldom.begin(), seldom.end(),
        [](const seldom_place& a, const seldom_place& b) { return a.last_s < b.last_s; });
    run.seldom.insert(run.seldom.end(), seldom.begin(), seldom.end());
    never_used never{.type = type, .places = {}};
    for (const place_key& where : places)
      if (!used.contains(where)) never.places.push_back(where);
    if (!never.places.empty()) run.never.push_back(std::move(never));
  }
}

void check_names(std::string_view option, const std::vector<std::string>& wanted,
                 const document& details, const char* key) {
  std::vector<std::string> there;
  for (const document& d : details)
    if (const std::string name = d.at(key);
        std::find(there.begin(), there.end(), name) == there.end())
      there.push_back(name);
  const std::vector<std::string_view> choices(there.begin(), there.end());
  for (const std::string& w : wanted)
    if (std::find(there.begin(), there.end(), w) == there.end())
      throw input_error(unknown_name(option, w, choices));
}

/// What a run of the same policy and scenario says; the traced one is not among them, but runs the
/// same graph.
std::optional<std::uint64_t> tasks_of_run(const document& result, const explained_run& run) {
  for (const document& r : result.at("runs"))
    if (r.at("policy") == run.policy && r.at("disturb") == run.disturb)
      return r.at("tasks").get<std::uint64_t>();
  return std::nullopt;
}

std::vector<explained_run> explain_checked(const document& result, const explain_choice& which) {
  const document& details = result.at("details");
  check_names("--policy", which.policies, details, "policy");
  check_names("--disturb", which.disturbs, details, "disturb");
  const bool paper = result.at("config").at("table") == "paper";
  const std::uint32_t cores = cores_of(result);
  const std::vector<place_key> places = places_of(result);
  const auto chosen = [](const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  std::map<std::string, evidence> undisturbed;
  for (const document& d : details)
    if (d.at("disturb") == "none")
      undisturbed.emplace(d.at("policy").get<std::string>(), evidence_of(d, paper));
  std::vector<explained_run> runs;
  for (const document& d : details) {
    explained_run run{.policy = d.at("policy"),
                      .disturb = d.at("disturb"),
                      .seconds = seconds_of(d),
                      .periods = {},
                      .seldom = {},
                      .never = {},
                      .per_unit = {}};
    if (!chosen(which.policies, run.policy) || !chosen(which.disturbs, run.disturb)) continue;
    const evidence e = evidence_of(d, paper);
    run.kept = e.tasks.size();
    run.windows = d.at("span_windows").size();
    run.tasks = run.windows > 1 ? tasks_of_run(result, run).value_or(run.kept) : run.kept;
    const usual_times usual(e);
    run.learned = !e.table.empty();
    const auto free = undisturbed.find(run.policy);
    const evidence* without =
        run.disturb == "none" || free == undisturbed.end() ? nullptr : &free->second;
    const ordinary_by_type ordinary = find_periods(run, e, usual, without, cores);
    if (run.learned) find_seldom(run, e, usual, ordinary, places);
    for (const auto& [kind, times] : ordinary)
      if ((times.typical > many_units || times.typical < 1.0 / many_units) &&
          (run.per_unit.empty() || run.per_unit.back().type != kind.first))
        run.per_unit.push_back({kind.first, times.typical});
    runs.push_back(std::move(run));
  }
  if (runs.empty())
    throw input_error("no traced run has both the --policy and the --disturb that were asked for");
  return runs;
}

/// The experiment that has traced runs.
const document& traced_of(const document& result) {
  for (const document& one : result.at("experiments"))
    if (one.at("details").is_array() && !one.at("details").empty()) return one;
  throw input_error(
      "no traced runs ('details' is empty); run kilter compare with one graph on one machine and "
      "--json to its end");
}

}  // namespace

std::vector<explained_run> explain(const document& result, const explain_choice& which) {
  try {
    return explain_checked(traced_of(result), which);
  } catch (const document::exception& e) {
    throw input_error(fmt::format("the result is not as kilter.compare/2 should be: {}", e.what()));
  }
}

}  // namespace kilter::lab
