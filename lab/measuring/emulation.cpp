#include "measuring/emulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/node.hpp"
#include "kilter/error.hpp"
#include "measuring/graph_run.hpp"
#include "measuring/simulation.hpp"
#include "runtime/attachments.hpp"
#include "session/interrupt.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

/// A thread that sleeps wakes 35 to 50 us late (six threads on two cores, with real-time priority
/// and the cores busy; one wake-up in a hundred takes 0.1 ms), so a body of this length is about 2
/// % too long.
constexpr double shortest_sleep_s = 2e-3;

/// Ends it before the runtime goes, whatever happens: workers must not wait for cores that nobody
/// gives back.
class while_it_goes {
 public:
  explicit while_it_goes(emulated_machine& m) : machine_(m) { machine_.begin(); }
  ~while_it_goes() { machine_.end(); }
  while_it_goes(const while_it_goes&) = delete;
  while_it_goes& operator=(const while_it_goes&) = delete;

 private:
  emulated_machine& machine_;
};

}  // namespace

double shortest_task_s(graph& g, const task_graph& made, const sim::platform& p) {
  std::vector<double> by_type;
  for (const sim::type_work& what : made.types) {
    double least = what.fixed_s > 0.0 ? what.fixed_s : std::numeric_limits<double>::infinity();
    if (!what.kernel.empty())
      for (kind_id k = 0; k < p.cores->kinds().size(); ++k)
        least = std::min(least, std::ranges::min(sim::cost_of(p, what, k).seconds));
    by_type.push_back(least);
  }
  double least = std::numeric_limits<double>::infinity();
  const auto& core = kilter::detail::graph_access::core(g);
  core.for_each_node([&](const kilter::detail::node* n) {
    const kilter::detail::cold_data* own = kilter::detail::cold_of(n);
    least = std::min(
        least, by_type[core.kinds[n->kind].type] * (own && own->work > 0.0 ? own->work : 1.0));
  });
  return least == std::numeric_limits<double>::infinity() ? 0.0 : least;
}

double emulation_scale(double shortest_task_s) noexcept {
  double scale = 1.0;
  while (shortest_task_s > 0.0 && shortest_task_s * scale < shortest_sleep_s) scale *= 2.0;
  return scale;
}

std::string emulation_note(const emulation_report& r) {
  std::string text = fmt::format(
      "Emulated: one second of the platform lasted {:g} s here, and its shortest task {}; all "
      "figures are in the platform's time.",
      r.scale, seconds_text(r.shortest_task_s * r.scale));
  if (r.late.tasks == 0) return text;
  return text +
         fmt::format(
             " Bodies ended {} later than the model ends them, {:.1f} % of their length, and {} at "
             "most{}.",
             seconds_text(r.late.late_s / static_cast<double>(r.late.tasks)),
             100.0 * r.late.late_s / r.late.modelled_s, seconds_text(r.late.most_s),
             r.late.late_s > 0.1 * r.late.modelled_s ? "; a larger SCALE makes that less" : "");
}

emulation::emulation(experiment e, progress& p) : modelled(std::move(e), p, this) {
  if (!made_.apart.empty())
    throw input_error(
        "--nodes apart: an emulated machine has one runtime; simulate it (--on sim:PLATFORM) or "
        "take --nodes shared");
  emulation_report how;
  how.shortest_task_s = shortest_task_s(graph_, made_, *experiment_.simulated);
  how.scale =
      experiment_.on.scale > 0.0 ? experiment_.on.scale : emulation_scale(how.shortest_task_s);
  measured_.emulation = how;
}

void emulation::run_one(const scenario& s, const std::string& policy, std::uint32_t repeat,
                        bool traced) {
  const sim::engine_options like =
      simulated_options(experiment_, s, policy, repeat, bound_of(s, measured_.rates));
  emulated_machine machine(
      {*experiment_.simulated, measured_.emulation->scale, like.disturbances, like.seed},
      made_.types);
  machine_ = &machine;
  detail d{.policy = policy, .disturb = s.name, .repeat = repeat};
  std::optional<trace::recorder> events;
  runtime_options o = experiment_.options;
  o.custom = like.policy;
  o.seed = like.seed;
  o.pinned = false;
  kilter::detail::attachments attached{.emulated = &machine};
  if (traced) attached.events = &events.emplace(experiment_.machine->core_count());
  {
    runtime rt(o, attached);
    if (!experiment_.load_table.empty()) rt.load_table(experiment_.load_table);
    const while_it_goes goes(machine);
    for (std::uint32_t graph = 0; graph < (traced ? 1 : experiment_.graphs) && !interrupted();
         ++graph) {
      run_row row{.policy = policy, .disturb = s.name, .repeat = repeat, .graph = graph};
      if (experiment_.root == submitter::core)
        row.root_core = repeat % experiment_.machine->core_count();
      if (!run_graph(rt, graph_, row.root_core, row.stats)) return;
      d.seconds = row.stats.seconds;
      row.throughput_per_s = static_cast<double>(row.stats.tasks) / row.stats.seconds;
      if (const auto others = machine.co_runners(); others.there_s > 0.0) {
        row.achieved_share = 1.0 - others.got_s / others.there_s;
        row.disturber_progress = others.got_s / others.there_s;
      }
      if (traced) break;
      const std::lock_guard lock(mutex_);
      measured_.runs.push_back(std::move(row));
    }
    if (!traced && saves_table(experiment_, s, repeat))
      save_table([&] { rt.save_table(experiment_.save_table); });
  }
  if (traced) take_events(d, *events);
  const std::lock_guard lock(mutex_);
  measured_.emulation->late.add(machine.late());
  if (traced) measured_.details.push_back(std::move(d));
}

}  // namespace kilter::lab
