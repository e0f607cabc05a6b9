// Clusters of points, and of a stream of them, are the same under every model, bit for bit, and
// what is found is verified by definition.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/programs/kmeans.hpp"
#include "apps/programs/streamcluster.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// ---- k-means ------------------------------------------------------------------------------------

struct kmeans_result {
  std::vector<float> centres;
  std::vector<std::uint32_t> clusters;
  std::uint64_t iterations;

  bool operator==(const kmeans_result&) const = default;
};

kmeans_result result_of(kmeans& k, const team& t) {
  const program_run r = run_and_verify(k, t);
  return {k.centres(), k.clusters(), r.iterations};
}

TEST(kmeans, is_the_same_under_every_model) {
  kmeans k(drawn_points(3000, 5, 1), {.clusters = 7, .block = 100});
  const kmeans_result alone = result_of(k, {});
  EXPECT_GT(alone.iterations, 3u);
  for (const team& t : teams_and_policies()) EXPECT_EQ(result_of(k, t), alone) << t;
  kmeans in_tasks(drawn_points(3000, 5, 1), {.clusters = 7, .cut = loop_cut::tasks, .block = 100});
  EXPECT_EQ(result_of(in_tasks, {execution_model::task, 2}), alone);
  for (const team& t : teams_and_policies()) {
    if (t.model != execution_model::kilter) continue;
    EXPECT_EQ(result_of(in_tasks, t), alone) << t;
  }
}

TEST(kmeans, finds_groups_that_lie_apart) {
  point_set p{400, 2, {}};
  for (std::size_t i = 0; i < p.count; ++i) {
    const double angle = static_cast<double>(i), group = static_cast<double>(i % 4);
    p.values.push_back(static_cast<float>(100 * std::cos(group * M_PI / 2) + std::cos(angle)));
    p.values.push_back(static_cast<float>(100 * std::sin(group * M_PI / 2) + std::sin(angle)));
  }
  // One of a few starts has a centre in each group.
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    kmeans k(
        p, {.clusters = 4, .block = 30, .most_iterations = 100, .least_changed = 0, .seed = seed});
    result_of(k, on_kilter(2));
    bool apart = true;
    for (std::size_t i = 0; i < 400; ++i)
      apart = apart && (k.clusters()[i] == k.clusters()[i % 4]) &&
              (i % 4 == 0 || k.clusters()[i] != k.clusters()[0]);
    if (apart) return;
  }
  FAIL() << "no start found the four groups";
}

TEST(kmeans, takes_blocks_of_any_length) {
  for (const std::size_t block : {1u, 2u, 7u, 999u, 1000u, 5000u}) {
    kmeans k(drawn_points(1000, 2, 3), {.clusters = 3, .block = block, .most_iterations = 2});
    EXPECT_EQ(result_of(k, on_kilter(2)), result_of(k, {})) << block;
  }
  kmeans all(drawn_points(4, 2, 3), {.clusters = 4, .block = 2});
  result_of(all, on_kilter(2));
}

/// The lines of the centres alone.
std::string centres_of(const std::string& result) {
  std::istringstream in(result);
  std::string lines;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("centre,")) lines += line.substr(7) + "\n";
  return lines;
}

std::string kmeans_verdict(const clustering& c) {
  return verdict_of([&] { verify({4, 1, {0, 2, 10, 12}}, c); });
}

TEST(kmeans, is_verified_by_itself) {
  const clustering right{{0, 10, 99}, {1, 11, 99}, {0, 0, 1, 1}};
  EXPECT_EQ(kmeans_verdict(right), "right") << "the third has no points, and stays";
  clustering wrong = right;
  wrong.clusters[1] = 1;
  EXPECT_EQ(kmeans_verdict(wrong), "kmeans: point 1 is nearer to centre 0 than to its own, 1");
  (wrong = right).clusters[2] = 3;
  EXPECT_EQ(kmeans_verdict(wrong), "kmeans: point 2 is in no cluster");
  (wrong = right).centres[1] = 11.01f;
  EXPECT_EQ(kmeans_verdict(wrong), "kmeans: centre 1 is not the mean of its points");
  (wrong = right).centres[2] = 98;
  EXPECT_EQ(kmeans_verdict(wrong), "kmeans: centre 2 is not the mean of its points");
  EXPECT_EQ(kmeans_verdict({}), "kmeans: nothing has been computed");
  EXPECT_THROW(kmeans(drawn_points(100, 2, 1), {.clusters = 3}).verify(), wrong_result);
}

TEST(kmeans, ends_early_when_it_is_told_to) {
  kmeans k(drawn_points(20'000, 8, 1),
           {.clusters = 50, .block = 20, .most_iterations = 1'000'000, .least_changed = 0});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    EXPECT_TRUE(ends_early(k, m));
  }
}

TEST(kmeans, refuses_more_clusters_than_points) {
  EXPECT_THROW(kmeans(drawn_points(3, 2, 1), {.clusters = 4}), input_error);
}

TEST(kmeans, clusters_a_table_of_numbers_of_any_size) {
  for (const std::string exponent : {"e-35", "e-9", "", "e9", "e37"}) {
    const std::string table =
        "1" + exponent + ",0\n3" + exponent + ",0\n-20" + exponent + ",0\n-24" + exponent + ",0\n";
    for (std::uint64_t seed = 1;; ++seed) {
      ASSERT_LT(seed, 30u) << "no start found the two groups of " << table;
      const auto k = read_kmeans(table, "a.csv", {.clusters = 2, .least_changed = 0, .seed = seed});
      result_of(*k, on_kilter(2));
      if (k->clusters() != std::vector<std::uint32_t>{0, 0, 1, 1}) continue;
      const point_set centres = read_table(centres_of(k->result_file()), "centres");
      const float unit = std::stof("1" + exponent);
      ASSERT_EQ(centres.values.size(), 4u);
      EXPECT_NEAR(centres.values[0], 2 * unit, 1e-5 * unit) << table;
      EXPECT_NEAR(centres.values[2], -22 * unit, 1e-5 * unit) << table;
      break;
    }
  }
}

TEST(kmeans, gives_a_picture_the_colours_of_its_centres) {
  picture p{2, 2, {0, 0, 0, 10, 10, 10, 200, 0, 0, 220, 0, 0}};
  kmeans k(p, {.clusters = 2, .seed = 2});
  result_of(k, {});
  const picture q = read_picture(k.result_file(), "q");
  EXPECT_EQ(q.rgb, (std::vector<std::uint8_t>{5, 5, 5, 5, 5, 5, 210, 0, 0, 210, 0, 0}));
}

// ---- streamcluster ------------------------------------------------------------------------------

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
  const program_run alone = run_and_verify(s, {});
  const std::uint64_t bits = s.fingerprint();
  const std::string file = s.result_file();
  EXPECT_EQ(s.now().blocks.size(), 2u);
  EXPECT_EQ(alone.tasks, 5 * alone.barriers) << "each loop is cut into --divisions";
  EXPECT_GE(alone.barriers, alone.iterations - 2 * 3)
      << "all steps but the ends of searches have a loop, or two";
  for (const team& t : teams()) {
    const program_run r = run_and_verify(s, t);
    EXPECT_EQ(s.fingerprint(), bits) << t;
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
  run_and_verify(s, {});
  const std::uint64_t bits = s.fingerprint();
  for (streamcluster* each : {&s, &t}) {
    for (const team& on : few_teams_and_policies()) {
      run_and_verify(*each, on);
      EXPECT_EQ(each->fingerprint(), bits) << on;
    }
  }
  run_and_verify(t, {execution_model::task, 2});
  EXPECT_EQ(t.fingerprint(), bits);
}

TEST(streamcluster, finds_groups_that_lie_apart) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    streamcluster s(groups_apart(5, 60),
                    {.points = 100, .least = 5, .most = 5, .divisions = 3, .seed = seed});
    run_and_verify(s, on_kilter(2));
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
  executor serial = executor_of({});
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
    run_and_verify(s, on_kilter(2));
    EXPECT_EQ(s.clusters().size(), rows);
  }
  for (const std::size_t divisions : {1u, 7u, 500u}) {
    streamcluster_options o = of_the_tests;
    o.divisions = divisions;
    streamcluster s(drawn_points(200, 2, 3), o);
    run_and_verify(s, on_kilter(2));
  }
}

TEST(streamcluster, ends_where_points_are_alike) {
  for (const std::size_t different : {1u, 2u}) {
    point_set p{200, 1, {}};
    for (std::size_t i = 0; i < p.count; ++i) p.values.push_back(static_cast<float>(i % different));
    streamcluster s(p, {.points = 100, .least = 4, .most = 6, .divisions = 2});
    run_and_verify(s, {});
    EXPECT_EQ(s.now().blocks[0].centres.size(), different) << "more centres would help nobody";
    EXPECT_EQ(s.now().blocks[0].service, 0);
  }
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
    return verdict_of([&] { verify(points, s, {.least = 2, .most = most}, "block 0"); });
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
  run_and_verify(s, {});
  const auto verdict = [&](const streamclusters& c) {
    return verdict_of([&] { verify(s.points(), c, of_the_tests); });
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
    EXPECT_TRUE(ends_early(s, m));
    EXPECT_THROW(s.verify(), wrong_result);
    EXPECT_TRUE(s.result_file().empty());
  }
}

std::string streamcluster_refusal(std::size_t rows, const streamcluster_options& o) {
  return answer_to([&] { streamcluster(drawn_points(rows, 2, 1), o); });
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
  EXPECT_EQ(streamcluster_refusal(21, {.points = 50}), "accepted");
}

}  // namespace
}  // namespace kilter::apps
