// Graphs that came as data, compared: what the numbers of a row are.
#include "measuring/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "kilter/error.hpp"
#include "measuring/matrix.hpp"
#include "measuring/rows.hpp"
#include "measuring/topcuoglu.hpp"
#include "policy/planner.hpp"
#include "presenting/columns.hpp"
#include "presenting/compare_text.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

compare_specification about(std::vector<std::string> graphs,
                            const std::vector<std::string>& policies,
                            const std::vector<std::string>& on = {}) {
  compare_specification a;
  a.graphs = std::move(graphs);
  for (const std::string& one : on) a.on.push_back(read_engine("--on", one));
  a.common.policy_lists = read_policies(policies);
  a.common.repeats = 2;
  return a;
}

std::vector<result_row> rows_of(const compare_specification& a) {
  std::vector<result_row> rows;
  for (const auto& some : test::compared(a).rows) rows.insert(rows.end(), some.begin(), some.end());
  return rows;
}

const result_row& row_of(const std::vector<result_row>& rows, std::string_view policy,
                         std::string_view disturb = "none") {
  const auto found = std::ranges::find_if(
      rows, [&](const result_row& r) { return r.policy == policy && r.disturb == disturb; });
  if (found == rows.end()) throw input_error("no row of " + std::string(policy));
  return *found;
}

const std::string canonical = std::string(KILTER_TEST_DATA) + "/canonical.json";

std::string file_with(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << content;
  return path;
}

TEST(compare, the_canonical_graph_takes_80_and_86_on_its_own_processors) {
  const auto rows = rows_of(about({canonical}, {"heft", "cpop"}));
  ASSERT_EQ(rows.size(), 3u) << "rws is always run beside others";
  const result_row &heft = row_of(rows, "heft"), &cpop = row_of(rows, "cpop"),
                   &rws = row_of(rows, "rws");
  EXPECT_EQ(heft.on, "ideal");
  EXPECT_NEAR(heft.makespan_s, 80.0, 1e-6);
  EXPECT_NEAR(cpop.makespan_s, 86.0, 1e-6);
  EXPECT_NEAR(heft.slr, 80.0 / 41.0, 1e-6);
  EXPECT_NEAR(cpop.slr, 86.0 / 41.0, 1e-6);
  EXPECT_NEAR(heft.speedup, 127.0 / 80.0, 1e-6);
  EXPECT_NEAR(cpop.efficiency, 127.0 / 86.0 / 3.0, 1e-6);
  EXPECT_NEAR(*heft.ratio_to_rws, rws.makespan_s / 80.0, 1e-6) << "above 1 is faster than rws";
  EXPECT_TRUE(heft.plan_s);
}

TEST(compare, scale_multiplies_everything_that_is_in_seconds) {
  compare_specification a = about({canonical}, {"heft"});
  a.scale = "0.001";
  const auto rows = rows_of(a);
  EXPECT_NEAR(row_of(rows, "heft").makespan_s, 0.080, 1e-9);
  EXPECT_NEAR(row_of(rows, "heft").slr, 80.0 / 41.0, 1e-4);
}

TEST(compare, nothing_is_faster_than_the_bound) {
  compare_specification a = about({canonical, "cholesky:tasks=200", "layered:tasks=200,p=8"},
                                  {"dam-c", "heft"}, {"sim:odroid-xu3"});
  a.common.disturb =
      test::scenarios({"cpu@0", "share@0-1:50%", "wave@0-3:17%,0.02", "quota@all:60%"});
  const auto on_platform = rows_of(a);
  a.graphs = {canonical};
  a.on = {read_engine("--on", "ideal")};
  a.common.disturb = test::scenarios({"share@0:50%", "quota@all:60%", "offline@1"});
  auto rows = rows_of(a);
  rows.insert(rows.end(), on_platform.begin(), on_platform.end());
  EXPECT_EQ(rows.size(), 3u * 5 * 3 + 4 * 3);
  for (const result_row& r : rows) {
    EXPECT_GT(r.bound_s, 0.0);
    EXPECT_LE(r.ratio_to_bound, 1.0 + 1e-9)
        << r.graph << " on " << r.on << ", " << r.disturb << ", " << r.policy;
  }
}

// One task of a second, on one core of the fastest kind: exactly a second. Two of them one after
// the other: two.
TEST(compare, recorded_seconds_are_those_of_the_fastest_kind) {
  const std::string chain =
      file_with("chain.json", R"({"schema":"kilter.graph/1","types":[{"name":"a"}],"tasks":[
    {"id":"1","type":"a","seconds":1,"widths":[1]},{"id":"2","type":"a","seconds":1,"widths":[1]}],"edges":[["1","2"]]})");
  const auto rows = rows_of(about({chain}, {"heft"}, {"sim:odroid-xu3"}));
  EXPECT_NEAR(row_of(rows, "heft").makespan_s, 2.0, 0.2) << "noise and overheads aside";
  EXPECT_NEAR(row_of(rows, "heft").speedup, 1.0, 0.1);
}

TEST(compare, tasks_of_no_time_and_of_a_kernel) {
  const std::string mixed = file_with(
      "mixed.json",
      R"({"schema":"kilter.graph/1","types":[{"name":"a"},{"name":"m","kernel":"matmul","size":64}],"tasks":[
    {"id":"1","type":"a","seconds":0},{"id":"2","type":"m"}],"edges":[["1","2"]]})");
  const auto rows = rows_of(about({mixed}, {"dam-c"}, {"sim:jetson-tx2"}));
  EXPECT_GT(row_of(rows, "dam-c").makespan_s, 1e-6);
  EXPECT_LT(row_of(rows, "dam-c").makespan_s, 1e-2) << "one 64 x 64 product, a millisecond there";
}

TEST(compare, runs_here_with_a_bound_that_was_measured) {
  compare_specification a = about({"fork-join:tasks=40,seconds=2e-4"}, {"dam-c"});
  a.common.cores = "0,";
  const auto rows = rows_of(a);
  EXPECT_EQ(row_of(rows, "dam-c").on, "native");
  EXPECT_GT(row_of(rows, "dam-c").makespan_s, 0.5 * 40 * 2e-4)
      << "CPU time is burnt, not waited for";
  EXPECT_GT(row_of(rows, "dam-c").ratio_to_bound, 0.0);
}

const std::string recorded =
    std::string(KILTER_TEST_DATA) + "/dags/montage-chameleon-2mass-005d-001.json.gz";

/// Tasks by the width of their place, over all runs.
std::map<std::uint32_t, std::uint64_t> tasks_by_width(const compare_specification& a) {
  std::map<std::uint32_t, std::uint64_t> tasks;
  for (const experiment& e : plan(a)) {
    progress unseen(0, true);
    const auto work = measurement::make(e, unseen);
    work->run();
    for (const run_row& r : work->result().runs)
      for (place_id p = 0; p < r.stats.places.size(); ++p)
        if (const auto n = r.stats.places[p].critical + r.stats.places[p].other; n > 0)
          tasks[e.machine->at(p).width] += n;
  }
  return tasks;
}

// A recorded workflow is made of programs that ran on one core each. Cut into pieces that no one
// has measured, they make a policy look four times as fast as work stealing that is a third faster.
TEST(compare, programs_of_recorded_files_run_on_one_core_each_unless_the_user_says_otherwise) {
  const std::string stg = file_with("two.stg", "2\n0 0 0\n1 5 1 0\n2 5 1 0\n3 0 2 1 2\n"),
                    dot =
                        file_with("two.dot", "digraph d { a [seconds=1]; b [seconds=1]; a -> b }");
  for (const std::string& file : {recorded, stg, dot}) {
    compare_specification a = about({file}, {"auto,dam-c,dam-p"}, {"sim:haswell-16"});
    EXPECT_EQ(tasks_by_width(a).rbegin()->first, 1u) << file;
    const auto rows = rows_of(a);
    EXPECT_EQ(rows.front().widths, "1") << file;
    EXPECT_EQ(document_of(rows.front())["widths"], "1");
    a.widths = "all";
    EXPECT_GT(tasks_by_width(a).rbegin()->first, 1u) << file;
    EXPECT_EQ(rows_of(a).front().widths, "all");
    a.widths = "4,1,2";
    EXPECT_LE(tasks_by_width(a).rbegin()->first, 4u) << file;
    EXPECT_EQ(rows_of(a).front().widths, "1,2,4") << file;
  }
}

TEST(compare, says_on_how_many_cores_tasks_may_run) {
  const auto note = [](std::vector<std::string> graphs, const std::string& widths,
                       const std::string& on) {
    compare_specification a = about(std::move(graphs), {"rws"}, {on});
    a.widths = widths;
    const experiment e = plan(a).front();
    return widths_note(std::get<dag_work>(e.work), *e.machine);
  };
  EXPECT_EQ(note({"cholesky:n=3"}, "", "sim:grid:1x4"),
            "tasks run on 1, 2 or 4 cores at once; --widths 1 keeps each on one")
      << "generators stand for kernels";
  EXPECT_EQ(note({"cholesky:n=3"}, "1", "sim:grid:1x4"),
            "tasks run on one core each; --widths all lets them run on several");
  EXPECT_EQ(note({recorded}, "", "sim:grid:4x1"), "tasks run on one core each")
      << "no option changes that on such a machine";
  EXPECT_EQ(note({canonical}, "", "ideal"), "tasks run on one core each");
  const std::string own = file_with(
      "own.json",
      R"({"schema":"kilter.graph/1","widths":[1],"tasks":[{"id":"1","seconds":1,"widths":[2]},{"id":"2","seconds":1}],"edges":[]})");
  EXPECT_EQ(note({own}, "", "sim:grid:1x4"),
            "1 of 2 tasks run on as many cores as the graph names, the others run on one core "
            "each; --widths all lets them run on several");
  const auto lines = [](const compare_specification& a) {
    return compare_text(test::compared(a), false, 100);
  };
  EXPECT_NE(lines(about({recorded}, {"rws"}, {"sim:grid:1x4"}))
                .find("tasks run on one core each; --widths all"),
            std::string::npos);
}

// The bound and SLR are of schedules that there can be: with places that no task may use they would
// be of no machine.
TEST(compare, the_bound_knows_on_how_many_cores_tasks_may_run) {
  const std::string chain =
      file_with("chain.dot", "digraph d { a [seconds=1]; b [seconds=1]; a -> b }");
  compare_specification a = about({chain}, {"rws"}, {"sim:haswell-16"});
  EXPECT_NEAR(rows_of(a).front().bound_s, 2.0, 1e-9);
  EXPECT_NEAR(rows_of(a).front().slr, 1.0, 0.1);
  a.widths = "all";
  EXPECT_LT(rows_of(a).front().bound_s, 1.0);
}

TEST(compare, says_what_cannot_be_compared) {
  const auto says = [](compare_specification a, const std::string& what) {
    try {
      (void)plan(a);
      ADD_FAILURE() << "not refused: " << what;
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  says(about({"cholesky:tasks=100"}, {"rws"}, {"ideal"}), "brings no processors");
  says(about({"nowhere.json"}, {"rws"}), "nowhere.json");
  says(about({"kmean"}, {"rws"}), "did you mean 'kmeans'");
  says(about({"kmeans"}, {"rws"}), "only layered, random and graphs run natively");
  says(about({"graph"}, {"rws"}), "'graph' is no workload, file or generator");
  says(about({file_with("empty.json", R"({"schema":"kilter.graph/1","tasks":[{"id":"1"}]})")},
             {"rws"}),
       "takes any time");
  compare_specification a = about({"cholesky:tasks=100"}, {"rws"}, {"sim:jetson-tx2"});
  a.scale = "0";
  says(a, "--scale '0'");
  a.scale = "1";
  a.like = "sleep";
  says(a, "--like");
  a.like = "matmul";
  for (const char* bad : {"0", "", "-1", "1,,2", "two", "70000", "1.5"}) {
    a.widths = bad;
    if (*bad) says(a, "--widths");
  }
  a.widths = "3,5";
  says(a, "--widths 3,5: jetson-tx2 has no place of such a width; it has 1, 2, 4");
}

TEST(compare, takes_workloads_by_their_names) {
  const auto rows = rows_of(about({"vgg", "cholesky:n=3"}, {"dam-c"}, {"sim:jetson-tx2"}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.front().graph, "vgg");
  EXPECT_GT(rows.front().speedup, 0.0);
  EXPECT_LE(rows.front().ratio_to_bound, 1.0 + 1e-9);
  EXPECT_EQ(rows.back().graph, "cholesky:n=3");
  compare_specification a = about({"vgg", "kmeans"}, {"rws"}, {"sim:jetson-tx2"});
  a.common.criticality.reset();
  EXPECT_EQ(plan(a).front().criticality, std::nullopt) << "the policy's own";
}

TEST(compare, a_workload_here_has_all_columns) {
  compare_specification a = about({"layered"}, {"dam-c"});
  a.common.cores = "0,";
  experiment e = plan(a).front();
  std::get<layered_work>(e.work).shape.tasks = 200;
  const comparison::outcome all = test::compared({e});
  const result_row& row = all.rows.front().front();
  EXPECT_EQ(row.on, "native");
  EXPECT_GT(row.speedup, 0.0);
  EXPECT_GT(row.slr, 0.0);
}

TEST(compare, critical_tasks_are_the_users_where_there_are_some) {
  EXPECT_EQ(criticality_for(*load_dag_work("layered:tasks=10,p=2", "matmul", 1.0).what),
            criticality::user);
  EXPECT_EQ(criticality_for(*load_dag_work("cholesky:n=3", "matmul", 1.0).what),
            criticality::chain);
}

TEST(matrix, a_cell_has_the_best_policy_and_plans_beside_it) {
  matrix_specification a;
  a.graphs = {"layered-4"};
  a.on = {"sim:jetson-tx2"};
  a.disturb = {"none", "cpu"};
  a.policies = {"dam-c,heft"};
  a.tasks = 300;
  a.seeds = 1;
  matrix one(a, true), other(a, true);
  one.run();
  other.run();
  const auto cells = one.cells();
  ASSERT_EQ(cells.size(), 2u);
  for (const matrix_cell& c : cells) {
    ASSERT_EQ(c.rows.size(), 2u);
    ASSERT_EQ(c.bounds.size(), 2u) << "heft with stale and with true costs";
    EXPECT_NEAR(c.best()->bound_s, matrix_run_s, c.kind == "none" ? 0.01 : 1.0)
        << "graphs are scaled to it";
  }
  const auto text = [](const matrix& m) {
    std::string all;
    for (const matrix_cell& c : m.cells())
      for (const result_row& r : c.rows) all += document_of(r).dump();
    return all;
  };
  EXPECT_EQ(text(one), text(other)) << "two threads, the same bytes";
}

TEST(matrix, runs_where_an_on_says_that_has_a_clock_of_its_own_or_is_here) {
  const auto says = [](const char* on, const std::string& what) {
    matrix_specification a;
    a.graphs = {"layered-4"};
    a.on = {on};
    try {
      const matrix unused(a, true);
      EXPECT_EQ(what, "") << on << " is not refused";
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
      EXPECT_NE(what, "") << e.what();
    }
  };
  says("native,sim:grid:2x2", "");
  says("jetson-tx2", "did you mean 'sim:jetson-tx2'?");
  says("emulate:jetson-tx2", "the matrix has native and sim:PLATFORM");
  says("ideal", "the matrix has native and sim:PLATFORM");
  says("native,sim:nowhere/mine.toml", "nowhere/mine.toml");
}

TEST(topcuoglu, the_set_has_25_of_each_kind_and_plans_are_carried_out) {
  EXPECT_EQ(graph_of_set(0).call(4),
            "topcuoglu:tasks=20,alpha=0.5,out=1,ccr=0.1,beta=0.1,processors=4,seed=1");
  EXPECT_EQ(graph_of_set(topcuoglu_graphs - 1).tasks, 100u);
  EXPECT_EQ(graph_of_set(topcuoglu_graphs - 1).out_degree, 100u) << "as many as tasks";
  const topcuoglu_outcome o = run_set({.every = 3000}, true);
  ASSERT_EQ(o.results.size(), 19u);
  for (const topcuoglu_result& r : o.results)
    for (int which = 0; which < 2; ++which) {
      EXPECT_NEAR(r.executed_s[which], r.planned_s[which], 1e-6 * r.planned_s[which])
          << r.graph.call(4) << " " << which;
      EXPECT_GE(r.slr(which), 1.0 - 1e-6);
    }
}

}  // namespace
}  // namespace kilter::lab
