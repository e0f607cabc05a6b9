// What users read: text that fits their terminal, and names that they may have meant.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "kilter/error.hpp"
#include "presenting/compare_text.hpp"
#include "presenting/explain.hpp"
#include "presenting/graph_info.hpp"
#include "presenting/platforms.hpp"
#include "presenting/topo.hpp"
#include "sim/platform.hpp"
#include "unit/lab/experiments.hpp"
#include "words/suggest.hpp"
#include "words/wrapped.hpp"

namespace kilter::lab {
namespace {

// Text fits the terminal, and no word of it is cut.

TEST(fitted, what_fits_stays_as_it_is) {
  const std::string text = "a  b\n\n  c\nno end";
  EXPECT_EQ(fitted(text, 10), text);
  EXPECT_EQ(fitted("", 10), "");
}

TEST(fitted, lines_go_on_under_their_first_word) {
  EXPECT_EQ(fitted("one two three\n", 9), "one two\nthree\n");
  EXPECT_EQ(fitted("  one two three four\n", 9), "  one two\n  three\n  four\n");
  EXPECT_EQ(fitted("- one two three\n", 9), "- one two\n  three\n");
}

TEST(fitted, descriptions_go_on_under_one_another) {
  EXPECT_EQ(fitted("  --name  says what it is\n", 20), "  --name  says what\n          it is\n");
  EXPECT_EQ(fitted("  --quite-a-long-name  what\n", 20), "  --quite-a-long-name\n  what\n")
      << "no room there";
}

TEST(fitted, rows_keep_their_columns) {
  EXPECT_EQ(fitted("  rws     1.00    2.00    3.00\n", 22),
            "  rws     1.00    2.00\n          3.00\n");
}

TEST(fitted, commands_can_be_copied) {
  EXPECT_EQ(fitted("  kilter run --explain -- ./program\n", 24),
            "  kilter run --explain \\\n      -- ./program\n");
}

TEST(fitted, words_are_never_cut) {
  EXPECT_EQ(fitted("a_word_that_is_too_long and more", 10), "a_word_that_is_too_long\nand more");
  EXPECT_EQ(fitted("short a_word_that_is_too_long", 10), "short\na_word_that_is_too_long");
}

TEST(fitted, colours_have_no_width) {
  EXPECT_EQ(fitted("\x1b[1mone\x1b[0m two", 7), "\x1b[1mone\x1b[0m two");
  EXPECT_EQ(fitted("\x1b[2mone two\x1b[0m three", 8), "\x1b[2mone two\x1b[0m\nthree");
  EXPECT_EQ(fitted("one \x1b[1mtwo\x1b[0m three", 8), "one \x1b[1mtwo\x1b[0m\nthree");
  EXPECT_EQ(fitted("\xc3\xa4\xc3\xb6\xc3\xbc one", 7), "\xc3\xa4\xc3\xb6\xc3\xbc one")
      << "letters of two bytes";
}

constexpr std::array<std::string_view, 4> choices{"rws", "rwsm-c", "da", "dam-c"};

TEST(suggest, finds_typing_errors_and_nothing_far_fetched) {
  EXPECT_EQ(nearest("dam_c", choices), "dam-c");
  EXPECT_EQ(nearest("rwms-c", choices), "rwsm-c");
  EXPECT_EQ(nearest("rwd", choices), "rws");
  EXPECT_EQ(nearest("rwsm", choices), "rwsm-c") << "its beginning";
  EXPECT_EQ(nearest("rw", choices), "rws") << "too short for a beginning";
  EXPECT_EQ(nearest("cats", choices), "");
  EXPECT_EQ(nearest("", choices), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), choices), "");
}

// Names from files reach the terminal as text: a file must not move the cursor, colour the rest or
// rewrite what stands above.

const std::string evil =
                      "red\x1b[31m\x07\xc2\x9b"
                      "2J",
                  seen = "red\\x1b[31m\\x07\\u009b2J";

void expect_harmless(const std::string& text, const char* where) {
  EXPECT_NE(text.find(seen), std::string::npos) << where << " lacks the name: " << text;
  for (const char c : {'\x1b', '\x07', '\x7f', '\r'})
    EXPECT_EQ(text.find(c), std::string::npos) << where;
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << where;
}

TEST(names, explain_shows_them) {
  explained_run r;
  r.policy = r.disturb = evil;
  cited_task task;
  task.type = evil;
  r.periods.resize(1);
  r.periods[0].to_s = 1.0;
  r.periods[0].samples = {task};
  r.periods[0].back = task;
  r.seldom.resize(1);
  r.seldom[0].type = evil;
  r.seldom[0].tries = {task};
  r.never.resize(1);
  r.never[0].type = evil;
  r.never[0].places = {{0, 1}};
  r.per_unit.resize(1);
  r.per_unit[0].type = evil;
  expect_harmless(explain_text({r}), "explain");
}

TEST(names, compare_and_graph_info_and_the_simulator_show_them) {
  const std::string path = testing::TempDir() + evil + ".json";
  std::ofstream(path)
      << R"({"schema":"kilter.graph/1","name":"red\u001b[31m\u0007\u009b2J","types":[{"name":"red\u001b[31m\u0007\u009b2J"}],"tasks":[{"id":"1","type":"red\u001b[31m\u0007\u009b2J","seconds":1}],"edges":[]})";
  compare_specification a;
  a.graphs = {path};
  a.on = {read_engine("--on", "sim:grid:1x2")};
  a.common.policy_lists = read_policies({"rws"});
  a.common.repeats = 1;
  std::vector<experiment> all = plan(a);
  const dag_work& data = std::get<dag_work>(all.front().work);
  expect_harmless(graph_info_text(*data.what), "graph info");
  comparison::outcome o = test::compared(a);
  o.notes = {evil};
  expect_harmless(compare_text(o, false, 100), "compare");
  std::filesystem::remove(path);
}

TEST(names, machines_show_them) {
  std::ifstream original(std::string(KILTER_TEST_DATA) + "/../../data/platforms/jetson-tx2.toml");
  const std::string path = testing::TempDir() + "evil.toml";
  std::ofstream changed(path);
  for (std::string line; std::getline(original, line);)
    changed << (line.starts_with("name = \"jetson-tx2\"")
                    ? std::string("name = \"red\\u001b[31m\\u0007\\u009b2J\"")
                    : line)
            << '\n';
  changed.close();
  const sim::platform p = sim::platform::load(path);
  expect_harmless(topo_text(*p.cores, false), "topo");
  expect_harmless(platform_text(p, false), "platforms");
}

// What `kilter topo` prints: people read the picture, scripts read the JSON.

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
