// Random machines, graphs, policies and disturbances: what must hold of every run holds of these. A
// failing one is made simpler while it fails, and printed as a command line. KILTER_TEST_SIZE=full
// draws forty times as many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kilter/error.hpp"
#include "unit/lab/random_runs/check_run.hpp"

namespace kilter::lab {
namespace {

std::string scratch_file() {
  return (std::filesystem::temp_directory_path() /
          fmt::format("kilter-random-run-{}.toml", ::getpid()))
      .string();
}

TEST(random_runs, keep_what_must_hold_of_every_run) {
  const char* size = std::getenv("KILTER_TEST_SIZE");
  const std::uint64_t cases = size && std::string_view(size) == "full" ? 40'000 : 1'000;
  const std::string file = scratch_file();
  for (std::uint64_t number = 1; number <= cases; ++number) {
    const test::random_case drawn = test::draw_case(number);
    if (test::failure_of(drawn, file).empty()) continue;
    const test::random_case least = test::shrunk(drawn, file);
    const std::string why = test::failure_of(least, file);
    FAIL() << "case " << number << ", made simpler: " << why << "\n  " << least.command(file)
           << "\n  drawn as: " << drawn.command(file);
  }
  std::filesystem::remove(file);
}

// Found by KILTER_TEST_SIZE=full: where nothing takes any time, two cores that declined a task and
// put it back woke one another for ever.
TEST(random_runs, cores_that_decline_let_time_pass) {
  EXPECT_EQ(test::failure_of(test::draw_case(12'461), scratch_file()), "");
}

// Or the test above says nothing: what is drawn must be planned, and be worth it.
TEST(random_runs, are_of_all_kinds) {
  const std::string file = scratch_file();
  int planned = 0, disturbed = 0, several_clusters = 0;
  std::map<std::string, int> policies;
  for (std::uint64_t number = 1; number <= 400; ++number) {
    const test::random_case c = test::draw_case(number);
    std::ofstream(file) << c.on.text();
    try {
      (void)plan(c.specified(file));
    } catch (const input_error& e) {
      continue;
    }
    ++planned;
    disturbed += !c.disturb.empty();
    several_clusters += c.on.clusters.size() > 1;
    ++policies[c.policy];
  }
  std::filesystem::remove(file);
  EXPECT_GE(planned, 340) << "the rest are contradictions, such as two quotas at once";
  EXPECT_GE(disturbed, 200);
  EXPECT_GE(several_clusters, 200);
  for (const policy_info& p : policy_catalogue())
    EXPECT_GE(policies[std::string(p.name)], 5) << p.name;
}

}  // namespace
}  // namespace kilter::lab
