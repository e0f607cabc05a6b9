// Who has which CPUs, as all participants compute it.

#include "sharing/share_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "unit/sharing/pages.hpp"

namespace kilter::sharing {
namespace {

cpu_bits cpus(std::initializer_list<std::uint32_t> all) {
  cpu_bits c;
  for (const std::uint32_t cpu : all) c.add(cpu);
  return c;
}
std::vector<std::uint32_t> numbers(const cpu_bits& c) {
  std::vector<std::uint32_t> all;
  c.each_while([&](std::uint32_t cpu) {
    all.push_back(cpu);
    return true;
  });
  return all;
}
using numbers_of = std::vector<std::uint32_t>;

std::vector<cpu_bits> answers(const std::vector<participant>& all) {
  std::vector<const participant*> pointers;
  for (const participant& p : all) pointers.push_back(&p);
  std::vector<cpu_bits> got;
  for (std::uint32_t own = 0; own < all.size(); ++own)
    got.push_back(share_out(pointers.data(), static_cast<std::uint32_t>(all.size()), own));
  return got;
}
/// Each uses what it was told.
std::vector<cpu_bits> settle(std::vector<participant>& all) {
  const std::vector<cpu_bits> told = answers(all);
  for (std::size_t n = 0; n < all.size(); ++n) all[n].takes = told[n];
  return told;
}

TEST(share_out, who_is_alone_has_all_that_it_may_use) {
  EXPECT_EQ(answers({{up_to(4), {}, 100}})[0], up_to(4));
  EXPECT_EQ(answers({{up_to(4), {}, 0}})[0], up_to(4));
  EXPECT_EQ(answers({{up_to(4), up_to(4), 50}, {up_to(4), up_to(4), 0}})[0], up_to(4));
}

TEST(share_out, two_that_could_use_all_have_half_each) {
  std::vector<participant> all{{up_to(4), up_to(4), 400}, {up_to(4), up_to(4), 400}};
  const auto told = settle(all);
  EXPECT_EQ(numbers(told[0]), (numbers_of{0, 1}));
  EXPECT_EQ(numbers(told[1]), (numbers_of{2, 3}));
}

TEST(share_out, what_one_does_not_need_another_has) {
  const auto told = answers({{up_to(8), up_to(8), 800}, {up_to(8), {}, 150}});
  EXPECT_EQ(numbers(told[0]), (numbers_of{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers(told[1]), (numbers_of{6, 7}));
}

TEST(share_out, who_has_only_few_to_choose_from_has_those) {
  const auto told = answers({{up_to(4), up_to(4), 400}, {cpus({0, 1}), cpus({0, 1}), 200}});
  EXPECT_EQ(numbers(told[0]), (numbers_of{2, 3}));
  EXPECT_EQ(numbers(told[1]), (numbers_of{0, 1}));
}

TEST(share_out, who_can_only_take_from_a_poor_one_is_given_by_way_of_it) {
  // The last may only use CPU 0, whose owner may use 1, which the rich one has.
  const auto told = answers({{cpus({1, 2, 3, 4}), cpus({1, 2, 3, 4}), 400},
                             {cpus({0, 1}), cpus({0}), 100},
                             {cpus({0}), {}, 100}});
  EXPECT_EQ(numbers(told[0]), (numbers_of{2, 3, 4}));
  EXPECT_EQ(numbers(told[1]), (numbers_of{1}));
  EXPECT_EQ(numbers(told[2]), (numbers_of{0}));
}

TEST(share_out, who_uses_what_it_was_told_keeps_it) {
  std::vector<participant> all{
      {up_to(8), up_to(8), 800}, {up_to(8), up_to(8), 300}, {up_to(8), up_to(8), 800}};
  const auto told = settle(all);
  EXPECT_TRUE(settle(all) == told);
  all[1].could_use_percent = 100;  // and who gets what it gave up moves nothing else
  for (const auto& after = settle(all); const std::size_t n : {0, 2})
    EXPECT_EQ(after[n] & told[n], told[n]);
}

TEST(share_out, one_more_than_another_is_no_reason_to_move) {
  std::vector<participant> all{{up_to(3), cpus({2}), 300}, {up_to(3), cpus({0, 1}), 300}};
  EXPECT_EQ(settle(all)[0], cpus({2}));
}

TEST(share_out, more_programs_than_cpus_share_them_evenly) {
  std::vector<participant> all(5, participant{up_to(2), up_to(2), 200});
  std::uint32_t on[2] = {};
  for (const cpu_bits& c : settle(all)) {
    ASSERT_EQ(c.count(), 1U);
    ++on[numbers(c)[0]];
  }
  EXPECT_EQ(std::max(on[0], on[1]), 3U);
  const auto before = answers(all);
  EXPECT_EQ(settle(all), before);
}

TEST(share_out, who_has_nothing_to_do_takes_nothing_away_and_has_where_to_be) {
  const auto told = answers({{up_to(4), {}, 400}, {up_to(4), {}, 100}, {up_to(4), {}, 0}});
  EXPECT_EQ(told[0].count(), 3U);
  EXPECT_EQ(told[1].count(), 1U);
  EXPECT_EQ(told[2].count(), 1U);
}

TEST(share_out, the_first_and_the_last_cpu_count_too) {
  const cpu_bits far = cpus({0, most_cpus - 1});
  const auto told = answers({{far, far, 200}, {far, far, 200}});
  EXPECT_EQ(numbers(told[0]), (numbers_of{0}));
  EXPECT_EQ(numbers(told[1]), (numbers_of{most_cpus - 1}));
}

TEST(share_out, everybody_on_the_largest_machine) {
  std::vector<participant> all(most_participants,
                               participant{up_to(most_cpus), up_to(most_cpus), 100 * most_cpus});
  std::vector<const participant*> pointers;
  for (const participant& p : all) pointers.push_back(&p);
  for (const std::uint32_t own : {0U, most_participants - 1})
    EXPECT_EQ(share_out(pointers.data(), most_participants, own).count(),
              most_cpus / most_participants);
}

// Whatever they may use and want: nobody has what it may not have or another one has, nobody could
// have more but from one that has no more, and soon nothing moves.
TEST(share_out, is_fair_and_settles) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t machine = 1 + below(12), programs = 2 + below(7);
    std::vector<participant> all(programs);
    for (participant& p : all) {
      const bool whole = below(2) == 0;
      for (std::uint32_t cpu = 0; cpu < machine; ++cpu) {
        if (whole || below(3) == 0) p.allowed.add(cpu);
        if (below(2) == 0) p.takes.add(cpu);
      }
      if (p.allowed.empty()) p.allowed.add(below(machine));
      p.could_use_percent = below(4) == 0 ? 0 : below(machine * 130);
    }
    if (std::count_if(all.begin(), all.end(),
                      [](const participant& p) { return p.could_use_percent > 0; }) < 2)
      continue;
    const std::vector<cpu_bits> told = settle(all);
    std::vector<std::uint32_t> needs, users(machine);
    for (std::size_t n = 0; n < programs; ++n) {
      needs.push_back(std::min((all[n].could_use_percent + 99) / 100, all[n].allowed.count()));
      ASSERT_GE(told[n].count(), 1U);
      ASSERT_EQ(told[n] & all[n].allowed, told[n]);
      ASSERT_LE(told[n].count(), std::max(1U, needs[n]));
      if (needs[n] > 0)
        for (const std::uint32_t cpu : numbers(told[n])) ++users[cpu];
    }
    for (std::size_t n = 0; n < programs; ++n) {
      if (told[n].count() > 1) {
        for (const std::uint32_t cpu : numbers(told[n]))
          ASSERT_EQ(users[cpu], 1U) << "round " << round;
      }
      if (told[n].count() >= needs[n]) continue;
      for (const std::uint32_t cpu : numbers(all[n].allowed)) {
        ASSERT_GT(users[cpu], 0U) << "round " << round << ": one lacks CPUs, and CPU " << cpu
                                  << " has nobody";
        for (std::size_t other = 0; other < programs; ++other)
          if (told[other].has(cpu) && users[cpu] == 1) {
            ASSERT_LE(told[other].count(), told[n].count() + 1) << "round " << round;
          }
      }
    }
    // Where several share one CPU, which of them is said to own it may still change; then nothing
    // does.
    static_cast<void>(settle(all));
    const std::vector<cpu_bits> settled = settle(all);
    ASSERT_TRUE(settle(all) == settled) << "round " << round;
  }
}

}  // namespace
}  // namespace kilter::sharing
