#include "lab/measuring/experiment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "kilter/error.hpp"
#include "lab/measuring/user_policy.hpp"
#include "lab/session/outputs.hpp"
#include "lab/words/numbers.hpp"
#include "model/tables.hpp"
#include "runtime/saved_table.hpp"
#include "sim/energy.hpp"
#include "sim/ideal_platform.hpp"

namespace kilter::lab {

namespace {

struct option_words {
  std::string_view option;
  std::vector<std::string_view> words;
};

const std::vector<option_words>& all_fixed_words() {
  static const std::vector<option_words> all = {
      {"--table", {"paper", "robust"}},
      {"--explore", {"first", "compete", "prior"}},
      {"--timing", {"honest", "leader", "span", "slowest", "mean"}},
      {"--criticality", {criticality_names.begin(), criticality_names.end()}},
      {"--objective", {"own", "cost", "time", "energy", "edp"}},
      {"--local", {"containing", "row"}},
      {"--steal", {"random", "richest", "cluster-first"}},
      {"--children", {"forward", "queue", "slow-cluster"}},
      {"--cats-update", {"batched", "each"}},
      {"--thieves", {"any", "first"}},
      {"--co-runner", {"slice", "fluid"}},
      {"--costs", {"stale", "true"}},
      {"--root", {"core", "outside"}},
  };
  return all;
}

/// Position of the text among the option's words.
std::size_t choose(std::string_view option, const std::string& text) { return parse_choice(option, text, fixed_words(option)); }

std::vector<std::string> checked_policies(const std::vector<std::string>& lists) {
  std::vector<std::string_view> known;
  for (const policy_info& info : policy_catalogue()) known.push_back(info.name);
  std::vector<std::string> chosen;
  const auto choose_once = [&](std::string_view name) {
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.emplace_back(name);
  };
  for (const std::string& list : lists)
    for (const std::string_view name : split_list(list)) {
      if (is_user_policy(name))
        choose_once(name);
      else if (name == "all")
        std::for_each(known.begin(), known.end(), choose_once);
      else
        choose_once(known[parse_choice("policy", name, known)]);
    }
  return chosen;
}

/// Refuses what the chosen engine cannot produce.
void check_kind(const disturbance& d, bool simulated, bool emulated) {
  using enum disturbance_kind;
  if (!simulated && (d.kind == freq || d.kind == offline))
    throw input_error(fmt::format("disturbance '{}': {} exists on simulated machines only; here use share or wave", to_string(d), name_of(d.kind)));
  if (simulated && (d.kind == session || d.kind == floating))
    throw input_error(fmt::format("disturbance '{}': {} is not simulated; the simulator has cpu, mem, share, wave, quota, freq and offline", to_string(d),
                                  name_of(d.kind)));
  if (emulated && (d.kind == quota || d.kind == offline))
    throw input_error(fmt::format("disturbance '{}': {} is not emulated, only simulated; emulated cores have cpu, mem, share, wave and freq", to_string(d),
                                  name_of(d.kind)));
}

/// Three threads on a core are not simulated: slices of two co-runners would meet at random.
void check_one_co_runner_a_core(const std::vector<disturbance>& parts) {
  const auto co_runner = [](const disturbance& d) { return d.kind == disturbance_kind::cpu || d.kind == disturbance_kind::mem; };
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!co_runner(parts[i]) || !co_runner(parts[j]) || !windows_meet(parts[i], parts[j])) continue;
      for (const core_id c : parts[i].cores)
        if (std::ranges::binary_search(parts[j].cores, c))
          throw input_error(fmt::format("disturbances '{}' and '{}' put two co-runners on core {} at once; the simulator has one a core, so give one",
                                        to_string(parts[j]), to_string(parts[i]), c));
    }
}

/// A machine that nobody comes back to would never end.
void check_somebody_stays(const std::vector<disturbance>& parts, const machine& m) {
  std::vector<bool> gone(m.core_count(), false);
  for (const disturbance& d : parts)
    if (d.kind == disturbance_kind::offline && !d.window)
      for (const core_id c : d.cores) gone[c] = true;
  if (std::ranges::find(gone, false) == gone.end())
    throw input_error(fmt::format("disturbance '{}': no core is left; leave one, or say until when as in {}@0..1", to_string(parts), to_string(parts.front())));
}

std::vector<scenario> checked_scenarios(const std::vector<std::string>& texts, const machine& m, bool simulated, bool emulated) {
  std::vector<scenario> scenarios{{"none", {}}};
  for (const std::string& text : texts) {
    auto parts = parse_disturbances(text, m);
    for (const disturbance& d : parts) check_kind(d, simulated, emulated);
    if (simulated) check_one_co_runner_a_core(parts);
    check_somebody_stays(parts, m);
    std::string name = to_string(parts);
    const bool known = std::any_of(scenarios.begin(), scenarios.end(), [&](const scenario& s) { return s.name == name; });
    if (!known) scenarios.push_back({std::move(name), std::move(parts)});
  }
  return scenarios;
}

/// As many cores as a cgroup quota pays for, like a runtime that is given no machine.
machine within_quota(const machine& m) {
  const auto quota = cgroup_quota_cores();
  const auto paid = quota ? static_cast<std::uint32_t>(std::max(1.0, std::ceil(*quota - 0.05))) : m.core_count();
  if (paid >= m.core_count()) return m;
  std::vector<core_id> first(paid);
  std::iota(first.begin(), first.end(), core_id{0});
  return m.restricted_to(first);
}

/// What follows `--on`.
struct engine_choice {
  std::string platform;    ///< empty: native
  bool ideal = false;      ///< the processors of the graph
  bool emulated = false;
  double scale = 0.0;
};

engine_choice checked_engine(const std::string& on) {
  if (on == "native") return {};
  if (on == "ideal") {
    engine_choice c;
    c.ideal = true;
    return c;
  }
  if (on.starts_with("sim:") && on.size() > 4) return {.platform = on.substr(4)};
  constexpr std::string_view emulate = "emulate:";
  if (!on.starts_with(emulate) || on.size() == emulate.size())
    throw input_error(fmt::format("--on '{}': use native, sim:PLATFORM or emulate:PLATFORM[,SCALE], as emulate:jetson-tx2, or ideal for the processors of a graph", on));
  engine_choice c{.platform = on.substr(emulate.size()), .emulated = true};
  if (const auto comma = c.platform.rfind(','); comma != std::string::npos) {
    const std::string text = c.platform.substr(comma + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), c.scale);
    if (error != std::errc{} || end != text.data() + text.size() || !(c.scale >= 1e-3 && c.scale <= 1e6))
      throw input_error(fmt::format("--on '{}': the SCALE '{}' must be a number from 0.001 to 1000000, seconds here for one second of the platform", on, text));
    c.platform.resize(comma);
  }
  return c;
}

/// The processors that a graph brings, at the costs that it gives.
std::shared_ptr<const sim::platform> ideal_of(const bench_arguments& a, workload& work) {
  dag_work* const data = std::get_if<dag_work>(&work);
  if (!data || data->what->processors.empty())
    throw input_error(fmt::format("--on ideal: {} brings no processors; name a platform, as sim:jetson-tx2", data ? data->from : a.workload));
  if (!a.cores.empty()) throw input_error(fmt::format("--cores {}: the ideal machine has the processors of the graph", a.cores));
  data->given = true;
  return std::make_shared<const sim::platform>(sim::ideal_platform(data->what->processors));
}

/// Null for native.
std::shared_ptr<const sim::platform> checked_platform(const bench_arguments& a, const engine_choice& on, workload& work) {
  if (on.ideal) return ideal_of(a, work);
  if (on.platform.empty()) return nullptr;
  for (const auto& [option, given] : {std::pair{"--smt", a.smt}, {"--unpinned", a.unpinned}})
    if (given) throw input_error(fmt::format("{}: a {} machine has the cores of its platform file", option, on.emulated ? "emulated" : "simulated"));
  sim::platform p = sim::platform::load(on.platform);
  if (!a.cores.empty()) p = p.restricted_to(parse_cores(a.cores, *p.cores));
  return std::make_shared<const sim::platform>(std::move(p));
}

/// A DAG that does not fit would be killed by the system half-way, with nothing said.
void check_memory(const experiment& e) {
  constexpr double bytes_per_task = 312.0, bytes_per_edge = 24.0;  // node, closure, edge and their share of the blocks they live in
  const graph_size size = size_of(e.work);
  const double needed = bytes_per_task * static_cast<double>(size.tasks) + bytes_per_edge * size.most_edges;
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed > 0.8 * there)
    throw input_error(fmt::format("{} tasks: a DAG of that size needs about {:.0f} GB, and there are {:.0f} GB of memory; at most about {} tasks fit here",
                                  size.tasks, needed * 1e-9, there * 1e-9,
                                  static_cast<std::uint64_t>(0.8 * there / needed * static_cast<double>(size.tasks))));
}

/// Tried on tables like those of the runs, so that whatever is wrong with it is said before anything runs.
std::shared_ptr<const model::saved_table> checked_table(const std::string& path, const experiment& e) {
  auto saved = std::make_shared<const model::saved_table>(model::read_table(path, *e.machine));
  try {
    model::tables(*e.machine, e.options.table).restore(*saved);
  } catch (const input_error& error) {
    throw input_error(fmt::format("table '{}': {}", path, error.what()));
  }
  return saved;
}

/// A runtime of its own is needed for every run, so the options that all share are made once.
runtime_options checked_options(const bench_arguments& a, const experiment& e) {
  runtime_options o;
  o.machine = e.machine;
  o.pinned = !a.unpinned;
  o.table = choose("--table", a.table) == 0 ? table_options::paper() : table_options::robust();
  o.table.sample_weight = parse_fraction("--weight", a.weight);
  const std::size_t explore = choose("--explore", a.explore);
  if (explore != 0) o.table.explore_first = false;
  if (explore == 2) o.table.neutral_prior = true;
  if (a.refresh == "age")
    o.table.ageing = true;
  else
    o.table.refresh_every = static_cast<std::uint32_t>(parse_count("--refresh", a.refresh, 0, 1'000'000));
  o.timing = static_cast<timing>(choose("--timing", a.timing));
  o.policy_settings.source = static_cast<criticality>(choose("--criticality", a.criticality));
  if (const std::size_t which = choose("--objective", a.objective); which > 0)
    o.policy_settings.minimise = static_cast<objective>(which - 1);
  if (o.policy_settings.minimise > objective::time) {
    if (!e.simulated)
      throw input_error(fmt::format("--objective {}: nothing here says what cores draw; use --on sim:PLATFORM with power figures", a.objective));
    o.policy_settings.watts = sim::place_watts(*e.simulated);
  }
  o.policy_settings.local_search = choose("--local", a.local) == 0 ? policy_options::local::containing
                                                                                          : policy_options::local::row;
  o.policy_settings.steal_from = std::array{victims::random, victims::richest,
                                            victims::cluster_first}[choose("--steal", a.steal)];
  const std::size_t children = choose("--children", a.children);
  o.policy_settings.forward_child = children != 1;
  if (children == 2) o.policy_settings.place_noncritical = policy_options::noncritical::slow_cluster;
  o.policy_settings.direct_assembly = a.direct;
  o.policy_settings.cats_strict = a.cats_strict;
  o.policy_settings.cats_bidirectional = a.cats_bidirectional;
  o.policy_settings.cats_tries = static_cast<std::uint32_t>(parse_count("--cats-tries", a.cats_tries, 1, 1'000'000));
  if (choose("--cats-update", a.cats_update) == 1) o.policy_settings.cats_update = policy_options::update::each;
  if (!a.fast.empty()) o.policy_settings.fast = parse_cores(a.fast, *e.machine);
  return o;
}

}  // namespace

std::span<const std::string_view> fixed_words(std::string_view option) {
  const auto at = std::ranges::find(all_fixed_words(), option, &option_words::option);
  return at == all_fixed_words().end() ? std::span<const std::string_view>() : at->words;
}

std::shared_ptr<const machine> local_machine(const std::string& cores, bool smt) {
  machine m = machine::local({.smt = smt});
  m = cores.empty() ? within_quota(m) : m.restricted_to(parse_cores(cores, m));
  return std::make_shared<const machine>(std::move(m));
}

std::shared_ptr<const policy> policy_of(const std::string& name, const experiment& e) {
  const policy_options& o = e.options.policy_settings;
  return is_user_policy(name) ? load_policy(name, *e.machine, o) : make_policy(name, *e.machine, o);
}

experiment plan(const bench_arguments& a) {
  experiment e;
  e.policies = checked_policies(a.policies);
  e.seed = parse_count("--seed", a.seed, 0, ~std::uint64_t{0});
  e.work = make_workload(a.workload, a.parameters, e.seed);
  check_memory(e);
  e.repeats = static_cast<std::uint32_t>(parse_count("--repeat", a.repeat, 1, most_repeats));
  e.graphs = static_cast<std::uint32_t>(parse_count("--graphs", a.graphs, 1, most_repeats));
  if (a.warm) e.graphs = std::max(e.graphs, 2u);
  const engine_choice on = checked_engine(a.on);
  e.simulated = checked_platform(a, on, e.work);
  e.emulated = on.emulated;
  e.scale = on.scale;
  if (!e.simulated && !runs_natively(e.work))
    throw input_error(fmt::format("workload {}: only layered and graph run natively; use --on sim:PLATFORM or --on emulate:PLATFORM", a.workload));
  e.on = a.on;
  e.co_runner = a.co_runner;
  e.weight = a.weight;
  (void)choose("--thieves", a.thieves);
  (void)choose("--co-runner", a.co_runner);
  e.true_costs = choose("--costs", a.costs) == 1;
  if (e.true_costs && (!e.simulated || e.emulated)) throw input_error(fmt::format("--costs {}: only simulated machines know what disturbances will leave", a.costs));
  e.machine = e.simulated ? e.simulated->cores : local_machine(a.cores, a.smt);
  if (const dag_work* data = std::get_if<dag_work>(&e.work)) check_widths(*data, *e.machine);
  e.scenarios = checked_scenarios(a.disturb, *e.machine, e.simulated != nullptr, e.emulated);
  e.options = checked_options(a, e);
  e.root_outside = choose("--root", a.root) == 1;
  e.unpinned = a.unpinned || e.emulated;
  e.details = a.details;
  e.table = a.table;
  e.timing = a.timing;
  e.criticality = a.criticality;
  e.local = a.local;
  e.steal = a.steal;
  e.children = a.children;
  e.objective = a.objective;
  e.explore = a.explore;
  e.thieves = a.thieves;
  e.direct = a.direct;
  e.cores = a.cores;
  e.smt = a.smt;
  e.refresh = a.refresh;
  if (!a.save_table.empty() && e.policies.size() != 1)
    throw input_error(fmt::format("--save-table: {} policies would write one file; give one, as --policy dam-c", e.policies.size()));
  if (!a.save_table.empty()) check_output("--save-table", a.save_table);
  e.save_table = a.save_table;
  if (!a.load_table.empty()) e.learned = checked_table(a.load_table, e);
  e.load_table = a.load_table;
  for (const std::string& p : e.policies) (void)policy_of(p, e);
  return e;
}

}  // namespace kilter::lab
