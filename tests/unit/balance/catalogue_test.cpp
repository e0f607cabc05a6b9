// Every scheduler of the catalogue keeps the contract, defaults are those of papers.md, and wrong
// options are refused by name. No scheduler that moves threads of real programs leaves a core to
// two of them while one that they may use has none.

#include "base/random.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

// ---- the contract -------------------------------------------------------------------------------

namespace {

world mixed(std::uint32_t threads, std::uint32_t cores) {
  world w;
  for (core_id c = 0; c < cores; ++c) w.core_per_s.push_back(c < cores / 2 ? 100.0 : 40.0);
  for (thread_id t = 0; t < threads; ++t)
    w.actors.push_back({.program = t % 3,
                        .kind = t % 2 ? thread_class::memory : thread_class::compute,
                        .demand_per_s = t % 2 ? 150.0 : 3.0,
                        .core = t * 5 % cores});
  return w;
}

}  // namespace

TEST(catalogue, names_what_the_command_offers) {
  std::vector<std::string_view> live;
  for (const scheduler_info& i : schedulers()) {
    EXPECT_FALSE(i.summary.empty());
    if (i.live) live.push_back(i.name);
  }
  for (const std::string_view name : {"dike", "dike-af", "dike-ap", "dio", "dio-original", "ljfpf",
                                      "cjfpf", "rr", "none", "spread"})
    EXPECT_NE(std::find(live.begin(), live.end(), name), live.end()) << name;
}

// papers.md E33-E50: the defaults
TEST(catalogue, defaults_are_those_of_the_facts) {
  const scheduler_options o;
  EXPECT_EQ(o.quantum_s, 0.5);
  EXPECT_EQ(o.swap_size, 8u);
  EXPECT_FALSE(o.pairs);
  EXPECT_EQ(o.fair_below, 0.1);
  EXPECT_FALSE(o.global_cv);
  EXPECT_EQ(o.memory_above, 0.1);
  EXPECT_FALSE(o.keep_busy) << "the papers' schedulers do not";
  EXPECT_FALSE(o.strict_pairs);
  EXPECT_EQ(o.profit_margin, 0.0);
  EXPECT_EQ(o.swap_overhead_s, 0.0);
  EXPECT_EQ(o.cool_down, 1u);
  EXPECT_EQ(o.window, 0u);
  EXPECT_TRUE(o.high_bandwidth.empty());
  EXPECT_EQ(o.optimizer_every, 20u);
  EXPECT_FALSE(o.bidirectional);
  EXPECT_EQ(o.gts_up, 700.0);
  EXPECT_EQ(o.gts_down, 512.0);
  EXPECT_EQ(o.switch_up, 0.85);
  EXPECT_EQ(o.switch_down, 0.3);
}

TEST(catalogue, wrong_names_and_options_are_refused) {
  const machine m = machine::uniform(4);
  const std::tuple<std::string, scheduler_options, std::string> cases[] = {
      {"dyke", {}, "unknown thread scheduler 'dyke'. There are: dike, dike-af"},
      {"dike", {.quantum_s = 0.0}, "the quantum in seconds is 0; it must be above 0"},
      {"dike-af",
       {.quantum_s = 0.3},
       "the quantum of dike-af in seconds is 0.3; it must be 0.1, 0.2, 0.5 or 1"},
      {"dike", {.swap_size = 7}, "the swap size is 7; it must be an even number of threads"},
      {"dike", {.swap_size = 0}, "the swap size is 0"},
      {"dike", {.swap_size = 0, .pairs = true}, "at least 1 pair"},
      {"dike", {.fair_below = -0.1}, "the fairness threshold is -0.1"},
      {"dike", {.memory_above = 1.5}, "the miss ratio of class memory is 1.5"},
      {"dike", {.swap_overhead_s = -1}, "the swap overhead in seconds is -1"},
      {"dike", {.optimizer_every = 0}, "the optimizer's period is 0"},
      {"dike", {.high_bandwidth = {4}}, "the list of high-bandwidth cores names core 4; "},
      {"ljfpf", {.fast_cores = {9}}, "the list of fast cores names core 9"},
      {"gts", {.gts_up = 500.0, .gts_down = 600.0}, "the lower threshold of gts is 600"},
      {"cs", {}, "all count as fast"},
      {"iks", {.fast_cores = {0}}, "1 fast and 3 slow"},
  };
  for (const auto& [name, options, expected] : cases)
    expect_names(refusal([&] { (void)make_scheduler(name, m, options); }), {expected});
  EXPECT_NO_THROW((void)make_scheduler("dike", m, {.swap_size = 1, .pairs = true}));
  EXPECT_NO_THROW((void)make_scheduler("dike", m, {.quantum_s = 0.3}));
}

TEST(catalogue, every_scheduler_only_moves_threads_that_are_there_and_may_be_moved) {
  const machine m = two_kinds(3, 3);
  for (const scheduler_info& info : schedulers())
    for (const bool rates : {true, false})
      for (const std::uint32_t threads : {1u, 4u, 6u, 20u}) {
        world w = mixed(threads, 6);
        w.actors.back().movable = threads < 2;
        const auto s = make_scheduler(info.name, m);
        EXPECT_EQ(s->name(), info.name);
        ASSERT_GT(s->first_s(), 0.0);
        double length_s = s->first_s();
        for (int q = 0; q < 30; ++q) {
          if (q == 10) w.actors[0].alive = threads < 4;
          if (q == 15 && threads > 4) w.actors[3].runnable = false;
          const answer a = s->tick(w.see(length_s, rates));
          ASSERT_NO_FATAL_FAILURE(w.carry_out(a)) << info.name;
          ASSERT_GT(a.next_s, 0.0);
          length_s = a.next_s;
        }
        EXPECT_NO_THROW(
            (void)s->tick({.now_s = 1e6, .length_s = 0.5, .rates = rates, .threads = {}}))
            << "all are gone";
      }
}

// The contract: without rates nothing may be predicted, even if an observer put misses into its
// samples.
TEST(catalogue, where_only_classes_are_seen_nobody_predicts) {
  const machine m = two_kinds(3, 3);
  for (const scheduler_info& info : schedulers()) {
    world plain = mixed(6, 6), decorated = plain;
    const auto s = make_scheduler(info.name, m), t = make_scheduler(info.name, m);
    for (int q = 0; q < 20; ++q) {
      const answer a = s->tick(plain.see(0.5, false));
      observation with_misses = decorated.see(0.5, false);
      for (thread_sample& sample : with_misses.threads) sample.misses = 1e6 * (7 - sample.thread);
      const answer b = t->tick(with_misses);
      EXPECT_TRUE(a.expected.empty() && b.expected.empty()) << info.name;
      ASSERT_EQ(a.moves.size(), b.moves.size())
          << info.name << " let misses decide that it was told not to trust";
      for (std::size_t i = 0; i < a.moves.size(); ++i)
        EXPECT_EQ(a.moves[i].thread, b.moves[i].thread);
      plain.carry_out(a);
      decorated.carry_out(b);
    }
  }
}

// ---- no core idle while somebody waits for one --------------------------------------------------

namespace {

/// Threads of up to three programs, some asleep, some not ours to move, some with masks; in each
/// quantum a few change.
class crowd {
 public:
  crowd(std::uint32_t cores, std::uint64_t seed)
      : draws_(seed, "crowd"), world_{std::vector<double>(cores, 100.0), {}} {
    const std::uint32_t threads = 1 + draws_.below(2 * cores);
    for (std::uint32_t i = 0; i < threads; ++i)
      world_.actors.push_back(
          {.program = static_cast<program_id>(draws_.below(3)),
           .kind = draws_.below(2) ? thread_class::memory : thread_class::compute,
           .demand_per_s = 1.0 + draws_.below(100),
           .core = static_cast<core_id>(draws_.below(cores)),
           .movable = draws_.below(8) != 0});
    masks_.resize(threads);
    for (std::size_t i = 0; i < threads; ++i) {
      if (draws_.below(4) != 0) continue;
      for (std::uint32_t c = 0; c < cores; ++c) masks_[i].push_back(draws_.below(2) ? 1 : 0);
      masks_[i][world_.actors[i].core] = 1;
    }
  }

  void change() {
    for (actor& a : world_.actors) {
      a.runnable = draws_.below(3) != 0;
      a.alive = a.alive && draws_.below(20) != 0;
    }
  }

  [[nodiscard]] observation see(bool rates) {
    observation o = world_.see(0.5, rates);
    for (thread_sample& s : o.threads) s.may_use = masks_[s.thread];
    return o;
  }

  void carry_out(const answer& a) {
    for (const move& m : a.moves)
      ASSERT_TRUE(masks_[m.thread].empty() || masks_[m.thread][m.to] != 0)
          << "thread " << m.thread << " may not be on core " << m.to;
    world_.carry_out(a);
  }

  /// Empty, or who waits for nothing.
  [[nodiscard]] std::string wasted() const {
    std::vector<int> runnable(world_.core_per_s.size());
    for (const actor& a : world_.actors) runnable[a.core] += a.alive && a.runnable ? 1 : 0;
    for (thread_id t = 0; t < world_.actors.size(); ++t) {
      const actor& a = world_.actors[t];
      if (!a.alive || !a.runnable || !a.movable || runnable[a.core] < 2) continue;
      for (core_id c = 0; c < runnable.size(); ++c)
        if (runnable[c] == 0 && (masks_[t].empty() || masks_[t][c] != 0))
          return "thread " + std::to_string(t) + " shares core " + std::to_string(a.core) +
                 ", and core " + std::to_string(c) + " is idle";
    }
    return "";
  }

 private:
  random_stream draws_;
  world world_;
  std::vector<std::vector<std::uint8_t>> masks_;
};

}  // namespace

TEST(keep_busy, holds_of_every_live_scheduler_whatever_the_threads_do) {
  for (const scheduler_info& info : schedulers()) {
    // these move nothing
    if (!info.live || info.name == "none" || info.name == "ljfpf" || info.name == "cjfpf") continue;
    if (info.name == "spread") continue;  // it holds nobody anywhere, and waits for what lasts
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
      for (const bool rates : {true, false}) {
        const std::uint32_t cores = 2 + static_cast<std::uint32_t>(seed % 7);
        const machine m = cores % 2 ? machine::uniform(cores) : two_kinds(cores / 2, cores / 2);
        const auto s = make_scheduler(info.name, m, {.keep_busy = true});
        crowd people(cores, seed);
        for (int quantum = 0; quantum < 12; ++quantum) {
          people.change();
          people.carry_out(s->tick(people.see(rates)));
          ASSERT_EQ(people.wasted(), "") << info.name << ", seed " << seed << ", quantum "
                                         << quantum << (rates ? ", rates" : ", classes");
        }
      }
  }
}

TEST(keep_busy, is_off_where_a_paper_is_reproduced) {
  world w{{100, 100}, {}};
  for (int i = 0; i < 2; ++i) w.actors.push_back({.demand_per_s = 10.0, .core = 0});
  EXPECT_TRUE(make_scheduler("dio", machine::uniform(2))->tick(w.see(0.5)).moves.empty());
  const answer a =
      make_scheduler("dio", machine::uniform(2), {.keep_busy = true})->tick(w.see(0.5));
  ASSERT_EQ(a.moves.size(), 1U);
  EXPECT_EQ(a.moves[0].why, reason::load);
}
