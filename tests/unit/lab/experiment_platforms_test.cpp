// The shipped experiments against the shipped platforms: what they name is there, and nothing was
// fitted to what it is to check.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "claims/experiment_file.hpp"
#include "disturbing/disturbance.hpp"
#include "sim/platform.hpp"
#include "unit/lab/shipped.hpp"

namespace kilter::lab {
namespace {

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
