// Dependences by data: what the tasks see is what they would see one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "kilter/runtime.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

TEST(data, a_reader_comes_after_the_writer_and_before_the_next) {
  graph g;
  int x = 0, seen = 0, also_seen = 0;
  g.add({}, {.out = {&x}}, [&] { x = 1; });
  g.add({}, {.in = {&x}}, [&] { seen = x; });
  g.add({}, {.in = {&x}}, [&] { also_seen = x; });
  g.add({}, {.inout = {&x}}, [&] { x += 10; });
  EXPECT_EQ(g.edges(), 5u) << "two readers behind the writer, and the last behind these three";
  runtime rt(with_policy("auto", 2));
  for (int run = 0; run < 100; ++run) {
    rt.run(g);
    ASSERT_EQ(seen, 1);
    ASSERT_EQ(also_seen, 1);
    ASSERT_EQ(x, 11);
  }
}

TEST(data, options_may_be_left_out) {
  graph g;
  int x = 0, y = 0;
  g.add({.out = {&x}}, [&] { x = 1; });
  g.add({.in = {&x}, .out = {&y}}, [&](task_context&) { y = x + 1; });
  g.add({}, [] {});
  g.add({.in = {&y}}, [&](task_context& here) {
    batch b(here);
    b.add({.inout = {&y}}, [&] { y *= 10; });
    b.add({.inout = {&y}}, [&] { y += 1; });
  });
  EXPECT_EQ(g.edges(), 2u);
  EXPECT_THROW(g.add({.in = {nullptr}}, [] {}), usage_error);
  runtime rt(with_policy("auto", 2));
  EXPECT_EQ(rt.run(g).tasks, 6u);
  EXPECT_EQ(y, 21);
}

TEST(data, an_address_named_twice_counts_once) {
  graph g;
  int x = 0, y = 0;
  g.add({}, {.in = {&x, &x}, .out = {&x, &y}, .inout = {&y}}, [] {});
  g.add({}, {.in = {&x, &y, &x}, .inout = {&x}}, [] {});
  EXPECT_EQ(g.edges(), 1u);
}

TEST(data, null_is_refused_and_adds_nothing) {
  graph g;
  int x = 0;
  EXPECT_THROW(g.add({}, {.in = {&x, nullptr}}, [] {}), usage_error);
  EXPECT_EQ(g.size(), 0u);
}

TEST(data, edges_and_data_order_the_same_tasks) {
  graph g;
  int x = 0;
  const task first = g.add({}, {.out = {&x}}, [&] { x = 5; });
  const task middle = g.add([&] { x *= 2; });
  g.edge(first, middle);
  const task last = g.add({}, {.inout = {&x}}, [&] { x += 1; });
  g.edge(middle, last);
  runtime rt(with_policy("dam-c", 2));
  rt.run(g);
  EXPECT_EQ(x, 11);
}

TEST(data, many_readers_of_many_data_do_not_take_the_square_of_their_number) {
  graph g;
  std::array<int, 8> shared{};
  depend all;
  for (int& s : shared) all.in.push_back(&s);
  for (int i = 0; i < 20000; ++i) g.add({}, all, [] {});
  depend writes;
  for (int& s : shared) writes.out.push_back(&s);
  g.add({}, writes, [] {});
  EXPECT_EQ(g.edges(), 20000u);
}

/// Random uses of eight numbers: each task mixes what it reads into what it writes, so any other
/// order shows.
class random_data : public ::testing::TestWithParam<const char*> {};

struct cell {
  std::uint64_t value = 0;
};
using cells = std::array<cell, 8>;
struct uses {
  std::vector<std::size_t> in, out, inout;
};

std::vector<uses> draw(std::uint32_t seed, int tasks) {
  std::mt19937 random(seed);
  std::vector<uses> all(static_cast<std::size_t>(tasks));
  for (uses& u : all)
    for (std::size_t i = 0; i < 8; ++i) switch (random() % 8) {
        case 0: u.in.push_back(i); break;
        case 1: u.out.push_back(i); break;
        case 2: u.inout.push_back(i); break;
        default: break;
      }
  return all;
}

void work(const uses& u, cells& c, std::uint64_t number) {
  std::uint64_t mixed = number * 0x9e3779b97f4a7c15;
  for (const std::size_t i : u.in) mixed = (mixed ^ c[i].value) * 0xbf58476d1ce4e5b9 + 1;
  for (const std::size_t i : u.inout) mixed = (mixed ^ c[i].value) * 0x94d049bb133111eb + 2;
  for (const std::size_t i : u.inout) c[i].value = mixed + i;
  for (const std::size_t i : u.out) c[i].value = mixed ^ i;
}

depend data_of(const uses& u, const cells& c) {
  depend d;
  for (const std::size_t i : u.in) d.in.push_back(&c[i]);
  for (const std::size_t i : u.out) d.out.push_back(&c[i]);
  for (const std::size_t i : u.inout) d.inout.push_back(&c[i]);
  return d;
}

TEST_P(random_data, give_what_they_give_one_after_the_other) {
  runtime rt(with_policy(GetParam(), 3));
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const std::vector<uses> all = draw(seed, 200);
    cells wanted{}, got{}, in_batches{};
    for (std::size_t i = 0; i < all.size(); ++i) work(all[i], wanted, i);
    graph g;
    for (std::size_t i = 0; i < all.size(); ++i)
      g.add({}, data_of(all[i], got), [&, i] { work(all[i], got, i); });
    rt.run(g);
    graph adds;
    adds.add([&](task_context& me) {
      batch b(me);
      for (std::size_t i = 0; i < all.size(); ++i) {
        b.add({}, data_of(all[i], in_batches), [&, i] { work(all[i], in_batches, i); });
        if (i % 70 == 69) b.wait();
      }
    });
    rt.run(adds);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].value, wanted[i].value) << "seed " << seed;
      ASSERT_EQ(in_batches[i].value, wanted[i].value) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(policies, random_data, ::testing::Values("fifo", "rws", "dam-c", "auto"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(data, of_a_released_task_can_be_followed_only_after_wait) {
  graph g;
  std::atomic<int> refused{0};
  int x = 0, y = 0;
  g.add([&](task_context& me) {
    batch b(me);
    const auto add = [&](depend d) {
      try {
        b.add({}, d, [] {});
      } catch (const usage_error&) {
        refused.fetch_add(1);
      }
    };
    b.add({}, {.out = {&x}}, [&] { x = 1; });
    b.add({}, {.in = {&y}}, [] {});
    b.release();
    add({.in = {&x}});   // refused
    add({.out = {&y}});  // refused
    add({.in = {&y}});   // two readers need no order
    b.wait();
    b.add({}, {.inout = {&x}}, [&] { ++x; });
    b.detach();
    add({.in = {&x}});  // refused: nobody waits for the detached
    b.wait();
    add({.in = {&x}});  // refused
  });
  runtime rt(with_policy("auto", 2));
  rt.run(g);
  EXPECT_EQ(refused.load(), 4);
  EXPECT_EQ(x, 2);
}

TEST(types, of_another_graph_are_refused) {
  graph g, h;
  const task_type mine = g.type("mine");
  h.add({.type = h.type("other")}, [] {});
  EXPECT_THROW(h.add({.type = mine}, [] {}), usage_error);
  EXPECT_EQ(h.size(), 1u);
  g.add({.type = mine}, [&](task_context& me) {
    batch b(me);
    EXPECT_THROW(b.add({.type = h.type("other")}, [] {}), usage_error);
    b.add({.type = mine}, [] {});
    b.add({}, [] {});
  });
  runtime rt(with_policy("auto", 1));
  EXPECT_EQ(rt.run(g).tasks, 3u);
  g.clear();
  EXPECT_THROW(g.add({.type = mine}, [] {}), usage_error) << "clear() has taken it away";
}

}  // namespace
}  // namespace kilter
