// How workers sleep and are woken (library/runtime/sleeping.hpp, parking.hpp). A wake-up that is
// lost leaves a thread asleep for ever: a deadlock here.

#include <array>

#include "check.hpp"
#include "runtime/in_hand.hpp"
#include "runtime/inbox.hpp"
#include "runtime/parking.hpp"
#include "runtime/sleeping.hpp"

namespace kilter::inline v0::detail {
namespace {

using namespace model;

constexpr std::string_view file = "runtime/parking.hpp";

struct item {
  item* link = nullptr;
  plain payload;
};

/// worker::sleep_until_work.
template <class Found>
void sleep_unless(sleeping& s, Found&& found) {
  s.sleep(-1, [&](std::int64_t&) { return found(); });
  s.comes_back();
}
constexpr auto wakes_nobody = [](bool) {};

/// One worker, as its thread and others see it.
struct sleeper {
  explicit sleeper(parking_counts& all) : seen(all) {}
  bool wake() { return seen.wake(); }
  parking seen;
  sleeping own{seen};
};

/// worker::leave_bound: what is left for one worker, by one or two others.
template <unsigned givers>
struct left_for_one {
  static constexpr int threads = givers + 1;
  parking_counts all;
  sleeper place{all};
  inbox<item> box;
  std::array<item, givers> items;

  void thread(unsigned who) {
    if (who < givers) {
      items[who].payload.write(7);
      box.push(&items[who]);
      place.wake();
      return;
    }
    for (unsigned got = 0; got < givers;) {
      for (item* i = box.take_all(); i; i = i->link, ++got)
        check(i->payload.read() == 7, "the payload came with the item");
      if (got < givers) sleep_unless(place.own, [&] { return !box.empty(); });
    }
    place.own.search_ends(wakes_nobody);
  }
  void after() { check(all.sleepers.load() == 0, "each sleeper was counted once, and is up"); }
};

TEST(parking, what_is_left_for_a_worker_wakes_it) {
  holds<left_for_one<1>>();
  holds_in_all_orders<left_for_one<1>>(5);
  holds<left_for_one<2>>();
}

TEST(parking, mutants_that_leave_something_behind) {
  is_caught<left_for_one<1>>({file, "parking::wake", "sync::light_fence()"});
  is_caught<left_for_one<1>>({file, "parking::announce", "sync::heavy_fence()"});
  is_caught<left_for_one<2>>({file, "parking::get_up", "compare_exchange_strong", harm::torn});
  is_caught<left_for_one<2>>({file, "parking::wake", "compare_exchange_strong", harm::torn});
}

/// engine::join_all, and the worker's loop.
struct stopped {
  static constexpr int threads = 3;
  parking_counts all;
  sleeper first{all}, second{all};

  void thread(unsigned who) {
    if (who == 0) {
      all.stop(std::array{&first, &second});
      return;
    }
    sleeping& mine = (who == 1 ? first : second).own;
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    while (!stops()) sleep_unless(mine, stops);
    mine.search_ends(wakes_nobody);
  }
  void after() { check(all.sleepers.load() == 0, "nobody sleeps after the end"); }
};

TEST(parking, stop_reaches_a_worker_that_falls_asleep) { holds<stopped>(); }

TEST(parking, mutants_that_do_not_stop) {
  is_caught<stopped>({file, "parking::wake", "sync::light_fence()"});
  is_caught<stopped>({file, "parking::announce", "sync::heavy_fence()"});
}

/// engine::notify_any: what any of two workers may take. One that looks for work keeps the other
/// from being woken, and then must not miss it.
struct left_for_any {
  static constexpr int threads = 3;
  parking_counts all;
  sleeper first{all}, second{all};
  inbox<item> box;
  item one;

  void notify_any() {
    if (!all.somebody_is_needed()) return;
    for (sleeper* p : {&first, &second})
      if (p->wake()) return;
  }

  void thread(unsigned who) {
    if (who == 0) {
      one.payload.write(7);
      box.push(&one);
      notify_any();
      return;
    }
    sleeping& mine = (who == 1 ? first : second).own;
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    while (!stops()) {
      mine.search_begins();
      if (item* got = box.take_all()) {
        mine.search_ends(wakes_nobody);
        check(got->payload.read() == 7, "the payload came with the item");
        all.stop(std::array{&first, &second});
        return;
      }
      sleep_unless(mine, [&] { return !box.empty() || stops(); });
    }
    mine.search_ends(wakes_nobody);
  }
  void after() {
    check(all.sleepers.load() == 0, "nobody sleeps after the end");
    check(all.searchers.load() == 0, "nobody looks after the end");
  }
};

TEST(parking, what_any_may_take_is_taken) { holds<left_for_any>(); }

TEST(parking, mutants_that_wake_nobody) {
  is_caught<left_for_any>({file, "parking_counts::somebody_sleeps", "sync::light_fence()"});
  is_caught<left_for_any>({file, "parking::announce", "sync::heavy_fence()"});
}

/// Two things for two workers. Whoever takes the first is at work until somebody has taken the
/// second, as a body that blocks.
struct two_things {
  static constexpr int threads = 3;
  parking_counts all;
  sleeper first{all}, second{all};
  std::array<sync::atomic<std::uint32_t>, 2> there;
  sync::atomic<std::uint32_t> taken{0};

  [[nodiscard]] bool anything() const {
    return there[0].load(sync::memory_order_relaxed) != 0 ||
           there[1].load(sync::memory_order_relaxed) != 0;
  }
  bool take() {
    for (auto& t : there)
      if (t.load(sync::memory_order_relaxed) != 0 && t.exchange(0, sync::memory_order_acq_rel) != 0)
        return true;
    return false;
  }
  void wait_for_the_second() {
    while (taken.load(sync::memory_order_acquire) != 2) sync::yield();
  }
  void run() {
    if (taken.fetch_add(1, sync::memory_order_acq_rel) == 1)
      all.stop(std::array{&first, &second});
    else
      wait_for_the_second();
  }
  void wake_one() {
    for (sleeper* p : {&first, &second})
      if (p->wake()) return;
  }
  /// worker::loop. The look after the announcement takes, too.
  template <class Wake>
  void serve(sleeping& mine, Wake&& wake) {
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    while (!stops()) {
      mine.search_begins();
      bool found = take();
      if (!found) {
        mine.sleep(-1, [&](std::int64_t&) {
          mine.search_begins();  // as question 3 does; it stays a sleeper
          found = take();
          return found || stops();
        });
        mine.comes_back();
      }
      if (!found) continue;
      mine.search_ends(wake);
      run();
    }
    mine.search_ends(wake);
  }
  void after() {
    check(taken.load() == 2, "both were taken");
    check(all.sleepers.load() == 0 && all.searchers.load() == 0,
          "nobody sleeps or looks after the end");
  }
};

/// engine::notify_takers, worker::policy_finds_work and engine::wake_for_what_waits: they lie in a
/// queue for which each push wakes one sleeper. It may have found the first meanwhile, and then the
/// wake-up for the second must go to another: `passes_on`.
template <bool passes_on>
struct left_in_a_queue : two_things {
  void notify_takers() {
    if (all.somebody_sleeps()) wake_one();
  }
  void thread(unsigned who) {
    if (who == 0) {
      for (auto& t : there) {
        t.store(1, sync::memory_order_release);
        notify_takers();
      }
      return;
    }
    serve((who == 1 ? first : second).own, [&](bool woken) {
      if (passes_on && woken && anything()) notify_takers();
    });
  }
};

/// in_hand::hand_out, engine::notify_any and engine::wake_for_what_waits: a body pushes both onto
/// its worker's deque and blocks until they have run. One worker that looks keeps the other asleep,
/// and must see the second thing when it has found the first: `hands_out`.
template <bool hands_out>
struct made_ready_by_a_body : two_things {
  void notify_any() {
    if (all.somebody_is_needed()) wake_one();
  }
  void share(node*) {}
  [[nodiscard]] bool keeps_open_work() const { return anything(); }
  void thread(unsigned who) {
    if (who == 0) {
      for (auto& t : there) {
        t.store(1, sync::memory_order_release);
        notify_any();
      }
      if (hands_out) in_hand{}.hand_out(*this);
      wait_for_the_second();
      return;
    }
    serve((who == 1 ? first : second).own, [&](bool) {
      if (anything()) notify_any();
    });
  }
};

TEST(parking, a_wake_up_reaches_another_if_the_worker_found_something_else) {
  holds<left_in_a_queue<true>>();
  goes_wrong<left_in_a_queue<false>>(
      "the wake-up of a worker that has found something before it slept is lost");
}

TEST(parking, what_a_body_that_blocks_has_made_ready_is_taken) {
  holds<made_ready_by_a_body<true>>();
  goes_wrong<made_ready_by_a_body<false>>(
      "a push that is only fenced lightly may be missed by a worker that stops looking");
}

TEST(parking, mutants_that_leave_a_thing_in_a_queue) {
  is_caught<left_in_a_queue<true>>({file, "parking::announce", "sync::heavy_fence()"});
  is_caught<left_in_a_queue<true>>(
      {file, "parking_counts::somebody_sleeps", "sync::light_fence()"});
  is_caught<made_ready_by_a_body<true>>({file, "parking::announce", "sync::heavy_fence()"});
  is_caught<made_ready_by_a_body<true>>({file, "parking::search_ends", "sync::fence()"});
  is_caught<made_ready_by_a_body<true>>(
      {"runtime/in_hand.hpp", "in_hand::hand_out", "sync::fence()"});
}

}  // namespace
}  // namespace kilter::inline v0::detail
