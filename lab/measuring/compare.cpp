#include "measuring/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/sync.hpp"
#include "measuring/conclusion.hpp"
#include "measuring/evidence.hpp"
#include "measuring/rows.hpp"
#include "session/helping_threads.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

/// Those of the workload with its parameters, and of the graphs.
std::vector<workload> works_of(const compare_specification& asked) {
  std::vector<workload> all;
  if (!asked.workload.empty()) all.push_back(make_workload(asked.workload, asked.parameters));
  for (const std::string& graph : asked.graphs)
    all.push_back(make_named(
        graph, {{"like", asked.like}, {"scale", asked.scale}, {"widths", asked.widths}}));
  all.insert(all.end(), asked.given.begin(), asked.given.end());
  return all;
}

std::vector<engine_choice> machines_of(const compare_specification& asked, const workload& work) {
  if (!asked.on.empty()) return asked.on;
  const auto* data = std::get_if<dag_work>(&work);
  const bool brings = data && !data->what->processors.empty();
  return {read_engine("--on", brings ? "ideal" : "native")};
}

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

std::string cell_name(const experiment& e) {
  return fmt::format("{} on {}", graph_name(e), e.on.written);
}

}  // namespace

criticality criticality_for(const dag& d) {
  return std::ranges::any_of(d.tasks,
                             [](const dag::task& t) { return t.priority == priority::high; })
             ? criticality::user
             : criticality::chain;
}

std::optional<criticality> usual_criticality(const workload& w) {
  const auto* data = std::get_if<dag_work>(&w);
  return data ? std::optional(criticality_for(*data->what)) : std::nullopt;
}

std::vector<experiment> plan(const compare_specification& asked) {
  std::size_t policies = 0;
  for (const policy_list& list : asked.common.policy_lists) policies += list.names.size();
  std::vector<experiment> all;
  for (workload& work : works_of(asked)) {
    specification one = asked.common;
    const std::vector<engine_choice> machines = machines_of(asked, work);
    one.work = std::move(work);
    if (!one.criticality) one.criticality = usual_criticality(one.work);
    if (policies > 1)
      one.policy_lists.insert(one.policy_lists.begin(), {.written = "rws", .names = {"rws"}});
    for (const engine_choice& on : machines) {
      one.on = on;
      all.push_back(plan(one));
    }
  }
  if (all.size() > 1) {
    if (!asked.common.save_table.empty())
      throw input_error(fmt::format(
          "--save-table: {} experiments would write one file; give one graph on one machine",
          all.size()));
    for (experiment& e : all) e.details = false;
  }
  return all;
}

comparison::comparison(std::vector<planned> experiments, std::uint32_t at_a_time, keeping keeps,
                       progress& p)
    : planned_(std::move(experiments)),
      at_a_time_(at_a_time),
      keeps_(keeps),
      progress_(p),
      start_ns_(sync::nanoseconds()),
      rows_(planned_.size()),
      measured_(planned_.size()) {}

void comparison::run_one(std::size_t which) {
  experiment e = planned_[which]();
  const std::string name = cell_name(e);
  progress unseen(0, true);
  const bool alone = planned_.size() == 1;
  const std::shared_ptr<measurement> measured =
      measurement::make(std::move(e), alone ? progress_ : unseen);
  {
    const std::lock_guard lock(mutex_);
    if (!alone) progress_.step(name);
    measured_[which] = measured;
  }
  measured->run();
  const experiment_result r = measured->result();
  const std::lock_guard lock(mutex_);
  rows_[which] = r.rows;
  for (const std::string& note : r.notes) add_once(notes_, note);
  if (keeps_ == keeping::runs) return;
  measured_[which] = nullptr;
  for (const std::string& failure : where_the_bound_fails(measured->plan(), r))
    evidence_.push_back(fmt::format("{}: {}", name, failure));
}

void comparison::work() {
  for (;;) {
    std::size_t which;
    {
      const std::lock_guard lock(mutex_);
      if (next_ == planned_.size() || failed_ || interrupted()) return;
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
  helped_by(std::max<std::size_t>(1, std::min<std::size_t>(at_a_time_, planned_.size())) - 1,
            [this] { work(); });
  if (failed_) std::rethrow_exception(failed_);
  const std::lock_guard lock(mutex_);
  complete_ = !interrupted();
}

comparison::outcome comparison::result() const {
  const std::lock_guard lock(mutex_);
  outcome all{.rows = rows_,
              .experiments = std::vector<finished>(measured_.size()),
              .notes = notes_,
              .findings = {},
              .table_lost = {},
              .complete = complete_,
              .tool_seconds = static_cast<double>(sync::nanoseconds() - start_ns_) * 1e-9};
  std::vector<std::string> evidence = evidence_;
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    if (!measured_[i]) continue;
    const experiment& e = measured_[i]->plan();
    experiment_result r = measured_[i]->result();
    all.rows[i] = r.rows;
    if (keeps_ == keeping::rows) continue;
    for (const std::string& note : r.notes) add_once(all.notes, note);
    if (!r.table_lost.empty()) all.table_lost = r.table_lost;
    const bool alone = measured_.size() == 1;
    for (const std::string& one : alone ? evidence_of(e, r) : where_the_bound_fails(e, r))
      evidence.push_back(alone ? one : fmt::format("{}: {}", cell_name(e), one));
    all.experiments[i] = {std::shared_ptr<const experiment>(measured_[i], &e), std::move(r)};
  }
  all.findings = sentences_of(conclude(all.rows));
  all.findings.insert(all.findings.end(), evidence.begin(), evidence.end());
  return all;
}

}  // namespace kilter::lab
