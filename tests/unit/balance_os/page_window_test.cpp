// The class of a thread from the pages that it went to.

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "balance/os/page_window.hpp"

namespace kilter::balance::os::testing {

namespace {

constexpr std::uint64_t page_bytes = 4096;

/// So many samples that go round so many pages.
void go_round(page_window& w, int samples, std::uint64_t pages) {
  for (int i = 0; i < samples; ++i)
    w.add(0x5000'0000 + static_cast<std::uint64_t>(i) % pages * page_bytes +
          static_cast<std::uint64_t>(i) % 64);
}

TEST(page_window, counts_pages_and_not_addresses) {
  page_window w;
  EXPECT_EQ(w.distinct_pages(), 0.0);
  go_round(w, 100, 5);
  EXPECT_DOUBLE_EQ(w.distinct_pages(), 0.05);
  for (int i = 0; i < 100; ++i) w.add(std::nullopt);
  EXPECT_DOUBLE_EQ(w.distinct_pages(), 0.025) << "a sample on registers only is one without a page";
}

TEST(page_window, looks_back_a_limited_way) {
  page_window w;
  go_round(w, 1000, 1000);
  EXPECT_EQ(w.told(), thread_class::memory);
  go_round(w, page_window::capacity, 4);
  EXPECT_DOUBLE_EQ(w.distinct_pages(), 4.0 / page_window::capacity);
  EXPECT_EQ(w.told(), thread_class::compute);
}

TEST(page_window, few_samples_of_few_pages_are_not_called_memory) {
  EXPECT_NEAR(memory_limit(page_window::capacity), page_window::memory_above, 0.005);
  EXPECT_GT(memory_limit(64), 0.85);
  EXPECT_GT(memory_limit(page_window::enough), 0.95);
  page_window w;
  go_round(w, 64, 48);  // 0.75 distinct pages a sample, and 192 KB
  EXPECT_EQ(w.told(), thread_class::unknown);
  page_window spread;
  go_round(spread, page_window::enough, 100);
  EXPECT_EQ(spread.told(), thread_class::memory);
}

TEST(page_window, between_the_limits_keeps_only_what_a_full_window_told) {
  page_window early, full;
  go_round(early, 32, 1000);
  EXPECT_EQ(early.told(), thread_class::memory);
  go_round(full, page_window::capacity, 1000);
  EXPECT_EQ(full.told(), thread_class::memory);
  for (page_window* const w : {&early, &full}) go_round(*w, page_window::capacity, 100);
  EXPECT_EQ(early.told(), thread_class::unknown) << "an early guess stays for ever";
  EXPECT_EQ(full.told(), thread_class::memory) << "a class at the limit changes with every quantum";
}

/// What was recorded of a program (see record_samples.cpp), through the window.
thread_class class_of_recording(const std::string& name, std::size_t samples) {
  std::ifstream in(std::string(KILTER_TEST_DATA) + "/samples/" + name + ".txt");
  EXPECT_TRUE(in) << name;
  page_window w;
  thread_class c = thread_class::unknown;
  std::size_t n = 0;
  for (std::string line; n < samples && std::getline(in, line); ++n) {
    if (line == "?") continue;
    w.add(line == "-" ? std::nullopt : std::optional(std::stoull(line, nullptr, 16) << 12));
    if (n % 64 == 63) c = w.told();
  }
  EXPECT_EQ(n, samples) << name << " is too short";
  return c;
}

TEST(page_window, of_real_programs_tells_the_class) {
  const struct {
    const char* name;
    thread_class expected;
  } programs[] = {
      {"pointer-chase", thread_class::memory},
      {"copy", thread_class::memory},
      {"matmul-out-of-cache", thread_class::memory},
      {"sort", thread_class::memory},
      {"zstd", thread_class::memory},
      {"sha256sum", thread_class::compute},
      {"openssl", thread_class::compute},
      {"python3", thread_class::compute},
      {"matmul-in-cache", thread_class::compute},
      {"matmul-in-l2", thread_class::unknown},    // between the two
      {"random-updates", thread_class::unknown},  // nothing can be resolved
      // wrong, and known to be: pages tell nothing of a large cache
      {"pointer-chase-in-l3", thread_class::memory},
  };
  for (const auto& p : programs) {
    EXPECT_EQ(class_of_recording(p.name, 400), p.expected) << p.name;
    const thread_class early = class_of_recording(p.name, 64);
    EXPECT_TRUE(early == p.expected || early == thread_class::unknown)
        << p.name << ": wrong after 64 samples";
  }
}

}  // namespace

}  // namespace kilter::balance::os::testing
