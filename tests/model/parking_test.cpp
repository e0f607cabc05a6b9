// How workers sleep and are woken (src/runtime/parking.hpp). A wake-up that is lost leaves a thread asleep for ever: a deadlock here.

#include <array>

#include "check.hpp"
#include "runtime/inbox.hpp"
#include "runtime/parking.hpp"

namespace kilter::detail {
namespace {

using namespace model;

constexpr std::string_view file = "runtime/parking.hpp";

struct item {
  item* link = nullptr;
  plain payload;
};

/// worker::sleep_until_work.
template <class Found>
void sleep_unless(parking& p, Found&& found, bool searched = false) {
  const std::uint32_t ticket = p.announce(searched);
  if (!found()) p.sleep(ticket, -1);
  p.get_up();
}

/// worker::leave_bound: what is left for one worker, by one or two others.
template <unsigned givers>
struct left_for_one {
  static constexpr int threads = givers + 1;
  parking_counts all;
  parking place{all};
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
      for (item* i = box.take_all(); i; i = i->link, ++got) check(i->payload.read() == 7, "the payload came with the item");
      if (got < givers) sleep_unless(place, [&] { return !box.empty(); });
    }
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
  parking first{all}, second{all};

  void thread(unsigned who) {
    if (who == 0) {
      all.stop(std::array{&first, &second});
      return;
    }
    parking& mine = who == 1 ? first : second;
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    while (!stops()) sleep_unless(mine, stops);
  }
  void after() { check(all.sleepers.load() == 0, "nobody sleeps after the end"); }
};

TEST(parking, stop_reaches_a_worker_that_falls_asleep) { holds<stopped>(); }

TEST(parking, mutants_that_do_not_stop) {
  is_caught<stopped>({file, "parking::wake", "sync::light_fence()"});
  is_caught<stopped>({file, "parking::announce", "sync::heavy_fence()"});
}

/// engine::notify_any: what any of two workers may take. One that looks for work keeps the other from being woken, and then must not miss it.
struct left_for_any {
  static constexpr int threads = 3;
  parking_counts all;
  parking first{all}, second{all};
  inbox<item> box;
  item one;

  void notify_any() {
    if (!all.somebody_is_needed()) return;
    for (parking* p : {&first, &second})
      if (p->wake()) return;
  }

  void thread(unsigned who) {
    if (who == 0) {
      one.payload.write(7);
      box.push(&one);
      notify_any();
      return;
    }
    parking& mine = who == 1 ? first : second;
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    while (!stops()) {
      mine.search_begins();
      if (item* got = box.take_all()) {
        static_cast<void>(mine.search_ends());
        check(got->payload.read() == 7, "the payload came with the item");
        all.stop(std::array{&first, &second});
        return;
      }
      sleep_unless(mine, [&] { return !box.empty() || stops(); }, true);
    }
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

}  // namespace
}  // namespace kilter::detail
