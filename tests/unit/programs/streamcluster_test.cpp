// Clusters of a stream are the same under every model, bit for bit, and what is found is verified
// by definition.

#include "apps/programs/streamcluster.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

program_run run_streamcluster(streamcluster& s, execution_model m, std::uint32_t threads,
                              const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  const program_run r = s.run(how, [] { return false; });
  EXPECT_TRUE(r.complete);
  s.verify();
  return r;
}

/// `groups` far apart on a line, each with `each` points on a small ring around it; one of each
/// group in turn.
point_set groups_apart(std::size_t groups, std::size_t each) {
  point_set p{groups * each, 2, {}};
  for (std::size_t i = 0; i < p.count; ++i) {
    const double angle = static_cast<double>(i);
    p.values.push_back(static_cast<float>(100 * static_cast<double>(i % groups) + std::cos(angle)));
    p.values.push_back(static_cast<float>(std::sin(angle)));
  }
  return p;
}

// Few loops: a loop of OpenMP takes milliseconds on a computer where others keep the cores busy.
const streamcluster_options of_the_tests{.points = 150, .least = 2, .most = 3, .divisions = 5};

TEST(streamcluster, is_the_same_under_every_model) {
  streamcluster s(drawn_points(200, 6, 1), of_the_tests);
  const program_run alone = run_streamcluster(s, execution_model::serial, 1);
  const std::uint64_t bits = s.fingerprint();
  const std::string file = s.result_file();
  EXPECT_EQ(s.now().blocks.size(), 2u);
  EXPECT_EQ(alone.tasks, 5 * alone.barriers) << "each loop is cut into --divisions";
  EXPECT_GE(alone.barriers, alone.iterations - 2 * 3)
      << "all steps but the ends of searches have a loop, or two";
  for (const auto& [m, threads] : testing::teams()) {
    const program_run r = run_streamcluster(s, m, threads);
    EXPECT_EQ(s.fingerprint(), bits) << model_names[static_cast<std::size_t>(m)];
    EXPECT_EQ(r.tasks, alone.tasks);
    EXPECT_EQ(r.barriers, alone.barriers);
    EXPECT_EQ(r.iterations, alone.iterations);
  }
  EXPECT_EQ(s.result_file(), file);
}

TEST(streamcluster, is_the_same_with_any_threads_policy_and_cut) {
  streamcluster_options in_tasks = of_the_tests;
  in_tasks.cut = loop_cut::tasks;
  streamcluster s(drawn_points(300, 6, 2), of_the_tests), t(drawn_points(300, 6, 2), in_tasks);
  run_streamcluster(s, execution_model::serial, 1);
  const std::uint64_t bits = s.fingerprint();
  for (streamcluster* each : {&s, &t}) {
    for (const std::uint32_t threads : {1u, 4u, 8u}) {
      run_streamcluster(*each, execution_model::kilter, threads);
      EXPECT_EQ(each->fingerprint(), bits) << threads;
    }
    for (const char* policy : {"rws", "dam-p", "cats"}) {
      run_streamcluster(*each, execution_model::kilter, 2, policy);
      EXPECT_EQ(each->fingerprint(), bits) << policy;
    }
  }
  run_streamcluster(t, execution_model::task, 2);
  EXPECT_EQ(t.fingerprint(), bits);
}

TEST(streamcluster, finds_groups_that_lie_apart) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    streamcluster s(groups_apart(5, 60),
                    {.points = 100, .least = 5, .most = 5, .divisions = 3, .seed = seed});
    run_streamcluster(s, execution_model::kilter, 2);
    ASSERT_EQ(s.now().last.centres.size(), 5u);
    const std::vector<std::uint32_t> clusters = s.clusters();
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      EXPECT_EQ(clusters[i], clusters[i % 5]) << i;
      EXPECT_EQ(clusters[i] == clusters[0], i % 5 == 0) << i;
    }
    EXPECT_NE(s.result_file().find("centre,60,"), std::string::npos)
        << "each centre stands for the 60 points of its group";
  }
}

/// Three points of weight 1 and one of weight 100: where the only centre has to be, and what the
/// others then cost, is known.
TEST(streamcluster, chooses_the_heavy_point) {
  const std::vector<float> values{0, 1, 2, 10};
  const std::vector<std::uint32_t> weights{1, 1, 1, 100};
  const weighted_points points{values, weights, 1};
  const search_options how{.least = 1, .most = 1, .divisions = 2};
  executor serial(execution_model::serial,
                  {.machine = std::make_shared<const machine>(machine::uniform(1))});
  facility_search search(points, how);
  const step_options options{
      .cut = loop_cut::loop,
      .loops = {facility_search::loop_names.begin(), facility_search::loop_names.end()}};
  (void)run_in_steps(
      serial, options, [&](step_loops& loops) { return search.step(loops); }, [] { return false; });
  const located found = search.result();
  EXPECT_EQ(found.centres, std::vector<std::uint32_t>{3});
  EXPECT_EQ(found.service, 100.0 + 81.0 + 64.0);
  verify(points, found, how, "the search");
}

TEST(streamcluster, takes_streams_of_any_length) {
  // also a last block with fewer points than centres
  for (const std::size_t rows : {4u, 149u, 150u, 151u, 155u, 301u}) {
    streamcluster s(drawn_points(rows, 2, 3), of_the_tests);
    run_streamcluster(s, execution_model::kilter, 2);
    EXPECT_EQ(s.clusters().size(), rows);
  }
  for (const std::size_t divisions : {1u, 7u, 500u}) {
    streamcluster_options o = of_the_tests;
    o.divisions = divisions;
    streamcluster s(drawn_points(200, 2, 3), o);
    run_streamcluster(s, execution_model::kilter, 2);
  }
}

TEST(streamcluster, ends_where_points_are_alike) {
  for (const std::size_t different : {1u, 2u}) {
    point_set p{200, 1, {}};
    for (std::size_t i = 0; i < p.count; ++i) p.values.push_back(static_cast<float>(i % different));
    streamcluster s(p, {.points = 100, .least = 4, .most = 6, .divisions = 2});
    run_streamcluster(s, execution_model::serial, 1);
    EXPECT_EQ(s.now().blocks[0].centres.size(), different) << "more centres would help nobody";
    EXPECT_EQ(s.now().blocks[0].service, 0);
  }
}

std::string streamcluster_verdict(const std::function<void()>& verify_it) {
  try {
    verify_it();
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
}

TEST(streamcluster, verifies_each_search) {
  const std::vector<float> values{0, 2, 10, 12};
  const std::vector<std::uint32_t> ones(4, 1);
  const weighted_points points{values, ones, 1};
  const located right{.centres = {0, 2},
                      .nearest = {0, 0, 1, 1},
                      .candidates = {0, 1, 2, 3},
                      .service = 8,
                      .facility = 20,
                      .low = 0,
                      .high = 40};
  const auto verdict = [&](const located& s, std::size_t most = 3) {
    return streamcluster_verdict([&] { verify(points, s, {.least = 2, .most = most}, "block 0"); });
  };
  EXPECT_EQ(verdict(right), "right");
  located wrong = right;
  wrong.nearest[1] = 1;
  EXPECT_EQ(verdict(wrong),
            "streamcluster: block 0: point 1 is nearer to centre 0 than to its own, 1");
  (wrong = right).nearest[2] = 5;
  EXPECT_EQ(verdict(wrong), "streamcluster: block 0: point 2 has no centre");
  (wrong = right).service = 8.01;
  EXPECT_EQ(verdict(wrong),
            "streamcluster: block 0: the distances sum up to 8.000000, not to 8.010000");
  (wrong = right).facility = 3;
  EXPECT_EQ(verdict(wrong),
            "streamcluster: block 0: opening point 1 would gain 1.000000, more than 0.001540");
  EXPECT_EQ(verdict(right, 4), "streamcluster: block 0: not each of its 4 points is a centre");
  const located one{.centres = {1},
                    .nearest = {0, 0, 0, 0},
                    .candidates = {1},
                    .service = 168,
                    .facility = 200,
                    .low = 0,
                    .high = 400};
  EXPECT_EQ(verdict(one), "streamcluster: block 0: 1 centres are not 2 to 3");
  EXPECT_EQ(verdict({}), "streamcluster: block 0: nothing has been computed");
}

TEST(streamcluster, verifies_the_whole) {
  streamcluster s(drawn_points(400, 3, 1), of_the_tests);
  EXPECT_THROW(s.verify(), wrong_result) << "nothing has been computed";
  run_streamcluster(s, execution_model::serial, 1);
  const auto verdict = [&](const streamclusters& c) {
    return streamcluster_verdict([&] { verify(s.points(), c, of_the_tests); });
  };
  EXPECT_EQ(verdict(s.now()), "right");
  streamclusters wrong = s.now();
  ++wrong.weights[1];
  EXPECT_NE(verdict(wrong).find("streamcluster: kept centre 1 does not stand for the "),
            std::string::npos);
  (wrong = s.now()).values[4] += 1;
  EXPECT_NE(verdict(wrong).find("streamcluster: kept centre 1 is not row "), std::string::npos);
  wrong = s.now();
  std::swap(wrong.kept[0], wrong.kept[1]);
  EXPECT_EQ(verdict(wrong), "streamcluster: what is kept are not the centres of the blocks");
  (wrong = s.now()).blocks.pop_back();
  EXPECT_EQ(verdict(wrong), "streamcluster: block 2: nothing has been computed");
  (wrong = s.now()).last.service *= 1.01;
  EXPECT_NE(verdict(wrong).find("streamcluster: the last search: the distances sum up to "),
            std::string::npos);
  (wrong = s.now()).blocks[1].nearest[7] = 99;
  EXPECT_EQ(verdict(wrong), "streamcluster: block 1: point 7 has no centre");
}

TEST(streamcluster, ends_early_when_it_is_told_to) {
  streamcluster s(drawn_points(20'000, 8, 1), {.points = 10'000});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
    EXPECT_FALSE(s.run(how, [] { return true; }).complete);
    EXPECT_THROW(s.verify(), wrong_result);
    EXPECT_TRUE(s.result_file().empty());
  }
}

std::string streamcluster_refusal(std::size_t rows, const streamcluster_options& o) {
  try {
    streamcluster(drawn_points(rows, 2, 1), o);
  } catch (const input_error& e) {
    return e.what();
  }
  return "taken";
}

TEST(streamcluster, refuses_what_cannot_be) {
  const std::string bounds = ": write LEAST..MOST, as 10..20, from 1 on and the larger one last";
  EXPECT_EQ(streamcluster_refusal(100, {.points = 50, .least = 6, .most = 5}),
            "--centres 6..5" + bounds);
  EXPECT_EQ(streamcluster_refusal(100, {.points = 50, .least = 0, .most = 5}),
            "--centres 0..5" + bounds);
  EXPECT_EQ(streamcluster_refusal(100, {.points = 50, .least = 2, .most = 5, .divisions = 0}),
            "--divisions 0: a loop has 1 or more");
  EXPECT_EQ(streamcluster_refusal(100, {.points = 20}),
            "--points 20: a block needs more points than the 20 centres that it may have");
  EXPECT_EQ(streamcluster_refusal(20, {.points = 50}),
            "--centres 10..20: there are 20 points; there have to be more");
  EXPECT_EQ(streamcluster_refusal(21, {.points = 50}), "taken");
}

}  // namespace
}  // namespace kilter::apps
