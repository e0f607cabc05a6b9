// parallel_pipeline: every item through every stage once, the promised orders, the bound on what is
// in flight, and what happens when something fails.

#include "kilter/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kilter/error.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

const char* const policies[] = {"rws", "dam-c", "perf", "auto"};

/// A first stage that gives 0 .. n-1.
auto numbers(int n) {
  return serial_stage(
      "numbers", [at = 0, n]() mutable { return at < n ? std::optional(at++) : std::nullopt; });
}

/// Counts who is inside.
struct crowd {
  std::atomic<int> now{0}, most{0};
  struct visit {
    crowd& in;
    explicit visit(crowd& c) : in(c) {
      const int n = in.now.fetch_add(1) + 1;
      for (int m = in.most.load(); n > m && !in.most.compare_exchange_weak(m, n);) {
      }
    }
    ~visit() { in.now.fetch_sub(1); }
  };
};

TEST(pipeline, takes_every_item_through_every_stage_once_under_any_policy_and_number_of_workers) {
  for (const char* p : policies)
    for (const std::uint32_t workers : {1u, 2u, 5u}) {
      runtime rt(with_policy(p, workers));
      for (const std::uint32_t in_flight : {1u, 2u, 7u, 100u}) {
        constexpr int n = 300;
        std::vector<std::atomic<int>> seen(n);
        std::vector<int> out;
        crowd serial, ordered;
        const std::uint64_t passed = parallel_pipeline(
            rt, {.in_flight = in_flight}, numbers(n),
            parallel_stage("square",
                           [&](int i) { return std::pair(i, static_cast<double>(i) * i); }),
            serial_stage("count",
                         [&](std::pair<int, double> v) {
                           const crowd::visit inside(serial);
                           seen[static_cast<std::size_t>(v.first)].fetch_add(1);
                           return std::make_unique<std::pair<int, double>>(v);
                         }),
            parallel_stage("check",
                           [](std::unique_ptr<std::pair<int, double>> v) {
                             EXPECT_EQ(v->second, static_cast<double>(v->first) * v->first);
                             return v->first;
                           }),
            ordered_stage("out", [&](int i) {
              const crowd::visit inside(ordered);
              out.push_back(i);
            }));
        ASSERT_EQ(passed, n);
        for (auto& s : seen)
          ASSERT_EQ(s.load(), 1) << p << ", " << workers << " workers, " << in_flight
                                 << " in flight";
        ASSERT_EQ(out.size(), n);
        for (int i = 0; i < n; ++i)
          ASSERT_EQ(out[static_cast<std::size_t>(i)], i)
              << p << ", " << workers << " workers, " << in_flight << " in flight";
        ASSERT_EQ(serial.most.load(), 1);
        ASSERT_EQ(ordered.most.load(), 1);
      }
    }
}

TEST(pipeline, ordered_stages_one_after_another_keep_the_order_when_items_overtake_between_them) {
  runtime rt(with_policy("rws", 4));
  std::vector<int> first, second;
  parallel_pipeline(rt, {.in_flight = 8}, numbers(200),
                    parallel_stage("late",
                                   [](int i) {
                                     if (i % 8 == 0)
                                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                     return i;
                                   }),
                    ordered_stage("first",
                                  [&](int i) {
                                    first.push_back(i);
                                    return i;
                                  }),
                    parallel_stage("late too",
                                   [](int i) {
                                     if (i % 5 == 0)
                                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                     return i;
                                   }),
                    ordered_stage("second", [&](int i) { second.push_back(i); }));
  ASSERT_EQ(first.size(), 200u);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(first[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(first, second);
}

TEST(pipeline, has_no_more_items_in_flight_than_it_was_told) {
  runtime rt(with_policy("rws", 4));
  std::atomic<int> alive{0}, most{0};
  struct item {
    explicit item(std::atomic<int>& a, std::atomic<int>& m) : alive(&a) {
      const int n = a.fetch_add(1) + 1;
      for (int seen = m.load(); n > seen && !m.compare_exchange_weak(seen, n);) {
      }
    }
    item(item&& from) noexcept : alive(std::exchange(from.alive, nullptr)) {}
    ~item() {
      if (alive) alive->fetch_sub(1);
    }
    std::atomic<int>* alive;
  };
  int left = 100;
  parallel_pipeline(
      rt, {.in_flight = 3},
      serial_stage("give",
                   [&]() -> std::optional<item> {
                     if (left-- == 0) return std::nullopt;
                     return item(alive, most);
                   }),
      parallel_stage("hold",
                     [&](item i) {
                       stress::wait_until([&] { return most.load() >= 3; });  // and no fewer
                       return i;
                     }),
      serial_stage("end", [](const item&) {}));
  EXPECT_EQ(alive.load(), 0);
  EXPECT_EQ(most.load(), 3);
}

TEST(pipeline, of_nothing_is_empty) {
  runtime rt(with_policy("auto", 2));
  bool called = false;
  EXPECT_EQ(parallel_pipeline(rt, numbers(0), serial_stage("end", [&](int) { called = true; })),
            0u);
  EXPECT_FALSE(called);
}

TEST(pipeline, the_first_exception_of_any_stage_comes_out_and_every_item_is_destroyed) {
  for (int where = 0; where < 3; ++where) {
    runtime rt(with_policy("rws", 3));
    const auto counted = std::make_shared<int>(0);
    const auto fail = [&](int stage, int i) {
      if (stage == where && i == 20) throw std::runtime_error("stage " + std::to_string(stage));
    };
    int at = 0;
    std::string said;
    try {
      parallel_pipeline(rt,
                        serial_stage("give",
                                     [&]() -> std::optional<std::pair<int, std::shared_ptr<int>>> {
                                       fail(0, at);
                                       return std::pair(at++, counted);
                                     }),
                        parallel_stage("pass",
                                       [&](std::pair<int, std::shared_ptr<int>> v) {
                                         fail(1, v.first);
                                         return v;
                                       }),
                        ordered_stage("end", [&](const std::pair<int, std::shared_ptr<int>>& v) {
                          fail(2, v.first);
                        }));
    } catch (const std::runtime_error& e) {
      said = e.what();
    }
    EXPECT_EQ(said, "stage " + std::to_string(where));
    EXPECT_EQ(counted.use_count(), 1);
    EXPECT_EQ(parallel_pipeline(rt, numbers(5), serial_stage("end", [](int) {})), 5u)
        << "the runtime goes on";
  }
}

TEST(pipeline, inside_a_task_and_inside_a_stage) {
  for (const std::uint32_t workers : {1u, 3u}) {
    runtime rt(with_policy("auto", workers));
    graph g;
    std::atomic<int> sum{0};
    g.add([&](task_context&) {
      parallel_pipeline(rt, numbers(10),
                        parallel_stage("inner",
                                       [&](int i) {
                                         parallel_pipeline(
                                             rt, numbers(i),
                                             serial_stage("add", [&](int k) { sum += k; }));
                                         return i;
                                       }),
                        serial_stage("end", [](int) {}));
    });
    rt.run(g);
    EXPECT_EQ(sum.load(), 120);  // i (i - 1) / 2 for i = 0 .. 9
  }
}

TEST(pipeline, a_member_of_a_team_is_refused) {
  runtime rt(with_policy("rws", 2));
  graph g;
  g.add({.widths = 1},
        [&](team_member&) { parallel_pipeline(rt, numbers(3), serial_stage("end", [](int) {})); });
  EXPECT_THROW(rt.run(g), usage_error);
}

TEST(pipeline, stopped_runtime_ends_it) {
  runtime rt(with_policy("rws", 2));
  std::atomic<bool> begun{false};
  std::thread stopper([&] {
    while (!begun) std::this_thread::yield();
    rt.stop();
  });
  EXPECT_THROW(parallel_pipeline(rt,
                                 serial_stage("endless",
                                              [&] {
                                                begun = true;
                                                return std::optional(1);
                                              }),
                                 parallel_stage("pass", [](int i) { return i; }),
                                 serial_stage("end", [](int) {})),
               cancelled_error);
  stopper.join();
}

TEST(pipeline, a_requested_stop_ends_it) {
  for (const std::uint32_t workers : {1u, 3u}) {
    runtime rt(with_policy("auto", workers));
    std::stop_source stop;
    EXPECT_THROW(parallel_pipeline(rt, {.stop = stop.get_token()},
                                   serial_stage("endless",
                                                [&] {
                                                  stop.request_stop();
                                                  return std::optional(1);
                                                }),
                                   serial_stage("end", [](int) {})),
                 cancelled_error);
    EXPECT_THROW(parallel_pipeline(rt, {.stop = stop.get_token()}, numbers(3),
                                   serial_stage("end", [](int) {})),
                 cancelled_error)
        << "it is still requested";
    EXPECT_EQ(parallel_pipeline(rt, numbers(3), serial_stage("end", [](int) {})), 3u);
  }
}

TEST(pipeline, learns_a_type_a_stage) {
  runtime rt(with_policy("dam-c", 2));
  parallel_pipeline(rt, numbers(100), parallel_stage("a part", [](int i) { return i; }),
                    ordered_stage("an end", [](int) {}));
  std::vector<std::string> types;
  for (const auto& cell : rt.table()) types.push_back(cell.type);
  for (const char* type : {"numbers", "a part", "an end"})
    EXPECT_NE(std::ranges::find(types, type), types.end()) << type;
}

}  // namespace
}  // namespace kilter
