// What auto saves of a quota, as tables: numbers in, answer out.

#include <gtest/gtest.h>

#include <vector>

#include "policy/auto_quota.hpp"
#include "unit/policy/units.hpp"

namespace kilter::auto_parts {
namespace {

using test::ms;

TEST(auto_quota, what_was_paid_for_and_not_spent) {
  struct row {
    double now_s, paid, spent_s, saved_s, lapsed_s;
    const char* why;
  };
  for (const row& r : {
           row{0.0, 2.0, 0.0, 0.0, 0.0, "at the beginning"},
           row{0.010, 2.0, 0.0, 0.020, 0.0, "two cores for 10 ms"},
           row{0.010, 2.0, 0.015, 0.005, 0.0, "15 of that are spent"},
           row{0.010, 2.0, 0.025, -0.005, 0.0, "more was spent than paid for"},
           row{1.0, 2.0, 1.95, 0.050, 0.0, "as much as lasts: 25 ms of each core"},
           row{1.0, 2.0, 1.9, 0.050, 0.050, "the rest lapses"},
           row{1.0, 0.5, 0.0, 0.0125, 0.4875, "half a core"},
           row{1.0, 0.0, 0.0, 0.0, 0.0, "nothing is paid for"},
       }) {
    const savings s = savings_at(r.now_s, r.paid, r.spent_s);
    EXPECT_NEAR(s.saved_s, r.saved_s, 1e-12) << r.why;
    EXPECT_NEAR(s.lapsed_s, r.lapsed_s, 1e-12) << r.why;
  }
  EXPECT_DOUBLE_EQ(charge_s(1 * ms, 1), 1.05 * ms) << "a prediction may be wrong by a twentieth";
  EXPECT_DOUBLE_EQ(charge_s(1 * ms, 4), 4.2 * ms) << "on four cores at once";
}

TEST(auto_quota, faster_cores_and_those_at_work_may_use_it_up) {
  struct core {
    double cpu_s;
    bool idle;
    double free_s;
  };
  struct row {
    double paid;
    std::vector<core> cores;
    std::optional<double> until_s;
    const char* why;
  };
  // This core takes 3 ms of CPU time.
  for (const row& r : {
           row{2.0,
               {{1 * ms, true, 5.0}, {1 * ms, true, 4.0}},
               4.0,
               "two faster ones use up two: until the first is free"},
           row{2.5,
               {{1 * ms, true, 5.0}, {1 * ms, true, 4.0}},
               std::nullopt,
               "half a core is left"},
           row{2.0,
               {{1 * ms, true, 5.0}, {3 * ms, true, 4.0}},
               std::nullopt,
               "an equal core that rests uses up nothing"},
           row{2.0,
               {{1 * ms, true, 5.0}, {3 * ms, false, 4.0}},
               5.0,
               "at work it does, but is not waited for"},
           row{2.0,
               {{1 * ms, true, 5.0}, {2.9 * ms, true, 4.0}},
               std::nullopt,
               "within the margin it is equal"},
           row{2.0, {{1 * ms, true, 5.0}, {2.8 * ms, true, 4.0}}, 4.0, "beyond it is faster"},
           row{1.0,
               {{3 * ms, false, 4.0}},
               std::nullopt,
               "nobody is faster: this core is as good as any"},
           row{0.0, {}, std::nullopt, "nobody else"},
       }) {
    quota_claims claims(r.paid, 3 * ms);
    for (const core& c : r.cores) claims.add(c.cpu_s, c.idle, c.free_s);
    EXPECT_EQ(claims.used_up_until_s(), r.until_s) << r.why;
  }
}

}  // namespace
}  // namespace kilter::auto_parts
