#include "study/runner.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>

#include "measuring/rates.hpp"
#include "peers/environment.hpp"
#include "session/interrupt.hpp"
#include "study/bound.hpp"
#include "study/lost.hpp"

namespace kilter::bench {

namespace {

/// Long enough for a co-runner to have had its first slices, so that a run meets it as it stays.
constexpr double settle_s = 0.05;
/// Of one pinned loop: many slices of the operating system.
constexpr double loop_s = 0.3;
/// Peers run every task on one core, and so does the bound.
constexpr std::uint32_t one_core[] = {1};

}  // namespace

double expected_s(const cell& c) { return c.length_s * c.graphs * 1.2 + 0.08; }
double expected_bound_s(const cell& c) {
  return (c.repeats + 1) * (c.alternates() ? 2.0 : 1.0) * (3.0 * loop_s + settle_s + 0.1);
}

runner::runner(std::shared_ptr<const machine> m, journal& j, study_progress& p)
    : machine_(std::move(m)), journal_(j), shown_(p), build_(build_identity()) {}

void runner::run(const std::vector<cell>& cells, const std::vector<const system*>& systems) {
  if (!journal_.product_64_s()) {
    use_kernel(64);
    const auto sample = lab::measure_rates(*kernel_, *machine_, loop_s, one_core);
    if (lab::interrupted()) return;
    journal_.set_product_64(
        1.0 / *std::max_element(sample.alone_per_s.begin(), sample.alone_per_s.end()));
  }
  for (const cell& c : cells) {
    if (lab::interrupted()) return;
    run_cell(c, systems);
  }
}

void runner::use_kernel(std::uint32_t tile) {
  if (kernel_ && kernel_->tile() == tile) return;
  kernel_.reset();
  kernel_ =
      apps::make_kernel("matmul", tile, {.concurrency = std::max(16u, 4 * machine_->core_count())});
}

void runner::run_cell(const cell& c, const std::vector<const system*>& systems) {
  const auto missing = [&](const system& s, std::uint32_t repeat) {
    return !journal_.has(c.id(), s.name, repeat);
  };
  bool any = false;
  for (std::uint32_t repeat = 0; repeat < c.repeats; ++repeat)
    for (const system* s : systems) any = any || missing(*s, repeat);
  if (!any) return;

  const auto known = journal_.setup(c.id());
  use_kernel(known ? known->tile : tile_for(c, *journal_.product_64_s()));
  disturber_ = c.parts.empty() ? nullptr : std::make_unique<lab::disturber>(*machine_, c.parts);
  std::optional<std::uint32_t> measured_before;  // the repeat before which the loops last ran
  for (std::uint32_t repeat = 0; repeat < c.repeats; ++repeat) {
    if (std::none_of(systems.begin(), systems.end(),
                     [&](const system* s) { return missing(*s, repeat); }))
      continue;
    if (measured_before != repeat) measure_rates(c, repeat);
    if (lab::interrupted()) return;
    prepare(c);
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const system& s = *systems[(i + repeat) % systems.size()];
      if (!missing(s, repeat)) continue;
      shown_.begin(c.id() + ", " + s.name + ", repeat " + std::to_string(repeat + 1));
      const auto records = run_once(c, s, repeat);
      if (lab::interrupted()) return;
      journal_.add(records);
      shown_.end(expected_s(c));
    }
    measure_rates(c, repeat + 1);
    measured_before = repeat + 1;
  }
  disturber_.reset();
}

void runner::measure_rates(const cell& c, std::uint32_t repeat) {
  shown_.begin(c.id() + ", pinned loops for the bound");
  for (const lab::active_set set : lab::sets_within(c.parts, c.length_s)) {
    const auto steady = lab::steady_parts(c.parts, set);
    std::optional<lab::disturber> loads;
    if (!steady.empty()) {
      loads.emplace(*machine_, steady);
      loads->start();
      lab::interruptible_sleep(settle_s);
    }
    const lab::rate_sample sample = lab::measure_rates(*kernel_, *machine_, loop_s, one_core);
    if (lab::interrupted()) return;
    journal_.add(rates_record{c.id(), set, repeat, sample});
  }
  shown_.end(expected_bound_s(c) / (c.repeats + 1));
}

/// Sizes the DAG so that its bound is the cell's length, once for all runs of the cell.
void runner::prepare(const cell& c) {
  auto setup = journal_.setup(c.id());
  if (!setup) {
    const auto bound_of = [&](double tasks) {
      return bound_s(c, static_cast<std::uint32_t>(tasks), journal_);
    };
    double tasks = 1000.0;
    for (int i = 0; i < 8; ++i) tasks = std::clamp(tasks * c.length_s / bound_of(tasks), 4.0, 5e7);
    auto whole = static_cast<std::uint32_t>(std::lround(tasks));
    if (c.barriers) whole = barriers(whole, c.parallelism).size();
    setup = cell_setup{kernel_->tile(), whole};
    journal_.add(c.id(), *setup);
  }
  dag_ = c.barriers ? barriers(setup->tasks, c.parallelism)
                    : layered({.tasks = setup->tasks, .parallelism = c.parallelism});
  ends_.assign(dag_.size(), 0);
}

std::vector<run_record> runner::run_once(const cell& c, const system& s, std::uint32_t repeat) {
  kernel_->reset();
  if (disturber_ && !c.alternates()) {
    disturber_->start();
    lab::interruptible_sleep(settle_s);
  }
  std::vector<run_record> records;
  std::exception_ptr failed;
  // A thread of its own, so that no run inherits where the last one has put its thread.
  std::thread([&] {
    try {
      records = run_graphs(c, s, repeat);
    } catch (const cancelled_error&) {
    } catch (...) {
      failed = std::current_exception();
    }
  }).join();
  if (disturber_) disturber_->stop();
  if (failed) std::rethrow_exception(failed);
  return records;
}

std::vector<run_record> runner::run_graphs(const cell& c, const system& s, std::uint32_t repeat) {
  const core_id start_core = repeat % machine_->core_count();
  const core_id root = c.outside() ? no_core : start_core;
  const workload work{.kernel = kernel_.get(), .ends = &ends_};
  const auto who = s.make(machine_, root, repeat + 1);
  who->build(dag_, work);
  std::vector<run_record> records;
  for (std::uint32_t graph = 0; graph < c.graphs && !lab::interrupted(); ++graph) {
    std::fill(ends_.begin(), ends_.end(), 0);
    if (c.alternates()) disturber_->start();
    const std::uint64_t start = sync::cycles();
    who->run(root);
    const double per_s = sync::cycles_per_second();
    run_record r{c.id(), s.name, build_, repeat, graph, start_core};
    r.seconds = static_cast<double>(*std::max_element(ends_.begin(), ends_.end()) - start) / per_s;
    r.critical_on_core_0 = who->critical_on_core_0();
    if (c.alternates())
      r.lost_ms = lost_at_changes(ends_, start, per_s, c.parts.front().half_period_s);
    records.push_back(std::move(r));
  }
  who->clear();
  return records;
}

}  // namespace kilter::bench
