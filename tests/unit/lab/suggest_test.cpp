#include "lab/words/suggest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace kilter::lab {
namespace {

constexpr std::array<std::string_view, 4> names{"rws", "rwsm-c", "da", "dam-c"};

TEST(suggest, finds_typing_errors_and_nothing_far_fetched) {
  EXPECT_EQ(nearest("dam_c", names), "dam-c");
  EXPECT_EQ(nearest("rwms-c", names), "rwsm-c");
  EXPECT_EQ(nearest("rwd", names), "rws");
  EXPECT_EQ(nearest("rwsm", names), "rwsm-c") << "its beginning";
  EXPECT_EQ(nearest("rw", names), "rws") << "too short for a beginning";
  EXPECT_EQ(nearest("cats", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), names), "");
}

}  // namespace
}  // namespace kilter::lab
