// What `kilter topo` prints: people read the picture, scripts read the JSON.

#include "presenting/topo.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kilter::lab {
namespace {

using nlohmann::json;

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(topo_text, the_tx2_shows_ids_beside_linux_numbers) {
  const std::string text = topo_text(machine::from_platform("jetson-tx2"), false);
  expect_has(text, "jetson-tx2: 6 cores, 2 clusters, 2 kinds, 10 places\n");
  expect_has(text, "cluster 1: a57, 4 cores, NUMA node 0, widths 1 2 4, 7 places\n");
  expect_has(text,
             "  core         2   3   4   5\n"
             "  OS CPU       0   3   4   5\n"
             "  width 1     [-] [-] [-] [-]\n"
             "  width 2     [-----] [-----]\n"
             "  width 4     [-------------]\n");
  expect_has(text, "cluster 0   (0,1) (1,1) (0,2)\n");
  expect_has(text, "cluster 1   (2,1) (3,1) (4,1) (5,1) (2,2) (4,2) (2,4)\n");
}

TEST(topo_text, one_of_a_thing_is_singular) {
  expect_has(topo_text(machine::uniform(1), false),
             "uniform-1: 1 core, 1 cluster, 1 kind, 1 place\n");
}

TEST(topo_text, large_machines_stay_inside_100_columns) {
  for (const auto& m : {machine::uniform(64), machine::uniform(1024, 8), machine::uniform(23),
                        machine::uniform(2000, 500)})
    EXPECT_LE(longest_line(topo_text(m, false)), 100u) << m.name();
}

TEST(topo_text, every_place_is_listed_whatever_the_size) {
  const auto m = machine::uniform(96, 2);
  const std::string text = topo_text(m, false);
  for (const place& p : m.places())
    expect_has(text, "(" + std::to_string(p.leader) + "," + std::to_string(p.width) + ")");
}

TEST(topo_text, colour_only_adds_escapes) {
  const auto m = machine::from_platform("jetson-tx2");
  std::string coloured = topo_text(m, true);
  EXPECT_NE(coloured, topo_text(m, false));
  for (std::size_t at = 0; (at = coloured.find('\033')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, topo_text(m, false));
}

TEST(topo_json, the_tx2_has_the_ten_places_in_order) {
  const json j = json::parse(topo_json(machine::from_platform("jetson-tx2")));
  EXPECT_EQ(j["name"], "jetson-tx2");
  const int expected[][2] = {{0, 1}, {1, 1}, {0, 2}, {2, 1}, {3, 1},
                             {4, 1}, {5, 1}, {2, 2}, {4, 2}, {2, 4}};
  ASSERT_EQ(j["places"].size(), 10u);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(j["places"][i], (json{{"leader", expected[i][0]}, {"width", expected[i][1]}}));
  EXPECT_EQ(j["cores"][2],
            (json{{"id", 2}, {"os_index", 0}, {"cluster", 1}, {"kind", 1}, {"numa_node", 0}}));
  EXPECT_EQ(j["clusters"][1],
            (json{{"id", 1}, {"kind", 1}, {"first", 2}, {"size", 4}, {"widths", {1, 2, 4}}}));
  EXPECT_EQ(j["kinds"][0],
            (json{{"id", 0}, {"name", "denver"}, {"cores", 2}, {"relative_speed", 2.95}}));
}

TEST(topo_json, a_name_that_is_not_utf8_does_not_stop_it) {
  const machine odd("\xff\xfe", {{0, "core", 1, 0.0}}, {{0, 0, 0, 0, 0}});
  EXPECT_EQ(json::parse(topo_json(odd))["places"].size(), 1u);
}

}  // namespace
}  // namespace kilter::lab
