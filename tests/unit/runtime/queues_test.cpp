// The queues, each on its own: nothing is lost, nothing comes twice, and the order is the one that
// was asked for.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "graph/node.hpp"
#include "runtime/declared_queue.hpp"
#include "runtime/deque.hpp"
#include "runtime/inbox.hpp"
#include "stress/watchdog.hpp"

namespace kilter::inline v0::detail {
namespace {

using outcome = work_deque<int>::outcome;
using stress::sanitized;

TEST(work_deque, the_owner_takes_the_youngest_and_a_thief_the_oldest) {
  work_deque<int> d(2);
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  for (int& i : items) d.push(&i);
  EXPECT_EQ(d.size(), 100u);
  int* stolen = nullptr;
  ASSERT_EQ(d.steal(stolen), outcome::success);
  EXPECT_EQ(*stolen, 0);
  EXPECT_EQ(*d.pop(), 99);
  for (int left = 98; left > 0; --left) ASSERT_EQ(*d.pop(), left);
  EXPECT_EQ(d.pop(), nullptr);
  EXPECT_EQ(d.steal(stolen), outcome::empty);
  EXPECT_TRUE(d.empty());
}

TEST(work_deque, an_empty_deque_stays_usable) {
  work_deque<int> d(1);
  int one = 1;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(d.pop(), nullptr);
    d.push(&one);
    if (i % 2) {
      EXPECT_EQ(d.pop(), &one);
    } else {
      int* s = nullptr;
      EXPECT_EQ(d.steal(s), outcome::success);
    }
    EXPECT_EQ(d.pop(), nullptr);
  }
}

// The owner's shortcut for "empty" must not hide an item that it pushed after a thief emptied the
// deque.
TEST(work_deque, growth_keeps_order_after_the_ring_has_wrapped) {
  work_deque<int> d(4);
  std::vector<int> items(1000);
  std::iota(items.begin(), items.end(), 0);
  std::size_t next = 0;
  int* s = nullptr;
  for (int i = 0; i < 3; ++i) d.push(&items[next++]);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(d.steal(s), outcome::success);
  while (next < items.size()) d.push(&items[next++]);
  for (int expected = 3; expected < 500; ++expected) {
    ASSERT_EQ(d.steal(s), outcome::success);
    ASSERT_EQ(*s, expected);
  }
  for (int expected = 999; expected >= 500; --expected) ASSERT_EQ(*d.pop(), expected);
}

TEST(work_deque, with_many_thieves_each_item_is_taken_exactly_once) {
  const int rounds = sanitized ? 3 : 10;
  constexpr int count = 20'000;
  for (int round = 0; round < rounds; ++round) {
    work_deque<std::atomic<int>> d(2);
    std::vector<std::atomic<int>> taken(count);
    std::atomic<bool> finished{false};
    const auto thief = [&] {
      std::atomic<int>* item = nullptr;
      for (;;) {
        const bool last_look = finished.load();
        const auto got = d.steal(item);
        if (got == work_deque<std::atomic<int>>::outcome::success)
          item->fetch_add(1);
        else if (last_look && got == work_deque<std::atomic<int>>::outcome::empty)
          return;
      }
    };
    std::vector<std::thread> thieves;
    for (int i = 0; i < 3; ++i) thieves.emplace_back(thief);
    // Bursts of different lengths, so that the fight for the last item and growth both happen
    // often.
    for (int i = 0; i < count;) {
      for (int burst = 1 + i % 7; burst > 0 && i < count; --burst) d.push(&taken[i++]);
      for (int pops = i % 5; pops > 0; --pops)
        if (auto* item = d.pop()) item->fetch_add(1);
    }
    while (auto* item = d.pop()) item->fetch_add(1);
    finished.store(true);
    for (auto& t : thieves) t.join();
    int wrong = 0;
    for (auto& t : taken) wrong += t.load() != 1;
    ASSERT_EQ(wrong, 0);
  }
}

node* numbered(std::vector<node>& nodes, std::size_t i) { return &nodes[i]; }

TEST(inbox, everything_pushed_is_taken_once_youngest_first) {
  inbox<node> box;
  std::vector<node> nodes(10);
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.take_all(), nullptr);
  for (node& n : nodes) box.push(&n);
  EXPECT_FALSE(box.empty());
  node* at = box.take_all();
  for (int i = 9; i >= 0; --i, at = at->link) ASSERT_EQ(at, &nodes[i]);
  EXPECT_EQ(at, nullptr);
  EXPECT_TRUE(box.empty());
}

TEST(inbox, many_writers_lose_nothing) {
  inbox<node> box;
  constexpr int writers = 3, each = 5000;
  std::vector<node> nodes(writers * each);
  std::vector<std::thread> threads;
  std::atomic<int> finished{0};
  for (int w = 0; w < writers; ++w)
    threads.emplace_back([&, w] {
      for (int i = 0; i < each; ++i) box.push(&nodes[static_cast<std::size_t>(w) * each + i]);
      finished.fetch_add(1);
    });
  std::vector<int> seen(nodes.size());
  for (bool last = false;;) {
    for (node* n = box.take_all(); n; n = n->link) ++seen[n - nodes.data()];
    if (last) break;
    last = finished.load() == writers;
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(std::ranges::count(seen, 1), std::ssize(seen));
}

std::vector<std::size_t> drained(declared_queue& q, const std::vector<node>& nodes) {
  std::vector<std::size_t> order;
  std::uint64_t key = 0;
  while (node* n = q.pop(key)) order.push_back(static_cast<std::size_t>(n - nodes.data()));
  return order;
}

TEST(declared_queue, gives_tasks_in_the_declared_order) {
  std::vector<node> nodes(5);
  using order = std::vector<std::size_t>;
  {
    declared_queue q({no_core, queue_order::fifo, {}}, 4);
    for (std::size_t i = 0; i < 5; ++i) q.push(numbered(nodes, i), 0);
    EXPECT_EQ(q.size(), 5u);
    EXPECT_EQ(drained(q, nodes), (order{0, 1, 2, 3, 4}));
  }
  {
    declared_queue q({no_core, queue_order::lifo, {}}, 4);
    for (std::size_t i = 0; i < 5; ++i) q.push(numbered(nodes, i), 0);
    EXPECT_EQ(drained(q, nodes), (order{4, 3, 2, 1, 0}));
  }
  {
    declared_queue q({no_core, queue_order::by_key, {}}, 4);
    const std::uint64_t keys[] = {3, ~0ull, 0, 3, 7};
    for (std::size_t i = 0; i < 5; ++i) q.push(numbered(nodes, i), keys[i]);
    EXPECT_EQ(drained(q, nodes), (order{1, 4, 0, 3, 2}))
        << "largest key first, first come among equals";
    EXPECT_EQ(q.size(), 0u);
  }
}

TEST(declared_queue, tells_the_key_so_that_a_task_can_be_put_back_where_it_was) {
  std::vector<node> nodes(2);
  declared_queue q({no_core, queue_order::by_key, {}}, 1);
  q.push(&nodes[0], 11);
  q.push(&nodes[1], 4);
  std::uint64_t key = 0;
  EXPECT_EQ(q.pop(key), &nodes[0]);
  EXPECT_EQ(key, 11u);
}

TEST(declared_queue, a_waiting_task_gets_a_new_key_and_keeps_its_age) {
  std::vector<node> nodes(3);
  declared_queue q({no_core, queue_order::by_key, {}}, 1);
  for (std::size_t i = 0; i < 3; ++i) q.push(&nodes[i], i == 2 ? 5 : 1);
  EXPECT_TRUE(q.rekey(&nodes[1], 5));
  node absent{};
  EXPECT_FALSE(q.rekey(&absent, 9));
  EXPECT_EQ(drained(q, nodes), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_FALSE(q.rekey(&nodes[1], 9)) << "it waits no more";
}

TEST(declared_queue, one_task_can_be_taken_out_of_the_middle) {
  std::vector<node> nodes(3);
  declared_queue q({2, queue_order::fifo, {2}}, 4);
  EXPECT_EQ(q.owner(), 2u);
  EXPECT_TRUE(q.may_take(2));
  EXPECT_FALSE(q.may_take(0));
  for (node& n : nodes) q.push(&n, 0);
  EXPECT_EQ(q.extract(&nodes[1]), &nodes[1]);
  EXPECT_EQ(q.extract(&nodes[1]), nullptr);
  EXPECT_EQ(drained(q, nodes), (std::vector<std::size_t>{0, 2}));
}

}  // namespace
}  // namespace kilter::inline v0::detail
