#pragma once
// Every wait in a test is bounded: whoever includes this gets a thread that ends the program,
// naming the test, when one test takes too long. Included by all tests that run threads.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "stress/size.hpp"

namespace kilter::stress {

class watchdog : public ::testing::EmptyTestEventListener {
 public:
  static watchdog* make() {
    static std::atomic<bool> made{false};
    if (made.exchange(true)) return nullptr;
    auto* w = new watchdog;  // the listeners of GoogleTest own it
    ::testing::UnitTest::GetInstance()->listeners().Append(w);
    return w;
  }

 private:
  using clock = std::chrono::steady_clock;
  static long long now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now().time_since_epoch())
        .count();
  }
  static inline std::atomic<long long> deadline_ms{0};
  static inline char test_name[512] = "";

  void OnTestStart(const ::testing::TestInfo& t) override {
    std::snprintf(test_name, sizeof test_name, "%s.%s", t.test_suite_name(), t.name());
    const long long limit_s = full_size() ? 3600 : sanitized ? 280 : 200;
    static std::once_flag started;
    std::call_once(started, watch);
    const char* set = std::getenv("KILTER_TEST_LIMIT_S");
    deadline_ms.store(now_ms() + (set ? std::atoll(set) : limit_s) * 1000,
                      std::memory_order_release);
  }
  /// Returns when the thread runs. A test that forks while a thread is being made would leave the
  /// lock of AddressSanitizer's allocator, which a thread takes as it starts, held for ever in the
  /// child.
  static void watch() {
    static std::atomic<bool> runs{false};
    std::thread([] {
      runs.store(true, std::memory_order_release);
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        const long long at = deadline_ms.load(std::memory_order_acquire);
        if (at == 0 || now_ms() < at) continue;
        std::fprintf(stderr, "\nwatchdog: %s hangs; ending the program\n", test_name);
        std::fflush(stderr);
        std::abort();
      }
    }).detach();
    while (!runs.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    deadline_ms.store(0, std::memory_order_release);
  }
};

inline watchdog* const the_watchdog = watchdog::make();

/// Spins politely until `condition()`; the watchdog ends it if that never comes.
template <class Condition>
void wait_until(Condition&& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace kilter::stress
