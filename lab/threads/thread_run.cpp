#include "threads/thread_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "balance/measures.hpp"
#include "balance/predictor.hpp"
#include "balance/symmetry.hpp"
#include "base/random.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

constexpr double slice_s = 10.0;  // of the error over time

/// What the simulator shows as a scheduler's observation, and the scheduler's moves as the
/// simulator's.
class watched_by_scheduler final : public sim::thread_watcher {
 public:
  watched_by_scheduler(balance::scheduler& s, const thread_platform& on,
                       std::span<const sim::thread_program> programs, bool by_critical_length,
                       std::uint64_t seed)
      : scheduler_(s),
        platform_(on),
        programs_(programs),
        by_critical_length_(by_critical_length),
        background_(seed, "background") {}

  core_id place(const sim::thread_birth& b, std::span<const std::uint32_t> taken) override {
    if (programs_[b.program].background) return free_core(b.index % 2, taken);
    const core_id wanted =
        scheduler_.place({b.thread, b.program, b.length, b.critical_length,
                          by_critical_length_ ? b.critical_lengths : b.lengths, b.index},
                         taken);
    if (wanted != no_core || !platform_.start_on_halves) return wanted;
    return free_core(b.index < b.lengths.size() / 2 ? 0 : 1, taken);
  }

  double first_s() const override { return scheduler_.first_s(); }

  double look(double now_s, double length_s, std::span<const sim::thread_counters> seen,
              std::vector<sim::thread_move>& moves) override {
    compare(seen, now_s, length_s);
    balance::observation o{.now_s = now_s, .length_s = length_s, .rates = true, .threads = {}};
    for (const sim::thread_counters& c : seen) {
      balance::thread_sample s;
      s.thread = c.thread;
      s.program = c.program;
      s.core = c.core;
      s.background = programs_[c.program].background;
      s.runnable = c.runnable;
      s.movable = programs_[c.program].movable;
      s.ran_s = c.ran_s;
      s.waited_s = c.waited_s;
      s.misses = seen_misses(c, length_s);
      if (c.references > 0.0) s.miss_ratio = c.misses / c.references;
      s.instructions = c.instructions;
      o.threads.push_back(s);
    }
    const balance::answer a = scheduler_.tick(o);
    for (const balance::move& m : a.moves) moves.push_back({m.thread, m.to});
    ++quanta;
    swaps += a.swaps;
    rejected += a.rejected;
    expected_.clear();
    for (const balance::expectation& e : a.expected) expected_[e.thread] = e.misses_per_s;
    return a.next_s;
  }

  void ended(std::uint32_t thread, double) override {
    expected_.erase(thread);
    ended_now_ = true;
  }

  [[nodiscard]] prediction_errors errors() const {
    prediction_errors e;
    sum_of all;
    for (const auto& [thread, one] : by_thread_) {
      e.mean_by_thread.push_back(one.errors.mean());
      all.sum += one.errors.sum;
      all.count += one.errors.count;
    }
    e.mean = all.mean();
    take_times(single_, e);
    return e;
  }

  [[nodiscard]] prediction_errors errors_of_sums() const {
    prediction_errors e;
    for (const auto& [thread, one] : by_thread_)
      if (const auto error = balance::prediction_error(one.expected, one.achieved))
        e.mean_by_thread.push_back(*error);
    e.mean = e.mean_by_thread.empty() ? nan : mean(e.mean_by_thread);
    take_times(summed_, e);
    return e;
  }

  std::uint64_t swaps = 0, rejected = 0, quanta = 0;

 private:
  struct sum_of {
    double sum = 0.0;
    std::uint64_t count = 0;
    void add(double v) {
      sum += v;
      ++count;
    }
    [[nodiscard]] double mean() const { return count > 0 ? sum / static_cast<double>(count) : nan; }
  };
  struct thread_error {
    sum_of errors;
    double expected = 0.0, achieved = 0.0;  // misses a second, added up over the quanta
  };
  /// Errors by when they were made: sizes near the end of a thread and far from one, signed ones in
  /// each slice of the run.
  struct errors_in_time {
    sum_of near, far;
    std::vector<sum_of> slices;
    void add(double error, bool after_end, std::size_t slice) {
      (after_end ? near : far).add(std::abs(error));
      if (slices.size() <= slice) slices.resize(slice + 1);
      slices[slice].add(error);
    }
  };
  static void take_times(const errors_in_time& from, prediction_errors& e) {
    e.after_ends = from.near.mean();
    e.otherwise = from.far.mean();
    for (const sum_of& one : from.slices) e.by_slice.push_back(one.mean());
  }

  [[nodiscard]] double seen_misses(const sim::thread_counters& c, double length_s) const {
    if (!platform_.per_cycle || c.ran_s <= 0.0) return c.misses;
    return c.misses / (c.ran_s * platform_.simulated.cores[c.core].clock) * length_s;
  }

  /// Background threads begin on either socket in turn and stay, as the public code starts each
  /// application (papers.md A5.2): they are nobody's to move, and where they are says how many
  /// cores of each kind the others have.
  core_id free_core(std::uint32_t socket, std::span<const std::uint32_t> taken) {
    std::vector<core_id> free;
    for (core_id c = 0; c < taken.size(); ++c)
      if (taken[c] == 0 && platform_.simulated.cores[c].socket == socket) free.push_back(c);
    return free.empty() ? no_core
                        : free[background_.below(static_cast<std::uint32_t>(free.size()))];
  }

  void compare(std::span<const sim::thread_counters> seen, double now_s, double length_s) {
    const bool near = ended_now_ || ended_before_;
    ended_before_ = ended_now_;
    ended_now_ = false;
    const auto slice = static_cast<std::size_t>((now_s - length_s) / slice_s);
    double expected = 0.0, achieved = 0.0;
    for (const sim::thread_counters& c : seen) {
      const auto e = expected_.find(c.thread);
      if (e == expected_.end()) continue;
      const double rate = seen_misses(c, length_s) / length_s;
      expected += e->second;
      achieved += rate;
      const auto error = balance::prediction_error(e->second, rate);
      if (!error) continue;
      thread_error& of = by_thread_[c.thread];
      of.errors.add(*error);
      of.expected += e->second;
      of.achieved += rate;
      single_.add(*error, near, slice);
    }
    if (const auto error = balance::prediction_error(expected, achieved))
      summed_.add(*error, near, slice);
  }

  balance::scheduler& scheduler_;
  const thread_platform& platform_;
  std::span<const sim::thread_program> programs_;
  bool by_critical_length_;
  random_stream background_;
  std::map<std::uint32_t, double> expected_;
  std::map<std::uint32_t, thread_error> by_thread_;
  errors_in_time single_, summed_;
  bool ended_now_ = false, ended_before_ = false;
};

thread_sameness sameness_of(const sim::threads_result& r,
                            std::span<const sim::thread_program> programs) {
  thread_sameness s;
  std::vector<balance::thread_life> lives;
  for (const sim::thread_result& t : r.threads) {
    lives.push_back({t.born_s, t.ended_s});
    s.work_s.push_back(t.work_s);
    const auto& steps = programs[t.program].groups[t.group].threads[t.index].steps;
    s.locks.push_back(static_cast<double>(
        std::ranges::count(steps, sim::step_kind::lock, &sim::thread_step::kind)));
    s.barriers.push_back(static_cast<double>(
        std::ranges::count(steps, sim::step_kind::barrier, &sim::thread_step::kind)));
  }
  s.group = balance::thread_groups(lives);
  return s;
}

double slowest(const benchmark_times& b) { return *std::ranges::max_element(b.seconds); }

}  // namespace

std::vector<double> thread_sameness::primitives() const {
  std::vector<double> both = locks;
  for (std::size_t t = 0; t < both.size(); ++t) both[t] += barriers[t];
  return both;
}

double thread_run::fairness() const {
  std::vector<std::vector<double>> times;
  for (const benchmark_times& b : benchmarks) times.push_back(b.seconds);
  return balance::run_time_fairness(times);
}

double thread_run::slowdown_ratio() const {
  std::vector<double> together, alone;
  for (const benchmark_times& b : benchmarks) {
    together.insert(together.end(), b.seconds.begin(), b.seconds.end());
    alone.insert(alone.end(), b.alone_s.begin(), b.alone_s.end());
  }
  return balance::slowdown_ratio(together, alone);
}

double thread_run::mean_time_s() const {
  std::vector<double> all;
  for (const benchmark_times& b : benchmarks)
    all.push_back(of_copies == copy_time::mean ? balance::arithmetic_mean(b.seconds) : slowest(b));
  return geometric_mean(all);
}

double thread_run::time_s(const std::string& benchmark) const {
  const auto b = std::ranges::find(benchmarks, benchmark, &benchmark_times::name);
  return b == benchmarks.end() ? nan : slowest(*b);
}

thread_run run_thread_programs(const thread_platform& on,
                               std::span<const sim::thread_program> programs,
                               const std::string& policy, const balance::scheduler_options& options,
                               std::uint64_t seed) {
  balance::scheduler_options o = options;
  o.seed = seed;
  const auto scheduler = balance::make_scheduler(policy, *on.cores, o);
  watched_by_scheduler watcher(*scheduler, on, programs, policy == "cjfpf", seed);
  const sim::threads_result r = sim::run_threads(on.simulated, programs, seed, &watcher);
  thread_run run{.end_s = r.end_s,
                 .swaps = watcher.swaps,
                 .rejected = watcher.rejected,
                 .quanta = watcher.quanta,
                 .errors = watcher.errors(),
                 .errors_of_sums = watcher.errors_of_sums()};
  for (core_id c = 0; c < r.busy_s.size(); ++c) {
    const double clock = on.simulated.cores[c].clock;
    run.dynamic_energy_s += r.busy_s[c] * clock * clock * clock;
  }
  run.busy_s = r.busy_s;
  run.sameness = sameness_of(r, programs);
  std::map<std::uint32_t, benchmark_times> times;
  for (const sim::thread_result& t : r.threads) {
    run.moves += t.moves;
    if (programs[t.program].background) continue;
    run.work_s += t.work_s;
    benchmark_times& b = times[t.program];
    b.name = programs[t.program].name;
    b.seconds.push_back(t.ended_s - t.born_s);
    b.alone_s.push_back(t.work_s);
  }
  for (auto& [program, b] : times) run.benchmarks.push_back(std::move(b));
  return run;
}

}  // namespace kilter::lab
