// What users read of it.

#include "regions/explanation.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kilter::regions {
namespace {

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
                  .processes = parse_told(of_a_stencil)};
  EXPECT_EQ(lines_after(p, o),
            std::vector<std::string>{"2.00 s, 1.50 CPUs busy with it in the mean"});
  p.loaded = "libkilter_openmp.so";
  const auto lines = lines_after(p, o);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[2].find("stencil+0x10"), std::string::npos) << lines[2];
}

TEST(explanation, as_json_is_one_line) {
  const preparation p = under_a_quota();
  const std::string text = run_json(p, outcome{.seconds = 2.0,
                                               .cpu_s = 3.0,
                                               .exit_status = std::nullopt,
                                               .signal = 9,
                                               .processes = parse_told(of_a_stencil)});
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

}  // namespace
}  // namespace kilter::regions
