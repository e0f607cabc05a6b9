// Promises, text for terminals, random streams, and threads that park and wake.

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <vector>

#include "base/ensure.hpp"
#include "base/printable.hpp"
#include "base/random.hpp"
#include "base/spin_lock.hpp"
#include "base/sync.hpp"

namespace kilter {
namespace {

// ---- promises -----------------------------------------------------------------------------------

TEST(ensure, a_broken_promise_ends_a_program_that_is_tested_and_says_which) {
  ensure(true, "one is one");
  EXPECT_DEATH(ensure(false, "one is two"), "a promise of its own is broken: one is two");
}

// ---- text for terminals -------------------------------------------------------------------------

TEST(printable, leaves_text_as_it_is) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("kworker/0:1 a\\b ~"), "kworker/0:1 a\\b ~");
  EXPECT_EQ(printable("\u00fcber \u00a0\u20ac \U0001f600"), "\u00fcber \u00a0\u20ac \U0001f600");
}

// A name that is printed raw could move the cursor, colour the rest of the table or answer in the
// user's place.
TEST(printable, shows_control_characters_that_a_terminal_would_obey) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("one\ntwo\r\t\x7f"), "one\\x0atwo\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x80\xc2\x9f\xc2\xa0"),
            "\\u009b31m\\u0080\\u009f\u00a0");
}

TEST(printable, shows_every_byte_that_is_no_utf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m")
      << "a C1 control as one byte";
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9") << "Latin-1";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(printable("\xc0\x8a"
                      "x"),
            "\\xc0\\x8ax")
      << "a line end in too many bytes";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(utf8_length, takes_only_the_shortest_sequences) {
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\u00fcx"), 2u);
  EXPECT_EQ(utf8_length("\u20ac"), 3u);
  EXPECT_EQ(utf8_length("\U0001f600"), 4u);
  EXPECT_EQ(utf8_length("\x80"), 0u);
  EXPECT_EQ(utf8_length("\xc1\x81"), 0u);
  EXPECT_EQ(utf8_length("\xe0\x9f\xbf"), 0u);
  EXPECT_EQ(utf8_length("\xf0\x8f\xbf\xbf"), 0u);
  EXPECT_EQ(utf8_length("\xf5\x80\x80\x80"), 0u);
}

// ---- random streams -----------------------------------------------------------------------------

TEST(random_stream, is_the_same_on_every_machine) {
  random_stream r(42, "worker", 3);
  random_stream again(42, "worker", 3);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(r.next(), again.next());
  // A fixed value: a change of the generator would change every recorded run.
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
}

TEST(random_stream, differs_by_seed_purpose_and_number) {
  std::set<std::uint64_t> first;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const char* purpose : {"", "worker", "layer"})
      for (const std::uint64_t number : {0, 1, 2})
        first.insert(random_stream(seed, purpose, number).next());
  EXPECT_EQ(first.size(), 27u);
}

TEST(random_stream, below_is_in_range_and_even) {
  random_stream r(7);
  int seen[10] = {};
  for (int i = 0; i < 100'000; ++i) {
    const auto v = r.below(10);
    ASSERT_LT(v, 10u);
    ++seen[v];
  }
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);  // five standard deviations
}

// ---- parking, locks and clocks ------------------------------------------------------------------

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
