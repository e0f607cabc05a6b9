// The configuration that a result carries is enough to ask the same again: whoever repeats a run
// from its JSON gets that run.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <map>

#include "presenting/compare_json.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

document config_of(const specification& a) {
  return to_document(test::outcome_of(plan(a), {}), {})["experiments"][0]["config"];
}

std::string list_text(const document& numbers) {
  std::string text;
  for (const auto& n : numbers) text += n.dump() + ",";
  return text;
}

/// What a configuration stands for.
specification specification_of(const document& c) {
  specification a;
  parameter_values parameters;
  const std::string workload = c["workload"];
  for (const parameter& p : find_workload(workload).parameters) {
    const document& value = c.at(std::string(p.name));
    parameters[std::string(p.name)] = p.name == "edge_rate"
                                          ? fmt::format("{:.10g}%", 100.0 * value.get<double>())
                                      : value.is_string() ? value.get<std::string>()
                                                          : value.dump();
  }
  a.work = make_workload(workload, parameters);
  a.policy_lists = read_policies(c["policies"].get<std::vector<std::string>>());
  a.disturb = test::scenarios(c["disturbs"].get<std::vector<std::string>>());
  a.fast = list_text(c["fast"]);
  for (const char* name :
       {"on", "repeat", "graphs", "seed", "table", "timing", "criticality", "local", "steal",
        "root", "objective", "children", "thieves", "explore", "refresh", "weight"})
    read_setting(a, name,
                 c.at(name).is_string() ? c.at(name).get<std::string>() : c.at(name).dump());
  for (const char* name : {"cores", "load_table", "costs", "co_runner"})
    if (!c.at(name).is_null()) read_setting(a, name, c.at(name).get<std::string>());
  if (c.contains("data")) read_setting(a, "data", c.at("data").get<std::string>());
  a.smt = c.at("smt");
  a.unpinned = a.on.written == "native" && !c.at("pinned").get<bool>();
  a.direct = c.at("direct");
  a.details = c.at("details");
  a.cats_strict = c["cats"]["strict"];
  a.cats_bidirectional = c["cats"]["bidirectional"];
  a.cats_tries = c["cats"]["tries"];
  read_setting(a, "cats_update", c["cats"]["update"].get<std::string>());
  return a;
}

std::string saved_table() {
  const std::string path = testing::TempDir() + "config_test.table";
  specification a;
  a.on = read_engine("--on", "sim:odroid-xu3");
  a.work = make_workload("layered", {{"tasks", "50"}});
  a.policy_lists = read_policies({"dam-c"});
  a.repeats = 1;
  a.details = false;
  a.save_table = path;
  progress unseen(0, true);
  measurement::make(plan(a), unseen)->run();
  return path;
}

struct change {
  const char* option;
  std::function<void(specification&)> make;
};

const std::vector<change>& every_option() {
  static const std::vector<change> all{
      {"--policy",
       [](auto& a) {
         a.policy_lists = read_policies({"cats", "rws"});
       }},
      {"--cores", [](auto& a) { a.cores = "0-4"; }},
      {"--disturb",
       [](auto& a) {
         a.disturb = test::scenarios({"cpu@0", "wave@0-1:17%,0.5+cpu@2@25%..75%"});
       }},
      {"--repeat", [](auto& a) { read_setting(a, "repeat", "7"); }},
      {"--graphs", [](auto& a) { read_setting(a, "graphs", "3"); }},
      {"--seed", [](auto& a) { read_setting(a, "seed", "18446744073709551615"); }},
      {"--table", [](auto& a) { read_setting(a, "table", "paper"); }},
      {"--timing", [](auto& a) { read_setting(a, "timing", "leader"); }},
      {"--criticality", [](auto& a) { read_setting(a, "criticality", "hops"); }},
      {"--local", [](auto& a) { read_setting(a, "local", "row"); }},
      {"--steal", [](auto& a) { read_setting(a, "steal", "richest"); }},
      {"--root", [](auto& a) { read_setting(a, "root", "outside"); }},
      {"--objective", [](auto& a) { read_setting(a, "objective", "energy"); }},
      {"--children", [](auto& a) { read_setting(a, "children", "slow-cluster"); }},
      {"--thieves", [](auto& a) { read_setting(a, "thieves", "first"); }},
      {"--explore", [](auto& a) { read_setting(a, "explore", "prior"); }},
      {"--refresh", [](auto& a) { read_setting(a, "refresh", "40"); }},
      {"--refresh age", [](auto& a) { read_setting(a, "refresh", "age"); }},
      {"--weight", [](auto& a) { read_setting(a, "weight", "2/7"); }},
      {"--load-table", [](auto& a) { a.load_table = saved_table(); }},
      {"--fast", [](auto& a) { a.fast = "0,2"; }},
      {"--on", [](auto& a) { read_setting(a, "on", "emulate:odroid-xu3,2"); }},
      {"--co-runner", [](auto& a) { read_setting(a, "co_runner", "fluid"); }},
      {"--data", [](auto& a) { read_setting(a, "data", "moved"); }},
      {"--costs", [](auto& a) { read_setting(a, "costs", "true"); }},
      {"--cats-tries", [](auto& a) { read_setting(a, "cats_tries", "17"); }},
      {"--cats-update", [](auto& a) { read_setting(a, "cats_update", "each"); }},
      {"--cats-strict", [](auto& a) { a.cats_strict = true; }},
      {"--cats-bidirectional", [](auto& a) { a.cats_bidirectional = true; }},
      {"--direct", [](auto& a) { a.direct = true; }},
      {"--no-details", [](auto& a) { a.details = false; }},
  };
  return all;
}

TEST(config, names_every_option_that_changes_a_run_and_repeats_it) {
  specification base;
  base.on = read_engine("--on", "sim:odroid-xu3");
  for (const change& c : every_option()) {
    specification a = base;
    c.make(a);
    const document config = config_of(a);
    EXPECT_NE(config, config_of(base)) << c.option << " leaves no trace";
    EXPECT_EQ(config_of(specification_of(config)), config) << c.option;
  }
}

TEST(config, names_what_only_threads_here_have) {
  const specification base;
  for (const change& c : {change{"--smt", [](auto& a) { a.smt = true; }},
                          change{"--unpinned", [](auto& a) { a.unpinned = true; }},
                          change{"--cores", [](auto& a) { a.cores = "1"; }}}) {
    specification a;
    c.make(a);
    const document config = config_of(a);
    EXPECT_NE(config, config_of(base)) << c.option;
    EXPECT_EQ(config_of(specification_of(config)), config) << c.option;
  }
}

TEST(config, names_every_parameter_of_every_workload) {
  const std::map<std::string, parameter_values> others{
      {"layered",
       {{"kernel", "stencil"},
        {"tile", "512"},
        {"sweeps", "3"},
        {"tasks", "77"},
        {"parallelism", "5"}}},
      {"random",
       {{"kernel", "copy"},
        {"tile", "512"},
        {"tasks", "77"},
        {"parallelism", "5"},
        {"edge_rate", "12.5%"}}},
      {"kmeans",
       {{"points", "1000"},
        {"features", "3"},
        {"clusters", "4"},
        {"iterations", "5"},
        {"tasks_per_iteration", "6"},
        {"critical_factor", "1.5"}}},
      {"heat",
       {{"rows", "1000"},
        {"columns", "500"},
        {"ranks", "3"},
        {"tasks_per_rank", "6"},
        {"iterations", "5"},
        {"nodes", "apart"}}},
      {"vgg", {{"input", "224"}, {"block_length", "32"}, {"tasks_of_block", "chain"}}},
      {"graph", {{"file", "lu:n=5"}, {"like", "copy"}, {"scale", "0.125"}, {"widths", "1,2"}}}};
  for (const lab::workload_info& info : workload_catalogue()) {
    specification base;
    base.on = read_engine("--on", info.name == "heat" ? "sim:haswell-cluster" : "sim:jetson-tx2");
    for (const parameter& p : info.parameters) {
      specification a = base;
      parameter_values parameters;
      if (info.name == "layered" && p.name == "sweeps") parameters["kernel"] = "stencil";
      if (info.name == "random" && p.name == "tile") parameters["kernel"] = "copy";
      a.work = make_workload(info.name, parameters);
      const document before = config_of(a);
      parameters[std::string(p.name)] = others.at(std::string(info.name)).at(std::string(p.name));
      a.work = make_workload(info.name, parameters);
      const document config = config_of(a);
      EXPECT_NE(config, before) << info.name << " " << p.option() << " leaves no trace";
      EXPECT_EQ(config_of(specification_of(config)), config) << info.name << " " << p.option();
    }
  }
}

}  // namespace
}  // namespace kilter::lab
