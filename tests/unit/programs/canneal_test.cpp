// Annealing is the same under every model, bit for bit, and the same as one swap after another.

#include "apps/programs/canneal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/fuzz_corpus.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

const canneal_options annealing_of_the_tests{.steps = 40, .swaps = 300, .tasks = 5};

TEST(canneal, is_the_same_under_every_model) {
  canneal c(drawn_netlist(2000, 1), annealing_of_the_tests);
  run_and_verify(c, {});
  const std::uint64_t bits = c.fingerprint();
  const std::string file = c.result_file();
  EXPECT_GT(c.made(), 1000u);
  EXPECT_GT(c.again(), 100u) << "swaps of a step that have to do with one another";
  for (const team& t : teams()) {
    const program_run r = run_and_verify(c, t);
    EXPECT_EQ(c.fingerprint(), bits) << t;
    EXPECT_EQ(r.iterations, 40u);
    EXPECT_EQ(r.tasks, 40u * 5u);
    EXPECT_EQ(r.barriers, 40u) << "one join a step";
  }
  EXPECT_EQ(c.result_file(), file);
}

TEST(canneal, is_the_same_with_any_threads_policy_cut_and_number_of_tasks) {
  canneal_options in_tasks = annealing_of_the_tests, other = annealing_of_the_tests;
  in_tasks.cut = loop_cut::tasks;
  other.tasks = 700;  // more than swaps
  canneal c(drawn_netlist(1500, 2), annealing_of_the_tests), t(drawn_netlist(1500, 2), in_tasks),
      u(drawn_netlist(1500, 2), other);
  run_and_verify(c, {});
  const std::uint64_t bits = c.fingerprint();
  for (canneal* each : {&c, &t}) {
    for (const team& on : few_teams_and_policies()) {
      run_and_verify(*each, on);
      EXPECT_EQ(each->fingerprint(), bits) << on;
    }
  }
  run_and_verify(t, {execution_model::task, 2});
  EXPECT_EQ(t.fingerprint(), bits);
  run_and_verify(u, on_kilter(2));
  EXPECT_EQ(u.fingerprint(), bits);
}

/// Annealing as textbooks have it, with random numbers of its own and the length of all wires
/// computed anew for each swap.
std::int64_t textbook_annealing(const netlist& n, const canneal_options& o) {
  std::vector<place> at(n.elements());
  for (std::size_t e = 0; e < at.size(); ++e) at[e] = n.first_place(e);
  const auto length_of_all = [&] {
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < at.size(); ++e)
      for (const std::uint32_t input : n.inputs.of(e)) sum += length(at[e], at[input]);
    return sum;
  };
  std::mt19937_64 random(12345);
  std::int64_t now = length_of_all();
  double temperature = o.temperature;
  for (std::uint64_t s = 0; s < o.steps; ++s, temperature /= cooling)
    for (std::uint64_t i = 0; i < o.swaps; ++i) {
      const std::size_t a = random() % at.size(), b = random() % at.size();
      std::swap(at[a], at[b]);
      const std::int64_t then = length_of_all();
      const double chance = std::ldexp(static_cast<double>(random() >> 11), -53);
      if (then > now && chance >= std::exp(-static_cast<double>(then - now) / temperature))
        std::swap(at[a], at[b]);
      else
        now = then;
    }
  return now;
}

TEST(canneal, is_as_good_as_textbook_annealing) {
  const netlist n = drawn_netlist(400, 3);
  const canneal_options o{.steps = 60, .swaps = 200, .temperature = 200};
  canneal c(n, o);
  run_and_verify(c, on_kilter(2));
  const auto ours = static_cast<double>(c.now().cost),
             theirs = static_cast<double>(textbook_annealing(n, o));
  EXPECT_LT(ours, 0.8 * static_cast<double>(c.now().before));
  EXPECT_NEAR(ours / theirs, 1, 0.05);
}

TEST(canneal, untangles_a_ring) {
  // a, b, c, d in a ring: at first two of the wires are diagonals, of length 2; the best placement
  // has none.
  canneal c(read_netlist("4 2 2\na 1 d END\nb 1 c END\nc 1 a END\nd 1 b END\n", "ring"),
            {.steps = 60, .swaps = 20, .tasks = 3, .temperature = 5});
  EXPECT_EQ(c.now().before, 6);
  run_and_verify(c, on_kilter(2));
  EXPECT_EQ(c.now().cost, 4);
}

TEST(canneal, tries_all_pairs_alike) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
  double chances = 0;
  constexpr int tried = 20'000;
  for (int i = 0; i < tried; ++i) {
    const tried_swap s = draw_swap(7, static_cast<std::uint64_t>(i), 5);
    ++pairs[{s.a, s.b}];
    ASSERT_TRUE(s.chance >= 0 && s.chance < 1);
    chances += s.chance;
  }
  ASSERT_EQ(pairs.size(), 20u) << "5 x 4, and none with itself";
  for (const auto& [pair, count] : pairs)
    EXPECT_NEAR(count, 1000, 150) << pair.first << " " << pair.second;
  EXPECT_NEAR(chances / tried, 0.5, 0.01);
}

TEST(canneal, accepts_as_Metropolis_does) {
  EXPECT_TRUE(accepts(0, 0, 0.999));
  EXPECT_TRUE(accepts(-1, 0, 0.999));
  EXPECT_FALSE(accepts(1, 0, 0));
  EXPECT_TRUE(accepts(2, 2, 0.367));
  EXPECT_FALSE(accepts(2, 2, 0.369));
}

std::string canneal_verdict(const netlist& n, const annealed& a, const canneal_options& o) {
  return verdict_of([&] { verify(n, a, o); });
}

TEST(canneal, is_verified_by_itself) {
  // all of its steps are done again, or the last ones
  for (const std::uint64_t swaps : {300u, 60'000u}) {
    const canneal_options o{.steps = 20, .swaps = swaps, .temperature = 50};
    canneal c(drawn_netlist(1000, 4), o);
    EXPECT_THROW(c.verify(), wrong_result) << "nothing has been computed";
    run_and_verify(c, {});
    EXPECT_EQ(c.now().checked_from, swaps == 300 ? 0u : 4u);
    EXPECT_EQ(canneal_verdict(c.wires(), c.now(), o), "right");
    annealed wrong = c.now();
    ++wrong.cost;
    const std::string cost = std::to_string(c.now().cost);
    EXPECT_EQ(canneal_verdict(c.wires(), wrong, o),
              "canneal: the wires are " + cost + " long, not " + std::to_string(c.now().cost + 1));
    (wrong = c.now()).places[7] = c.now().places[3];
    EXPECT_NE(canneal_verdict(c.wires(), wrong, o)
                  .find("canneal: elements e3 and e7 are both at column "),
              std::string::npos);
    (wrong = c.now()).places[7] = {-1, 0};
    EXPECT_EQ(canneal_verdict(c.wires(), wrong, o),
              "canneal: element e7 is at column -1, row 0, where no element was before");
  }
}

TEST(canneal, is_verified_against_plain_annealing) {
  const netlist n = read_netlist("4 4 1\na 1 END\nb 1 END\nc 1 END\nd 1 END\n", "no wires");
  const canneal_options o{.steps = 2, .swaps = 3};
  canneal c(n, o);
  run_and_verify(c, {});
  annealed wrong = c.now();
  std::swap(wrong.places[0], wrong.places[1]);
  const std::string verdict = canneal_verdict(n, wrong, o);
  EXPECT_TRUE(verdict.starts_with("canneal: element a is at column ")) << verdict;
  EXPECT_NE(verdict.find(", plain annealing brings it to column "), std::string::npos) << verdict;
}

TEST(canneal, ends_early_when_it_is_told_to) {
  canneal c(drawn_netlist(1000, 1), {.steps = 1'000'000'000});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    EXPECT_TRUE(ends_early(c, m));
  }
}

std::string canneal_refusal(const canneal_options& o) {
  return answer_to([&] { canneal(drawn_netlist(20, 1), o); });
}

TEST(canneal, refuses_what_cannot_be) {
  EXPECT_EQ(canneal_refusal({.steps = 0}), "--steps 0: annealing has 1 or more");
  EXPECT_EQ(canneal_refusal({.swaps = 0}), "--swaps 0: a step has 1 or more");
  EXPECT_EQ(canneal_refusal({.tasks = 0}), "--tasks 0: a step has 1 or more");
  EXPECT_EQ(canneal_refusal({.temperature = 0}),
            "--temperature 0.000000: write a finite number above 0");
  EXPECT_EQ(canneal_refusal({.temperature = NAN}),
            "--temperature nan: write a finite number above 0");
  EXPECT_EQ(canneal_refusal({}), "accepted");
}

TEST(netlist, is_read) {
  const netlist n =
      read_netlist("  3\t4 5 \r\n\nin 1 END\r\nadd 2 in\tlatch in END\n latch 12 add END", "n");
  EXPECT_EQ(n.columns, 4u);
  EXPECT_EQ(n.rows, 5u);
  EXPECT_EQ(n.names, (std::vector<std::string>{"in", "add", "latch"}));
  EXPECT_EQ(n.inputs.first, (std::vector<std::uint64_t>{0, 0, 3, 4}));
  EXPECT_EQ(n.inputs.all, (std::vector<std::uint32_t>{0, 2, 0, 1}));
  const adjacency both = neighbours_of(n);
  EXPECT_EQ(both.first, (std::vector<std::uint64_t>{0, 2, 6, 8}));
  EXPECT_TRUE(neighbours_of(read_netlist("2 2 1\na 1 a a END\nb 1 END", "n")).all.empty())
      << "wires from an element to itself";
}

std::string netlist_refusal(const std::string& text) {
  return refusal([&] { (void)read_netlist(text, "n"); });
}

TEST(netlist, says_what_is_wrong_and_where) {
  const std::string heading =
      ": write ELEMENTS COLUMNS ROWS, whole numbers, elements from 2 to 100000000, the others from "
      "1 to 1000000";
  EXPECT_EQ(netlist_refusal(" \n"),
            "netlist 'n' is empty; its first line is ELEMENTS COLUMNS ROWS");
  EXPECT_EQ(netlist_refusal("2 2"), "netlist 'n', line 1: ''" + heading);
  EXPECT_EQ(netlist_refusal("2 2 x\n"), "netlist 'n', line 1: 'x'" + heading);
  EXPECT_EQ(netlist_refusal("1 2 2\n"), "netlist 'n', line 1: '1'" + heading);
  EXPECT_EQ(netlist_refusal("2 -2 2\n"), "netlist 'n', line 1: '-2'" + heading);
  EXPECT_EQ(netlist_refusal("2 2 1000001\n"), "netlist 'n', line 1: '1000001'" + heading);
  EXPECT_EQ(netlist_refusal("2 2 1 1\n"),
            "netlist 'n', line 1: '1' comes after ELEMENTS COLUMNS ROWS, where the line ends");
  EXPECT_EQ(netlist_refusal("5 2 2\n"),
            "netlist 'n', line 1: 2 x 2 places are fewer than 5 elements");
  EXPECT_EQ(netlist_refusal("2 2 1\na 1 END\n"),
            "netlist 'n', line 2: the file ends after 1 elements; its first line says 2");
  EXPECT_EQ(netlist_refusal("2 2 1\na 1 END\nb 1 END\nc 1 END\n"),
            "netlist 'n', line 4: there are more elements than the 2 of the first line");
  EXPECT_EQ(netlist_refusal("2 2 1\na 1 END\na 1 END\n"),
            "netlist 'n', line 3: there is an element 'a' already");
  EXPECT_EQ(netlist_refusal("2 2 1\na 1 c END\nb 1 END\n"),
            "netlist 'n', line 2: there is no element 'c'");
  EXPECT_EQ(netlist_refusal("2 2 1\na 1 b\nb 1 END\n"),
            "netlist 'n', line 2: the line does not end with END");
  EXPECT_EQ(netlist_refusal("2 2 1\na 1 END b\nb 1 END\n"),
            "netlist 'n', line 2: 'b' comes after END, where the line ends");
  EXPECT_EQ(netlist_refusal("2 2 1\na b END\nb 1 END\n"),
            "netlist 'n', line 2: the type of 'a' is 'b'; it is a whole number");
  EXPECT_EQ(netlist_refusal("2 2 1\nEND\nb 1 END\n"),
            "netlist 'n', line 2: END stands where the name of an element should");
}

TEST(netlist, corpus_is_read_or_refused_in_one_line) {
  replay_corpus("netlist",
                [](const std::string&, const std::string& text) { (void)read_netlist(text, "f"); });
}

TEST(netlist, is_drawn_the_same_for_a_seed) {
  const netlist n = drawn_netlist(1000, 5);
  EXPECT_EQ(n.elements(), 1000u);
  EXPECT_EQ(n.columns, 32u);
  EXPECT_EQ(n.rows, 32u);
  EXPECT_EQ(n.inputs.all, drawn_netlist(1000, 5).inputs.all);
  EXPECT_NE(n.inputs.all, drawn_netlist(1000, 6).inputs.all);
  for (std::size_t e = 0; e < n.elements(); ++e) {
    EXPECT_TRUE(n.inputs.of(e).size() >= 2 && n.inputs.of(e).size() <= 6) << e;
    for (const std::uint32_t input : n.inputs.of(e)) EXPECT_TRUE(input < 1000 && input != e) << e;
  }
  EXPECT_EQ(drawn_netlist(16, 1).elements(), 16u);
}

}  // namespace
}  // namespace kilter::apps
