// Both engines give an answer the same meaning: on one core, where nothing depends on who comes
// first, a random discipline with random answers runs the tasks of a random graph in the same order
// on threads and in the simulator.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "conformance/workload.hpp"
#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "sim/engine.hpp"

namespace kilter::conformance {
namespace {

/// Answers anything that the contract allows, drawn from the seed, the question and the task's
/// number.
class drawn : public policy {
 public:
  explicit drawn(std::uint64_t seed) : seed_(seed) {
    random_stream draws(seed, "discipline");
    const auto coin = [&] { return draws.below(2) == 0; };
    const std::uint32_t declared = draws.below(4);
    for (std::uint32_t i = 0; i < declared; ++i)
      plan_.queues.push_back(
          {coin() ? core_id{0} : no_core, static_cast<queue_order>(draws.below(3)), {}});
    plan_.deques_too = declared > 0 && coin();
    plan_.forward_child = coin();
    plan_.asks_ready_low = coin();
    plan_.asks_ready_high = coin();
    plan_.asks_next = coin();
    plan_.asks_take_low = coin();
    plan_.asks_take_high = coin();
    plan_.asks_done = coin();
    plan_.steal_from = static_cast<victims>(draws.below(3));
    queues_ = declared + (declared == 0 || plan_.deques_too ? 1 : 0);
  }
  std::string_view name() const noexcept override { return "drawn"; }
  discipline queues(const machine&) const override { return plan_; }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    random_stream draws = about(t, v, "ready");
    ready_decision d;
    d.queue = draws.below(queues_);
    d.key = draws.below(5);
    d.where = draws.below(3) == 0 ? v.machine().single(0) : no_place;
    switch (draws.below(6)) {
      case 0: d.what = ready_decision::kind::run_next; break;
      case 1: return ready_decision::bind_to(v.machine().single(0));
      case 2: d.stealable = false; break;
      default: break;
    }
    return d;
  }
  next_decision next(core_id, std::uint32_t attempt, view&) const override {
    const bool has_deques = plan_.queues.empty() || plan_.deques_too;
    if (attempt < queues_)
      return {.what = next_decision::kind::take_from,
              .queue = (attempt + static_cast<std::uint32_t>(seed_)) % queues_};
    if (attempt == queues_ && has_deques) return {.what = next_decision::kind::steal};
    return {};
  }
  take_decision on_take(task_ref t, core_id, bool, view& v) const override {
    const task_state s = v.state(t);
    if (s.a == 0 && about(t, v, "take").below(4) == 0) {  // once
      v.set_state(t, {1, s.b});
      return {.put_back = true};
    }
    return {.where = v.machine().single(0)};
  }

 private:
  random_stream about(task_ref t, view& v, std::string_view question) const {
    return random_stream(seed_, question, v.id(t));
  }
  std::uint64_t seed_;
  discipline plan_;
  std::uint32_t queues_ = 0;
};

workload draw_workload(std::uint64_t seed) {
  random_stream draws(seed, "graph");
  switch (draws.below(4)) {
    case 0: return layered(100, 1 + draws.below(6));
    case 1: return independent(20 + draws.below(200));
    case 2: return tangled(150, seed);
    default: break;
  }
  workload w{.name = "fans", .tasks = {}, .edges = {}};
  const std::uint32_t roots = 1 + draws.below(100), children = 1 + draws.below(200);
  w.tasks.resize(roots + children);
  for (task_spec& t : w.tasks) t.critical = draws.below(4) == 0;
  for (std::uint32_t c = 0; c < children; ++c)
    w.edges.push_back({draws.below(roots), roots + c, 0.0});
  return w;
}

sim::platform one_core() {
  sim::platform p;
  p.name = "one";
  p.cores = std::make_shared<const machine>(machine::uniform(1));
  p.clocks.resize(1);
  p.kernels.push_back({.name = "work", .size = 1, .kind = 0, .mhz = 0, .seconds = {1e-5}});
  return p;
}

std::vector<std::uint32_t> order_on_threads(const workload& w, std::shared_ptr<const policy> p,
                                            bool second_too = true,
                                            std::chrono::microseconds after = {}) {
  std::vector<std::uint32_t> order;
  graph g;
  build(g, w, [&](std::uint32_t i) { return [&order, i] { order.push_back(i); }; });
  runtime_options o;
  o.machine = std::make_shared<const machine>(machine::uniform(1));
  o.custom = std::move(p);
  o.table = table_options::paper();
  runtime rt(o);
  std::this_thread::sleep_for(after);
  rt.run(g);
  const std::vector<std::uint32_t> first = order;
  order.clear();
  rt.run(g);
  if (second_too) {
    EXPECT_EQ(order, first) << "a second run";
  }
  return first;
}

std::vector<std::uint32_t> order_simulated(const workload& w, std::shared_ptr<const policy> p) {
  std::vector<std::uint32_t> order;
  graph g;
  build(g, w, [](std::uint32_t) { return [] {}; });
  const sim::platform here = one_core();
  sim::engine e(here,
                {.policy = std::move(p), .finished = [&](const sim::sim_assembly& a, core_id) {
                   order.push_back(static_cast<std::uint32_t>(detail::id_of(a.task)));
                 }});
  std::uint32_t types = 0;
  for (const task_spec& t : w.tasks) types = std::max(types, t.type + 1);
  e.run(g, std::vector<sim::type_work>(types + 1, {"work", 1.0}));
  return order;
}

class same_order : public ::testing::TestWithParam<int> {};

TEST_P(same_order, on_threads_and_in_the_simulator) {
  for (std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 100;
       seed < static_cast<std::uint64_t>(GetParam()) * 100 + 100; ++seed) {
    workload w = draw_workload(seed);
    for (task_spec& t : w.tasks) t.widths.clear();
    const auto p = std::make_shared<const drawn>(seed);
    const auto threads = order_on_threads(w, p, false), simulated = order_simulated(w, p);
    ASSERT_EQ(threads.size(), w.tasks.size()) << "seed " << seed;
    for (std::size_t i = 0; i < threads.size(); ++i)
      ASSERT_EQ(threads[i], simulated.at(i))
          << "seed " << seed << " (" << w.name << "), position " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, same_order, ::testing::Range(0, 8));

/// Takes its time over question 3 as long as nothing is ready.
class slow_to_rest final : public drawn {
 public:
  using drawn::drawn;
  ready_decision on_ready(task_ref t, task_ref parent, core_id waker, view& v) const override {
    begun_.store(true, std::memory_order_relaxed);
    return drawn::on_ready(t, parent, waker, v);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    if (!begun_.load(std::memory_order_relaxed))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    return drawn::next(worker, attempt, v);
  }

 private:
  mutable std::atomic<bool> begun_{false};
};

// A worker that is about to sleep looks once more. What a graph that begins meanwhile leaves to it
// comes in the same order.
TEST(same_order_of, graphs_that_begin_while_a_worker_is_about_to_sleep) {
  for (const std::uint64_t seed : {458u, 693u}) {
    workload w = draw_workload(seed);
    for (task_spec& t : w.tasks) t.widths.clear();
    const auto simulated = order_simulated(w, std::make_shared<const drawn>(seed));
    for (int wait = 0; wait < 60; ++wait)
      ASSERT_EQ(order_on_threads(w, std::make_shared<const slow_to_rest>(seed), false,
                                 std::chrono::microseconds(15 * wait)),
                simulated)
          << "seed " << seed;
  }
}

// The built-in policies as well, but for those that order tasks by the times they measure: on
// threads these are another machine's.
TEST(same_order_of, every_built_in_policy_on_one_core) {
  for (const policy_info& info : policy_catalogue()) {
    const std::string name(info.name);
    if (name == "heft" || name == "cpop" || name == "auto") continue;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      workload w = draw_workload(seed);
      for (task_spec& t : w.tasks) t.widths = {1};
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      const auto p = make_policy(name, machine::uniform(1));
      EXPECT_EQ(order_on_threads(w, p), order_simulated(w, p)) << name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace kilter::conformance
