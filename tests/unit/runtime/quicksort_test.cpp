// A recursive task as it is first written from the headers alone: it must sort, whatever the
// policy.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kilter/parallel.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

void quicksort(task_context& here, int* first, int* last) {
  if (last - first < 64) {
    std::sort(first, last);
    return;
  }
  const int pivot = first[(last - first) / 2];
  int* const low = std::partition(first, last, [=](int x) { return x < pivot; });
  int* const high = std::partition(low, last, [=](int x) { return x == pivot; });
  batch halves(here);
  halves.add([=](task_context& inner) { quicksort(inner, first, low); });
  halves.add([=](task_context& inner) { quicksort(inner, high, last); });
}

TEST(recursion, quicksort_sorts_under_every_policy) {
  for (const policy_info& p : policy_catalogue()) {
    // they plan a graph as a whole: docs/policies.md
    if (p.name == "heft" || p.name == "cpop") continue;
    for (const std::uint32_t workers : {1u, 2u, 4u}) {
      runtime rt(with_policy(std::string(p.name), workers));
      std::mt19937 random(7);
      std::vector<int> values(stress::sanitized ? 5'000 : 50'000);
      for (int& v : values) v = static_cast<int>(random() % 100'000);
      graph g;
      g.add([&](task_context& here) {
        quicksort(here, values.data(), values.data() + values.size());
      });
      rt.run(g);
      EXPECT_TRUE(std::ranges::is_sorted(values)) << p.name << " with " << workers << " workers";
    }
  }
}

// Written with the outer context, the children would add to a task that they do not run in.
TEST(recursion, the_context_of_another_task_is_refused_on_every_worker) {
  for (const std::uint32_t workers : {1u, 2u}) {
    runtime rt(with_policy("rws", workers));
    graph g;
    g.add([&](task_context& here) {
      batch children(here);
      for (int i = 0; i < 20; ++i)
        children.add([&] {
          EXPECT_THROW(batch{here}, usage_error);
          EXPECT_THROW(parallel_for(here, 0, 10, [](int) {}), usage_error);
        });
      children.add({.widths = 2, .all_members = true},
                   [&](team_member&) { EXPECT_THROW(batch{here}, usage_error); });
      children.wait();
      EXPECT_NO_THROW(batch{here}) << "after waiting it is its own again";
      parallel_for(here, 0, 100, [&](int) { EXPECT_THROW(batch{here}, usage_error); });
      EXPECT_NO_THROW(batch{here});
    });
    rt.run(g);
  }
}

}  // namespace
}  // namespace kilter
