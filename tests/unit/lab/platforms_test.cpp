// Where experiments run.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "claims/experiment_file.hpp"
#include "disturbing/disturbance.hpp"
#include "measuring/demo.hpp"
#include "measuring/engine_choice.hpp"
#include "sim/platform.hpp"
#include "unit/lab/experiments.hpp"
#include "unit/support.hpp"

namespace kilter::lab {
namespace {

// Where an experiment runs: what --on takes, and what it says to what it does not take.

std::string refusal_of(std::string_view on) {
  return kilter::test::refusal([&] { (void)read_engine("--on", on); });
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
    kilter::test::expect_names(
        kilter::test::refusal([&] { (void)platform_of(read_engine("--on", on)); }), {what});
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

// The shipped experiments against the shipped platforms: what they name is there, and nothing was
// fitted to what it is to check.

using test::shipped;

const sim::platform& platform_of(const experiment_scenario& s) {
  static std::map<std::string, sim::platform> loaded;
  const auto at = loaded.find(s.on.platform);
  return at != loaded.end() ? at->second
                            : loaded.emplace(s.on.platform, platform_of(s.on)).first->second;
}

const experiment_scenario& scenario_of(const experiment_file& f, const cell& c) {
  return *std::find_if(f.scenarios.begin(), f.scenarios.end(), [&](const experiment_scenario& s) {
    return s.name == c.run.at("scenario");
  });
}

/// Names of the platform's numbers that were adjusted to the claim.
std::vector<std::string> fitted_numbers(const sim::platform& p, const std::string& claim_id) {
  std::vector<std::string> found;
  for (const auto& [what, from] : p.origins)
    if (std::find(from.fitted_to.begin(), from.fitted_to.end(), claim_id) != from.fitted_to.end())
      found.push_back(what);
  return found;
}

void expect_places(const machine& m, const std::string& several, const std::string& claim_id) {
  std::set<std::string> known;
  for (const place& p : m.places())
    known.insert(std::to_string(p.leader) + "," + std::to_string(p.width));
  std::istringstream pieces(several);
  for (std::string one; std::getline(pieces, one, '+');)
    EXPECT_TRUE(known.count(one)) << claim_id << " " << one;
}

TEST(experiments_on_platforms, every_platform_has_the_cores_that_are_disturbed) {
  for (const experiment_file& f : shipped())
    for (const experiment_scenario& s : f.scenarios)
      for (const std::string& text : s.runs() != run_kind::tasks ? std::vector<std::string>{}
                                                                 : s.find_axis("disturb")->values)
        EXPECT_NO_THROW((void)parse_disturbances(text, *platform_of(s).cores))
            << f.name << " " << s.name;
}

TEST(experiments_on_platforms, every_kernel_has_a_cost_on_every_kind) {
  const std::map<std::string, std::vector<std::string>> mixes = {
      {"mix", {"matmul", "sort", "copy"}}};
  for (const experiment_file& f : shipped())
    for (const experiment_scenario& s : f.scenarios) {
      if (!s.parameters.count("kernel")) continue;
      const std::string& kernel = s.parameters.at("kernel");
      for (const std::string& one :
           mixes.count(kernel) ? mixes.at(kernel) : std::vector<std::string>{kernel})
        for (const core_kind& k : platform_of(s).cores->kinds())
          EXPECT_NE(platform_of(s).find(one, 64, k.id), nullptr)
              << f.name << " " << s.name << ": " << one << " on " << k.name;
    }
}

TEST(experiments_on_platforms, every_place_and_core_that_is_looked_at_is_there) {
  for (const experiment_file& f : shipped())
    for (const claim& c : f.claims)
      for (const cell& x : cells_of(c)) {
        if (!x.run.count("scenario")) continue;
        const machine& m = *platform_of(scenario_of(f, x)).cores;
        for (const auto& [key, value] : x.what) {
          if (key == "core") {
            EXPECT_LT(std::stoul(value), m.core_count()) << c.id;
          }
          if (key == "cores") {
            EXPECT_NO_THROW((void)parse_cores(value, m)) << c.id;
          }
          if (key == "place") expect_places(m, value, c.id);
        }
      }
}

TEST(experiments_on_platforms, no_number_was_fitted_to_the_claim_that_it_is_to_check) {
  for (const experiment_file& f : shipped())
    for (const claim& c : f.claims)
      for (const cell& x : cells_of(c))
        if (x.run.count("scenario"))
          for (const std::string& what : fitted_numbers(platform_of(scenario_of(f, x)), c.id))
            ADD_FAILURE() << c.id << " is checked with '" << what << "', which was fitted to it";
}

TEST(experiments_on_platforms, a_number_that_was_fitted_to_a_claim_would_be_found) {
  sim::platform p;
  p.origins = {{"overheads", {"measured", {"S0-2", "S0-13"}}}, {"noise", {"assumed", {}}}};
  EXPECT_EQ(fitted_numbers(p, "S0-13"), std::vector<std::string>{"overheads"});
  EXPECT_TRUE(fitted_numbers(p, "S0-1").empty()) << "S0-13 is not S0-1";
}

}  // namespace
}  // namespace kilter::lab
