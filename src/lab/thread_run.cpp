#include "lab/thread_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "balance/measures.hpp"
#include "balance/predictor.hpp"
#include "balance/symmetry.hpp"
#include "base/random.hpp"
#include "lab/stats.hpp"

namespace kilter::lab {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr double slice_s = 10.0;   // of the error over time

double mean_of(double sum, std::uint64_t count) { return count > 0 ? sum / static_cast<double>(count) : nan; }

/// What the simulator shows as a scheduler's observation, and the scheduler's moves as the simulator's.
class watched_by_scheduler final : public sim::thread_watcher {
 public:
  watched_by_scheduler(balance::scheduler& s, const thread_platform& on, std::span<const sim::thread_program> programs, bool by_critical_length,
                       std::uint64_t seed)
      : scheduler_(s), platform_(on), programs_(programs), by_critical_length_(by_critical_length), background_(seed, "background") {}

  core_id place(const sim::thread_birth& b, std::span<const std::uint32_t> taken) override {
    if (programs_[b.program].background) return free_core(b.index % 2, taken);
    return scheduler_.place({b.thread, b.program, b.length, b.critical_length, by_critical_length_ ? b.critical_lengths : b.lengths, b.index}, taken);
  }

  double first_s() const override { return scheduler_.first_s(); }

  double look(double now_s, double length_s, std::span<const sim::thread_counters> seen, std::vector<sim::thread_move>& moves) override {
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
      s.misses = c.misses;
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
    double sum = 0.0;
    std::uint64_t count = 0;
    for (const auto& [thread, one] : by_thread_) {
      e.mean_by_thread.push_back(mean_of(one.sum, one.count));
      if (const auto error = balance::prediction_error(one.expected, one.achieved)) e.of_sums_by_thread.push_back(*error);
      sum += one.sum;
      count += one.count;
    }
    e.mean = mean_of(sum, count);
    for (const sum_of& one : slices_) e.by_slice.push_back(mean_of(one.sum, one.count));
    e.after_ends = mean_of(near_.sum, near_.count);
    e.otherwise = mean_of(far_.sum, far_.count);
    return e;
  }

  std::uint64_t swaps = 0, rejected = 0, quanta = 0;

 private:
  struct sum_of {
    double sum = 0.0;
    std::uint64_t count = 0;
    double expected = 0.0, achieved = 0.0;   // added up, misses a second
    void add(double v) {
      sum += v;
      ++count;
    }
  };

  /// Background threads begin on either socket in turn and stay, as the public code starts each application (facts A5.2): they are nobody's to move, and
  /// where they are says how many cores of each kind the others have.
  core_id free_core(std::uint32_t socket, std::span<const std::uint32_t> taken) {
    std::vector<core_id> free;
    for (core_id c = 0; c < taken.size(); ++c)
      if (taken[c] == 0 && platform_.simulated.cores[c].socket == socket) free.push_back(c);
    return free.empty() ? no_core : free[background_.below(static_cast<std::uint32_t>(free.size()))];
  }

  void compare(std::span<const sim::thread_counters> seen, double now_s, double length_s) {
    const bool near = ended_now_ || ended_before_;
    ended_before_ = ended_now_;
    ended_now_ = false;
    for (const sim::thread_counters& c : seen) {
      const auto e = expected_.find(c.thread);
      if (e == expected_.end()) continue;
      const auto error = balance::prediction_error(e->second, c.misses / length_s);
      if (!error) continue;
      sum_of& all = by_thread_[c.thread];
      all.add(*error);
      all.expected += e->second;
      all.achieved += c.misses / length_s;
      const auto slice = static_cast<std::size_t>((now_s - length_s) / slice_s);
      if (slices_.size() <= slice) slices_.resize(slice + 1);
      slices_[slice].add(*error);
      (near ? near_ : far_).add(std::abs(*error));
    }
  }

  balance::scheduler& scheduler_;
  const thread_platform& platform_;
  std::span<const sim::thread_program> programs_;
  bool by_critical_length_;
  random_stream background_;
  std::map<std::uint32_t, double> expected_;
  std::map<std::uint32_t, sum_of> by_thread_;
  std::vector<sum_of> slices_;
  sum_of near_, far_;
  bool ended_now_ = false, ended_before_ = false;
};

thread_sameness sameness_of(const sim::threads_result& r, std::span<const sim::thread_program> programs) {
  thread_sameness s;
  std::vector<balance::thread_life> lives;
  for (const sim::thread_result& t : r.threads) {
    lives.push_back({t.born_s, t.ended_s});
    s.work_s.push_back(t.work_s);
    const auto& steps = programs[t.program].groups[t.group].threads[t.index].steps;
    s.primitives.push_back(static_cast<double>(std::ranges::count_if(
        steps, [](const sim::thread_step& one) { return one.kind == sim::step_kind::lock || one.kind == sim::step_kind::barrier; })));
  }
  s.group = balance::thread_groups(lives);
  return s;
}

double slowest(const benchmark_times& b) { return *std::ranges::max_element(b.seconds); }

}  // namespace

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
  for (const benchmark_times& b : benchmarks) all.push_back(slowest(b));
  return geometric_mean(all);
}

double thread_run::time_s(const std::string& benchmark) const {
  const auto b = std::ranges::find(benchmarks, benchmark, &benchmark_times::name);
  return b == benchmarks.end() ? nan : slowest(*b);
}

thread_run run_thread_programs(const thread_platform& on, std::span<const sim::thread_program> programs, const std::string& policy,
                               const balance::scheduler_options& options, std::uint64_t seed) {
  balance::scheduler_options o = options;
  o.seed = seed;
  const auto scheduler = balance::make_scheduler(policy, *on.cores, o);
  watched_by_scheduler watcher(*scheduler, on, programs, policy == "cjfpf", seed);
  const sim::threads_result r = sim::run_threads(on.simulated, programs, seed, &watcher);
  thread_run run{.end_s = r.end_s, .swaps = watcher.swaps, .rejected = watcher.rejected, .quanta = watcher.quanta, .errors = watcher.errors()};
  for (core_id c = 0; c < r.busy_s.size(); ++c) {
    const double clock = on.simulated.cores[c].clock;
    run.dynamic_energy_s += r.busy_s[c] * clock * clock * clock;
  }
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
