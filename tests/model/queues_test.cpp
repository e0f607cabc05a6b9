// The deque of a worker and its thieves, the inbox, and the lock for a few instructions.

#include <array>

#include "base/spin_lock.hpp"
#include "check.hpp"
#include "runtime/deque.hpp"
#include "runtime/inbox.hpp"

namespace kilter::inline v0::detail {
namespace {

using namespace model;

struct item {
  item* link = nullptr;
  plain payload;
  sync::atomic<int> taken{0};

  void take() {
    check(payload.read() == 7, "the payload came with the item");
    check(taken.fetch_add(1, sync::memory_order_relaxed) == 0, "nobody else took it");
  }
};

/// The owner pushes some and pops what it can; thieves try. All are taken once.
template <unsigned thieves, unsigned count, unsigned capacity>
struct owner_and_thieves {
  static constexpr int threads = thieves + 1;
  work_deque<item> deque{capacity};
  std::array<item, count> items;

  void thread(unsigned who) {
    if (who > 0) {
      for (unsigned tries = 0; tries < 2; ++tries) {
        item* got = nullptr;
        if (deque.steal(got) == work_deque<item>::outcome::success) got->take();
      }
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      items[i].payload.write(7);
      deque.push(&items[i]);
    }
    while (item* got = deque.pop()) got->take();
  }
  void after() {
    check(deque.empty(), "the deque is empty");
    for (item& i : items) check(i.taken.load() == 1, "each item was taken");
  }
};

TEST(deque, each_item_is_taken_once) {
  holds<owner_and_thieves<1, 2, 4>>();
  holds<owner_and_thieves<2, 2, 4>>();
}

TEST(deque, it_grows_under_the_hands_of_a_thief) { holds<owner_and_thieves<1, 4, 1>>(); }

constexpr std::string_view deque_file = "runtime/deque.hpp";

TEST(deque, mutants_take_an_item_twice) {
  is_caught<owner_and_thieves<1, 2, 4>>({deque_file, "work_deque<T>::pop(", "sync::fence()"});
  is_caught<owner_and_thieves<2, 3, 4>>({deque_file, "work_deque<T>::steal(", "sync::fence()"});
  is_caught<owner_and_thieves<1, 2, 4>>(
      {deque_file, "work_deque<T>::pop(", "compare_exchange_strong", harm::torn});
  is_caught<owner_and_thieves<2, 2, 4>>(
      {deque_file, "work_deque<T>::steal(", "compare_exchange_strong", harm::torn});
}

TEST(deque, mutants_hand_over_an_item_without_its_payload) {
  is_caught<owner_and_thieves<1, 2, 4>>(
      {deque_file, "work_deque<T>::push(", "bottom_.store(b + 1"});
  is_caught<owner_and_thieves<1, 2, 4>>({deque_file, "work_deque<T>::steal(", "bottom_.load"});
}

TEST(deque, mutants_read_a_ring_that_is_not_there_yet) {
  is_caught<owner_and_thieves<1, 4, 1>>({deque_file, "work_deque<T>::grow(", "buffer_.store"});
}

/// Two leave something, one empties the box now and then.
struct two_givers {
  static constexpr int threads = 3;
  inbox<item> box;
  std::array<item, 2> items;

  void thread(unsigned who) {
    if (who < 2) {
      items[who].payload.write(7);
      box.push(&items[who]);
      return;
    }
    for (unsigned tries = 0; tries < 2; ++tries) take_all();
  }
  void take_all() {
    for (item* i = box.take_all(); i; i = i->link) i->take();
  }
  void after() {
    take_all();
    check(box.empty(), "the box is empty");
    for (item& i : items) check(i.taken.load() == 1, "each item was taken once");
  }
};

TEST(inbox, everything_left_is_taken_once) {
  holds<two_givers>();
  holds_in_all_orders<two_givers>(3);
}

TEST(inbox, mutants_hand_over_an_item_without_its_payload) {
  is_caught<two_givers>({"runtime/inbox.hpp", "inbox<T>::push(", "compare_exchange_weak"});
  is_caught<two_givers>({"runtime/inbox.hpp", "inbox<T>::take_all(", "head_.exchange"});
}

struct one_at_a_time {
  static constexpr int threads = 3;
  sync::spin_lock lock;
  plain guarded;

  void thread(unsigned who) {
    if (who == 2) {
      if (!lock.try_lock()) return;
      guarded.write(guarded.read() + 1);
      lock.unlock();
      return;
    }
    const sync::lock_guard hold(lock);
    guarded.write(guarded.read() + 1);
  }
  void after() { check(guarded.read() >= 2, "nothing was overwritten"); }
};

TEST(spin_lock, it_guards_plain_data) { holds<one_at_a_time>(); }

TEST(spin_lock, mutants_guard_nothing) {
  is_caught<one_at_a_time>({"base/spin_lock.hpp", "spin_lock::lock(", "held_.exchange"});
  is_caught<one_at_a_time>({"base/spin_lock.hpp", "spin_lock::try_lock(", "held_.exchange"});
  is_caught<one_at_a_time>({"base/spin_lock.hpp", "spin_lock::unlock(", "held_.store"});
}

}  // namespace
}  // namespace kilter::inline v0::detail
