// K-means under every model gives the same, bit for bit, and what it gives is verified by itself.

#include "apps/programs/kmeans.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

bool never() { return false; }

struct result {
  std::vector<float> centres;
  std::vector<std::uint32_t> clusters;
  std::uint64_t iterations;

  bool operator==(const result&) const = default;
};

result run(kmeans& k, execution_model m, std::uint32_t threads,
           const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  const program_run r = k.run(how, never);
  EXPECT_TRUE(r.complete);
  EXPECT_GT(r.tasks, 0u);
  k.verify();
  return {k.centres(), k.clusters(), r.iterations};
}

TEST(kmeans, is_the_same_under_every_model) {
  kmeans k(drawn_points(3000, 5, 1), {.clusters = 7, .block = 100});
  const result alone = run(k, execution_model::serial, 1);
  EXPECT_GT(alone.iterations, 3u);
  for (const auto& [m, threads] : testing::teams())
    EXPECT_EQ(run(k, m, threads), alone) << model_names[static_cast<std::size_t>(m)];
  kmeans in_tasks(drawn_points(3000, 5, 1), {.clusters = 7, .cut = loop_cut::tasks, .block = 100});
  EXPECT_EQ(run(in_tasks, execution_model::task, 2), alone);
  for (kmeans* each : {&k, &in_tasks}) {
    for (const std::uint32_t threads : {1u, 4u, 8u})
      EXPECT_EQ(run(*each, execution_model::kilter, threads), alone) << threads;
    for (const char* policy : {"rws", "dam-c", "dam-p", "cats", "dheft"})
      EXPECT_EQ(run(*each, execution_model::kilter, 4, policy), alone) << policy;
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
    run(k, execution_model::kilter, 2);
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
    EXPECT_EQ(run(k, execution_model::kilter, 2), run(k, execution_model::serial, 1)) << block;
  }
  kmeans all(drawn_points(4, 2, 3), {.clusters = 4, .block = 2});
  run(all, execution_model::kilter, 2);
}

/// The lines of the centres alone.
std::string centres_of(const std::string& result) {
  std::istringstream in(result);
  std::string lines;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("centre,")) lines += line.substr(7) + "\n";
  return lines;
}

std::string verdict(const clustering& c) {
  try {
    verify({4, 1, {0, 2, 10, 12}}, c);
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
}

TEST(kmeans, is_verified_by_itself) {
  const clustering right{{0, 10, 99}, {1, 11, 99}, {0, 0, 1, 1}};
  EXPECT_EQ(verdict(right), "right") << "the third has no points, and stays";
  clustering wrong = right;
  wrong.clusters[1] = 1;
  EXPECT_EQ(verdict(wrong), "kmeans: point 1 is nearer to centre 0 than to its own, 1");
  (wrong = right).clusters[2] = 3;
  EXPECT_EQ(verdict(wrong), "kmeans: point 2 is in no cluster");
  (wrong = right).centres[1] = 11.01f;
  EXPECT_EQ(verdict(wrong), "kmeans: centre 1 is not the mean of its points");
  (wrong = right).centres[2] = 98;
  EXPECT_EQ(verdict(wrong), "kmeans: centre 2 is not the mean of its points");
  EXPECT_EQ(verdict({}), "kmeans: nothing has been computed");
  EXPECT_THROW(kmeans(drawn_points(100, 2, 1), {.clusters = 3}).verify(), wrong_result);
}

TEST(kmeans, ends_early_when_it_is_told_to) {
  kmeans k(drawn_points(20'000, 8, 1),
           {.clusters = 50, .block = 20, .most_iterations = 1'000'000, .least_changed = 0});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
    EXPECT_FALSE(k.run(how, [] { return true; }).complete);
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
      run(*k, execution_model::kilter, 2);
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
  run(k, execution_model::serial, 1);
  const picture q = read_picture(k.result_file(), "q");
  EXPECT_EQ(q.rgb, (std::vector<std::uint8_t>{5, 5, 5, 5, 5, 5, 210, 0, 0, 210, 0, 0}));
}

}  // namespace
}  // namespace kilter::apps
