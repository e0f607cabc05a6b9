// Heat gives the same field, bit for bit, under every model, cut in any way, by any number of
// ranks; and the field is right.

#include "apps/programs/heat.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// Ranks that are threads of one process, for tests of what ranks do together.

/// Where they meet, and where what is on its way lies.
struct rank_room {
  explicit rank_room(std::uint32_t count) : texts(count), values(count), meeting(count) {}
  std::vector<std::string> texts;
  std::vector<std::vector<double>> values;
  std::barrier<> meeting;
  std::mutex mutex;
  std::condition_variable came;
  // from, to
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::vector<double>>> on_the_way;
};

class thread_rank final : public ranks {
 public:
  thread_rank(rank_room& room, std::uint32_t rank) : room_(room), rank_(rank) {}
  std::uint32_t rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(room_.texts.size());
  }

  std::vector<std::string> each(const std::string& mine) override {
    room_.texts[rank_] = mine;
    room_.meeting.arrive_and_wait();
    const std::vector<std::string> all = room_.texts;
    room_.meeting.arrive_and_wait();
    return all;
  }
  std::vector<std::vector<double>> to_first(std::span<const double> mine) override {
    room_.values[rank_].assign(mine.begin(), mine.end());
    room_.meeting.arrive_and_wait();
    const auto all = rank_ == 0 ? room_.values : std::vector<std::vector<double>>{};
    room_.meeting.arrive_and_wait();
    return all;
  }
  bool exchange(std::span<const border> borders, const std::function<bool()>&) override {
    std::unique_lock lock(room_.mutex);
    for (const border& b : borders)
      room_.on_the_way[{rank_, b.with}].emplace_back(b.out.begin(), b.out.end());
    room_.came.notify_all();
    for (const border& b : borders) {
      auto& mail = room_.on_the_way[{b.with, rank_}];
      room_.came.wait(lock, [&] { return !mail.empty(); });
      std::copy(mail.front().begin(), mail.front().end(), b.in.begin());
      mail.pop_front();
    }
    return false;
  }

 private:
  rank_room& room_;
  std::uint32_t rank_;
};

/// Calls `f` as each of so many ranks at the same time.
template <class F>
void in_ranks(std::uint32_t count, F&& f) {
  rank_room room(count);
  std::vector<std::jthread> all;
  for (std::uint32_t r = 0; r < count; ++r)
    all.emplace_back([&room, &f, r] { f(std::make_shared<thread_rank>(room, r)); });
}

/// As one rank of however many there are.
std::uint64_t run_heat(heat& h, const team& t) {
  run_and_verify(h, t);
  return h.fingerprint();
}

std::uint64_t run_heat(const plate& p, const heat_options& o, const team& t) {
  heat h(p, o, std::make_shared<ranks>());
  return run_heat(h, t);
}

/// The same field as of all ranks together.
std::uint64_t run_heat_in_ranks(std::uint32_t count, const plate& p, const heat_options& o,
                                const team& t) {
  std::uint64_t result = 0;
  in_ranks(count, [&](const std::shared_ptr<ranks>& mine) {
    heat h(p, o, mine);
    const std::uint64_t f = run_heat(h, t);
    if (mine->rank() == 0) result = f;
  });
  return result;
}

const plate& waves() {
  static const plate drawn = drawn_plate(61, 47, 40, 1);
  return drawn;
}

TEST(heat, is_the_same_under_every_model) {
  const heat_options o{.block_rows = 5, .block_columns = 3, .steps = 40};
  const std::uint64_t alone = run_heat(waves(), {.block_rows = 1, .steps = 40}, {});
  for (const team& t : teams_and_policies()) EXPECT_EQ(run_heat(waves(), o, t), alone) << t;
  EXPECT_EQ(run_heat(waves(), o, on_kilter(4, "heft")), alone);
}

TEST(heat, is_the_same_on_any_number_of_ranks) {
  const std::uint64_t alone = run_heat(waves(), {.block_rows = 1, .steps = 40}, {});
  for (const std::uint32_t count : {2u, 3u, 4u, 6u})
    for (const rank_layout layout : {rank_layout::rows, rank_layout::grid})
      for (const exchange_order order : {exchange_order::overlap, exchange_order::join}) {
        const heat_options o{
            .block_rows = 3, .block_columns = 2, .steps = 40, .layout = layout, .exchange = order};
        for (const execution_model m :
             {execution_model::serial, execution_model::static_threads, execution_model::kilter})
          EXPECT_EQ(run_heat_in_ranks(count, waves(), o, {m, 2}), alone)
              << count << " ranks, " << layout_names[static_cast<std::size_t>(layout)] << ", "
              << exchange_names[static_cast<std::size_t>(order)];
      }
}

TEST(heat, is_the_same_if_its_steps_take_several_graphs) {
  const plate drawn = drawn_plate(40, 30, 60, 1);
  const heat_options o{.block_rows = 40, .block_columns = 30, .steps = 60};
  ASSERT_GT(o.block_rows * o.block_columns * o.steps, most_tasks_in_a_graph);
  EXPECT_EQ(run_heat(drawn, o, on_kilter(2)), run_heat(drawn, {.block_rows = 1, .steps = 60}, {}));
}

TEST(heat, plates_of_one_row_or_column_are_no_exception) {
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {1, 9}, {9, 1}, {2, 2}})
    run_heat(drawn_plate(rows, columns, 30, 2), {.block_rows = 1, .steps = 30}, on_kilter(2));
}

TEST(heat, goes_on_from_a_checkpoint_as_if_it_had_not_stopped) {
  const heat_options whole{.block_rows = 4, .steps = 40};
  const std::uint64_t undisturbed = run_heat(waves(), whole, {});
  std::vector<std::string> kept;
  heat_options keeps = whole;
  keeps.checkpoint_every = 15;
  keeps.checkpoint = [&](const plate& p) { kept.push_back(plate_file(p)); };
  EXPECT_EQ(run_heat_in_ranks(3, waves(), keeps, on_kilter(2)), undisturbed);
  ASSERT_EQ(kept.size(), 2u);
  for (const std::string& file : kept) {
    const plate reached = read_plate(file, "kept");
    EXPECT_GT(reached.steps, 0u);
    EXPECT_EQ(run_heat(reached, whole, on_kilter(2)), undisturbed) << reached.steps;
    EXPECT_EQ(run_heat_in_ranks(2, reached, whole, on_kilter(1)), undisturbed) << reached.steps;
  }
  EXPECT_EQ(refusal([&] {
              (void)heat(read_plate(kept[1], "kept"), {.steps = 20}, std::make_shared<ranks>());
            }),
            "--steps 20: the plate has already made 30");
}

TEST(heat, of_any_plate_is_verified_by_single_steps) {
  plate p{12, 10, 0, std::vector<double>(120, 0.0), {}};
  p.values[37] = 100.0;
  EXPECT_EQ(run_heat_in_ranks(2, p, {.block_rows = 2, .steps = 50}, on_kilter(2)),
            run_heat(p, {.block_rows = 3, .steps = 50}, on_kilter(2)));
}

/// Hands over borders of the step before: what a task would read that does not wait for the
/// exchange.
class late_ranks final : public ranks {
 public:
  explicit late_ranks(std::shared_ptr<ranks> of) : of_(std::move(of)) {}
  std::uint32_t rank() const noexcept override { return of_->rank(); }
  std::uint32_t size() const noexcept override { return of_->size(); }
  std::vector<std::string> each(const std::string& mine) override { return of_->each(mine); }
  std::vector<std::vector<double>> to_first(std::span<const double> mine) override {
    return of_->to_first(mine);
  }
  bool exchange(std::span<const border> borders, const std::function<bool()>& stopped) override {
    if (++calls_ != 7) return of_->exchange(borders, stopped);
    std::vector<std::vector<double>> thrown_away;
    std::vector<border> elsewhere;
    for (const border& b : borders)
      elsewhere.push_back({b.with, b.out, thrown_away.emplace_back(b.in.size())});
    return of_->exchange(elsewhere, stopped);
  }

 private:
  std::shared_ptr<ranks> of_;
  int calls_ = 0;
};

TEST(heat, a_border_that_is_a_step_old_is_noticed) {
  in_ranks(2, [&](const std::shared_ptr<ranks>& mine) {
    heat h(waves(), {.block_rows = 2, .steps = 40}, std::make_shared<late_ranks>(mine));
    (void)run(h, {});
    EXPECT_THROW(h.verify(), wrong_result);
  });
}

TEST(heat, a_rank_has_at_least_a_row_for_each_block) {
  in_ranks(4, [&](const std::shared_ptr<ranks>& mine) {
    EXPECT_EQ(refusal([&] { heat h(waves(), {.block_rows = 16}, mine); }),
              "--blocks 16x1: a rank's part of the plate has 15 x 47 points; use fewer blocks "
              "or ranks");
  });
}

TEST(ranks, share_the_cores_that_they_were_all_given) {
  const machine here = machine::uniform(5);
  in_ranks(2, [&](const std::shared_ptr<ranks>& mine) {
    EXPECT_EQ(share_of(*mine, here),
              mine->rank() == 0 ? (std::vector<core_id>{0, 1}) : (std::vector<core_id>{2, 3, 4}));
  });
  in_ranks(7, [&](const std::shared_ptr<ranks>& mine) {
    EXPECT_EQ(share_of(*mine, here), std::vector<core_id>{static_cast<core_id>(mine->rank() % 5)});
  });
  // bound to different cores by mpirun
  in_ranks(2, [&](const std::shared_ptr<ranks>& mine) {
    const machine bound = here.restricted_to(mine->rank() == 0 ? std::vector<core_id>{0, 1}
                                                               : std::vector<core_id>{2, 3});
    EXPECT_EQ(share_of(*mine, bound), (std::vector<core_id>{0, 1}));
  });
}

TEST(ranks, the_first_that_says_something_is_heard_by_all) {
  in_ranks(3, [&](const std::shared_ptr<ranks>& mine) {
    EXPECT_EQ(first_said(*mine, mine->rank() ? "rank " + std::to_string(mine->rank()) : ""),
              "rank 1");
    EXPECT_EQ(sum(*mine, std::uint64_t{1} << 63), std::uint64_t{1} << 63);
    EXPECT_EQ(most(*mine, mine->rank() == 1 ? 5.0 : -5.0), 5.0);
  });
}

TEST(ranks, what_mpirun_started_does_not_run_alone) {
  EXPECT_EQ(join_ranks({})->size(), 1u);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  const std::vector<std::string> nowhere{"", "/no/such/directory"};
  EXPECT_EQ(refusal([&] { (void)join_ranks(nowhere); }),
            "this is one of 4 processes that MPI started, but this kilter cannot join them: "
            "it was built without Open MPI (Debian: libopenmpi-dev)");
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
}

}  // namespace
}  // namespace kilter::apps
