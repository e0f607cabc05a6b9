#include "base/ensure.hpp"

#include <gtest/gtest.h>

namespace kilter {
namespace {

TEST(ensure, a_broken_promise_ends_a_program_that_is_tested_and_says_which) {
  ensure(true, "one is one");
  EXPECT_DEATH(ensure(false, "one is two"), "a promise of its own is broken: one is two");
}

}  // namespace
}  // namespace kilter
