// Files of trace tables: what was saved is loaded, and what is wrong with a file is said in one
// line that names it.

#include "runtime/saved_table.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "stress/watchdog.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

class table_file : public ::testing::Test {
 protected:
  const std::string path = ::testing::TempDir() + "table_" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                           ".json";
  ~table_file() override { std::remove(path.c_str()); }

  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  [[nodiscard]] std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  /// What loading it says; empty if it is taken.
  [[nodiscard]] std::string complaint(const machine& m) const {
    try {
      (void)model::read_table(path, m);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(table_file, a_runtime_takes_up_what_another_learned_in_both_modes) {
  for (const table_options& mode : {table_options::paper(), table_options::robust()}) {
    runtime first(with_policy("dam-c", 2, mode));
    first.preset("body \"\xff\" 1", 3, {0, 1}, 2e-3);
    first.preset("body", 0, {0, 2}, 1.0 / 3.0);
    first.save_table(path);
    runtime second(with_policy("rws", 2, mode));
    second.preset("other", 0, {0, 1}, 1.0);
    second.load_table(path);
    const auto cells = second.table();
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].size_class, 3u);
    EXPECT_EQ(cells[1].seconds, 1.0 / 3.0) << "to the last bit";
  }
}

TEST_F(table_file, is_refused_by_the_other_mode_and_by_another_machine) {
  runtime rt(with_policy("dam-c", 2, table_options::paper()));
  rt.preset("body", 0, {0, 1}, 1e-3);
  rt.save_table(path);
  runtime robust(with_policy("dam-c", 2));
  try {
    robust.load_table(path);
    ADD_FAILURE() << "a table of the other mode was taken";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("paper mode"), std::string::npos) << e.what();
  }
  const std::string said = complaint(machine::from_platform("jetson-tx2"));
  EXPECT_NE(said.find("learned on 2 x core (widths 1 2)"), std::string::npos) << said;
  EXPECT_NE(said.find("this machine has 2 x denver"), std::string::npos) << said;
}

TEST_F(table_file, the_same_cores_under_another_name_are_the_same_machine) {
  runtime rt(with_policy("dam-c", 2));
  rt.preset("body", 0, {0, 1}, 1e-3);
  rt.save_table(path);
  EXPECT_EQ(
      complaint(machine("elsewhere", {{0, "core", 2, 0.0}}, {{0, 7, 0, 0, 0}, {1, 9, 0, 0, 0}})),
      "");
}

TEST_F(table_file, whatever_is_broken_is_named_in_one_line) {
  const machine m = machine::uniform(2);
  EXPECT_NE(complaint(m).find("cannot be read"), std::string::npos);
  runtime rt(with_policy("dam-c", 2));
  rt.preset("body", 0, {0, 1}, 1e-3);
  rt.save_table(path);
  const std::string good = read();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    write(text);
    return complaint(m);
  };
  EXPECT_EQ(with("\"schema\"", "\"schema\""), "");
  EXPECT_NE(with("kilter.table/1", "kilter.bench/1").find("not a table"), std::string::npos);
  EXPECT_NE(with("\"seconds\": 0.001", "\"seconds\": -1").find("seconds above 0"),
            std::string::npos);
  EXPECT_NE(with("\"seconds\": 0.001", "\"seconds\": \"1\"").find("rows[0].cells[0].seconds"),
            std::string::npos);
  EXPECT_NE(with("\"seconds\": 0.001", "\"seconds\": 1e308")
                .find("seconds is 1e+308; it must be seconds above 0, from 1e-30 to 1e12"),
            std::string::npos);
  EXPECT_NE(with("\"seconds\": 0.001", "\"seconds\": 1e-300").find("from 1e-30"),
            std::string::npos);
  EXPECT_NE(with("\"samples\": 1", "\"samples\": 1.5").find("whole number"), std::string::npos);
  for (const std::string& nested :
       {std::string(200'000, '[') + std::string(200'000, ']'), std::string(400'000, '[')})
    EXPECT_NE(with("\"samples\": 1", "\"samples\": " + nested).find("nested more than 100 deep"),
              std::string::npos);
  EXPECT_NE(
      with("\"samples\": 1", "\"samples\": [" + std::string(100'000, '0') + "]").find("not JSON"),
      std::string::npos);
  EXPECT_LT(with("\"samples\": 1", "\"samples\": \"" + std::string(100'000, 'x') + "\"").size(),
            path.size() + 200)
      << "a message, not the file";
  EXPECT_NE(with("\"rows\"", "\"lines\"").find("has no 'rows'"), std::string::npos);
  EXPECT_NE(with("\"robust\"", "\"rough\"").find("robust or paper"), std::string::npos);
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1]"), std::string("\xff\xfe"),
        good.substr(0, good.size() / 2), std::string(100'000, '['),
        std::string("{\"schema\":\"kilter.table/1\"}")}) {
    write(text);
    const std::string said = complaint(m);
    EXPECT_NE(said.find(path), std::string::npos) << "the file is named";
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_THROW(rt.save_table("/nowhere/at/all"), input_error);
}

TEST_F(table_file, a_place_that_no_machine_has_is_refused) {
  runtime rt(with_policy("dam-c", 2));
  rt.preset("body", 0, {0, 1}, 1e-3);
  rt.save_table(path);
  std::string text = read();
  const auto at = text.find("\"place\": [");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find(']', at) - at + 1, "\"place\": [5, 3]");
  write(text);
  EXPECT_THROW(rt.load_table(path), input_error);
  EXPECT_EQ(rt.table().size(), 1u) << "and what was known stays";
}

TEST(fuzz_corpus, of_tables) {
  const machine m = machine::uniform(2);
  kilter::test::replay_corpus("table", [&m](const std::string& path, const std::string&) {
    (void)model::read_table(path, m);
  });
}

}  // namespace
}  // namespace kilter
