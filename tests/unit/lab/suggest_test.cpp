#include "words/suggest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace kilter::lab {
namespace {

constexpr std::array<std::string_view, 4> choices{"rws", "rwsm-c", "da", "dam-c"};

TEST(suggest, finds_typing_errors_and_nothing_far_fetched) {
  EXPECT_EQ(nearest("dam_c", choices), "dam-c");
  EXPECT_EQ(nearest("rwms-c", choices), "rwsm-c");
  EXPECT_EQ(nearest("rwd", choices), "rws");
  EXPECT_EQ(nearest("rwsm", choices), "rwsm-c") << "its beginning";
  EXPECT_EQ(nearest("rw", choices), "rws") << "too short for a beginning";
  EXPECT_EQ(nearest("cats", choices), "");
  EXPECT_EQ(nearest("", choices), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), choices), "");
}

}  // namespace
}  // namespace kilter::lab
