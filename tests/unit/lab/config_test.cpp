// The configuration that a result carries is enough to ask the same again: whoever repeats a run from its JSON gets that run.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <set>

#include "lab/presenting/compare_output.hpp"
#include "lab/presenting/result_json.hpp"

namespace kilter::lab {
namespace {

document config_of(const bench_arguments& a) { return to_document(plan(a), {}, {})["config"]; }

std::string list_text(const document& numbers) {
  std::string text;
  for (const auto& n : numbers) text += n.dump() + ",";
  return text;
}

std::string text_or(const document& value, const std::string& otherwise = "") { return value.is_null() ? otherwise : value.get<std::string>(); }

/// The command line that a configuration stands for.
bench_arguments arguments_of(const document& c) {
  bench_arguments a;
  a.workload = c["workload"];
  for (const parameter& p : find_workload(a.workload).parameters) {
    const document& value = c.at(std::string(p.name));
    a.parameters[std::string(p.name)] = p.name == "edge_rate" ? fmt::format("{:.10g}%", 100.0 * value.get<double>()) : value.is_string() ? value.get<std::string>() : value.dump();
  }
  a.policies = c["policies"].get<std::vector<std::string>>();
  a.disturb = c["disturbs"].get<std::vector<std::string>>();
  a.repeat = c["repeat"].dump();
  a.graphs = c["graphs"].dump();
  a.seed = c["seed"].dump();
  a.fast = list_text(c["fast"]);
  a.on = c["on"];
  a.refresh = c["refresh"].is_string() ? c["refresh"].get<std::string>() : c["refresh"].dump();
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string*>>{
           {"table", &a.table}, {"timing", &a.timing}, {"criticality", &a.criticality}, {"local", &a.local}, {"steal", &a.steal}, {"root", &a.root},
           {"objective", &a.objective}, {"children", &a.children}, {"thieves", &a.thieves}, {"explore", &a.explore}, {"weight", &a.weight}})
    *value = c.at(key);
  a.cores = text_or(c.at("cores"));
  a.load_table = text_or(c.at("load_table"));
  a.costs = text_or(c.at("costs"), "stale");
  a.co_runner = text_or(c.at("co_runner"), "slice");
  a.smt = c.at("smt");
  a.unpinned = a.on == "native" && !c.at("pinned").get<bool>();
  a.direct = c.at("direct");
  a.details = c.at("details");
  a.cats_strict = c["cats"]["strict"];
  a.cats_bidirectional = c["cats"]["bidirectional"];
  a.cats_tries = c["cats"]["tries"].dump();
  a.cats_update = c["cats"]["update"];
  return a;
}

std::string saved_table() {
  const std::string path = testing::TempDir() + "config_test.table";
  bench_arguments a;
  a.on = "sim:odroid-xu3";
  a.parameters = {{"tasks", "50"}};
  a.policies = {"dam-c"};
  a.repeat = "1";
  a.details = false;
  a.save_table = path;
  progress unseen(0, true);
  measurement::make(plan(a), unseen)->run();
  return path;
}

struct change {
  const char* option;
  std::function<void(bench_arguments&)> make;
};

const std::vector<change>& every_option() {
  static const std::vector<change> all{
      {"--policy", [](auto& a) { a.policies = {"cats", "rws"}; }},
      {"--cores", [](auto& a) { a.cores = "0-4"; }},
      {"--disturb", [](auto& a) { a.disturb = {"cpu@0", "wave@0-1:17%,0.5+cpu@2@25%..75%"}; }},
      {"--repeat", [](auto& a) { a.repeat = "7"; }},
      {"--graphs", [](auto& a) { a.graphs = "3"; }},
      {"--warm", [](auto& a) { a.warm = true; }},
      {"--seed", [](auto& a) { a.seed = "18446744073709551615"; }},
      {"--table", [](auto& a) { a.table = "paper"; }},
      {"--timing", [](auto& a) { a.timing = "leader"; }},
      {"--criticality", [](auto& a) { a.criticality = "hops"; }},
      {"--local", [](auto& a) { a.local = "row"; }},
      {"--steal", [](auto& a) { a.steal = "richest"; }},
      {"--root", [](auto& a) { a.root = "outside"; }},
      {"--objective", [](auto& a) { a.objective = "energy"; }},
      {"--children", [](auto& a) { a.children = "slow-cluster"; }},
      {"--thieves", [](auto& a) { a.thieves = "first"; }},
      {"--explore", [](auto& a) { a.explore = "prior"; }},
      {"--refresh", [](auto& a) { a.refresh = "40"; }},
      {"--refresh age", [](auto& a) { a.refresh = "age"; }},
      {"--weight", [](auto& a) { a.weight = "2/7"; }},
      {"--load-table", [](auto& a) { a.load_table = saved_table(); }},
      {"--fast", [](auto& a) { a.fast = "0,2"; }},
      {"--on", [](auto& a) { a.on = "emulate:odroid-xu3,2"; }},
      {"--co-runner", [](auto& a) { a.co_runner = "fluid"; }},
      {"--costs", [](auto& a) { a.costs = "true"; }},
      {"--cats-tries", [](auto& a) { a.cats_tries = "17"; }},
      {"--cats-update", [](auto& a) { a.cats_update = "each"; }},
      {"--cats-strict", [](auto& a) { a.cats_strict = true; }},
      {"--cats-bidirectional", [](auto& a) { a.cats_bidirectional = true; }},
      {"--direct", [](auto& a) { a.direct = true; }},
      {"--no-details", [](auto& a) { a.details = false; }},
  };
  return all;
}

TEST(config, names_every_option_that_changes_a_run_and_repeats_it) {
  bench_arguments base;
  base.on = "sim:odroid-xu3";
  for (const change& c : every_option()) {
    bench_arguments a = base;
    c.make(a);
    const document config = config_of(a);
    EXPECT_NE(config, config_of(base)) << c.option << " leaves no trace";
    EXPECT_EQ(config_of(arguments_of(config)), config) << c.option;
  }
}

TEST(config, names_what_only_threads_here_have) {
  const bench_arguments base;
  for (const change& c : {change{"--smt", [](auto& a) { a.smt = true; }}, change{"--unpinned", [](auto& a) { a.unpinned = true; }}, change{"--cores", [](auto& a) { a.cores = "1"; }}}) {
    bench_arguments a;
    c.make(a);
    const document config = config_of(a);
    EXPECT_NE(config, config_of(base)) << c.option;
    EXPECT_EQ(config_of(arguments_of(config)), config) << c.option;
  }
}

TEST(config, names_every_parameter_of_every_workload) {
  const std::map<std::string, parameter_values> others{
      {"layered", {{"kernel", "stencil"}, {"tile", "512"}, {"sweeps", "3"}, {"tasks", "77"}, {"parallelism", "5"}}},
      {"random", {{"kernel", "copy"}, {"tile", "512"}, {"tasks", "77"}, {"parallelism", "5"}, {"edge_rate", "12.5%"}}},
      {"kmeans", {{"points", "1000"}, {"features", "3"}, {"clusters", "4"}, {"iterations", "5"}, {"tasks_per_iteration", "6"}, {"critical_factor", "1.5"}}},
      {"heat", {{"rows", "1000"}, {"columns", "500"}, {"ranks", "3"}, {"tasks_per_rank", "6"}, {"iterations", "5"}}},
      {"vgg", {{"input", "224"}, {"block_length", "32"}}},
      {"graph", {{"file", "lu:n=5"}, {"like", "copy"}, {"scale", "0.125"}, {"widths", "1,2"}}}};
  for (const lab::workload_info& info : workload_catalogue()) {
    bench_arguments base;
    base.workload = info.name;
    base.on = info.name == "heat" ? "sim:haswell-cluster" : "sim:jetson-tx2";
    for (const parameter& p : info.parameters) {
      bench_arguments a = base;
      if (info.name == "layered" && p.name == "sweeps") a.parameters["kernel"] = "stencil";
      if (info.name == "random" && p.name == "tile") a.parameters["kernel"] = "copy";
      const document before = config_of(a);
      a.parameters[std::string(p.name)] = others.at(std::string(info.name)).at(std::string(p.name));
      const document config = config_of(a);
      EXPECT_NE(config, before) << info.name << " " << p.option() << " leaves no trace";
      EXPECT_EQ(config_of(arguments_of(config)), config) << info.name << " " << p.option();
    }
  }
}

TEST(config, a_comparison_names_the_same_options) {
  compare_arguments base;
  base.graphs = {"cholesky:n=3"};
  const auto config = [](const compare_arguments& a) { return to_document(a, {}, {})["config"]; };
  const std::set<std::string> not_there{"--graphs", "--warm", "--on", "--no-details"};
  for (const change& c : every_option()) {
    if (not_there.count(c.option)) continue;
    compare_arguments a = base;
    c.make(a.common);
    EXPECT_NE(config(a), config(base)) << c.option << " leaves no trace";
  }
  for (const change& c : {change{"--smt", [](auto& a) { a.smt = true; }}, change{"--unpinned", [](auto& a) { a.unpinned = true; }}}) {
    compare_arguments a = base;
    c.make(a.common);
    EXPECT_NE(config(a), config(base)) << c.option;
  }
  for (const auto& change : std::initializer_list<std::function<void(compare_arguments&)>>{
           [](auto& a) { a.graphs.push_back("lu:n=3"); }, [](auto& a) { a.on = {"sim:jetson-tx2"}; }, [](auto& a) { a.like = "copy"; }, [](auto& a) { a.scale = "2"; },
           [](auto& a) { a.widths = "1"; }}) {
    compare_arguments a = base;
    change(a);
    EXPECT_NE(config(a), config(base));
  }
}

}  // namespace
}  // namespace kilter::lab
