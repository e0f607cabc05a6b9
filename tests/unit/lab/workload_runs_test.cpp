// The workloads as `kilter compare` and the experiments use them: parameters, bounds and runs.
#include "workloads/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "claims/experiment_file.hpp"
#include "kilter/error.hpp"
#include "kilter/runtime.hpp"
#include "measuring/simulation.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

const sim::platform& two_by_four() {
  static const sim::platform p = sim::platform::load("grid:2x4");
  return p;
}

// --- bounds ---

TEST(bounds, of_one_type_count_tasks) {
  graph g;
  const task_graph made =
      build(g, layered_work{.shape = {.tasks = 101, .parallelism = 4, .seed = 1}}, two_by_four());
  const auto by_type = simulated_rates(two_by_four(), made.types, {});
  const mixed_tasks mix(g, two_by_four(), made.types, by_type);
  EXPECT_EQ(mix.tasks(), 101u);
  EXPECT_EQ(mix.path_tasks(), 26u);
  const rate_sample r = mix.rates(by_type);
  for (const double per_s : r.together_per_s) EXPECT_NEAR(per_s, 1000.0, 1e-9);
  EXPECT_NEAR(*std::max_element(r.alone_per_s.begin(), r.alone_per_s.end()), 4000.0, 1e-8)
      << "1 ms divided by the widest place";
}

TEST(bounds, of_several_types_add_up_their_seconds) {
  graph g;
  task_graph made(g);
  const task_type big = made.type(g, "big", {.kernel = "sort", .size = 192.0}),
                  small = made.type(g, "small", {.kernel = "sort", .size = 64.0});
  task last;
  for (int i = 0; i < 6; ++i) {
    const task t =
        g.add({.type = i % 2 ? big : small, .work = i == 0 ? 5.0 : 0.0}, [](team_member&) {});
    if (last) g.edge(last, t);
    last = t;
  }
  const auto by_type = simulated_rates(two_by_four(), made.types, {});
  const mixed_tasks mix(g, two_by_four(), made.types, by_type);
  const rate_sample r = mix.rates(by_type);
  double together = 0.0;
  for (const double per_s : r.together_per_s) together += per_s;
  EXPECT_NEAR(6.0 / together, (5 + 3 + 1 + 3 + 1 + 3) * 1e-3 / 8, 1e-12) << "16 ms on 8 cores";
  EXPECT_NEAR(static_cast<double>(mix.path_tasks()) /
                  *std::max_element(r.alone_per_s.begin(), r.alone_per_s.end()),
              16e-3 / 4, 1e-12);
}

TEST(bounds, know_who_is_away_and_what_a_quota_pays_for) {
  sim::platform p = sim::platform::load("jetson-tx2");
  for (sim::kernel_cost& k : p.kernels) k.bytes = 0.0;
  const std::vector<sim::type_work> types{{"matmul", 64.0}};
  const auto rates = [&](const char* disturb) {
    return simulated_rates(p, types, parse_disturbances(disturb, *p.cores))[0];
  };
  const auto sum = [](const rate_sample& r) {
    return std::accumulate(r.together_per_s.begin(), r.together_per_s.end(), 0.0);
  };
  const rate_sample all = rates("none"), away = rates("offline@0-2"),
                    third = rates("quota@all:25%"), tenth = rates("quota@all:10%");
  EXPECT_NEAR(sum(away), all.together_per_s[3] * 3, 1e-6);
  EXPECT_NEAR(sum(third), all.together_per_s[0] * 1.5, 1e-6)
      << "time worth one core and a half, best spent on the two Denver cores";
  EXPECT_NEAR(tenth.chain_paid_per_s,
              0.6 * std::max(all.together_per_s[0], std::ranges::max(all.alone_per_s) / 2), 1e-6);
}

TEST(bounds, know_what_memory_can_carry) {
  sim::platform p = sim::platform::load("grid:2x4");
  for (sim::kernel_cost& k : p.kernels) k.bytes = 1e6;
  p.cluster_bytes_per_s = {2e9};
  const auto all_per_s = [&](const sim::platform& on) {
    graph g;
    const task_graph made =
        build(g, layered_work{.shape = {.tasks = 100, .parallelism = 4, .seed = 1}}, on);
    const auto by_type = simulated_rates(on, made.types, {});
    double together = 0.0;
    for (const double per_s : mixed_tasks(g, on, made.types, by_type).rates(by_type).together_per_s)
      together += per_s;
    return together;
  };
  EXPECT_NEAR(all_per_s(p), 4000.0, 1e-6)
      << "two clusters of 2 GB/s, 1 MB a task; the cores could do 8000";
  p.chip_bytes_per_s = 3e9;
  EXPECT_NEAR(all_per_s(p), 3000.0, 1e-6);
  p.network = sim::network_figure{
      .clusters_per_node = 1, .bytes_per_s = 1e9, .latency_s = 1e-6, .from = {}};
  EXPECT_NEAR(all_per_s(p), 4000.0, 1e-6) << "each node has a memory of its own";
  p.core_bytes_per_s = {0.1e9};
  EXPECT_NEAR(all_per_s(p), 800.0, 1e-6);
}

TEST(bounds, of_a_path_know_what_one_place_can_move) {
  sim::platform p = sim::platform::load("grid:2x4");
  for (sim::kernel_cost& k : p.kernels) k.bytes = 1e6;
  const std::vector<sim::type_work> types{{}, {.kernel = "copy", .size = 64.0}};
  const auto fastest = [&] {
    return std::ranges::max(simulated_rates(p, types, {})[1].alone_per_s);
  };
  EXPECT_DOUBLE_EQ(fastest(), 4000.0);
  p.core_bytes_per_s = {0.9e9};
  EXPECT_DOUBLE_EQ(fastest(), 3600.0) << "four members of 0.9 GB/s";
  p.cluster_bytes_per_s = {2e9};
  EXPECT_DOUBLE_EQ(fastest(), 2000.0);
  p.chip_bytes_per_s = 1.5e9;
  EXPECT_DOUBLE_EQ(fastest(), 1500.0);
}

// --- parameters and runs ---

std::string refusal(std::string_view name, const parameter_values& given) {
  try {
    (void)make_workload(name, given);
  } catch (const input_error& e) {
    return e.what();
  }
  return {};
}

TEST(parameters, wrong_ones_are_named_with_what_would_be_right) {
  const auto says = [](std::string_view name, const parameter_values& given,
                       const std::string& what) {
    const std::string message = refusal(name, given);
    EXPECT_NE(message.find(what), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  says("kmean", {}, "did you mean 'kmeans'");
  says("kmeans", {{"cluster", "5"}}, "did you mean 'clusters'");
  says("kmeans", {{"critical_factor", "0.5"}},
       "--critical-factor '0.5': expected a number from 1 to 1000");
  says("kmeans", {{"critical_factor", "nan"}}, "'nan'");
  says("kmeans", {{"points", "10"}, {"tasks_per_iteration", "11"}}, "only 10 points");
  says("random", {{"edge_rate", "1"}}, "--edge-rate '1': expected a percentage");
  says("random", {{"edge_rate", "101%"}}, "from 0% to 100%");
  says("random", {{"edge_rate", "5%%"}}, "'5%%'");
  says("random", {{"tile", "64"}}, "matmul=64,sort=65536,copy=2048");
  says("random", {{"tile", "matmul=64,matmul=32"}}, "twice");
  says("random", {{"tile", "matmul=0"}}, "'0'");
  says("random", {{"kernel", "mixed"}}, "did you mean 'mix'");
  says("random", {{"tasks", "50001"}}, "from 1 to 50000");
  says("heat", {{"ranks", "0"}}, "from 1 to 1024");
  says("heat", {{"rows", "159"}}, "at least 160");
  says("heat", {{"nodes", "apar"}}, "did you mean 'apart'");
  says("vgg", {{"input", "100"}}, "multiple of 32");
  says("vgg", {{"block_length", "0"}}, "'0'");
}

TEST(parameters, are_all_in_the_document) {
  for (const workload_info& info : workload_catalogue()) {
    const workload w = make_workload(info.name, {});
    EXPECT_EQ(name_of(w), info.name) << "the catalogue and the variant differ in order";
    const auto config = config_of(w);
    EXPECT_EQ(config["workload"], info.name);
    for (const parameter& p : info.parameters)
      EXPECT_TRUE(config.contains(p.name)) << info.name << " " << p.name;
  }
}

TEST(parameters, those_of_the_experiments_are_understood) {
  for (const experiment_file& f : read_experiments(KILTER_TEST_DATA "/../../lab/experiments"))
    for (const experiment_scenario& s : f.scenarios) {
      if (s.runs() != run_kind::tasks) continue;
      parameter_values given;
      for (const parameter& p : find_workload(s.workload).parameters) {
        const std::string name(p.name);
        if (const axis* a = s.find_axis(name)) given[name] = a->values.front();
        if (const auto one = s.parameters.find(name); one != s.parameters.end())
          given[name] = one->second;
      }
      EXPECT_NO_THROW((void)make_workload(s.workload, given)) << f.path << " " << s.name;
    }
}

struct planned {
  std::string name, platform;
  parameter_values parameters;
};

TEST(simulated_workloads, run_to_their_end_within_the_bound_and_come_out_the_same_again) {
  const planned all[] = {
      {"random", "jetson-tx2", {{"tasks", "300"}, {"parallelism", "4"}}},
      {"kmeans", "haswell-16", {{"iterations", "6"}}},
      {"heat", "haswell-cluster", {{"iterations", "4"}, {"rows", "2048"}}},
      {"heat", "haswell-cluster", {{"iterations", "4"}, {"rows", "2048"}, {"nodes", "apart"}}},
      {"vgg", "haswell-20", {{"input", "224"}}},
      {"layered", "jetson-tx2", {{"tasks", "300"}, {"kernel", "stencil"}, {"sweeps", "2"}}}};
  for (const planned& p : all) {
    specification a;
    a.work = make_workload(p.name, p.parameters);
    a.on = read_engine("--on", "sim:" + p.platform);
    a.policy_lists = read_policies({"rws,dam-c"});
    a.repeats = 2;
    a.disturb = test::scenarios({"cpu@0-1"});
    a.details = false;
    const auto run = [&] {
      progress quiet(1, true);
      simulation s(plan(a), quiet);
      s.run();
      return s.result();
    };
    const experiment_result r = run(), again = run();
    ASSERT_EQ(r.runs.size(), 8u) << p.name;
    for (std::size_t i = 0; i < r.runs.size(); ++i) {
      const run_row& row = r.runs[i];
      EXPECT_EQ(row.stats.tasks, size_of(plan(a).work).tasks) << p.name << " " << row.policy;
      EXPECT_GT(row.stats.seconds, 0.95 * row.bound_s)
          << p.name << " " << row.policy << ": faster than possible, but for noise";
      EXPECT_EQ(row.stats.seconds, again.runs[i].stats.seconds) << p.name;
    }
  }
}

TEST(simulated_workloads,
     tasks_of_nodes_that_are_apart_stay_there_also_where_they_wait_with_a_random_core) {
  specification a;
  a.work = make_workload("heat", {{"iterations", "4"}, {"rows", "2048"}, {"nodes", "apart"}});
  a.on = read_engine("--on", "sim:haswell-cluster");
  a.policy_lists = read_policies({"da,dam-c,dam-p"});
  read_setting(a, "children", "slow-cluster");
  a.repeats = 1;
  a.details = false;
  progress quiet(1, true);
  simulation s(plan(a), quiet);
  s.run();
  const experiment_result r = s.result();
  ASSERT_EQ(r.runs.size(), 3u);
  for (const run_row& row : r.runs)
    EXPECT_EQ(row.stats.tasks, size_of(plan(a).work).tasks) << row.policy;
}

TEST(simulated_workloads, two_sweeps_take_twice_as_long_as_one) {
  const auto seconds = [](const char* sweeps) {
    specification a;
    a.on = read_engine("--on", "sim:grid:1x1");
    a.work = make_workload("layered", {{"kernel", "stencil"},
                                       {"tile", "64"},
                                       {"tasks", "50"},
                                       {"parallelism", "1"},
                                       {"sweeps", sweeps}});
    a.repeats = 1;
    a.details = false;
    progress quiet(1, true);
    simulation s(plan(a), quiet);
    s.run();
    return s.result().runs[0].stats.seconds;
  };
  EXPECT_NEAR(seconds("2") / seconds("1"), 2.0, 0.01);
}

TEST(simulated_workloads, events_tell_what_the_policy_found_critical) {
  specification a;
  a.work = make_workload("random", {{"tasks", "200"}, {"parallelism", "4"}});
  a.on = read_engine("--on", "sim:jetson-tx2");
  a.policy_lists = read_policies({"perf"});
  a.criticality = criticality::chain;
  a.repeats = 1;
  progress quiet(1, true);
  simulation s(plan(a), quiet);
  s.run();
  const experiment_result r = s.result();
  std::set<std::uint32_t> critical;
  for (const trace::event& e : r.details.at(0).events)
    if (e.kind == trace::event_kind::task && (e.flags & trace::event_flag::critical))
      critical.insert(e.task);
  std::uint64_t counted = 0;
  for (const auto& p : r.runs.at(0).stats.places) counted += p.critical;
  EXPECT_GT(counted, 20u);
  EXPECT_EQ(critical.size(), counted);
}

TEST(simulated_workloads, those_without_bodies_are_refused_natively) {
  specification a;
  a.work = make_workload("kmeans", {});
  EXPECT_THROW((void)plan(a), input_error);
  a.work = make_workload("random", {});
  EXPECT_NO_THROW((void)plan(a));
}

TEST(native_workloads, tasks_of_a_random_graph_that_have_a_slot_have_its_buffers) {
  const random_dag shape{
      .kernels = {{"matmul", 16}, {"sort", 256}}, .tasks = 300, .parallelism = 4};
  const machine two = machine::uniform(2);
  graph g;
  const native_kernels kernels = build_native(g, shape, two);
  EXPECT_EQ(g.size(), 300u);
  runtime rt({.machine = std::make_shared<const machine>(two)});
  rt.submit(g).wait();
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const random_node& n : nodes_of(shape)) used.insert({n.kernel, n.slot});
  EXPECT_LT(used.size(), 100u) << "slots are used again";
  for (const auto& [kernel, slot] : used) {
    ASSERT_LT(slot, kernels.all[kernel]->slots());
    EXPECT_TRUE(kernels.all[kernel]->check(slot)) << kernel << " " << slot;
  }
}

}  // namespace
}  // namespace kilter::lab
