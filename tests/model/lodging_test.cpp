// Where the thread of a worker stands while others lend it their cores
// (library/runtime/lodging.hpp).

#include <array>

#include "check.hpp"
#include "runtime/lodging.hpp"

namespace kilter::inline v0::detail {
namespace {

using namespace model;

constexpr std::string_view file = "runtime/lodging.hpp";

/// The first worker is held up at home; the others have nothing to do and lend it their cores, then
/// need them again (worker::lend_core, worker::take_core_back). It comes home before its next task
/// (worker::loop).
template <int lenders, bool comes_home>
struct held_up {
  static constexpr int threads = lenders + 1;
  lodging first{0};
  plain core;  ///< where its thread is; who changes it holds the lock
  std::array<sync::atomic<std::uint32_t>, lenders + 1> has_lent{};

  bool pin(core_id to) {
    core.write(to);
    return true;
  }
  void thread(unsigned who) {
    if (who == 0) {
      if (comes_home && first.away()) first.go_home([&](core_id home) { return pin(home); });
      return;
    }
    const bool lent = first.lend(
        who, [] { return true; }, [&](core_id to) { return pin(to); });
    if (!lent) return;
    has_lent[who].store(1, sync::memory_order_relaxed);
    first.send_home(who, [&](core_id home) { return pin(home); });
  }
  void after() {
    first.go_home([&](core_id home) { return pin(home); });
    check(!first.away() && core.read() == 0, "in the end the thread is at home");
    std::uint32_t lent = 0;
    for (auto& each : has_lent) lent += each.load(sync::memory_order_relaxed);
    check(comes_home || lent >= 1, "one of those that can lend does");
  }
};

TEST(lodging, a_thread_is_on_one_core_and_comes_home) {
  holds<held_up<1, true>>();
  holds<held_up<2, true>>();
  holds<held_up<2, false>>();
}

/// While one has the thread on its core, no other moves it.
struct two_lend {
  static constexpr int threads = 2;
  lodging first{0};
  plain core;
  sync::atomic<std::uint32_t> lent{0};
  void thread(unsigned who) {
    if (first.lend(
            who + 1, [] { return true; },
            [&](core_id to) {
              core.write(to);
              return true;
            }))
      lent.fetch_add(1, sync::memory_order_relaxed);
  }
  void after() {
    check(lent.load(sync::memory_order_relaxed) == 1, "two never lend to the same");
    check(first.is_at(static_cast<core_id>(core.read())), "it is known where the thread is");
  }
};

TEST(lodging, two_never_lend_to_the_same) { holds<two_lend>(); }

TEST(lodging, mutants_lose_the_thread) {
  is_caught<held_up<2, true>>({"base/spin_lock.hpp", "spin_lock::unlock(", "store", harm::weaker});
  is_caught<held_up<2, true>>(
      {"base/spin_lock.hpp", "spin_lock::try_lock(", "exchange", harm::weaker});
  is_caught<two_lend>({"base/spin_lock.hpp", "spin_lock::try_lock(", "exchange", harm::torn});
}

}  // namespace
}  // namespace kilter::inline v0::detail
