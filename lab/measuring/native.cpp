#include "measuring/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "measuring/graph_run.hpp"
#include "measuring/rates.hpp"
#include "runtime/attachments.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

/// Keeps a scenario present from before a runtime is made until after its last run, or during each
/// run if it is timed.
class presence_scope {
 public:
  presence_scope(presence& p, double expected_s) : presence_(p), expected_s_(expected_s) {
    if (!p.timed()) p.begin(expected_s);
  }
  ~presence_scope() { presence_.end(); }
  presence_scope(const presence_scope&) = delete;
  presence_scope& operator=(const presence_scope&) = delete;
  void run_begins() {
    if (presence_.timed()) presence_.begin(expected_s_);
    presence_.mark();
  }

 private:
  presence& presence_;
  double expected_s_;
};

bool scenario_is(const rates_of_set& r, const scenario& s, active_set set) {
  return r.disturb == s.name && r.set == set;
}

}  // namespace

native::native(experiment e, progress& p) : measurement(std::move(e), p) {}
native::~native() = default;

void native::build() {
  progress_.step("preparing");
  if (const auto* data = std::get_if<dag_work>(&experiment_.work)) {
    kernels_ = build_native(graph_, *data, *experiment_.machine);
  } else if (const auto* drawn = std::get_if<random_dag>(&experiment_.work)) {
    kernels_ = build_native(graph_, *drawn, *experiment_.machine);
  } else {
    const auto& work = std::get<layered_work>(experiment_.work);
    kernels_.all.push_back(
        apps::make_kernel(work.kernel, work.tile,
                          {.sweeps = work.sweeps,
                           .concurrency = std::max(16u, 4 * experiment_.machine->core_count())}));
    build_layered(graph_, work.shape, *kernels_.all.front());
    tasks_ = work.shape.tasks;
    path_tasks_ = longest_path(work.shape);
  }
  for (const scenario& s : experiment_.scenarios) {
    presences_.push_back(std::make_unique<presence>(*experiment_.machine, s.parts));
    const auto notes = presences_.back()->notes();
    measured_.notes.insert(measured_.notes.end(), notes.begin(), notes.end());
  }
}

rate_sample native::pinned_loops() {
  const auto loops = [&](std::size_t kernel, std::span<const std::uint32_t> widths) {
    return measure_rates(*kernels_.all[kernel], *experiment_.machine, experiment_.calibration_s,
                         widths);
  };
  if (kernels_.of_type.empty()) return loops(0, {});  // all tasks are equal
  const std::vector<double> nothing(experiment_.machine->core_count(), 0.0);
  std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, rate_sample> measured;
  std::vector<rate_sample> by_type;
  for (std::size_t t = 0; t < kernels_.of_type.size(); ++t) {
    const std::size_t kernel = kernels_.of_type[t];
    if (kernel == no_kernel) {
      by_type.push_back(
          {.alone_per_s = nothing, .together_per_s = nothing, .single_per_s = nothing});
      continue;
    }
    const std::vector<std::uint32_t> widths =
        t < kernels_.widths.size() ? kernels_.widths[t] : std::vector<std::uint32_t>{};
    const auto [at, fresh] = measured.try_emplace({kernel, widths});
    if (fresh) at->second = loops(kernel, widths);
    if (interrupted()) return {};
    by_type.push_back(at->second);
  }
  if (!mix_) count_tasks(by_type);
  return mix_->rates(by_type);
}

void native::count_tasks(const std::vector<rate_sample>& undisturbed) {
  mix_.emplace(graph_, undisturbed);
  tasks_ = mix_->tasks();
  path_tasks_ = mix_->path_tasks();
  double sequential_s = std::numeric_limits<double>::infinity();
  for (core_id c = 0; c < experiment_.machine->core_count(); ++c) {
    const auto on_core = [&](const task_facts& t) {
      return t.work / undisturbed[t.type].single_per_s[c];
    };
    sequential_s = std::min(sequential_s,
                            measure(graph_, on_core, [](const task_facts&) { return 0.0; }).work_s);
  }
  const std::lock_guard lock(mutex_);
  measured_.sequential_s = sequential_s;
}

void native::measure_bounds(bool after) {
  for (const scenario& s : experiment_.scenarios) {
    // Before the undisturbed rates are known nothing bounds the length of a run; "none" comes
    // first, and has one set.
    const double longest_s =
        s.parts.empty() ? 1.0 : 4.0 * bound_of(experiment_.scenarios.front(), measured_.rates);
    for (const active_set set : sets_within(s.parts, longest_s)) {
      if (interrupted()) return;
      if (set == 0 && !s.parts.empty()) continue;  // the undisturbed rates serve
      progress_.step(fmt::format("pinned loops for the bound, {}", s.name));
      presence around(*experiment_.machine, steady_parts(s.parts, set));
      around.begin(longest_s);
      rate_sample sample = pinned_loops();
      if (interrupted()) return;
      sample.after = after;
      const std::lock_guard lock(mutex_);
      auto found = std::find_if(measured_.rates.begin(), measured_.rates.end(),
                                [&](const auto& r) { return scenario_is(r, s, set); });
      if (found == measured_.rates.end()) found = measured_.rates.insert(found, {s.name, set, {}});
      found->samples.push_back(std::move(sample));
    }
  }
  const std::lock_guard lock(mutex_);
  const speed undisturbed = speed_from(measured_.rates.front().samples);
  measured_.path_s = static_cast<double>(path_tasks_) / undisturbed.freest_per_s;
  if (mix_) return;
  double singly_per_s = 0.0;
  for (const rate_sample& s : measured_.rates.front().samples)
    singly_per_s += std::ranges::max(s.single_per_s);
  measured_.sequential_s =
      static_cast<double>(tasks_ * measured_.rates.front().samples.size()) / singly_per_s;
}

std::vector<native::combination> native::combinations() {
  std::vector<combination> all;
  for (std::size_t s = 0; s < experiment_.scenarios.size(); ++s)
    for (const std::string& p : experiment_.policies)
      all.push_back({&experiment_.scenarios[s], &p, presences_[s].get()});
  return all;
}

runtime_options native::options_for(const combination& c, std::uint32_t repeat) const {
  runtime_options o = experiment_.options;
  o.custom = policy_of(*c.policy, experiment_);
  o.seed = random_stream(experiment_.seed, "run", repeat).next();
  return o;
}

std::optional<core_id> native::root_of(std::uint32_t repeat) const {
  if (experiment_.root == submitter::outside) return std::nullopt;
  return repeat % experiment_.machine->core_count();
}

void native::run_one(const combination& c, std::uint32_t repeat) {
  const double expected_s = bound_of(*c.what, measured_.rates);
  presence_scope around(*c.around, expected_s);
  runtime rt(options_for(c, repeat));
  if (!experiment_.load_table.empty()) rt.load_table(experiment_.load_table);
  for (std::uint32_t g = 0; g < experiment_.graphs && !interrupted(); ++g) {
    run_row row{.policy = *c.policy,
                .disturb = c.what->name,
                .repeat = repeat,
                .graph = g,
                .root_core = root_of(repeat)};
    around.run_begins();
    if (!run_graph(rt, graph_, row.root_core, row.stats)) return;
    const presence::effect effect = c.around->since_mark();
    row.throughput_per_s = static_cast<double>(row.stats.tasks) / row.stats.seconds;
    row.achieved_share = effect.share;
    row.disturber_progress = effect.progress;
    const std::lock_guard lock(mutex_);
    measured_.runs.push_back(std::move(row));
  }
  if (saves_table(experiment_, *c.what, repeat))
    save_table([&] { rt.save_table(experiment_.save_table); });
}

void native::measure_runs() {
  const auto all = combinations();
  for (std::uint32_t repeat = 0; repeat < experiment_.repeats; ++repeat) {
    const std::uint32_t offset = random_stream(experiment_.seed, "order", repeat)
                                     .below(static_cast<std::uint32_t>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (interrupted()) return;
      const combination& c = all[(i + offset) % all.size()];
      progress_.step(fmt::format("{}, {}, repeat {}", *c.policy, c.what->name, repeat + 1));
      run_one(c, repeat);
    }
  }
}

void native::trace_one(const combination& c) {
  detail d{.policy = *c.policy, .disturb = c.what->name};
  const double expected_s = bound_of(*c.what, measured_.rates);
  trace::recorder events(experiment_.machine->core_count());
  {
    presence_scope around(*c.around, expected_s);
    runtime rt(options_for(c, 0), kilter::detail::attachments{.events = &events});
    if (!experiment_.load_table.empty()) rt.load_table(experiment_.load_table);
    around.run_begins();
    execution_stats stats;
    if (!run_graph(rt, graph_, root_of(0), stats)) return;
    d.seconds = stats.seconds;
  }
  take_events(d, events);
  const std::lock_guard lock(mutex_);
  measured_.details.push_back(std::move(d));
}

void native::trace_runs() {
  for (const combination& c : combinations()) {
    if (interrupted()) return;
    progress_.step(fmt::format("tracing {}, {}", *c.policy, c.what->name));
    trace_one(c);
  }
}

void native::run() {
  build();
  measure_bounds(false);
  measure_runs();
  measure_bounds(true);
  if (experiment_.details) trace_runs();
  const std::lock_guard lock(mutex_);
  measured_.complete = !interrupted();
}

}  // namespace kilter::lab
