// What kilter/kilter.h says of calls that are wrong. docs/library.md quotes these lines;
// tests/guide.py finds them here.

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "kilter/kilter.h"

namespace {

void nothing(std::size_t, std::size_t, void*) {}

/// The call has failed with that status, and says that after its own name.
#define EXPECT_REFUSED(call, status, words) \
  do {                                      \
    EXPECT_EQ(call, status);                \
    EXPECT_STREQ(said(), words);            \
  } while (false)
const char* said() {
  const char* line = kilter_last_error();
  while (*line && *line != ' ') ++line;
  return *line ? line + 1 : line;
}

struct c_misuse : testing::Test {
  void SetUp() override {
    kilter_runtime_options o = KILTER_RUNTIME_OPTIONS_INIT;
    o.workers = 2;
    ASSERT_EQ(kilter_runtime_create(&o, &rt), KILTER_OK);
    ASSERT_EQ(kilter_pool_create(2, &pool), KILTER_OK);
    ASSERT_EQ(kilter_pool_region(pool, "twice", &twice), KILTER_OK);
  }
  void TearDown() override {
    EXPECT_EQ(kilter_runtime_destroy(rt), KILTER_OK);
    EXPECT_EQ(kilter_pool_destroy(pool), KILTER_OK);
  }
  kilter_runtime* rt = nullptr;
  kilter_pool* pool = nullptr;
  kilter_region* twice = nullptr;
};

TEST_F(c_misuse, of_options) {
  kilter_runtime_options o{};
  kilter_runtime* none = rt;
  EXPECT_REFUSED(kilter_runtime_create(&o, &none), KILTER_USAGE,
                 "options.size is 0, and 32 in this version of Kilter; begin with "
                 "KILTER_RUNTIME_OPTIONS_INIT");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(std::string(kilter_last_error()).find("kilter_runtime_create: "), 0u);
  o = KILTER_RUNTIME_OPTIONS_INIT;
  o.workers = 100'000;
  EXPECT_REFUSED(kilter_runtime_create(&o, &none), KILTER_INPUT,
                 "options.workers is 100000; at most 1024 are supported, 0 is one for each core");
  o.workers = 2;
  o.policy = "dam";
  EXPECT_EQ(kilter_runtime_create(&o, &none), KILTER_INPUT);
  EXPECT_EQ(std::string(said()).find("no policy 'dam'; there are rws"), 0u) << said();
  EXPECT_REFUSED(kilter_runtime_create(nullptr, nullptr), KILTER_USAGE,
                 "runtime is NULL; give the address of a kilter_runtime*");
}

TEST_F(c_misuse, of_a_loop) {
  EXPECT_REFUSED(kilter_parallel_for(nullptr, "loop", 0, 9, nothing, nullptr), KILTER_USAGE,
                 "runtime is NULL; give what kilter_runtime_create made");
  EXPECT_REFUSED(kilter_parallel_for(rt, nullptr, 0, 9, nothing, nullptr), KILTER_USAGE,
                 "name is NULL; give the loop a name of its own");
  EXPECT_REFUSED(kilter_parallel_for(rt, "", 0, 9, nothing, nullptr), KILTER_USAGE,
                 "name is empty; give the loop a name of its own");
  EXPECT_REFUSED(kilter_parallel_for(rt, "loop", 0, 9, nullptr, nullptr), KILTER_USAGE,
                 "body is NULL; give the function that does a piece of the loop");
  EXPECT_REFUSED(kilter_parallel_for(rt, "loop", 9, 0, nothing, nullptr), KILTER_USAGE,
                 "the loop begins at 9 and ends at 0; begin must not be above end");
}

TEST_F(c_misuse, of_arrays) {
  double worth[3];
  std::size_t begins[3];
  EXPECT_REFUSED(kilter_runtime_worth(nullptr, nullptr, worth, 2), KILTER_USAGE,
                 "runtime is NULL; give what kilter_runtime_create made");
  EXPECT_REFUSED(kilter_runtime_worth(rt, nullptr, worth, 3), KILTER_USAGE,
                 "length is 3; worth must have 2 elements");
  EXPECT_REFUSED(kilter_runtime_worth(rt, nullptr, nullptr, 2), KILTER_USAGE,
                 "worth is NULL; give an array of 2");
  EXPECT_REFUSED(kilter_runtime_worth(rt, "", worth, 2), KILTER_USAGE,
                 "name is empty; give the loop a name of its own");
  EXPECT_REFUSED(kilter_runtime_shares(rt, "loop", 9, begins, 2), KILTER_USAGE,
                 "length is 2; begins must have 3 elements");
  EXPECT_REFUSED(kilter_runtime_shares(rt, nullptr, 9, begins, 3), KILTER_USAGE,
                 "name is NULL; give the loop a name of its own");
  EXPECT_REFUSED(kilter_region_shares(twice, 9, begins, 2), KILTER_USAGE,
                 "length is 2; begins must have 3 elements");
  EXPECT_REFUSED(kilter_region_shares(twice, 9, nullptr, 3), KILTER_USAGE,
                 "begins is NULL; give an array of 3");
}

TEST_F(c_misuse, of_destroying) {
  EXPECT_EQ(kilter_runtime_destroy(nullptr), KILTER_OK);
  EXPECT_EQ(kilter_pool_destroy(nullptr), KILTER_OK);
  EXPECT_EQ(kilter_runtime_workers(nullptr), 0u);
  EXPECT_EQ(kilter_runtime_cpu(nullptr, 0), -1);
  struct seen {
    kilter_runtime* rt;
    int status = KILTER_OK;
    std::string words{};
  } s{rt};
  ASSERT_EQ(kilter_parallel_for(
                rt, "destroys", 0, 1,
                [](std::size_t, std::size_t, void* data) {
                  auto& here = *static_cast<seen*>(data);
                  here.status = kilter_runtime_destroy(here.rt);
                  here.words = said();
                },
                &s),
            KILTER_OK);
  EXPECT_EQ(s.status, KILTER_USAGE);
  EXPECT_EQ(s.words,
            "a body cannot destroy the runtime that runs it; do it when kilter_parallel_for has "
            "returned");
}

TEST_F(c_misuse, of_a_pool) {
  kilter_pool* none = pool;
  EXPECT_REFUSED(kilter_pool_create(0, &none), KILTER_INPUT,
                 "a pool of 0 threads; 1 to 512 are supported");
  EXPECT_EQ(none, nullptr);
  EXPECT_REFUSED(kilter_pool_create(513, &none), KILTER_INPUT,
                 "a pool of 513 threads; 1 to 512 are supported");
  EXPECT_REFUSED(kilter_pool_create(2, nullptr), KILTER_USAGE,
                 "pool is NULL; give the address of a kilter_pool*");
  kilter_region* region = twice;
  EXPECT_REFUSED(kilter_pool_region(nullptr, "twice", &region), KILTER_USAGE,
                 "pool is NULL; give what kilter_pool_create made");
  EXPECT_EQ(region, nullptr);
  EXPECT_REFUSED(kilter_pool_region(pool, nullptr, &region), KILTER_USAGE,
                 "name is NULL; give the region a name of its own");
  EXPECT_REFUSED(kilter_pool_region(pool, "twice", nullptr), KILTER_USAGE,
                 "region is NULL; give the address of a kilter_region*");
  ASSERT_EQ(kilter_pool_region(pool, "twice", &region), KILTER_OK);
  EXPECT_EQ(region, twice) << "equal names are one region";
}

TEST_F(c_misuse, of_regions) {
  EXPECT_REFUSED(kilter_region_begin(nullptr, 0), KILTER_USAGE,
                 "region is NULL; give what kilter_pool_region found");
  EXPECT_REFUSED(kilter_region_end(nullptr, 0, 1), KILTER_USAGE,
                 "region is NULL; give what kilter_pool_region found");
  EXPECT_REFUSED(kilter_region_begin(twice, 2), KILTER_USAGE,
                 "thread 2 is not of this pool; its threads are 0 to 1");
  EXPECT_REFUSED(kilter_region_end(twice, 1, 5), KILTER_USAGE,
                 "thread 1 ends region 'twice', which it has not begun");
  kilter_region* other = nullptr;
  ASSERT_EQ(kilter_pool_region(pool, "other", &other), KILTER_OK);
  ASSERT_EQ(kilter_region_begin(twice, 1), KILTER_OK);
  EXPECT_REFUSED(kilter_region_begin(other, 1), KILTER_USAGE,
                 "thread 1 begins region 'other' but is in region 'twice'; it must end that first");
  EXPECT_REFUSED(kilter_region_end(other, 1, 5), KILTER_USAGE,
                 "thread 1 ends region 'other', which it has not begun");
  EXPECT_REFUSED(kilter_pool_destroy(pool), KILTER_USAGE,
                 "thread 1 is in region 'twice'; a pool is destroyed when all have ended theirs");
  std::thread([&] {
    EXPECT_STREQ(kilter_last_error(), "") << "the line is of the thread that failed";
    EXPECT_REFUSED(kilter_region_end(twice, 1, 5), KILTER_USAGE,
                   "thread 1 of the pool ends region 'twice' on another thread of the process than "
                   "it began it on");
  }).join();
  EXPECT_EQ(kilter_region_end(twice, 1, 5), KILTER_OK);
  EXPECT_REFUSED(kilter_region_end(twice, 1, 5), KILTER_USAGE,
                 "thread 1 ends region 'twice', which it has not begun");
}

}  // namespace
