#include "claims/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "apps/programs/blackscholes.hpp"
#include "apps/programs/fluidanimate.hpp"
#include "apps/programs/swaptions.hpp"
#include "graph/node.hpp"
#include "kilter/error.hpp"
#include "kilter/policy.hpp"
#include "policy/asking.hpp"
#include "policy/view_source.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"
#include "workloads/layered.hpp"

namespace kilter::lab {

namespace {

using kilter::detail::node;

std::string argument(const std::string& measure, const selection& all, const char* name) {
  const auto found = all.find(name);
  if (found == all.end()) throw input_error(fmt::format("measure '{}' needs '{}'", measure, name));
  return found->second;
}

std::uint32_t count(const std::string& measure, const selection& all, const char* name) {
  return static_cast<std::uint32_t>(
      parse_count(name, argument(measure, all, name), 1, 1'000'000'000));
}

/// Samples of the new level until the moving average is nearer to it than to the old one.
double samples_to_cross(double weight) {
  const machine m = machine::uniform(1);
  table_options o = table_options::paper();
  o.sample_weight = weight;
  model::tables t(m, o);
  const auto row = t.row("step", 0);
  const auto learn = [&](double seconds) {
    measured s;
    s.sample_s = s.leader_s = s.span_s = seconds;
    t.learn(row, 0, s, 0.0);
  };
  learn(1.0);
  int samples = 0;
  for (; t.time_s(row, 0) <= 1.5; ++samples) learn(2.0);
  return samples;
}

/// S2 Fig. 1: tasks A to G as far as the text gives their edges (papers.md A3.1). Four kernels,
/// told apart by colour.
struct example {
  graph g;
  task a = add("roots"), b = add("roots"), c = add("c, g, f"), e = add("e"), gg = add("c, g, f"),
       d = add("d"), f = add("c, g, f");
  example() {
    for (const auto& [from, to] :
         {std::pair{a, c}, {a, e}, {c, gg}, {b, gg}, {gg, d}, {d, f}, {e, f}})
      g.edge(from, to);
  }
  task add(const char* type) {
    return g.add({.type = g.type(type)}, [](team_member&) {});
  }
};

double longest_path_of(example& x) {
  std::map<const node*, double> value;
  double longest = 0.0;
  const std::array<task, 7> backwards{x.f, x.d, x.gg, x.e, x.c, x.b, x.a};
  for (const task t : backwards) {
    const node* n = kilter::detail::task_access::get(t);
    double below = 0.0;
    kilter::detail::for_each_successor(
        n, [&](const node* s, double) { below = std::max(below, value[s]); });
    value[n] = below + 1.0;
    longest = std::max(longest, value[n]);
  }
  return longest;
}

/// A view on tables and a batch, without a clock and without chance.
class still_source final : public view_source {
 public:
  using view_source::view_source;
  std::vector<task_ref> batch;
  double now_s() noexcept override { return 0.0; }
  std::uint32_t random(core_id, std::uint32_t) noexcept override { return 0; }
  bool online(core_id) noexcept override { return true; }
  bool idle(core_id) noexcept override { return false; }
  std::uint32_t length(queue_id) noexcept override { return 0; }
  double busy_s(core_id) noexcept override { return 0.0; }
  double modelled_s(task_ref, place_id) noexcept override { return 0.0; }
  double data_ready_s(task_ref, core_id) noexcept override { return 0.0; }
  void rekey(task_ref, std::uint64_t) noexcept override {}
  std::uint32_t batch_size(core_id) noexcept override {
    return static_cast<std::uint32_t>(batch.size());
  }
  task_ref batch_task(core_id, std::uint32_t i) noexcept override { return batch[i]; }
  bool batch_is_whole_graph(core_id) noexcept override { return true; }
};

/// S2 Fig. 3: who wakes and who takes each task is the figure's, and so is the table (papers.md
/// A3.1); where it runs is the policy's.
double example_placements() {
  const machine m = machine::uniform(4);
  model::tables tables(m, table_options::paper());
  policy_options o;
  o.local_search = policy_options::local::row;
  const auto perf = make_policy("perf", m, o);
  model::shared_cells cells(std::max(1u, perf->queues(m).cells));
  still_source source(tables, cells);
  example x;
  kilter::detail::graph_core& core = kilter::detail::graph_access::core(x.g);
  for (std::uint32_t i = 0; i < core.kinds.size(); ++i)
    core.kinds[i].row = tables.row(core.type_names[core.kinds[i].type], 0);
  for (const char* type : {"roots", "e", "d", "c, g, f"})
    for (place_id p = 0; p < m.places().size(); ++p) tables.preset(tables.row(type, 0), p, 8.0);
  tables.preset(tables.row("c, g, f", 0), *m.find({0, 4}), 1.0);
  tables.preset(tables.row("d", 0), *m.find({2, 2}), 2.0);
  const auto ref = [](task t) {
    return t ? kilter::detail::ref(kilter::detail::task_access::get(t)) : task_ref{};
  };
  core.for_each_node([&](node* n) { source.batch.push_back(kilter::detail::ref(n)); });
  const auto look = [&](core_id asker) {
    return kilter::detail::asked_view(m, &source, asker, nullptr);
  };
  kilter::detail::asked_view at_start = look(0);
  perf->on_submit(at_start);

  struct step {
    task what, parent;
    core_id waker, taker;
    place as_printed;
  };
  const std::array<step, 7> steps{{{x.a, {}, 0, 0, {0, 1}},
                                   {x.b, {}, 1, 1, {1, 1}},
                                   {x.c, x.a, 0, 1, {0, 4}},
                                   {x.e, x.a, 0, 3, {3, 1}},
                                   {x.gg, x.c, 1, 1, {0, 4}},
                                   {x.d, x.gg, 1, 2, {2, 2}},
                                   {x.f, x.d, 2, 2, {0, 4}}}};
  double right = 0.0;
  for (const step& s : steps) {
    kilter::detail::asked_view waking = look(s.waker), taking = look(s.taker);
    (void)perf->on_ready(ref(s.what), ref(s.parent), s.waker, waking);
    const place where = m.at(perf->on_take(ref(s.what), s.taker, s.waker != s.taker, taking).where);
    right += where == s.as_printed;
  }
  return right;
}

/// Of a run at S1's sizes.
double tasks_of_program(const std::string& name) {
  if (name == "blackscholes")
    return static_cast<double>(apps::blackscholes_sizes.back().runs *
                               apps::blackscholes_options{}.tasks);
  if (name == "swaptions") return static_cast<double>(apps::swaptions_sizes.back().swaptions);
  if (name == "fluidanimate")
    return static_cast<double>(
        apps::fluidanimate_sizes.back().frames *
        apps::fluid_tasks_in_a_frame(apps::fluidanimate_options{}.divisions));
  throw input_error(
      unknown_name("program", name,
                   std::array<std::string_view, 3>{"blackscholes", "swaptions", "fluidanimate"}));
}

}  // namespace

double property_value(const std::string& measure, const selection& arguments) {
  if (measure == "graph_critical_share") {
    const layered_shape shape{.tasks = count(measure, arguments, "tasks"),
                              .parallelism = count(measure, arguments, "parallelism")};
    return static_cast<double>(layers_of(shape).size()) / static_cast<double>(shape.tasks);
  }
  if (measure == "samples_to_cross")
    return samples_to_cross(parse_fraction("weight", argument(measure, arguments, "weight")));
  if (measure == "places")
    return static_cast<double>(
        machine::uniform(count(measure, arguments, "cores")).places().size());
  if (measure == "program_tasks") return tasks_of_program(argument(measure, arguments, "program"));
  if (measure == "example_placements") return example_placements();
  example x;
  return measure == "example_parallelism" ? 7.0 / longest_path_of(x) : longest_path_of(x);
}

}  // namespace kilter::lab
