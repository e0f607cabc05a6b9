// Tasks whose data lie in another core's cache take so much longer, and no others do.
#include "sim/residency.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kilter/error.hpp"
#include "sim/engine.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using test::add_chain;
using test::plain;
using test::works;

/// The n-th task that becomes ready goes to the n-th of these places, and over again.
class goes_to final : public policy {
 public:
  explicit goes_to(std::vector<place_id> where) : where_(std::move(where)) {}
  std::string_view name() const noexcept override { return "goes-to"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = d.reads_data = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::bind_to(where_[next_++ % where_.size()]);
  }

 private:
  std::vector<place_id> where_;
  mutable std::size_t next_ = 0;
};

constexpr double task_s = 1e-3, near_line_s = 1e-6, far_line_s = 3e-6;

/// Two clusters of two cores. A task works on 100 lines.
platform four_cores() {
  platform p = plain(4, 2, task_s);
  p.kernels[0].working_set = 6400.0;
  p.moved_line = {.in_cluster_s = near_line_s, .between_clusters_s = far_line_s};
  return p;
}

constexpr task_data first{.read = 0, .written = 0}, second{.read = 1, .written = 1};

/// Seconds of a chain of tasks that run on these cores, one after the other.
double seconds_of(const platform& p, const std::vector<core_id>& cores,
                  const std::vector<task_data>& data, std::vector<disturbance> disturbances = {}) {
  std::vector<place_id> where;
  for (const core_id c : cores) where.push_back(p.cores->single(c));
  engine e(p, {.policy = std::make_shared<goes_to>(where),
               .disturbances = std::move(disturbances),
               .data = data});
  graph g;
  add_chain(g, static_cast<int>(cores.size()));
  return e.run(g, works(g)).seconds;
}

TEST(residency, a_task_takes_longer_by_the_lines_that_come_from_afar) {
  const platform p = four_cores();
  const std::vector<task_data> same{first, first};
  EXPECT_NEAR(seconds_of(p, {0, 0}, same), 2 * task_s, 1e-12) << "near";
  EXPECT_NEAR(seconds_of(p, {0, 1}, same), 2 * task_s + 100 * near_line_s, 1e-12);
  EXPECT_NEAR(seconds_of(p, {0, 2}, same), 2 * task_s + 100 * far_line_s, 1e-12);
  EXPECT_NEAR(seconds_of(p, {0, 2}, {}), 2 * task_s, 1e-12) << "off";
  EXPECT_NEAR(seconds_of(p, {0, 2}, {first, second}), 2 * task_s, 1e-12) << "others' data";
  EXPECT_NEAR(seconds_of(p, {0, 2}, {{}, {}}), 2 * task_s, 1e-12) << "no data";
  const std::vector<task_data> back{first, first, first};
  EXPECT_NEAR(seconds_of(p, {0, 2, 2}, back), 3 * task_s + 100 * far_line_s, 1e-12) << "they stay";
  EXPECT_NEAR(seconds_of(p, {0, 2, 0}, back), 3 * task_s + 200 * far_line_s, 1e-12);
}

TEST(residency, reading_leaves_data_where_they_are) {
  const platform p = four_cores();
  const task_data reads{.read = 0};
  EXPECT_NEAR(seconds_of(p, {0, 2, 0}, {first, reads, reads}), 3 * task_s + 100 * far_line_s,
              1e-12);
}

TEST(residency, bytes_that_are_told_count_instead_of_the_working_set) {
  const platform p = four_cores();
  const task_data told{.read = 0, .written = 0, .bytes = 640.0};
  EXPECT_NEAR(seconds_of(p, {0, 2}, {first, told}), 2 * task_s + 10 * far_line_s, 1e-12);
}

TEST(residency, only_what_a_cache_still_has_is_moved) {
  platform p = four_cores();
  const auto more_s = [&](const std::vector<core_id>& cores, const std::vector<task_data>& data) {
    return seconds_of(p, cores, data) - static_cast<double>(cores.size()) * task_s;
  };
  p.core_cache_bytes = {3200, 3200};
  EXPECT_NEAR(more_s({0, 1}, {first, first}), 50 * near_line_s, 1e-12) << "half of them fit";
  EXPECT_NEAR(more_s({0, 2}, {first, first}), 100 * far_line_s, 1e-12) << "the cluster's has all";
  p.cache_bytes = {8000, 8000};
  EXPECT_NEAR(more_s({0, 1, 2}, {first, second, first}), 25 * far_line_s, 1e-12)
      << "other data have come into the cluster's cache since";
  EXPECT_NEAR(more_s({0, 3, 2}, {first, second, first}), 100 * far_line_s, 1e-12)
      << "and those into another one";
  p.core_cache_bytes = {8000, 8000};
  EXPECT_NEAR(more_s({0, 0, 1}, {first, second, first}), 25 * near_line_s, 1e-12);
}

TEST(residency, a_co_runner_takes_the_time_of_moving_too) {
  const platform p = four_cores();
  const disturbance half{.what = disturbance::kind::capacity, .cores = {2}, .left = 0.5};
  EXPECT_NEAR(seconds_of(p, {0, 2}, {first, first}, {half}), 3 * task_s + 200 * far_line_s, 1e-11);
}

TEST(residency, members_of_a_wide_task_fetch_their_parts_together) {
  const platform p = four_cores();
  const std::vector<task_data> data{first, first};
  const place_id wide = *p.cores->find({2, 2});
  const auto asked = std::make_shared<goes_to>(std::vector{p.cores->single(0), wide});
  engine e(p, {.policy = asked, .data = data});
  graph g;
  add_chain(g, 2);
  EXPECT_NEAR(e.run(g, works(g)).seconds, 1.5 * task_s + 50 * far_line_s, 1e-12);
}

TEST(residency, data_stay_between_the_runs_of_an_engine_and_begin_nowhere_in_another) {
  const platform p = four_cores();
  const std::vector<task_data> data{first};
  const auto asked = std::make_shared<goes_to>(std::vector{p.cores->single(0), p.cores->single(2)});
  graph g;
  g.add(test::nothing);
  for (int i = 0; i < 2; ++i) {
    engine e(p, {.policy = asked, .data = data});
    EXPECT_NEAR(e.run(g, works(g)).seconds, task_s, 1e-12);
    EXPECT_NEAR(e.run(g, works(g)).seconds, task_s + 100 * far_line_s, 1e-12);
  }
}

TEST(residency, data_of_another_graph_are_refused) {
  const platform p = four_cores();
  EXPECT_THROW(seconds_of(p, {0, 2}, {first}), usage_error);
}

}  // namespace
}  // namespace kilter::sim
