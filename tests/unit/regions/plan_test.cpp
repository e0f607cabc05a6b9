// How a program with parallel regions is run: which variables it gets, by where it runs and by
// what its user has set, and on which CPUs it may run, by what is paid for, by who uses them, and
// by what the program is.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "regions/environment.hpp"
#include "regions/mask.hpp"
#include "regions/program_file.hpp"

namespace kilter::regions {
namespace {

// ---- variables ----------------------------------------------------------------------------------

/// So many equal CPUs.
surroundings cpus(std::uint32_t count) {
  surroundings s;
  for (std::uint32_t c = 0; c < count; ++c) s.cpus.push_back({static_cast<int>(c)});
  s.online = count;
  return s;
}

surroundings with_quota(std::uint32_t count, double quota, std::optional<double> of_own_group) {
  surroundings s = cpus(count);
  s.quota = quota;
  s.quota_of_own_group = of_own_group;
  return s;
}
surroundings with_quota(std::uint32_t count, double quota) {
  return with_quota(count, quota, quota);
}

std::string value(const environment_plan& p, const std::string& variable) {
  for (const setting& s : p.set)
    if (s.variable == variable) return s.value;
  return "not set";
}

/// "pool equal".
std::string sizes(const surroundings& s) {
  const team_sizes n = sizes_for(s);
  return std::to_string(n.pool) + " " + std::to_string(n.equal);
}

TEST(sizes, on_equal_cpus_every_one_is_used) {
  EXPECT_EQ(sizes(cpus(1)), "1 1");
  EXPECT_EQ(sizes(cpus(8)), "8 8");
}

TEST(sizes, a_slow_kind_is_left_out_only_where_it_holds_the_others_up) {
  surroundings s = cpus(4);
  s.cpus[0].speed = s.cpus[1].speed = 3.0;  // 2 x 3 against 4 x 1
  EXPECT_EQ(sizes(s), "4 2");
  s.cpus[0].speed = s.cpus[1].speed = 1.5;  // 2 x 1.5 against 4 x 1
  EXPECT_EQ(sizes(s), "4 4");
}

TEST(sizes, a_quota_pays_for_so_many) {
  EXPECT_EQ(sizes(with_quota(4, 0.5)), "1 1");
  EXPECT_EQ(sizes(with_quota(4, 1.02)), "1 1");
  EXPECT_EQ(sizes(with_quota(4, 1.5)), "2 2");
  EXPECT_EQ(sizes(with_quota(4, 16.0)), "4 4");
}

TEST(best_cpus, are_the_fast_ones) {
  surroundings s = cpus(4);
  s.cpus[1].speed = s.cpus[3].speed = 2.0;
  s.quota = 3.0;
  const auto best = best_cpus(s);
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0].os_index, 1);
  EXPECT_EQ(best[1].os_index, 3);
  EXPECT_EQ(best[2].os_index, 0);
}

TEST(plan, sets_nothing_where_nothing_is_the_matter) {
  const environment_plan p = plan_environment(cpus(8), {});
  EXPECT_TRUE(p.set.empty());
  EXPECT_TRUE(p.left.empty());
  EXPECT_TRUE(plan_environment(with_quota(2, 2.0), {}).set.empty());
}

TEST(plan, tells_every_runtime_what_a_quota_pays_for) {
  const environment_plan p = plan_environment(with_quota(4, 1.5), {});
  for (const char* const variable :
       {"OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "GOMAXPROCS"})
    EXPECT_EQ(value(p, variable), "2") << variable;
  // which go by OMP_NUM_THREADS
  for (const char* const variable :
       {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS"})
    EXPECT_EQ(value(p, variable), "not set") << variable;
  // which see the quota of their own group, and round it as we do
  for (const char* const variable : {"DOTNET_PROCESSOR_COUNT", "JAVA_TOOL_OPTIONS"})
    EXPECT_EQ(value(p, variable), "not set") << variable;
}

TEST(plan, gives_go_no_fewer_than_two) {
  EXPECT_EQ(value(plan_environment(with_quota(4, 0.5), {}), "GOMAXPROCS"), "2");
  EXPECT_EQ(value(plan_environment(with_quota(2, 0.5), {}), "GOMAXPROCS"), "not set");
  EXPECT_EQ(value(plan_environment(with_quota(2, 0.5), {}), "RAYON_NUM_THREADS"), "1");
}

TEST(plan, never_says_how_to_wait_for_a_library_reads_that_only_once) {
  for (const surroundings& s : {with_quota(8, 4.0), with_quota(2, 1.0), cpus(2)})
    for (const char* const variable : {"OMP_WAIT_POLICY", "KMP_BLOCKTIME"}) {
      EXPECT_EQ(value(plan_environment(s, {}), variable), "not set");
      EXPECT_EQ(value(plan_environment(s, {{"OMP_NUM_THREADS", "8"}}), variable), "not set");
    }
}

TEST(plan, a_mask_is_told_to_those_that_do_not_look_at_it) {
  surroundings s = cpus(2);
  s.online = 8;
  const environment_plan p = plan_environment(s, {});
  ASSERT_EQ(p.set.size(), 2U);
  EXPECT_EQ(value(p, "NUMEXPR_NUM_THREADS"), "2");
  EXPECT_EQ(value(p, "OPENBLAS_NUM_THREADS"), "2");
}

TEST(plan, machines_of_their_own_are_told_of_a_quota_above_their_group) {
  const environment_plan p =
      plan_environment(with_quota(16, 2.0, std::nullopt), {{"JAVA_TOOL_OPTIONS", "-Xmx1g"}});
  EXPECT_EQ(value(p, "JAVA_TOOL_OPTIONS"), "-Xmx1g -XX:ActiveProcessorCount=2");
  EXPECT_EQ(value(p, "DOTNET_PROCESSOR_COUNT"), "2");
  EXPECT_EQ(
      value(plan_environment(with_quota(16, 12.0, std::nullopt), {}), "DOTNET_PROCESSOR_COUNT"),
      "not set");
  EXPECT_EQ(value(plan_environment(with_quota(16, 2.0, std::nullopt),
                                   {{"JDK_JAVA_OPTIONS", "-XX:ActiveProcessorCount=9"}}),
                  "JAVA_TOOL_OPTIONS"),
            "not set");
}

TEST(plan, julia_gets_a_number_only_where_it_was_to_find_one) {
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {}), "JULIA_NUM_THREADS"), "not set");
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {{"JULIA_NUM_THREADS", "auto"}}),
                  "JULIA_NUM_THREADS"),
            "2");
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {{"JULIA_NUM_THREADS", "3"}}),
                  "JULIA_NUM_THREADS"),
            "not set");
}

TEST(plan, what_the_user_has_set_stays) {
  const environment_plan p =
      plan_environment(with_quota(4, 2.0),
                       {{"OMP_NUM_THREADS", "3"}, {"GOMAXPROCS", "4"}, {"RAYON_NUM_THREADS", ""}});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(p, "GOMAXPROCS"), "not set");
  EXPECT_EQ(value(p, "RAYON_NUM_THREADS"), "2");  // an empty one says nothing
  ASSERT_EQ(p.left.size(), 2U);
  EXPECT_EQ(p.left[0].variable + "=" + p.left[0].value + " " + p.left[0].instead_of,
            "OMP_NUM_THREADS=3 OMP_NUM_THREADS=2");
}

TEST(plan, what_is_given_goes_before_everything) {
  const environment_plan p = plan_environment(with_quota(4, 2.0), {{"OMP_NUM_THREADS", "3"}},
                                              {{"OMP_NUM_THREADS", "1"}, {"OTHER", "x y"}});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "1");
  EXPECT_EQ(value(p, "OTHER"), "x y");
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {}, {{"JULIA_NUM_THREADS", "auto"}}),
                  "JULIA_NUM_THREADS"),
            "auto");
}

TEST(plan, same_teams_keep_their_size) {
  const environment_plan p = plan_environment(with_quota(4, 2.0), {}, {}, true);
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(p, "GOMAXPROCS"), "2");
}

TEST(plan, says_why) {
  EXPECT_EQ(plan_environment(with_quota(4, 1.5), {}).set.front().why,
            "the quota pays for 1.5 of 4 CPUs");
}

TEST(plan, kinds_of_cores_are_left_to_teams_that_can_be_made_larger) {
  surroundings s = cpus(4);
  s.cpus[0].speed = s.cpus[1].speed = 3.0;
  EXPECT_TRUE(unequal(s));
  EXPECT_EQ(value(plan_environment(s, {}), "OMP_NUM_THREADS"), "2");
  EXPECT_EQ(value(plan_environment(s, {}, {}, false, {.folds = true}), "OMP_NUM_THREADS"),
            "not set");
  s.cpus[0].speed = s.cpus[1].speed = 1.05;
  EXPECT_FALSE(unequal(s));
}

program_file of_gcc(std::vector<std::string> taken) {
  return {.path = "p",
          .run_by = "",
          .linked = program_file::linkage::dynamic,
          .needed = {"libgomp.so.1"},
          .taken = std::move(taken)};
}

TEST(folded, a_program_may_if_threads_of_ours_carry_out_all_that_it_takes_from_openmp) {
  EXPECT_TRUE(may_fold(of_gcc({"GOMP_parallel", "GOMP_barrier", "GOMP_task", "GOMP_cancel",
                               "GOMP_loop_ordered_static_start", "omp_get_thread_num",
                               "omp_set_lock", "GOMP_critical_name_start", "printf"})));
  for (const char* const name :
       {"GOMP_loop_doacross_start", "GOMP_target_ext", "GOMP_something_new",
        "__kmpc_threadprivate_cached", "__kmpc_doacross_init", "__kmpc_atomic_float10_add",
        "__kmpc_fork_teams", "kmp_set_defaults", "omp_set_nested", "omp_set_nest_lock",
        "omp_set_max_active_levels_", "omp_get_num_procs"})
    EXPECT_FALSE(may_fold(of_gcc({"GOMP_parallel", name}))) << name;
  program_file own = of_gcc({"GOMP_parallel"});
  own.has_own_data = true;
  EXPECT_FALSE(may_fold(own));
  program_file of_clang =
      of_gcc({"__kmpc_fork_call", "__kmpc_for_static_init_8u", "__kmpc_barrier", "__kmpc_critical",
              "__kmpc_omp_task", "__kmpc_taskred_init", "__kmpc_cancel"});
  of_clang.needed = {"libomp.so.5"};
  EXPECT_TRUE(may_fold(of_clang));
  program_file without = of_gcc({"printf"});
  without.needed = {"libc.so.6"};
  EXPECT_FALSE(may_fold(without));
}

TEST(openblas, gets_no_number_where_it_can_be_changed_while_the_program_runs) {
  const environment_plan p = plan_environment(cpus(2), {}, {}, false, {.openblas = true});
  EXPECT_TRUE(p.openblas_follows);
  EXPECT_EQ(value(p, "OPENBLAS_NUM_THREADS"), "not set");
}

TEST(openblas, stays_as_the_user_wants_it) {
  for (const char* const variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"})
    EXPECT_FALSE(plan_environment(cpus(2), {{variable, "2"}}, {}, false, {.openblas = true})
                     .openblas_follows)
        << variable;
  EXPECT_FALSE(plan_environment(cpus(2), {}, {}, true, {.openblas = true}).openblas_follows)
      << "sums would be made in another order";
}

// ---- CPUs ---------------------------------------------------------------------------------------

program_file program(std::vector<std::string> taken = {}) {
  program_file p;
  p.path = "/usr/bin/program";
  p.linked = program_file::linkage::dynamic;
  p.taken = std::move(taken);
  return p;
}

constexpr mask_circumstances loaded{
    .choice = cpu_choice::paid, .on = 0, .same_teams = false, .loaded = true};
mask_circumstances with(cpu_choice choice) {
  return {.choice = choice, .on = 0, .same_teams = false, .loaded = true};
}

std::vector<int> chosen(const surroundings& s, int on) {
  mask_circumstances c = loaded;
  c.on = on;
  return plan_mask(s, program(), {}, c).cpus;
}
using numbers = std::vector<int>;

TEST(mask, has_as_many_cpus_as_are_paid_for) {
  EXPECT_EQ(chosen(with_quota(2, 0.5), 1), numbers{1});
  EXPECT_EQ(chosen(with_quota(2, 1.0), 0), numbers{0});
  EXPECT_EQ(chosen(with_quota(4, 1.5), 3), (numbers{0, 3}))
      << "the one that we are on, and the next one";
  EXPECT_EQ(chosen(with_quota(4, 3.0), 1), (numbers{1, 2, 3}));
  EXPECT_EQ(plan_mask(with_quota(2, 1.0), program(), {}, loaded).why,
            "CPU 0 of 2, since the quota pays for 1 of 2 CPUs");
}

TEST(mask, stays_where_all_are_paid_for) {
  for (const surroundings& s :
       {cpus(2), with_quota(2, 1.5), with_quota(2, 8.0), with_quota(1, 0.5)}) {
    const mask_plan p = plan_mask(s, program(), {}, loaded);
    EXPECT_TRUE(p.cpus.empty());
    EXPECT_EQ(p.why, "");
    EXPECT_EQ(within(s, p).cpus.size(), s.cpus.size());
  }
}

TEST(mask, takes_one_logical_cpu_of_each_core_first) {
  surroundings s = with_quota(8, 2.0);
  for (usable_cpu& c : s.cpus) c.core = c.os_index / 2;
  EXPECT_EQ(chosen(s, 2), (numbers{2, 4}));
  s.quota = 5.0;
  EXPECT_EQ(chosen(s, 0), (numbers{0, 1, 2, 4, 6}));
}

TEST(mask, takes_fast_cpus_first) {
  surroundings s = with_quota(4, 2.0);
  s.cpus[2].speed = s.cpus[3].speed = 2.0;
  EXPECT_EQ(chosen(s, 0), (numbers{2, 3}));
}

TEST(mask, of_a_program_that_goes_by_numbers_of_cpus_stays) {
  for (const char* const name :
       {"sched_setaffinity", "pthread_setaffinity_np", "pthread_attr_setaffinity_np",
        "numa_run_on_node", "hwloc_set_cpubind", "sched_getcpu"}) {
    const mask_plan p = plan_mask(with_quota(2, 1.0), program({"write", name}), {}, loaded);
    EXPECT_TRUE(p.cpus.empty()) << name;
    EXPECT_EQ(p.why, std::string("stays, although the quota pays for 1 of 2 CPUs: the program goes "
                                 "by the numbers of CPUs itself (") +
                         name + ")");
  }
  EXPECT_FALSE(
      plan_mask(with_quota(2, 1.0), program({"sched_getaffinity"}), {}, loaded).cpus.empty());
}

TEST(mask, of_what_runs_scripts_does_not_stay_for_names_that_few_scripts_use) {
  program_file python = program({"sched_setaffinity"});
  python.path = "/usr/bin/python3.11";
  EXPECT_FALSE(plan_mask(with_quota(2, 1.0), python, {}, loaded).cpus.empty());
  program_file script = program({"sched_setaffinity"});
  script.run_by = "/usr/bin/python3";
  EXPECT_FALSE(plan_mask(with_quota(2, 1.0), script, {}, loaded).cpus.empty());
}

TEST(mask, of_a_user_who_binds_threads_stays) {
  const auto narrowed = [](const char* name, const char* value) {
    return !plan_mask(with_quota(2, 1.0), program(), {{name, value}}, loaded).cpus.empty();
  };
  EXPECT_FALSE(narrowed("OMP_PROC_BIND", "true"));
  EXPECT_FALSE(narrowed("OMP_PLACES", "cores"));
  EXPECT_FALSE(narrowed("GOMP_CPU_AFFINITY", "0 1"));
  EXPECT_FALSE(narrowed("KMP_AFFINITY", "compact"));
  EXPECT_TRUE(narrowed("OMP_PROC_BIND", "FALSE"));
  EXPECT_TRUE(narrowed("OMP_PROC_BIND", ""));
  EXPECT_TRUE(narrowed("KMP_AFFINITY", "verbose,none"));
}

TEST(mask, stays_where_nobody_could_follow_or_teams_shall_keep_their_size) {
  mask_circumstances c = loaded;
  c.loaded = false;
  EXPECT_TRUE(plan_mask(with_quota(2, 1.0), program(), {}, c).cpus.empty());
  c = loaded;
  c.same_teams = true;
  EXPECT_TRUE(plan_mask(with_quota(2, 1.0), program(), {}, c).cpus.empty());
  EXPECT_EQ(plan_mask(with_quota(2, 1.0), program(), {}, with(cpu_choice::all)).why, "")
      << "as the user wants it";
}

TEST(mask, to_the_fast_kind_where_the_user_wants_it) {
  surroundings s = cpus(4);
  s.cpus[0].speed = s.cpus[1].speed = 1.6;
  EXPECT_TRUE(plan_mask(s, program(), {}, loaded).cpus.empty());
  const mask_plan p = plan_mask(s, program({"sched_setaffinity"}), {}, with(cpu_choice::fast));
  EXPECT_EQ(p.cpus, (numbers{0, 1}));
  EXPECT_EQ(p.why, "CPUs 0, 1 of 4, since the others are slower");
  s.quota = 1.0;
  const mask_plan paid = plan_mask(s, program(), {}, with(cpu_choice::fast));
  EXPECT_EQ(paid.cpus, numbers{0});
  EXPECT_EQ(paid.among, (numbers{0, 1}));
  EXPECT_EQ(plan_mask(cpus(4), program(), {}, with(cpu_choice::fast)).why,
            "stays, since no CPU is of a slower kind");
}

TEST(mask, runtimes_that_count_it_need_no_variable) {
  const surroundings s = with_quota(4, 2.0);
  const environment_plan p = plan_environment(within(s, plan_mask(s, program(), {}, loaded)),
                                              {{"JULIA_NUM_THREADS", "auto"}});
  for (const setting& one : p.set)
    EXPECT_TRUE(one.variable == "OPENBLAS_NUM_THREADS" || one.variable == "NUMEXPR_NUM_THREADS")
        << one.variable;
  EXPECT_EQ(p.sizes.pool, 2U);
}

TEST(mask, rust_rounds_a_quota_down) {
  const surroundings s = with_quota(4, 1.5);
  std::string rayon;
  for (const setting& one :
       plan_environment(within(s, plan_mask(s, program(), {}, loaded)), {}).set)
    if (one.variable == "RAYON_NUM_THREADS") rayon = one.value;
  EXPECT_EQ(rayon, "2");
}

TEST(mask, is_told_to_the_library) {
  EXPECT_EQ(told_mask({.cpus = {1, 3}, .among = {0, 1, 2, 3, 6}, .why = ""},
                      {"/sys/fs/cgroup/a", "/sys/fs/cgroup"}),
            "0-3,6;1,3;/sys/fs/cgroup/a:/sys/fs/cgroup");
}

TEST(mask, choices_have_names) {
  EXPECT_EQ(cpu_choice_from("fast"), cpu_choice::fast);
  EXPECT_EQ(cpu_choice_from("slow"), std::nullopt);
}

}  // namespace
}  // namespace kilter::regions
