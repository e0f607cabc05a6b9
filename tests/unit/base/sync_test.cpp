#include "base/sync.hpp"
#include "base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

namespace kilter {
namespace {

TEST(sync, a_parked_thread_is_woken) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> up{false};
  std::thread sleeper([&] {
    while (word.load() == 0) sync::park(word, 0);
    up = true;
  });
  word = 1;
  sync::unpark(word, 1);
  sleeper.join();
  EXPECT_TRUE(up);
}

TEST(sync, park_returns_at_once_if_the_word_has_changed) {
  std::atomic<std::uint32_t> word{1};
  sync::park(word, 0);
}

TEST(sync, park_ends_at_its_timeout) {
  std::atomic<std::uint32_t> word{0};
  const auto begin = sync::nanoseconds();
  sync::park(word, 0, 1'000'000);
  EXPECT_GE(sync::nanoseconds() - begin, 900'000);
}

TEST(sync, the_spin_lock_excludes) {
  sync::spin_lock lock;
  long sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        const std::lock_guard hold(lock);
        ++sum;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(sum, 40'000);
}

TEST(sync, the_cycle_counter_runs_at_its_rate) {
  const double rate = sync::cycles_per_second();
  const auto n0 = sync::nanoseconds();
  const auto c0 = sync::cycles();
  while (sync::nanoseconds() - n0 < 20'000'000) sync::relax();
  const auto c1 = sync::cycles();
  const auto n1 = sync::nanoseconds();
  const double seconds = static_cast<double>(c1 - c0) / rate;
  // Loose on one side only: the thread may be preempted between the two clocks.
  EXPECT_LT(seconds, 1.1e-9 * static_cast<double>(n1 - n0) + 1e-3);
  EXPECT_GT(seconds, 0.018);
}

}  // namespace
}  // namespace kilter
