// No scheduler that moves threads of real programs leaves a core to two of them while one that they
// may use has none.

#include "base/random.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

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
