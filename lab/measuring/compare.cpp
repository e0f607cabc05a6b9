#include "measuring/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/sync.hpp"
#include "measuring/conclusions.hpp"
#include "session/helping_threads.hpp"
#include "session/interrupt.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

const compare_row* row_of(const std::vector<compare_row>& rows, const std::string& disturb,
                          std::string_view policy) {
  const auto found = std::ranges::find_if(
      rows, [&](const compare_row& r) { return r.disturb == disturb && r.policy == policy; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

criticality criticality_for(const dag& d) {
  return std::ranges::any_of(d.tasks,
                             [](const dag::task& t) { return t.priority == priority::high; })
             ? criticality::user
             : criticality::chain;
}

bool is_planned(std::string_view policy) noexcept { return policy == "heft" || policy == "cpop"; }

criticality criticality_for(const workload& w) {
  if (const auto* data = std::get_if<dag_work>(&w)) return criticality_for(*data->what);
  return std::holds_alternative<random_dag>(w) || std::holds_alternative<vgg16>(w)
             ? criticality::chain
             : criticality::user;
}

std::string graph_name(const experiment& e) {
  const auto* data = std::get_if<dag_work>(&e.work);
  return data ? data->from : std::string(name_of(e.work));
}

std::vector<compare_row> rows_of(const experiment& e, const bench_result& r) {
  std::vector<compare_row> rows;
  const auto* data = std::get_if<dag_work>(&e.work);
  const std::string about = data ? widths_note(*data, *e.machine) : title_of(e.work);
  for (const scenario& s : e.scenarios)
    for (const std::string& policy : e.policies) {
      compare_row row{.graph = graph_name(e),
                      .on = e.on.written,
                      .disturb = s.name,
                      .policy = policy,
                      .about = about,
                      .in_virtual_time = e.simulated && !e.on.emulated};
      if (data) row.scale = data->scale, row.widths = widths_text(data->widths);
      for (const disturbance& d : s.parts) row.kinds.push_back(d.kind);
      std::vector<double> seconds, planning_s;
      for (const run_row& run : r.runs)
        if (run.policy == policy && run.disturb == s.name && !run.warm()) {
          seconds.push_back(run.stats.seconds);
          if (run.stats.plan_s > 0.0) planning_s.push_back(run.stats.plan_s);
          row.bound_s = run.bound_s;
        }
      if (seconds.empty()) continue;
      const spread taken = spread_of(seconds);
      row.runs = static_cast<std::uint32_t>(seconds.size());
      row.makespan_s = taken.median;
      row.least_s = taken.smallest;
      row.most_s = taken.largest;
      row.runs_s = std::move(seconds);
      row.ratio_to_bound = row.bound_s / row.makespan_s;
      row.slr = row.makespan_s / r.path_s;
      row.speedup = r.sequential_s / row.makespan_s;
      row.efficiency = row.speedup / e.machine->core_count();
      if (!planning_s.empty()) row.plan_s = median(planning_s);
      rows.push_back(std::move(row));
    }
  for (compare_row& row : rows)
    if (const compare_row* rws = row_of(rows, row.disturb, "rws"))
      row.ratio_to_rws = rws->makespan_s / row.makespan_s;
  return rows;
}

std::vector<experiment> plan(const compare_specification& asked) {
  std::vector<experiment> all;
  for (const std::string& graph : asked.graphs) {
    specification one = asked.common;
    one.work =
        make_named(graph, {{"like", asked.like}, {"scale", asked.scale}, {"widths", asked.widths}});
    one.details = false;
    if (!one.criticality) one.criticality = criticality_for(one.work);
    one.policy_lists.insert(one.policy_lists.begin(), {.written = "rws", .names = {"rws"}});
    std::vector<engine_choice> machines = asked.on;
    if (machines.empty()) {
      const auto* data = std::get_if<dag_work>(&one.work);
      machines = {
          read_engine("--on", !data || data->what->processors.empty() ? "native" : "ideal")};
    }
    for (const engine_choice& on : machines) {
      one.on = on;
      all.push_back(plan(one));
    }
  }
  return all;
}

comparison::comparison(std::vector<planned> experiments, std::uint32_t at_a_time, progress& p)
    : experiments_(std::move(experiments)),
      at_a_time_(at_a_time),
      progress_(p),
      start_ns_(sync::nanoseconds()),
      rows_(experiments_.size()),
      running_(experiments_.size()) {}

void comparison::run_one(std::size_t which) {
  experiment e = experiments_[which]();
  const std::string name = fmt::format("{} on {}", graph_name(e), e.on.written);
  progress unseen(0, true);
  const bool alone = experiments_.size() == 1;
  const std::shared_ptr<measurement> measured =
      measurement::make(std::move(e), alone ? progress_ : unseen);
  {
    const std::lock_guard lock(mutex_);
    if (!alone) progress_.step(name);
    running_[which] = measured;
  }
  measured->run();
  const bench_result r = measured->result();
  auto rows = rows_of(measured->plan(), r);
  const std::lock_guard lock(mutex_);
  rows_[which] = std::move(rows);
  running_[which] = nullptr;
  for (const std::string& note : r.notes)
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  for (const std::string& failure : where_the_bound_fails(measured->plan(), r))
    notes_.push_back(fmt::format("{} on {}: {}", graph_name(measured->plan()),
                                 measured->plan().on.written, failure));
}

void comparison::work() {
  for (;;) {
    std::size_t which;
    {
      const std::lock_guard lock(mutex_);
      if (next_ == experiments_.size() || failed_ || interrupted()) return;
      which = next_++;
    }
    try {
      run_one(which);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::current_exception();
    }
  }
}

void comparison::run() {
  helped_by(std::max<std::size_t>(1, std::min<std::size_t>(at_a_time_, experiments_.size())) - 1,
            [this] { work(); });
  if (failed_) std::rethrow_exception(failed_);
  const std::lock_guard lock(mutex_);
  complete_ = !interrupted();
}

comparison::outcome comparison::result() const {
  const std::lock_guard lock(mutex_);
  outcome all{.rows = rows_,
              .notes = notes_,
              .complete = complete_,
              .tool_seconds = static_cast<double>(sync::nanoseconds() - start_ns_) * 1e-9};
  for (std::size_t i = 0; i < running_.size(); ++i)
    if (running_[i]) all.rows[i] = rows_of(running_[i]->plan(), running_[i]->result());
  return all;
}

}  // namespace kilter::lab
