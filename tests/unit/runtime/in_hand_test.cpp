// What a worker holds where nobody else can reach it. A thing that is left there keeps others
// waiting for as long as the worker is busy elsewhere.

#include "runtime/in_hand.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/node.hpp"
#include "runtime/declared_queue.hpp"

namespace kilter::inline v0::detail {
namespace {

// Nobody looks into the runs; they are told apart by their addresses.
struct two_runs {
  alignas(64) std::byte first[64], second[64];
  execution_state& one() { return reinterpret_cast<execution_state&>(first); }
  execution_state& other() { return reinterpret_cast<execution_state&>(second); }
};

struct receiver {
  in_hand& hand;
  std::vector<std::string> got;
  void decline(node*, const origin& from) { got.push_back("declined " + std::to_string(from.key)); }
  void share(node*) { got.emplace_back("shared"); }
  void tell(const declared_queue&) { got.emplace_back("told"); }
  void learn_row(const short_row::contents& row) {
    got.push_back("row of " + std::to_string(row.count));
    hand.stamp_cycles = 1;  // the clock was read for it
  }
  void hand_in(execution_state&) { got.emplace_back("handed in"); }
};

class in_hand_test : public testing::Test {
 protected:
  in_hand hand;
  two_runs runs;
  node waits, next;
  task_kind kind;
  declared_queue queue{{}, 1};
  receiver others{hand, {}};

  void fill() {
    hand.found = &waits;
    hand.found_in = {.queue = nullptr, .key = 7, .stolen = true};
    hand.next = &next;
    hand.untold = &queue;
    hand.counted = &runs.one();
    hand.row.open(kind, runs.one(), 10);
    static_cast<void>(hand.row.counts());
    hand.stamp_cycles = 20;
  }
};

// The row before the counts: the run may be gone once they are handed in.
TEST_F(in_hand_test, all_of_it_goes_where_others_find_it) {
  fill();
  hand.let_go(others);
  EXPECT_TRUE(hand.empty());
  EXPECT_EQ(others.got,
            (std::vector<std::string>{"declined 7", "shared", "told", "row of 1", "handed in"}));
  hand.let_go(others);
  EXPECT_EQ(others.got.size(), 5u) << "an empty hand has nothing to give";
}

TEST_F(in_hand_test, what_is_counted_for_the_run_that_goes_on_may_stay_but_not_its_row) {
  fill();
  hand.let_go(others, &runs.one());
  EXPECT_EQ(others.got, (std::vector<std::string>{"declined 7", "shared", "told", "row of 1"}));
  EXPECT_FALSE(hand.empty());
  EXPECT_TRUE(hand.empty(&runs.one()));
  hand.let_go(others, &runs.other());
  EXPECT_EQ(others.got.back(), "handed in");
  EXPECT_TRUE(hand.empty());
}

TEST_F(in_hand_test, each_thing_alone_makes_it_not_empty) {
  const auto holds = [&](auto&& set) {
    hand = {};
    set();
    return !hand.empty();
  };
  EXPECT_TRUE(holds([&] { hand.next = &next; }));
  EXPECT_TRUE(holds([&] { hand.untold = &queue; }));
  EXPECT_TRUE(holds([&] { hand.found = &waits; }));
  EXPECT_TRUE(holds([&] { hand.counted = &runs.one(); }));
  EXPECT_TRUE(holds([&] { hand.row.open(kind, runs.one(), 0); }));
  EXPECT_TRUE(holds([&] { hand.stamp_cycles = 1; }));
}

TEST_F(in_hand_test, rows_grow_where_even_a_row_is_short) {
  const std::uint64_t limit = 1000;
  const auto length = [&] {
    hand.row.open(kind, runs.one(), 0);
    std::uint32_t n = 1;
    while (!hand.row.counts()) ++n;
    return n;
  };
  EXPECT_EQ(length(), short_row::usual);
  hand.row.fit(hand.row.close(), 100, limit);
  EXPECT_EQ(length(), short_row::longest);
  hand.row.fit(hand.row.close(), short_row::longest * limit, limit);
  EXPECT_EQ(length(), short_row::usual);
}

}  // namespace
}  // namespace kilter::inline v0::detail
