// The grammar of disturbances: what is read, what is refused, and in which words.

#include "disturbing/disturbance.hpp"

#include <gtest/gtest.h>

#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

using kind = disturbance_kind;

const machine& four_cores() {
  static const machine m = machine::uniform(4);
  return m;
}

disturbance one(std::string_view text) {
  const auto all = parse_disturbances(text, four_cores());
  EXPECT_EQ(all.size(), 1u) << text;
  return all.at(0);
}

TEST(parse_disturbances, reads_every_form) {
  EXPECT_EQ(one("cpu@0"), (disturbance{kind::cpu, {0}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("mem@1-3"), (disturbance{kind::mem, {1, 2, 3}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("session@3,0"), (disturbance{kind::session, {0, 3}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("float@all"), (disturbance{kind::floating, {0, 1, 2, 3}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("share@2:50%"), (disturbance{kind::share, {2}, 0.5, 0.0, {}}));
  EXPECT_EQ(one("share@2:29.5%@1..2.5"),
            (disturbance{kind::share, {2}, 0.295, 0.0, disturbance_window{1, 2.5, false}}));
  EXPECT_EQ(one("wave@0"), (disturbance{kind::wave, {0}, 0.17, 0.5, {}}));
  EXPECT_EQ(one("wave@0:30%"), (disturbance{kind::wave, {0}, 0.3, 0.5, {}}));
  EXPECT_EQ(one("wave@0-1:17%,5@25%..75%"),
            (disturbance{kind::wave, {0, 1}, 0.17, 5.0, disturbance_window{0.25, 0.75, true}}));
  EXPECT_EQ(one("quota@all:50%"), (disturbance{kind::quota, {0, 1, 2, 3}, 0.5, 0.0, {}}));
  EXPECT_EQ(one("freq@0:17%,5"), (disturbance{kind::freq, {0}, 0.17, 5.0, {}}));
  EXPECT_EQ(one("freq@0:60%"), (disturbance{kind::freq, {0}, 0.6, 0.0, {}}));
  EXPECT_EQ(one("offline@1@0%..50%"),
            (disturbance{kind::offline, {1}, 1.0, 0.0, disturbance_window{0, 0.5, true}}));
}

TEST(parse_disturbances, a_number_is_a_core_and_never_a_count) {
  EXPECT_EQ(one("cpu@3").cores, std::vector<core_id>{3});
}

TEST(parse_disturbances, none_is_the_empty_scenario) {
  EXPECT_TRUE(parse_disturbances("none", four_cores()).empty());
}

TEST(parse_disturbances, joins_several) {
  const auto all =
      parse_disturbances("cpu@0+mem@1+share@2:17%@0..1+share@2:50%@1..2", four_cores());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].kind, kind::mem);
  EXPECT_EQ(all[3].share, 0.5);
}

TEST(to_string, reads_back_to_the_same_value) {
  for (const char* text : {"cpu@0", "mem@0,2-3", "share@1:17%", "share@1:29.4%", "wave@0:17%,0.5",
                           "wave@0:1%,0.02@0.1..0.7", "wave@0-3:33.3%,5@12.5%..75%",
                           "quota@0-3:99%", "freq@0:7%", "cpu@0+float@0-3+offline@2@1..3"}) {
    const auto all = parse_disturbances(text, four_cores());
    EXPECT_EQ(to_string(all), text);
    EXPECT_EQ(parse_disturbances(to_string(all), four_cores()), all);
  }
  EXPECT_EQ(to_string(std::vector<disturbance>{}), "none");
  for (int tenths = 10; tenths < 990; ++tenths) {
    const disturbance d{kind::share, {0}, tenths / 10.0 / 100, 0.0, {}};
    ASSERT_EQ(parse_disturbances(to_string(d), four_cores()).at(0), d) << to_string(d);
  }
}

struct refused_text {
  const char* text;
  const char* names;  // what the message must contain: the wrong value, or the way out
};

class disturbance_refused : public testing::TestWithParam<refused_text> {};

TEST_P(disturbance_refused, in_one_line_that_names_it) {
  try {
    (void)parse_disturbances(GetParam().text, four_cores());
    FAIL() << "accepted " << GetParam().text;
  } catch (const input_error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find(GetParam().names), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    inputs, disturbance_refused,
    testing::Values(
        refused_text{"", "none"}, refused_text{"cpux@0", "unknown kind 'cpux'"},
        refused_text{"cpux@0", "did you mean 'cpu'?"}, refused_text{"noise@0", "wave"},
        refused_text{"@0", "unknown kind ''"}, refused_text{"cpu", "names no core"},
        refused_text{"cpu@", "no list of cores"}, refused_text{"cpu@x", "'x'"},
        refused_text{"cpu@0,", "'0,'"}, refused_text{"cpu@-1", "'-1'"},
        refused_text{"cpu@1.5", "'1.5'"}, refused_text{"cpu@4", "core 4 does not exist"},
        refused_text{"cpu@4", "0 to 3"}, refused_text{"cpu@99999999999", "does not exist"},
        refused_text{"cpu@0-4", "core 4"},
        refused_text{"cpu@0-4294967295", "core 4294967295 does not exist"},
        refused_text{"cpu@3-1", "backwards"}, refused_text{"cpu@0,0", "twice"},
        refused_text{"cpu@0-2,1", "core 1 is named twice"},
        refused_text{"cpu@0:17%", "takes no share"}, refused_text{"offline@0:1%", "takes no share"},
        refused_text{"share@0", "needs the share"}, refused_text{"share@0:", "not in percent"},
        refused_text{"share@0:0%", "share 0%"}, refused_text{"share@0:100%", "share 100%"},
        refused_text{"share@0:-5%", "share -5%"}, refused_text{"share@0:nan%", "no number"},
        refused_text{"share@0:17", "not in percent"}, refused_text{"share@0:x%", "'x'"},
        refused_text{"share@0:17%,1", "no half period"},
        refused_text{"wave@0:17%,0", "half period 0"},
        refused_text{"wave@0:17%,", "half period ''"},
        refused_text{"wave@0:17%,-1", "half period -1"},
        refused_text{"wave@0:17%,1e9", "half period 1e9"},
        refused_text{"cpu@0@1", "no span of time"}, refused_text{"cpu@0@", "no span of time"},
        refused_text{"cpu@0@2..1", "ends before it starts"},
        refused_text{"cpu@0@1..1", "ends before it starts"}, refused_text{"cpu@0@25%..2", "mixes"},
        refused_text{"cpu@0@50%..120%", "120%"}, refused_text{"cpu@0@-1..2", "negative"},
        refused_text{"cpu@0@..2", "no number"}, refused_text{"cpu@0@a..b", "'a'"},
        refused_text{"cpu@0@1..1e300", "absurd"}, refused_text{"cpu@0+", "empty"},
        refused_text{"cpu@0++mem@1", "empty"}, refused_text{"cpu@0+none", "alone"},
        refused_text{"share@0:50%+wave@0-1", "core 0"},
        refused_text{"share@0:50%@0..1+wave@0@10%..20%", "core 0"},
        refused_text{"quota@all:50%+quota@all:20%", "one quota"}));

}  // namespace
}  // namespace kilter::lab
