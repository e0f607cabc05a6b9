// Execution models on S1's board: what closed forms say comes out, and wrong tables are refused
// with a line.

#include "claims/model_measures.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

namespace fs = std::filesystem;

constexpr double ratio = 2.5;

/// A folder of experiments with one recorded program: blocks of a second each, between two steps.
class recorded_folder {
 public:
  explicit recorded_folder(const std::string& table, double first_s = 1e-6, int blocks = 40) {
    fs::create_directories(path_ / "programs");
    std::string tasks = R"({"id": "first", "type": "step", "seconds": )" + std::to_string(first_s) +
                        R"(, "widths": [1]})",
                edges;
    for (int b = 0; b < blocks; ++b) {
      const std::string id = "block " + std::to_string(b);
      tasks += R"(, {"id": ")" + id + R"(", "type": "block", "seconds": 1, "widths": [1]})";
      edges +=
          std::string(b ? ", " : "") + R"(["first", ")" + id + R"("], [")" + id + R"(", "last"])";
    }
    tasks += R"(, {"id": "last", "type": "step", "seconds": 1e-6, "widths": [1]})";
    std::ofstream(path_ / "programs/blocks.json")
        << R"({"schema": "kilter.graph/1", "name": "blocks", "types": [{"name": "step"}, {"name": "block"}], "tasks": [)"
        << tasks << "], \"edges\": [" << edges << "]}";
    std::ofstream(path_ / "programs/programs.toml") << table;
    ::setenv("KILTER_EXPERIMENTS", path_.c_str(), 1);
  }
  ~recorded_folder() {
    ::unsetenv("KILTER_EXPERIMENTS");
    fs::remove_all(path_);
  }

 private:
  static inline int made = 0;  // graphs are read once a path
  fs::path path_ = fs::temp_directory_path() /
                   ("kilter models " + std::to_string(::getpid()) + " " + std::to_string(++made));
};

std::string table_with(const std::string& line, const std::string& bytes_per_s = "0") {
  return "schema = \"kilter.programs/1\"\n[[program]]\nname = \"blocks\"\ngraph = "
         "\"blocks.json\"\nscale = 1\nbytes_per_s = " +
         bytes_per_s + "\nsource = \"made up\"\n" + line;
}

model_run run_of(const std::string& configuration, const std::string& model) {
  return run_model_of(
      {}, {{"program", "blocks"}, {"configuration", configuration}, {"policy", model}}, 1);
}

TEST(model_measures, what_closed_forms_say) {
  const recorded_folder folder(table_with("ratio = 2.5\n"));
  constexpr double near = 0.05;  // noise is 3 % of each piece
  for (const char* model : {"static", "gts", "loop-static", "loop-dynamic", "task"}) {
    EXPECT_NEAR(run_of("0+1", model).seconds, 40 * ratio, 40 * ratio * near) << model;
    EXPECT_NEAR(run_of("0+4", model).seconds, 10 * ratio, 10 * ratio * near) << model;
    EXPECT_NEAR(run_of("4+0", model).seconds, 10, 10 * near) << model;
    // Four busy cores draw what one draws, four times, for a quarter of the time.
    EXPECT_NEAR(run_of("0+4", model).joules, run_of("0+1", model).joules,
                run_of("0+1", model).joules * near)
        << model;
    EXPECT_NEAR(run_of("4+0", model).joules, 40 * 0.87, 40 * 0.87 * near) << model;
  }
  // Equal shares: all wait for the slow ones.
  EXPECT_NEAR(run_of("2+2", "static").seconds, 10 * ratio, 10 * ratio * near);
  EXPECT_NEAR(run_of("4+4", "static").seconds, 5 * ratio, 5 * ratio * near);
  // As they come: what the cores can give, but for the last blocks.
  const double fluid = 40 / (2 + 2 / ratio);
  for (const char* model : {"loop-dynamic", "task"}) {
    EXPECT_GE(run_of("2+2", model).seconds, fluid * 0.98) << model;
    EXPECT_LE(run_of("2+2", model).seconds, fluid + ratio) << model;
  }
  // GTS sends those that are left to big cores that have nothing to do.
  EXPECT_LT(run_of("2+2", "gts").seconds, run_of("2+2", "static").seconds * 0.9);
  EXPECT_GT(run_of("2+2", "gts").seconds, fluid);
  // Any policy is a model.
  EXPECT_LE(run_of("2+2", "dam-c").seconds, run_of("2+2", "static").seconds);
}

TEST(model_measures, the_main_thread_may_begin_on_a_little_core) {
  // A block for each of four threads, after a step that is a hundred times as long.
  const recorded_folder folder(table_with("ratio = 2.5\n"), 100.0, 4);
  const auto seconds = [](const char* where) {
    experiment_scenario s;
    s.parameters["begin"] = where;
    return run_model_of(s, {{"program", "blocks"}, {"configuration", "2+2"}, {"policy", "static"}},
                        1)
        .seconds;
  };
  EXPECT_NEAR(seconds("big"), 100 + ratio, 5);
  EXPECT_NEAR(seconds("little"), 100 * ratio + ratio, 12);
}

TEST(model_measures, little_cores_may_get_as_much_memory_as_big_ones) {
  // Four little cores want 4 x 2.5 / 2.5 GB/s, and get 2.5.
  const recorded_folder folder(table_with("ratio = 2.5\n", "2.5e9"));
  for (const char* model : {"static", "task"}) {
    const auto seconds = [&](const char* paths) {
      experiment_scenario s;
      s.parameters["paths"] = paths;
      return run_model_of(s, {{"program", "blocks"}, {"configuration", "0+4"}, {"policy", model}},
                          1)
          .seconds;
    };
    EXPECT_NEAR(seconds("own"), 40, 2) << model;
    EXPECT_NEAR(seconds("alike"), 25, 1.5) << model;
  }
}

TEST(model_measures, little_cores_may_draw_less) {
  const recorded_folder folder(table_with("ratio = 2.5\n"));
  for (const char* model : {"static", "task"}) {
    const auto joules = [&](const char* percent, const char* configuration) {
      experiment_scenario s;
      s.parameters["little_watts"] = percent;
      return run_model_of(
                 s, {{"program", "blocks"}, {"configuration", configuration}, {"policy", model}}, 1)
          .joules;
    };
    EXPECT_NEAR(joules("50", "0+4"), joules("100", "0+4") / 2, 1e-6) << model;
    EXPECT_NEAR(joules("50", "4+0"), joules("100", "4+0"), 1e-6) << model;
  }
}

TEST(model_measures, wrong_tables_are_refused) {
  const auto said = [](const std::string& table) {
    const recorded_folder folder(table);
    try {
      (void)recorded_program_of("blocks");
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(said(table_with("ratio = 2.5\n")), "nothing");
  EXPECT_NE(said(table_with("ratio = 0.5\n"))
                .find("programs.toml:8: 'ratio' is 0.5; it must be from 1 to 100"),
            std::string::npos)
      << said(table_with("ratio = 0.5\n"));
  EXPECT_NE(said(table_with("")).find("lacks 'ratio'"), std::string::npos) << said(table_with(""));
  EXPECT_NE(said("schema = \"kilter.programs/2\"\n").find("this version reads 'kilter.programs/1'"),
            std::string::npos);
  EXPECT_NE(said("schema = \"kilter.programs/1\"\n").find("unknown program 'blocks'"),
            std::string::npos);
  EXPECT_THROW((void)read_configuration("5+0"), input_error);
  EXPECT_THROW((void)read_configuration("0+0"), input_error);
  EXPECT_THROW((void)read_configuration("4"), input_error);
}

}  // namespace
}  // namespace kilter::lab
