#include "claims/thread_measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "balance/catalogue.hpp"
#include "balance/symmetry.hpp"
#include "kilter/error.hpp"
#include "statistics/stats.hpp"
#include "threads/thread_platforms.hpp"
#include "threads/thread_programs.hpp"
#include "words/numbers.hpp"

namespace kilter::lab {

namespace {

double extreme(const std::vector<double>& all, bool largest) {
  if (all.empty()) return nan;
  const auto [low, high] = std::ranges::minmax_element(all);
  return largest ? *high : *low;
}

double symmetry_value(const thread_run& r, const std::string& measure) {
  if (measure == "threads") return static_cast<double>(r.sameness.work_s.size());
  if (measure == "thread_groups")
    return r.sameness.group.empty() ? 0.0 : 1.0 + *std::ranges::max_element(r.sameness.group);
  return balance::symmetry(measure == "sym_inst" ? r.sameness.work_s : r.sameness.primitives(),
                           r.sameness.group);
}

double value_of(const thread_run& r, const std::string& measure, const selection& what) {
  if (measure == "run_time" || measure == "run_time_cv") return r.end_s;
  if (measure == "speedup") return r.work_s / r.end_s;
  if (measure == "fairness") return r.fairness();
  if (measure == "slowdown_ratio") return r.slowdown_ratio();
  if (measure == "speed") return 1.0 / r.mean_time_s();
  if (measure == "benchmark_time") return r.time_s(what.at("benchmark"));
  if (measure == "swaps") return static_cast<double>(r.swaps);
  if (measure == "error_mean") return 1.0 + r.errors.mean;
  if (measure == "error_low") return 1.0 + extreme(r.errors.mean_by_thread, false);
  if (measure == "error_high") return 1.0 + extreme(r.errors.mean_by_thread, true);
  if (measure == "error_spread")
    return extreme(r.errors.mean_by_thread, true) - extreme(r.errors.mean_by_thread, false);
  if (measure == "error_in_slice") {
    const std::size_t slice = std::stoul(what.at("slice"));
    return slice <= r.errors.by_slice.size() ? 1.0 + r.errors.by_slice[slice - 1] : nan;
  }
  if (measure == "moves") return static_cast<double>(r.moves);
  if (measure == "dynamic_energy") return r.dynamic_energy_s;
  if (measure == "threads" || measure == "thread_groups" || measure == "sym_inst" ||
      measure == "sym_lock")
    return symmetry_value(r, measure);
  if (measure == "locks") return std::reduce(r.sameness.locks.begin(), r.sameness.locks.end());
  if (measure == "barriers")
    return std::reduce(r.sameness.barriers.begin(), r.sameness.barriers.end());
  if (measure == "error_spike") return r.errors.after_ends / r.errors.otherwise;
  throw usage_error("measure '" + measure + "' is not of a run of threads");
}

/// How one of a scenario's quanta and swap sizes is picked: the largest or smallest mean of a
/// measure, what S4 takes if nothing is said, or what suits the other programs.
enum class pick { most, least, standard, foreign };

struct picked {
  pick how;
  std::string_view by;
};

/// A measure with one configuration over the same measure with another.
struct sweep {
  std::string_view name, taken;
  picked left, right;
};
constexpr std::string_view fair = "fairness", fast = "speed";
constexpr sweep sweeps[] = {
    {"sweep_fairness_of_fastest", fair, {pick::most, fast}, {pick::most, fair}},
    {"sweep_fairness_of_foreign", fair, {pick::foreign, fair}, {pick::most, fair}},
    {"sweep_fairness_of_default", fair, {pick::standard, {}}, {pick::most, fair}},
    {"sweep_fairness_of_worst", fair, {pick::least, fair}, {pick::standard, {}}},
    {"sweep_speed_of_fairest", fast, {pick::most, fair}, {pick::most, fast}},
    {"sweep_speed_of_default", fast, {pick::standard, {}}, {pick::most, fast}},
    {"sweep_speed_of_worst", fast, {pick::least, fast}, {pick::standard, {}}},
};

const sweep* sweep_of(const std::string& measure) {
  const auto s = std::ranges::find(sweeps, measure, &sweep::name);
  return s == std::end(sweeps) ? nullptr : &*s;
}

/// The run with every value of the axis, if there is one.
std::vector<selection> along(const experiment_scenario& s, const char* axis_name,
                             std::vector<selection> runs) {
  const axis* a = s.find_axis(axis_name);
  if (!a) return runs;
  std::vector<selection> all;
  for (const selection& r : runs)
    for (const std::string& value : a->values) {
      all.push_back(r);
      all.back()[axis_name] = value;
    }
  return all;
}

std::vector<selection> members(const selection& run) {
  std::vector<selection> all;
  for (const std::string& one : members_of(run.at("program"))) {
    all.push_back(run);
    all.back()["program"] = one;
  }
  return all;
}

/// One number a run: the mean over the members.
std::vector<double> over_members(const selection& run, const std::string& measure,
                                 const selection& what, const thread_runs& runs) {
  std::vector<double> sums;
  const auto all = members(run);
  for (const selection& one : all) {
    const std::vector<thread_run>& seeds = runs(one);
    sums.resize(seeds.size(), 0.0);
    for (std::size_t i = 0; i < seeds.size(); ++i)
      sums[i] += value_of(seeds[i], measure, what) / static_cast<double>(all.size());
  }
  return sums;
}

std::vector<double> over_draws(const std::string& measure, const std::vector<double>& values,
                               std::uint32_t draws) {
  std::vector<double> all;
  for (std::size_t i = 0; i + draws <= values.size(); i += draws) {
    const std::span<const double> one(values.data() + i, draws);
    all.push_back(measure != "run_time_cv" ? mean(one)
                  : draws > 1              ? deviation(one) / mean(one)
                                           : nan);
  }
  return all;
}

std::vector<selection> configurations(const experiment_scenario& s, std::vector<selection> runs) {
  return along(s, "quantum", along(s, "swap_size", std::move(runs)));
}

/// The benchmark by itself on the machine with all cores fast: what S4's Fig. 1 compares with.
selection alone(const cell& c) {
  selection run = c.run;
  run["program"] = c.what.at("benchmark");
  run["clocks"] = "all-fast";
  return run;
}

/// `run` with the quantum and swap size that are picked, by means over the seeds.
selection configuration(const experiment_scenario& s, const selection& run, const picked& p,
                        const thread_runs& runs) {
  selection chosen = run;
  if (p.how == pick::standard) {
    chosen["quantum"] = "500";
    chosen["swap_size"] = "8";
    return chosen;
  }
  double best = nan;
  for (const selection& r : configurations(s, {run})) {
    double here = 0.0;
    for (const selection& of : p.how == pick::foreign ? along(s, "program", {r}) : std::vector{r})
      if (p.how != pick::foreign || of.at("program") != run.at("program"))
        here += mean(over_members(of, std::string(p.by), {}, runs));
    if (!std::isnan(best) && !(p.how == pick::least ? here < best : here > best)) continue;
    best = here;
    chosen = r;
  }
  return chosen;
}

}  // namespace

thread_run run_threads_of(const experiment_scenario& s, const selection& run, std::uint64_t seed) {
  selection words = s.parameters;
  for (const auto& [name, value] : run) words[name] = value;
  const auto word = [&](const char* key, const char* otherwise) {
    return words.contains(key) ? words.at(key) : std::string(otherwise);
  };
  const auto percent = [&](const char* key) {
    return words.contains(key)
               ? static_cast<double>(parse_count(key, words.at(key), 1, 10'000)) / 100.0
               : 1.0;
  };
  thread_platform on = thread_platform_of(
      s.on.platform, words.at("clocks"),
      {.memory = word("memory", "fast"), .remote = percent("remote"), .ghz = word("ghz", "paper")});
  on.per_cycle = word("rates", "time") == "cycle";
  if (words.contains("scatter")) on.simulated.sigma = percent("scatter");
  on.simulated.refill_bytes *= percent("refill");
  on.simulated.refill_near_bytes *= percent("refill");
  if (words.contains("smt")) on.simulated.smt_both = percent("smt");
  balance::scheduler_options o;
  if (words.contains("quantum"))
    o.quantum_s =
        static_cast<double>(parse_count("quantum", words.at("quantum"), 1, 3'600'000)) / 1000.0;
  if (words.contains("swap_size"))
    o.swap_size =
        static_cast<std::uint32_t>(parse_count("swap_size", words.at("swap_size"), 1, 10'000));
  if (words.contains("cool_down"))
    o.cool_down =
        static_cast<std::uint32_t>(parse_count("cool_down", words.at("cool_down"), 0, 10'000));
  if (word("sides", "dynamic") == "fast") o.high_bandwidth = on.cores->fastest_cores();
  if (word("sides", "dynamic") == "near") o.high_bandwidth = cores_near_memory(on);
  if (words.contains("window"))
    o.window = static_cast<std::uint32_t>(parse_count("window", words.at("window"), 1, 1'000'000));
  o.pairs = word("swap_unit", "threads") == "pairs";
  o.more_than_half = word("more_than_half", "no") == "yes";
  o.global_cv = word("gate", "programs") == "threads";
  o.strict_pairs = word("pairs", "turns") == "strict";
  o.turns = word("pairs", "turns") == "turns";
  if (word("code", "paper") == "public") {  // papers.md A5.2
    on.start_on_halves = true;
    if (o.high_bandwidth.empty()) o.high_bandwidth = on.cores->fastest_cores();
    o.turns = o.one_class = false;
    o.cool_down = 0;
  }
  program_reading reading{.sections_of_program = word("sections", "thread") == "program",
                          .work = percent("work"),
                          .memory_demand = percent("memory_demand"),
                          .kmeans = word("beside", "kmeans") == "kmeans"};
  if (words.contains("lines_in_flight"))
    reading.lines_in_flight = static_cast<std::uint32_t>(
        parse_count("lines_in_flight", words.at("lines_in_flight"), 1, 1000));
  const auto programs = thread_programs_of(words.at("program"), reading);
  thread_run r = run_thread_programs(on, programs, words.at("policy"), o, seed);
  if (word("copies", "slowest") == "mean") r.of_copies = copy_time::mean;
  if (word("errors", "quanta") == "sums") r.errors = r.errors_of_sums;
  return r;
}

std::vector<selection> thread_runs_behind(const experiment_scenario& s, const cell& c) {
  if (c.measure == "benchmark_slowdown") return {c.run, alone(c)};
  const sweep* over = sweep_of(c.measure);
  std::vector<selection> all;
  for (const selection& r :
       over ? configurations(s, over->left.how == pick::foreign ? along(s, "program", {c.run})
                                                                : std::vector{c.run})
            : std::vector{c.run})
    for (selection& one : members(r)) all.push_back(std::move(one));
  return all;
}

std::vector<double> thread_values(const experiment_scenario& s, const cell& c,
                                  const thread_runs& runs) {
  if (c.measure == "benchmark_slowdown") {
    std::vector<double> together =
        over_draws("benchmark_time", over_members(c.run, "benchmark_time", c.what, runs), s.draws);
    const std::vector<double> by_itself = over_draws(
        "benchmark_time", over_members(alone(c), "benchmark_time", c.what, runs), s.draws);
    for (std::size_t i = 0; i < together.size(); ++i) together[i] /= by_itself[i];
    return together;
  }
  const sweep* over = sweep_of(c.measure);
  if (!over) return over_draws(c.measure, over_members(c.run, c.measure, c.what, runs), s.draws);
  const std::string taken(over->taken);
  std::vector<double> values = over_draws(
      taken, over_members(configuration(s, c.run, over->left, runs), taken, {}, runs), s.draws);
  const std::vector<double> right = over_draws(
      taken, over_members(configuration(s, c.run, over->right, runs), taken, {}, runs), s.draws);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] /= right[i];
  return values;
}

}  // namespace kilter::lab
