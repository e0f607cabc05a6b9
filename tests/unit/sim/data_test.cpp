// Data of tasks: those that need time to reach another core, beside seconds that a task brings for
// each core and costs that count the disturbances in; and those that lie in another core's cache,
// which make their tasks take so much longer, and no others.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "kilter/error.hpp"
#include "sim/engine.hpp"
#include "sim/ideal_platform.hpp"
#include "sim/residency.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using namespace test;

// ---- data that arrive ---------------------------------------------------------------------------

const std::vector<type_work> given_seconds = {{.kernel = {}, .given = true}};

/// Task i runs at the i-th place; the view's answers are kept.
class placed final : public policy {
 public:
  struct seen {
    double on_first_s = 0.0, on_second_s = 0.0, cost_on_first_s = 0.0, cost_on_second_s = 0.0;
  };
  placed(const machine& m, std::vector<place> places) : machine_(m), places_(std::move(places)) {}
  std::string_view name() const noexcept override { return "placed"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = true;
    return d;
  }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    const auto i = v.id(t);
    asked[i] = {v.data_ready_s(t, 0), v.data_ready_s(t, 1), v.cost_s(t, machine_.single(0)),
                v.cost_s(t, machine_.single(1))};
    return ready_decision::bind_to(machine_.find(places_[i]).value());
  }
  mutable std::map<std::uint64_t, seen> asked;

 private:
  const machine& machine_;
  std::vector<place> places_;
};

struct made_run {
  double seconds = 0.0;
  std::map<std::uint64_t, double> began_s;
  std::map<std::uint64_t, placed::seen> asked;
};
made_run run(const platform& p, graph& g, std::vector<place> where,
             const std::vector<type_work>& work = given_seconds,
             std::vector<disturbance> disturbed = {}, double true_costs_over_s = 0.0) {
  made_run r;
  const auto policy = std::make_shared<placed>(*p.cores, std::move(where));
  engine_options o{.policy = policy};
  o.disturbances = std::move(disturbed);
  o.true_costs_over_s = true_costs_over_s;
  o.finished = [&](const sim_assembly& a, core_id) {
    r.began_s[detail::id_of(a.task)] = a.came_s.front();
  };
  engine e(p, o);
  r.seconds = e.run(g, work).seconds;
  r.asked = policy->asked;
  return r;
}
task add(graph& g, const std::vector<double>& seconds) {
  return g.add({.core_seconds = seconds}, nothing);
}

TEST(given_costs, are_taken_exactly_on_each_core) {
  const platform p = ideal_platform(three);
  for (const core_id c : {0u, 1u, 2u}) {
    graph g;
    add(g, {14, 16, 9});
    EXPECT_EQ(run(p, g, {{c, 1}}).seconds, (std::vector<double>{14, 16, 9})[c]);
  }
}

TEST(given_costs, count_for_a_core_of_ones_own) {
  const platform p = ideal_platform(three);
  graph g;
  add(g, {4, 4, 4});
  EXPECT_NEAR(run(p, g, {{1, 1}}, given_seconds,
                  {{.what = disturbance::kind::capacity, .cores = {1}, .left = 0.25}})
                  .seconds,
              16.0, 1e-9);
}

TEST(given_costs, that_are_missing_are_told_with_the_task) {
  const platform p = ideal_platform(three);
  graph g;
  const double two[] = {1.0, 2.0};
  g.add({.name = "short", .core_seconds = two}, nothing);
  expect_names(refusal([&] {
                 (void)run(p, g, {{0, 1}});
               }),
               {"task 'short' has given seconds for 2 cores; ideal has 3"});
}

TEST(given_costs, of_nothing_take_no_time) {
  const platform p = ideal_platform(three);
  graph g;
  const task a = add(g, {0, 0, 0}), b = add(g, {1, 1, 1});
  g.edge(a, b);
  EXPECT_EQ(run(p, g, {{0, 1}, {1, 1}}).seconds, 1.0);
}

TEST(data, take_their_time_to_another_core_and_none_to_the_same) {
  const platform p = ideal_platform(three);
  for (const auto& [core, expected_s] : {std::pair{0u, 5.0}, {1u, 12.0}}) {
    graph g;
    const task a = add(g, {2, 2, 2}), b = add(g, {3, 3, 3});
    g.edge(a, b, 7.0);
    const made_run r = run(p, g, {{0, 1}, {core, 1}});
    EXPECT_EQ(r.seconds, expected_s);
    EXPECT_EQ(r.asked.at(1).on_first_s, 2.0) << "a policy learns when they are where";
    EXPECT_EQ(r.asked.at(1).on_second_s, 9.0);
  }
}

// Of four predecessors each core waits for those of the others only.
TEST(data, of_several_predecessors_are_waited_for) {
  const platform p = ideal_platform(three);
  const double expected_s[] = {1.0 + 6.0, 1.0 + 8.0, 1.0 + 8.0};
  for (const core_id c : {0u, 1u, 2u}) {
    graph g;
    std::vector<task> before;
    for (int i = 0; i < 3; ++i) before.push_back(add(g, {1, 1, 1}));
    const task last = add(g, {0, 0, 0});
    g.edge(before[0], last, 8.0);
    g.edge(before[1], last, 6.0);
    g.edge(before[2], last, 2.0);
    EXPECT_EQ(run(p, g, {{0, 1}, {1, 1}, {2, 1}, {c, 1}}).seconds, expected_s[c])
        << "on core " << c;
  }
}

TEST(data, a_core_that_has_taken_a_task_waits_for_them) {
  const platform p = ideal_platform(three);
  graph g;
  const task a = add(g, {1, 1, 1}), b = add(g, {1, 1, 1});
  g.edge(a, b, 10.0);
  const task c = add(g, {1, 1, 1}), d = add(g, {1, 1, 1});
  g.edge(c, d);  // ready later than b, and in line behind it
  const made_run r = run(p, g, {{0, 1}, {1, 1}, {2, 1}, {1, 1}});
  EXPECT_EQ(r.began_s.at(1), 11.0);
  EXPECT_EQ(r.began_s.at(3), 12.0);
}

TEST(data, of_a_wide_task_come_from_its_leader_and_go_to_it) {
  const platform p = plain(4, 1, 1.0);
  const std::uint32_t two[] = {2};
  for (const bool all_members : {false, true}) {
    graph g;
    const task a = g.add({.widths = two}, nothing),
               b = g.add({.widths = two, .all_members = all_members}, nothing), c = g.add(nothing);
    g.edge(a, b, 3.0);
    g.edge(b, c, 3.0);
    // From (0,2) to (2,2), and from there to core 3, which was a member and not the leader.
    const made_run r = run(p, g, {{0, 2}, {2, 2}, {3, 1}}, works(g));
    EXPECT_NEAR(r.seconds, 0.5 + 3.0 + 0.5 + 3.0 + 1.0, 1e-9);
    EXPECT_NEAR(r.began_s.at(1), 3.5, 1e-9);
  }
}

TEST(data, are_followed_anew_in_each_run) {
  const platform p = ideal_platform(three);
  graph g;
  const task a = add(g, {2, 2, 2}), b = add(g, {3, 3, 3});
  g.edge(a, b, 7.0);
  const auto policy = std::make_shared<placed>(*p.cores, std::vector<place>{{0, 1}, {1, 1}});
  engine e(p, {.policy = policy});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(e.run(g, given_seconds).seconds, 12.0);
}

TEST(true_costs, count_in_what_a_disturbance_leaves_on_average) {
  const platform p = ideal_platform(three);
  const auto left = [&](disturbance d) { return mean_left(p, std::vector{d}, 10.0)[1]; };
  using enum disturbance::kind;
  EXPECT_NEAR(left({.what = sliced, .cores = {1}, .slice_s = 0.004}), 0.5, 1e-3);
  EXPECT_NEAR(left({.what = capacity, .cores = {1}, .left = 0.3}), 0.3, 1e-12);
  EXPECT_NEAR(left({.what = capacity, .cores = {1}, .left = 0.2, .half_period_s = 0.5}), 0.6,
              1e-12);
  EXPECT_NEAR(left({.what = offline, .cores = {1}, .from_s = 2.5, .to_s = 7.5}), 0.5, 1e-12);
  EXPECT_NEAR(left({.what = capacity, .cores = {1}, .left = 0.5, .from_s = 8.0}), 0.9, 1e-12);
  EXPECT_NEAR(left({.what = quota, .cores = {0}, .left = 0.7}), 0.7, 1e-12);
  EXPECT_EQ(left({.what = capacity, .cores = {0}, .left = 0.3}), 1.0) << "another core's";
}

TEST(true_costs, are_what_a_policy_sees_if_it_shall) {
  const platform p = ideal_platform(three);
  const std::vector<disturbance> half = {
      {.what = disturbance::kind::capacity, .cores = {0}, .left = 0.5},
      {.what = disturbance::kind::offline, .cores = {1}}};
  graph g;
  add(g, {4, 6, 8});
  const placed::seen stale = run(p, g, {{2, 1}}, given_seconds, half).asked.at(0);
  EXPECT_EQ(stale.cost_on_first_s, 4.0);
  EXPECT_EQ(stale.cost_on_second_s, 6.0);
  const placed::seen known = run(p, g, {{2, 1}}, given_seconds, half, 10.0).asked.at(0);
  EXPECT_EQ(known.cost_on_first_s, 8.0);
  EXPECT_TRUE(std::isinf(known.cost_on_second_s)) << "nothing is left of it";
}

TEST(ideal_machine, has_a_core_and_a_kind_for_each_processor) {
  const platform p = ideal_platform(three);
  ASSERT_EQ(p.cores->core_count(), 3u);
  EXPECT_EQ(p.cores->clusters().size(), 3u);
  EXPECT_EQ(p.cores->kinds()[2].name, "P3");
  EXPECT_EQ(p.cores->places().size(), 3u) << "no two share a cluster, so nothing is wide";
  EXPECT_THROW((void)ideal_platform({}), input_error);
}

// ---- data in a cache ----------------------------------------------------------------------------

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
  g.add(nothing);
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
