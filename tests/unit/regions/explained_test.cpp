#include <gtest/gtest.h>

#include "regions/explained.hpp"

namespace kilter::regions {
namespace {

constexpr const char* told =
    R"({"schema":"kilter.regions/1","pid":7,"passed_on_for":"","rescues":3,"exchanges":1,"alone":2,"openblas":{"libraries":2,"threads":4,"fewest":1,"changes":9}}
{"module":"","offset":16,"calls":50,"on_pool":48,"members":2,"threads":2,"seconds":0.5,"left_for":"","library":"libgomp","waited":[]}
{"module":"/usr/lib/libx.so","offset":32,"calls":9,"on_pool":0,"members":2,"threads":2,"seconds":1.5,"left_for":"__kmpc_barrier","library":"libomp","waited":[{"cpu":1,"seconds":0.06},{"cpu":0,"seconds":0.9},{"cpu":-1,"seconds":0.01}]}
{"schema":"kilter.regions/1","pid":8,"passed_on_for":"OMP_PROC_BIND","rescues":0,"exchanges":0,"alone":0}
)";

TEST(parse_told, keeps_processes_and_their_regions) {
  const auto all = parse_told(told);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].pid, 7);
  EXPECT_EQ(all[0].rescues, 3u);
  ASSERT_EQ(all[0].regions.size(), 2u);
  EXPECT_EQ(all[0].regions[1].left_for, "__kmpc_barrier");
  ASSERT_EQ(all[0].regions[1].waited.size(), 3u);
  EXPECT_EQ(all[0].regions[1].waited[1].cpu, 0);
  EXPECT_EQ(all[1].passed_on_for, "OMP_PROC_BIND");
  EXPECT_EQ(all[0].blas.libraries, 2u);
  EXPECT_EQ(all[0].blas.fewest, 1u);
  EXPECT_EQ(all[1].blas.libraries, 0u);
}

TEST(parse_told, leaves_out_what_is_no_line_of_it) {
  EXPECT_TRUE(parse_told("").empty());
  EXPECT_TRUE(parse_told("{\"module\":\"\",\"offset\":16}\n").empty()) << "a region of no process";
  const auto cut =
      parse_told(std::string(told).substr(0, 320) + "\nnothing\n[1]\n{\"offset\":\"x\"}");
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].regions.size(), 1u);
}

TEST(told_lines, say_what_was_done_and_the_longest_first) {
  std::string text;
  for (const std::string& line : told_lines(parse_told(told), "/home/a/stencil"))
    text += line + "\n";
  EXPECT_NE(text.find("process 7: 2 parallel regions; 3 times"), std::string::npos) << text;
  EXPECT_NE(text.find("; 2 times one thread was quicker for all members"), std::string::npos)
      << text;
  EXPECT_NE(text.find("process 7: the number of OpenBLAS's threads was changed 9 times, 1 to 4"),
            std::string::npos)
      << text;
  const auto longest = text.find("libx.so+0x20"), other = text.find("stencil+0x10");
  EXPECT_LT(longest, other) << text;
  EXPECT_NE(text.find("left to libomp: __kmpc_barrier"), std::string::npos);
  EXPECT_NE(text.find("process 8: OMP_PROC_BIND is set"), std::string::npos);
  EXPECT_NE(
      text.find(
          "__kmpc_barrier; waited 32 % of the time: for CPU 0 30, CPU 1 2; schedule(dynamic)"),
      std::string::npos)
      << "of two threads for 1.5 s: " << text;
  EXPECT_NE(text.find("on threads of Kilter\n"), std::string::npos) << "it did not wait: " << text;
  ASSERT_EQ(told_lines({}, "a").size(), 1u);
  EXPECT_EQ(told_lines({}, "a").front().substr(0, 18), "no parallel region");
}

}  // namespace
}  // namespace kilter::regions
