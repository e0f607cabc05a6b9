#include "measuring/experiment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "kilter/error.hpp"
#include "machine/cgroup.hpp"
#include "measuring/user_policy.hpp"
#include "model/tables.hpp"
#include "runtime/saved_table.hpp"
#include "session/outputs.hpp"
#include "sim/energy.hpp"
#include "sim/ideal_platform.hpp"

namespace kilter::lab {

namespace {

std::vector<std::string> each_once(const std::vector<policy_list>& lists) {
  std::vector<std::string> chosen;
  for (const policy_list& list : lists)
    for (const std::string& name : list.names)
      if (std::ranges::find(chosen, name) == chosen.end()) chosen.push_back(name);
  return chosen;
}

/// Three threads on a core are not simulated: slices of two co-runners would meet at random.
void check_one_co_runner_a_core(const std::vector<disturbance>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_co_runner(parts[i].kind) || !is_co_runner(parts[j].kind) ||
          !windows_meet(parts[i], parts[j]))
        continue;
      for (const core_id c : parts[i].cores)
        if (std::ranges::binary_search(parts[j].cores, c))
          throw input_error(
              fmt::format("disturbances '{}' and '{}' put two co-runners on core {} at once; the "
                          "simulator has one a core, so give one",
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
    throw input_error(
        fmt::format("disturbance '{}': no core is left; leave one, or say until when as in {}@0..1",
                    to_string(parts), to_string(parts.front())));
}

std::vector<scenario> checked_scenarios(const std::vector<std::vector<asked_disturbance>>& asked,
                                        const machine& m, bool simulated, bool emulated) {
  std::vector<scenario> scenarios{{"none", {}}};
  for (const auto& one : asked) {
    auto parts = placed(one, m);
    for (const disturbance& d : parts)
      check_exists(d, emulated    ? disturbed_cores::emulated
                      : simulated ? disturbed_cores::simulated
                                  : disturbed_cores::real);
    if (simulated) check_one_co_runner_a_core(parts);
    check_somebody_stays(parts, m);
    std::string name = to_string(parts);
    const bool known = std::any_of(scenarios.begin(), scenarios.end(),
                                   [&](const scenario& s) { return s.name == name; });
    if (!known) scenarios.push_back({std::move(name), std::move(parts)});
  }
  return scenarios;
}

/// The processors that a graph brings, at the costs that it gives.
std::shared_ptr<const sim::platform> ideal_of(experiment& e) {
  dag_work* const data = std::get_if<dag_work>(&e.work);
  if (!data || data->what->processors.empty())
    throw input_error(
        fmt::format("--on ideal: {} brings no processors; name a platform, as sim:jetson-tx2",
                    data ? data->from : std::string(name_of(e.work))));
  if (!e.cores.empty())
    throw input_error(
        fmt::format("--cores {}: the ideal machine has the processors of the graph", e.cores));
  data->given = true;
  return std::make_shared<const sim::platform>(sim::ideal_platform(data->what->processors));
}

/// Null for native.
std::shared_ptr<const sim::platform> checked_platform(experiment& e) {
  if (e.on.ideal) return ideal_of(e);
  if (e.on.platform.empty()) return nullptr;
  for (const auto& [option, given] : {std::pair{"--smt", e.smt}, {"--unpinned", e.unpinned}})
    if (given)
      throw input_error(fmt::format("{}: a {} machine has the cores of its platform file", option,
                                    e.on.emulated ? "emulated" : "simulated"));
  sim::platform p = platform_of(e.on);
  if (!e.cores.empty()) p = p.restricted_to(parse_cores(e.cores, *p.cores));
  return std::make_shared<const sim::platform>(std::move(p));
}

/// A DAG that does not fit would be killed by the system half-way, with nothing said.
void check_memory(const experiment& e) {
  // node, closure, edge and their share of the blocks they live in
  constexpr double bytes_per_task = 312.0, bytes_per_edge = 24.0;
  const graph_size size = size_of(e.work);
  const double needed =
      bytes_per_task * static_cast<double>(size.tasks) + bytes_per_edge * size.most_edges;
  const double there =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed > 0.8 * there)
    throw input_error(fmt::format(
        "{} tasks: a DAG of that size needs about {:.0f} GB, and there are {:.0f} GB of memory; at "
        "most about {} tasks fit here",
        size.tasks, needed * 1e-9, there * 1e-9,
        static_cast<std::uint64_t>(0.8 * there / needed * static_cast<double>(size.tasks))));
}

/// Tried on tables like those of the runs, so that whatever is wrong with it is said before
/// anything runs.
std::shared_ptr<const model::saved_table> checked_table(const std::string& path,
                                                        const experiment& e) {
  auto saved = std::make_shared<const model::saved_table>(model::read_table(path, *e.machine));
  try {
    model::tables(*e.machine, e.options.table).restore(*saved);
  } catch (const input_error& error) {
    throw input_error(fmt::format("table '{}': {}", path, error.what()));
  }
  return saved;
}

/// A runtime of its own is needed for every run, so the options that all share are made once.
runtime_options checked_options(const experiment& e) {
  runtime_options o;
  o.machine = e.machine;
  o.pinned = !e.unpinned;
  o.table = e.table == table_mode::paper ? table_options::paper() : table_options::robust();
  o.table.sample_weight = e.weight.value;
  if (e.explore != untried_places::first) o.table.explore_first = false;
  if (e.explore == untried_places::prior) o.table.neutral_prior = true;
  if (e.refresh.by_age)
    o.table.ageing = true;
  else
    o.table.refresh_every = e.refresh.every;
  o.timing = e.timing;
  o.policy_settings.source = e.criticality;
  if (e.objective != minimised::own)
    o.policy_settings.minimise = static_cast<kilter::objective>(static_cast<int>(e.objective) -
                                                                static_cast<int>(minimised::cost));
  if (o.policy_settings.minimise > objective::time) {
    if (!e.simulated)
      throw input_error(
          fmt::format("--objective {}: nothing here says what cores draw; use --on sim:PLATFORM "
                      "with power figures",
                      text_of(e, "objective")));
    o.policy_settings.watts = sim::place_watts(*e.simulated);
  }
  o.policy_settings.local_search = e.local;
  o.policy_settings.search_when_ready = e.search == low_search::ready;
  o.policy_settings.random_fast = e.fast_order == fast_orders::random;
  o.policy_settings.steal_from = e.steal;
  o.policy_settings.forward_child = e.children != made_ready::queue;
  if (e.children == made_ready::slow_cluster)
    o.policy_settings.place_noncritical = policy_options::noncritical::slow_cluster;
  o.policy_settings.direct_assembly = e.direct;
  o.policy_settings.cats_strict = e.cats_strict;
  o.policy_settings.cats_bidirectional = e.cats_bidirectional;
  o.policy_settings.cats_tries = e.cats_tries;
  o.policy_settings.cats_update = e.cats_update;
  if (!e.fast.empty()) o.policy_settings.fast = parse_cores(e.fast, *e.machine);
  return o;
}

}  // namespace

std::shared_ptr<const machine> local_machine(const std::string& cores, bool smt) {
  machine m = machine::local({.smt = smt});
  m = cores.empty() ? kilter::detail::within_quota(m, cgroup_quota_cores())
                    : m.restricted_to(parse_cores(cores, m));
  return std::make_shared<const machine>(std::move(m));
}

std::shared_ptr<const policy> policy_of(const std::string& name, const experiment& e) {
  const policy_options& o = e.options.policy_settings;
  if (const auto own = e.own_policies.find(name); own != e.own_policies.end())
    return own->second(*e.options.machine, o);
  return is_user_policy(name) ? load_policy(name, *e.options.machine, o)
                              : make_policy(name, *e.options.machine, o);
}

experiment plan(const specification& asked) {
  experiment e;
  static_cast<specification&>(e) = asked;
  e.policies = each_once(e.policy_lists);
  set_seed(e.work, e.seed);
  check_memory(e);
  e.simulated = checked_platform(e);
  if (!e.simulated && !runs_natively(e.work))
    throw input_error(
        fmt::format("workload {}: only layered, random and graphs run natively; use --on "
                    "sim:PLATFORM or --on emulate:PLATFORM",
                    name_of(e.work)));
  if (e.costs == known_costs::truth && (!e.simulated || e.on.emulated))
    throw input_error(
        fmt::format("--costs {}: only simulated machines know what disturbances will leave",
                    text_of(e, "costs")));
  if (e.data == far_data::moved && (!e.simulated || e.on.emulated))
    throw input_error(
        fmt::format("--data {}: only simulated machines are told what data cost to move; "
                    "use --on sim:PLATFORM",
                    text_of(e, "data")));
  e.machine = e.simulated ? e.simulated->cores : local_machine(e.cores, e.smt);
  if (const dag_work* data = std::get_if<dag_work>(&e.work)) check_widths(*data, *e.machine);
  e.scenarios = checked_scenarios(e.disturb, *e.machine, e.simulated != nullptr, e.on.emulated);
  e.options = checked_options(e);
  e.unpinned = e.unpinned || e.on.emulated;
  if (!e.save_table.empty() && e.policies.size() != 1)
    throw input_error(
        fmt::format("--save-table: {} policies would write one file; give one, as --policy dam-c",
                    e.policies.size()));
  if (!e.save_table.empty()) check_output("--save-table", e.save_table);
  if (!e.load_table.empty()) e.learned = checked_table(e.load_table, e);
  for (const std::string& p : e.policies) (void)policy_of(p, e);
  return e;
}

}  // namespace kilter::lab
