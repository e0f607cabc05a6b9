// Items pass their stages under every model: all of them, in order where it is asked for, and
// nobody waits for ever when something goes wrong.

#include "apps/programs/stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

std::vector<execution_model> stages_models() {
  std::vector<execution_model> models{execution_model::serial};
  for (const execution_model m : testing::models_with_threads())
    if (m != execution_model::task && m != execution_model::kilter) models.push_back(m);
  return models;
}

executor stages_executor(execution_model m, std::uint32_t threads) {
  return {m, {.machine = std::make_shared<const machine>(machine::uniform(threads))}};
}

std::string stages_name(execution_model m) {
  return std::string(model_names[static_cast<std::size_t>(m)]);
}

/// Numbers are squared in one stage and halved in another, and kept in the order in which they
/// came.
struct stages_of_numbers {
  std::uint64_t count, given = 0;
  std::vector<std::uint64_t> slots, looked_at, kept;
  std::atomic<std::uint64_t> at_work = 0, most = 0;

  stages_of_numbers(std::uint64_t n, std::size_t room) : count(n), slots(room) {}

  item_pipeline pipeline() {
    return {
        .slots = slots.size(),
        .next =
            [this](std::size_t slot) {
              if (given == count) return false;
              slots[slot] = 2 * given++;
              return true;
            },
        .stages = {{"square", false, [this](std::size_t slot) { square(slot); }},
                   {"look", true, [this](std::size_t slot) { looked_at.push_back(slots[slot]); }},
                   {"halve", false, [this](std::size_t slot) { slots[slot] /= 2; }},
                   {"keep", true, [this](std::size_t slot) { kept.push_back(slots[slot]); }}}};
  }
  /// Some take longer, so that later ones overtake them.
  void square(std::size_t slot) {
    const std::uint64_t now = ++at_work;
    for (std::uint64_t was = most; was < now && !most.compare_exchange_weak(was, now);) {
    }
    if (slots[slot] % 14 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    slots[slot] *= slots[slot];
    --at_work;
  }
};

bool stages_never() { return false; }

TEST(stages, pass_every_item_on_in_order) {
  for (const execution_model m : stages_models())
    for (const std::size_t room : {1u, 2u, 5u, 64u})
      for (const std::uint64_t count : {0u, 1u, 5u, 60u}) {
        executor how = stages_executor(m, 3);
        stages_of_numbers n(count, room);
        const program_run r = run_stages(how, n.pipeline(), stages_never);
        ASSERT_TRUE(r.complete);
        ASSERT_EQ(r.iterations, count);
        ASSERT_EQ(r.tasks, 5 * count);
        ASSERT_EQ(n.kept.size(), count) << stages_name(m) << ", slots " << room;
        ASSERT_EQ(n.looked_at.size(), count);
        for (std::uint64_t i = 0; i < count; ++i) {
          ASSERT_EQ(n.looked_at[i], 4 * i * i) << stages_name(m);
          ASSERT_EQ(n.kept[i], 2 * i * i) << stages_name(m);
        }
        const bool windows = m != execution_model::serial && m != execution_model::static_threads;
        EXPECT_EQ(r.barriers, windows ? 2 * ((count + room - 1) / room) : 0) << stages_name(m);
        EXPECT_LE(n.most, room);
      }
}

TEST(stages, without_an_ordered_one_lose_nothing) {
  for (const execution_model m : stages_models()) {
    executor how = stages_executor(m, 4);
    std::size_t given = 0;
    std::vector<std::size_t> slots(3);
    std::atomic<std::size_t> sum = 0;
    const item_pipeline p{3,
                          [&](std::size_t slot) { return given < 100 && (slots[slot] = ++given); },
                          {{"add", false, [&](std::size_t slot) { sum += slots[slot]; }}}};
    EXPECT_EQ(run_stages(how, p, stages_never).tasks, 200u);
    EXPECT_EQ(sum, 5050u) << stages_name(m);
  }
}

TEST(stages, tell_what_one_of_them_threw_and_end) {
  for (const execution_model m : stages_models())
    for (std::size_t bad = 0; bad < 5; ++bad)
      for (const std::uint64_t at : {0u, 7u, 30u}) {
        executor how = stages_executor(m, 2);
        stages_of_numbers n(40, 4);
        item_pipeline p = n.pipeline();
        std::atomic<std::uint64_t> calls = 0, at_work = 0;
        const auto breaks = [&](auto call) {
          return [&, call](std::size_t slot) {
            ++at_work;
            if (calls++ == at) {
              --at_work;
              throw std::runtime_error("number " + std::to_string(at));
            }
            struct leaving {
              std::atomic<std::uint64_t>& of;
              ~leaving() { --of; }
            } when_done{at_work};
            return call(slot);
          };
        };
        if (bad == 0)
          p.next = breaks(p.next);
        else
          p.stages[bad - 1].work = breaks(p.stages[bad - 1].work);
        std::string said = "nothing";
        try {
          (void)run_stages(how, p, stages_never);
        } catch (const std::runtime_error& e) {
          said = e.what();
        }
        EXPECT_EQ(said, "number " + std::to_string(at)) << stages_name(m) << ", stage " << bad;
        EXPECT_EQ(at_work, 0u);
        EXPECT_LT(n.kept.size(), 40u);
      }
}

TEST(stages, end_early_when_they_are_told_to) {
  for (const execution_model m : stages_models()) {
    executor how = stages_executor(m, 2);
    stages_of_numbers none(1'000'000'000, 4), some(1'000'000'000, 4);
    const program_run at_once = run_stages(how, none.pipeline(), [] { return true; });
    EXPECT_FALSE(at_once.complete) << stages_name(m);
    EXPECT_EQ(none.kept.size(), 0u);
    std::atomic<int> asked = 0;
    const program_run later = run_stages(how, some.pipeline(), [&] { return ++asked > 50; });
    EXPECT_FALSE(later.complete) << stages_name(m);
    EXPECT_LE(some.kept.size(), later.iterations);
    for (std::uint64_t i = 0; i < some.kept.size(); ++i) EXPECT_EQ(some.kept[i], 2 * i * i);
  }
}

TEST(stages, of_threads_run_at_the_same_time) {
  // Each of two items waits for the other one, in different stages.
  executor how = stages_executor(execution_model::static_threads, 2);
  std::size_t given = 0;
  std::atomic<int> met = 0;
  const auto meet = [&](bool here) {
    met += here;
    while (here && met < 2) std::this_thread::yield();
  };
  const item_pipeline p{2,
                        [&](std::size_t) { return given++ < 2; },
                        {{"first", false, [&](std::size_t slot) { meet(slot == 1); }},
                         {"second", true, [&](std::size_t slot) { meet(slot == 0); }}}};
  EXPECT_TRUE(run_stages(how, p, stages_never).complete);
}

}  // namespace
}  // namespace kilter::apps
