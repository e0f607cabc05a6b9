// Where an experiment runs: what --on takes, and what it says to what it does not take.
#include "measuring/engine_choice.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "kilter/error.hpp"
#include "measuring/demo.hpp"

namespace kilter::lab {
namespace {

std::string refusal_of(std::string_view on) {
  try {
    (void)read_engine("--on", on);
    return "";
  } catch (const input_error& e) {
    return e.what();
  }
}

TEST(read_engine, takes_four_kinds_of_place) {
  EXPECT_TRUE(read_engine("--on", "native").native());
  EXPECT_TRUE(read_engine("--on", "ideal").ideal);
  for (const auto& [text, platform] : {std::pair{"sim:jetson-tx2", "jetson-tx2"},
                                       {"sim:./mine.toml", "./mine.toml"},
                                       {"sim:grid:2x4", "grid:2x4"}}) {
    const engine_choice on = read_engine("--on", text);
    EXPECT_EQ(on.platform, platform);
    EXPECT_EQ(on.written, text);
    EXPECT_FALSE(on.emulated || on.ideal || on.native());
  }
  const engine_choice emulated = read_engine("--on", "emulate:jetson-tx2,20");
  EXPECT_TRUE(emulated.emulated);
  EXPECT_EQ(emulated.platform, "jetson-tx2");
  EXPECT_EQ(emulated.scale, 20.0);
}

TEST(read_engine, names_what_was_perhaps_meant) {
  for (const auto& [text, meant] : {std::pair{"jetson-tx2", "sim:jetson-tx2"},
                                    {"jetson-tx3", "sim:jetson-tx2"},
                                    {"haswell16", "sim:haswell-16"},
                                    {"grid:2x4", "sim:grid:2x4"},
                                    {"/dev/null", "sim:/dev/null"},
                                    {"sm:jetson-tx2", "sim:jetson-tx2"},
                                    {"emulated:jetson-tx2", "emulate:jetson-tx2"},
                                    {"Native", "native"},
                                    {"ideale", "ideal"}})
    EXPECT_NE(refusal_of(text).find("--on '" + std::string(text) + "': did you mean '" + meant +
                                    "'? use native"),
              std::string::npos)
        << refusal_of(text);
  EXPECT_NE(refusal_of("folder/mine.toml").find("there is no file folder/mine.toml"),
            std::string::npos)
      << "no spelling helps";
  for (const char* far :
       {"", "elsewhere", "folder/mine", "sim:", "emulate:", "the other computer"}) {
    EXPECT_NE(refusal_of(far).find("use native, sim:PLATFORM"), std::string::npos) << far;
    EXPECT_EQ(refusal_of(far).find("did you mean"), std::string::npos) << refusal_of(far);
  }
}

TEST(platform_of, names_the_nearest_platform) {
  EXPECT_EQ(platform_of(read_engine("--on", "emulate:grid:2x3")).cores->core_count(), 6u);
  const auto says = [](const char* on, const std::string& what) {
    try {
      (void)platform_of(read_engine("--on", on));
      ADD_FAILURE() << on << " is not refused";
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  says("sim:jetson-tx3", "unknown platform 'jetson-tx3': did you mean 'jetson-tx2'?");
  says("sim:nowhere/jetson-tx2", "'nowhere/jetson-tx2' does not exist");
  says("sim:jetson-tx2.toml", "'jetson-tx2.toml' does not exist");
  says("sim:cray", "'cray' is not known");
}

// A demonstration on unequal cores for who has none, of the same length as here.
TEST(demo, runs_on_a_platform) {
  for (const bool quick : {false, true}) {
    experiment e = plan_demo({.on = read_engine("--on", "sim:jetson-tx2"), .quick = quick});
    calibrate_demo(e, quick);
    EXPECT_EQ(e.machine->core_count(), 6u);
    EXPECT_EQ(std::get<layered_work>(e.work).shape.tasks, quick ? 1000u : 2000u);
  }
  EXPECT_THROW((void)plan_demo({.on = read_engine("--on", "emulate:jetson-tx2")}), input_error);
}

}  // namespace
}  // namespace kilter::lab
