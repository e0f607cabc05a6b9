// Names from files reach the terminal as text: a file must not move the cursor, colour the rest or
// rewrite what stands above.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kilter/error.hpp"
#include "presenting/compare_text.hpp"
#include "presenting/explain.hpp"
#include "presenting/graph_info.hpp"
#include "presenting/platforms.hpp"
#include "presenting/topo.hpp"
#include "sim/platform.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

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

}  // namespace
}  // namespace kilter::lab
