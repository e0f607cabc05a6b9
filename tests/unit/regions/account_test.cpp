// What is told of a program's regions, what users read of it, and what is kept for the next run.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kilter/error.hpp"
#include "regions/account.hpp"
#include "regions/explanation.hpp"
#include "regions/region_history.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/support.hpp"

namespace kilter::regions {
namespace {

// ---- what is told -------------------------------------------------------------------------------

constexpr const char* told =
    R"({"schema":"kilter.regions/1","pid":7,"passed_on_for":"","rescues":3,"exchanges":1,"alone":2,"openblas":{"libraries":2,"threads":4,"fewest":1,"changes":9}}
{"module":"","offset":16,"calls":50,"on_pool":48,"members":2,"threads":2,"seconds":0.5,"left_for":"","library":"libgomp","waited":[]}
{"module":"/usr/lib/libx.so","offset":32,"calls":9,"on_pool":0,"members":2,"threads":2,"seconds":1.5,"left_for":"__kmpc_barrier","library":"libomp","waited":[{"cpu":1,"seconds":0.06},{"cpu":0,"seconds":0.9},{"cpu":-1,"seconds":0.01}]}
{"schema":"kilter.regions/1","pid":8,"passed_on_for":"OMP_PROC_BIND","rescues":0,"exchanges":0,"alone":0}
)";

TEST(read_account, keeps_processes_and_their_regions) {
  const auto all = read_account(told);
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

TEST(read_account, leaves_out_what_is_no_line_of_it) {
  EXPECT_TRUE(read_account("").empty());
  EXPECT_TRUE(read_account("{\"module\":\"\",\"offset\":16}\n").empty())
      << "a region of no process";
  const auto cut =
      read_account(std::string(told).substr(0, 320) + "\nnothing\n[1]\n{\"offset\":\"x\"}");
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].regions.size(), 1u);
}

TEST(account_lines, say_what_was_done_and_the_longest_first) {
  std::string text;
  for (const std::string& line : account_lines(read_account(told), "/home/a/stencil"))
    text += line + "\n";
  EXPECT_TRUE(test::contains(text, "process 7: 2 parallel regions; 3 times")) << text;
  EXPECT_TRUE(test::contains(text, "; 2 times one thread was quicker for all members")) << text;
  EXPECT_NE(text.find("process 7: the number of OpenBLAS's threads was changed 9 times, 1 to 4"),
            std::string::npos)
      << text;
  const auto longest = text.find("libx.so+0x20"), other = text.find("stencil+0x10");
  EXPECT_LT(longest, other) << text;
  EXPECT_TRUE(test::contains(text, "left to libomp: __kmpc_barrier"));
  EXPECT_TRUE(test::contains(text, "process 8: OMP_PROC_BIND is set"));
  EXPECT_NE(
      text.find(
          "__kmpc_barrier; waited 32 % of the time: for CPU 0 30, CPU 1 2; schedule(dynamic)"),
      std::string::npos)
      << "of two threads for 1.5 s: " << text;
  EXPECT_TRUE(test::contains(text, "on threads of Kilter\n")) << "it did not wait: " << text;
  ASSERT_EQ(account_lines({}, "a").size(), 1u);
  EXPECT_EQ(account_lines({}, "a").front().substr(0, 18), "no parallel region");
}

// ---- what users read ----------------------------------------------------------------------------

preparation under_a_quota() {
  preparation p{
      .program = {"./stencil", "\xff"},
      .here = {.cpus = {{0}, {1}, {2}}, .online = 3, .quota = 2.0, .quota_of_own_group = 2.0},
      .mask = {},
      .plan = {},
      .file = {},
      .loaded = {}};
  p.plan = plan_environment(p.here, {{"OMP_NUM_THREADS", "3"}, {"TOKIO_WORKER_THREADS", "1"}});
  p.file = {.path = "./stencil",
            .run_by = "",
            .linked = program_file::linkage::dynamic,
            .privileged = false,
            .needed = {"libc.so.6", "libgomp.so.1"}};
  return p;
}

TEST(explanation, says_what_there_is_and_what_was_set_and_left) {
  const auto lines = lines_before(under_a_quota());
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "3 CPUs allowed: 0, 1, 2; the quota pays for 2");
  EXPECT_EQ(lines[1], "RAYON_NUM_THREADS=2: the quota pays for 2 of 3 CPUs");
  EXPECT_EQ(lines[3], "OMP_NUM_THREADS=3 is yours and stays; else it would be OMP_NUM_THREADS=2");
  EXPECT_EQ(lines[5], "./stencil is linked with libgomp.so.1; its environment is all that changes");
}

TEST(explanation, says_what_becomes_of_the_mask) {
  preparation p = under_a_quota();
  EXPECT_TRUE(nlohmann::json::parse(run_json(p, std::nullopt))["mask"].is_null());
  p.mask = {
      .cpus = {1}, .among = {0, 1}, .why = "CPU 1 of 2, since the quota pays for 1 of 2 CPUs"};
  EXPECT_EQ(lines_before(p)[1], "mask: CPU 1 of 2, since the quota pays for 1 of 2 CPUs");
  const auto mask = nlohmann::json::parse(run_json(p, std::nullopt))["mask"];
  EXPECT_EQ(mask["cpus"], std::vector<int>{1});
  EXPECT_EQ(mask["why"], p.mask.why);
}

TEST(explanation, says_why_nothing_is_loaded) {
  preparation p = under_a_quota();
  p.file.linked = program_file::linkage::fixed;
  EXPECT_EQ(lines_before(p).back(),
            "./stencil is linked statically, so nothing can be loaded into it; its environment is "
            "all that changes");
  p.file = {.path = "/bin/su",
            .run_by = "",
            .linked = program_file::linkage::dynamic,
            .privileged = true};
  EXPECT_EQ(lines_before(p).back(),
            "/bin/su runs with privileges of its own (setuid), so nothing can be loaded into it; "
            "its environment is all that changes");
  p.file = {
      .path = "./script", .run_by = "/usr/bin/python3", .linked = program_file::linkage::dynamic};
  EXPECT_EQ(lines_before(p).back(),
            "/usr/bin/python3 is not linked with OpenMP itself; a library that it loads may be; "
            "its environment is all that changes");
}

constexpr const char* of_a_stencil =
    R"({"schema":"kilter.regions/1","pid":7,"passed_on_for":"","rescues":3,"exchanges":1,"alone":2}
{"module":"","offset":16,"calls":50,"on_pool":48,"members":2,"threads":2,"seconds":0.5,"left_for":"","library":"libgomp","waited":[]}
{"modu)";

TEST(explanation, prints_what_the_library_told_where_it_was_loaded) {
  preparation p = under_a_quota();
  const outcome o{.seconds = 2.0,
                  .cpu_s = 3.0,
                  .exit_status = 0,
                  .signal = std::nullopt,
                  .processes = read_account(of_a_stencil)};
  EXPECT_EQ(lines_after(p, o),
            std::vector<std::string>{"2.00 s, 1.50 CPUs busy with it in the mean"});
  p.loaded = "libkilter_openmp.so";
  const auto lines = lines_after(p, o);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(test::contains(lines[2], "stencil+0x10")) << lines[2];
}

TEST(explanation, as_json_is_one_line) {
  const preparation p = under_a_quota();
  const std::string text = run_json(p, outcome{.seconds = 2.0,
                                               .cpu_s = 3.0,
                                               .exit_status = std::nullopt,
                                               .signal = 9,
                                               .processes = read_account(of_a_stencil)});
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto d = nlohmann::json::parse(text);
  EXPECT_EQ(d["schema"], "kilter.run/1");
  EXPECT_EQ(d["openmp"], "libgomp.so.1");
  EXPECT_EQ(d["result"]["signal"], 9);
  ASSERT_EQ(d["result"]["processes"].size(), 1U);
  EXPECT_EQ(d["result"]["processes"][0]["regions"][0]["on_pool"], 48);
  EXPECT_EQ(d["result"]["processes"][0]["regions"][0]["threads"], 2);
  EXPECT_TRUE(d["result"]["processes"][0]["regions"][0]["waited"].empty());
  EXPECT_TRUE(nlohmann::json::parse(run_json(p, std::nullopt))["result"].is_null());
}

// ---- what is kept -------------------------------------------------------------------------------

region_account region(std::string module, std::uint64_t offset, std::uint64_t on_pool,
                      std::string left_for = "") {
  return {.module = std::move(module),
          .offset = offset,
          .calls = 9,
          .on_pool = on_pool,
          .members = 2,
          .threads = 2,
          .seconds = 1.0,
          .left_for = std::move(left_for),
          .library = "libgomp"};
}
process_account process(std::vector<region_account> regions) {
  return {.pid = 7, .passed_on_for = "", .regions = std::move(regions)};
}

std::optional<file_version> unchanged(const std::string& path) {
  if (path == "/gone") return std::nullopt;
  return file_version{.bytes = path.size(), .changed_ns = 5};
}
std::optional<file_version> rebuilt(const std::string& path) {
  return file_version{.bytes = path.size(), .changed_ns = 6};
}

TEST(region_history, keeps_regions_that_ran_on_threads_of_kilter) {
  region_history known;
  add_run(known,
          {process({region("", 0x10, 7), region("", 0x20, 0), region("", 0x30, 5, "GOMP_task"),
                    region("/lib/a b.so", 0x40, 1), region("/gone", 0x50, 1)})},
          "/bin/p", unchanged);
  EXPECT_EQ(known_regions(known, "/bin/p", unchanged), "10 \n40 /lib/a b.so\n");
  EXPECT_EQ(known_regions(known, "/bin/other", unchanged), "10 /bin/p\n40 /lib/a b.so\n")
      << "it may load the program's file as a library";
}

TEST(region_history, forgets_what_turned_out_to_be_its_librarys) {
  region_history known;
  add_run(known, {process({region("", 0x10, 7), region("", 0x20, 7)})}, "/bin/p", unchanged);
  add_run(known, {process({region("", 0x10, 5, "GOMP_task")})}, "/bin/p", unchanged);
  EXPECT_EQ(known_regions(known, "/bin/p", unchanged), "20 \n");
}

TEST(region_history, forgets_another_version_of_a_file) {
  region_history known;
  add_run(known, {process({region("", 0x10, 7)})}, "/bin/p", unchanged);
  EXPECT_EQ(known_regions(known, "/bin/p", rebuilt), "") << "its offsets are other regions'";
  add_run(known, {process({region("", 0x60, 7)})}, "/bin/p", rebuilt);
  EXPECT_EQ(known_regions(known, "/bin/p", rebuilt), "60 \n");
}

TEST(region_history, is_read_as_it_was_written) {
  region_history known;
  add_run(known, {process({region("", 0x10, 7), region("/lib/\"a\".so", 0xffffffffffff, 1)})},
          "/bin/p", unchanged);
  const region_history again = parse_region_history(region_history_text(known));
  EXPECT_EQ(known_regions(again, "/bin/p", unchanged), known_regions(known, "/bin/p", unchanged));
  EXPECT_TRUE(parse_region_history("").empty());
}

TEST(region_history, refuses_what_is_none) {
  for (
      const char* text :
      {"x", "[]", "{}", R"({"schema":"kilter.run/1"})", R"({"schema":"kilter.run-history/1"})",
       R"({"schema":"kilter.run-history/1","modules":[{"path":3}]})",
       R"({"schema":"kilter.run-history/1","modules":[{"path":"a","bytes":1,"changed_ns":2,"trusted":["x"]}]})"})
    EXPECT_THROW((void)parse_region_history(text), input_error) << text;
}

TEST(region_history, corpus_is_read_or_refused_in_one_line) {
  test::replay_corpus("regions", [](const std::string&, const std::string& bytes) {
    (void)account_lines(read_account(bytes), "p");
    (void)parse_region_history(bytes);
  });
}

}  // namespace
}  // namespace kilter::regions
