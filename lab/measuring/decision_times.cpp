// How long policies take for their answers: one is asked in another's place, between two looks at
// the clock.

#include <algorithm>
#include <type_traits>

#include "base/sync.hpp"
#include "kilter/runtime.hpp"
#include "measuring/graph_run.hpp"
#include "measuring/worker_costs.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {

namespace {

/// By worker, since several are asked at once.
constexpr std::size_t most_samples = 4096;

/// Least seconds between two looks at the clock.
double clock_s() noexcept {
  std::int64_t least = 1'000'000;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t begin = sync::nanoseconds();
    least = std::min(least, sync::nanoseconds() - begin);
  }
  return static_cast<double>(least) * 1e-9;
}

class timed_policy final : public policy {
  static bool counts(const next_decision& d) noexcept {
    return d.what == next_decision::kind::take_from;
  }
  static bool counts(const ready_decision&) noexcept { return true; }
  static bool counts(const take_decision&) noexcept { return true; }

  template <class Ask>
  std::invoke_result_t<Ask> timed(std::vector<double> decision_times::*list, const view& v,
                                  Ask&& ask) const {
    const std::int64_t begin = sync::nanoseconds();
    const auto answer = ask();
    const double took_s =
        std::max(0.0, static_cast<double>(sync::nanoseconds() - begin) * 1e-9 - clock_s_);
    if (auto& mine = each_[v.asker()].*list; counts(answer) && mine.size() < most_samples)
      mine.push_back(took_s);
    return answer;
  }

 public:
  timed_policy(std::shared_ptr<const policy> asked, std::uint32_t cores)
      : asked_(std::move(asked)), each_(cores) {
    for (decision_times& t : each_)
      for (auto* all : {&t.ready_s, &t.take_s, &t.next_s}) all->reserve(most_samples);
  }
  [[nodiscard]] std::string_view name() const noexcept override { return asked_->name(); }
  [[nodiscard]] discipline queues(const machine& m) const override { return asked_->queues(m); }
  void on_submit(view& v) const override { asked_->on_submit(v); }
  [[nodiscard]] ready_decision on_ready(task_ref t, task_ref parent, core_id waker,
                                        view& v) const override {
    return timed(&decision_times::ready_s, v,
                 [&] { return asked_->on_ready(t, parent, waker, v); });
  }
  [[nodiscard]] next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    return timed(&decision_times::next_s, v, [&] { return asked_->next(worker, attempt, v); });
  }
  [[nodiscard]] take_decision on_take(task_ref t, core_id here, bool stolen,
                                      view& v) const override {
    return timed(&decision_times::take_s, v, [&] { return asked_->on_take(t, here, stolen, v); });
  }
  void on_done(task_ref t, place_id p, const measured& m, view& v) const override {
    asked_->on_done(t, p, m, v);
  }
  void on_machine(view& v) const override { asked_->on_machine(v); }

  [[nodiscard]] decision_times all() const {
    decision_times sum;
    for (const decision_times& t : each_)
      for (const auto list :
           {&decision_times::ready_s, &decision_times::take_s, &decision_times::next_s})
        (sum.*list).insert((sum.*list).end(), (t.*list).begin(), (t.*list).end());
    return sum;
  }

 private:
  std::shared_ptr<const policy> asked_;
  double clock_s_ = clock_s();
  mutable std::vector<decision_times> each_;  // by worker, each its own
};

}  // namespace

std::vector<std::string> asked_policies(const machine& m) {
  std::vector<std::string> names;
  for (const policy_info& one : policy_catalogue()) {
    const discipline d = make_policy(one.name, m)->queues(m);
    if (d.asks_ready_low || d.asks_ready_high || d.asks_take_low || d.asks_take_high || d.asks_next)
      names.emplace_back(one.name);
  }
  return names;
}

decision_times decision_times_of(const std::string& policy, const std::shared_ptr<const machine>& m,
                                 apps::kernel_instance& kernel, std::uint64_t tasks) {
  graph g;
  build_layered(g, {.tasks = tasks, .parallelism = 2 * m->core_count(), .seed = 1}, kernel, {});
  const auto timed = std::make_shared<timed_policy>(make_policy(policy, *m), m->core_count());
  runtime_options o;
  o.machine = m;
  o.custom = timed;
  {
    runtime rt(o);
    execution_stats stats;
    if (!run_graph(rt, g, core_id{0}, stats)) {
      kernel.reset();
      return {};
    }
  }
  return timed->all();
}

}  // namespace kilter::lab
