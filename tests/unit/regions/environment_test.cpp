// Which variables a program gets, by where it runs and by what its user has set.

#include "regions/environment.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "regions/program_file.hpp"

namespace kilter::regions {
namespace {

/// So many equal CPUs, those listed used by others all of the time.
surroundings cpus(std::uint32_t count, const std::vector<int>& used_ones = {}) {
  surroundings s;
  for (std::uint32_t c = 0; c < count; ++c) s.cpus.push_back({static_cast<int>(c)});
  for (const int c : used_ones) s.cpus[static_cast<std::size_t>(c)].used_by_others = 1.0;
  s.online = count;
  return s;
}

surroundings with_quota(std::uint32_t count, double quota, std::optional<double> of_own_group) {
  surroundings s = cpus(count);
  s.quota = quota;
  s.quota_of_own_group = of_own_group;
  return s;
}
surroundings with_quota(std::uint32_t count, double quota) { return with_quota(count, quota, quota); }

std::string value(const environment_plan& p, const std::string& variable) {
  for (const setting& s : p.set)
    if (s.variable == variable) return s.value;
  return "not set";
}

/// "pool equal spinning".
std::string sizes(const surroundings& s) {
  const team_sizes n = sizes_for(s);
  return std::to_string(n.pool) + " " + std::to_string(n.equal) + " " + std::to_string(n.spinning);
}

TEST(sizes, without_neighbours_every_cpu_is_used) {
  EXPECT_EQ(sizes(cpus(1)), "1 1 1");
  EXPECT_EQ(sizes(cpus(8)), "8 8 8");
}

TEST(sizes, a_shared_cpu_is_worth_half_of_one) {
  EXPECT_EQ(sizes(cpus(2, {0})), "2 2 1");           // 2 x 1/2 now and 2 later, against 1 and 1
  EXPECT_EQ(sizes(cpus(8, {3})), "8 7 7");           // 7 x 1 now
  EXPECT_EQ(sizes(cpus(8, {0, 1, 2})), "8 8 5");     // 5 now, but 5 of 8 once they have gone
  EXPECT_EQ(sizes(cpus(8, {0, 1, 2, 3})), "8 8 4");
  EXPECT_EQ(sizes(cpus(4, {0, 1, 2, 3})), "4 4 4");  // all alike again
}

TEST(sizes, a_little_use_is_none) {
  surroundings s = cpus(2);
  s.cpus[0].used_by_others = 0.2;
  EXPECT_EQ(sizes(s), "2 2 2");
}

TEST(sizes, a_slow_kind_is_left_out_only_where_it_holds_the_others_up) {
  surroundings s = cpus(4);
  s.cpus[0].speed = s.cpus[1].speed = 3.0;  // 2 x 3 against 4 x 1
  EXPECT_EQ(sizes(s), "4 2 2");
  s.cpus[0].speed = s.cpus[1].speed = 1.5;  // 2 x 1.5 against 4 x 1
  EXPECT_EQ(sizes(s), "4 4 4");
}

TEST(sizes, a_quota_pays_for_so_many) {
  EXPECT_EQ(sizes(with_quota(4, 0.5)), "1 1 1");
  EXPECT_EQ(sizes(with_quota(4, 1.02)), "1 1 1");
  EXPECT_EQ(sizes(with_quota(4, 1.5)), "2 2 2");
  EXPECT_EQ(sizes(with_quota(4, 16.0)), "4 4 4");
}

TEST(best_cpus, are_those_that_nobody_uses) {
  surroundings s = cpus(4, {0, 2});
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
  for (const char* const variable : {"OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "GOMAXPROCS"}) EXPECT_EQ(value(p, variable), "2") << variable;
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(value(p, "KMP_BLOCKTIME"), "0");
  // which go by OMP_NUM_THREADS
  for (const char* const variable : {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS"}) EXPECT_EQ(value(p, variable), "not set") << variable;
  // which see the quota of their own group, and round it as we do
  for (const char* const variable : {"DOTNET_PROCESSOR_COUNT", "JAVA_TOOL_OPTIONS"}) EXPECT_EQ(value(p, variable), "not set") << variable;
}

TEST(plan, gives_go_no_fewer_than_two) {
  EXPECT_EQ(value(plan_environment(with_quota(4, 0.5), {}), "GOMAXPROCS"), "2");
  EXPECT_EQ(value(plan_environment(with_quota(2, 0.5), {}), "GOMAXPROCS"), "not set");
  EXPECT_EQ(value(plan_environment(with_quota(2, 0.5), {}), "RAYON_NUM_THREADS"), "1");
}

TEST(plan, lets_threads_spin_where_a_quota_pays_for_all_of_them) {
  const environment_plan p = plan_environment(with_quota(8, 4.0), {});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "4");
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "not set");
}

TEST(plan, lets_nobody_spin_where_one_thread_is_paid_for) { EXPECT_EQ(value(plan_environment(with_quota(2, 1.0), {}), "OMP_WAIT_POLICY"), "passive"); }

TEST(plan, beside_a_neighbour_nobody_spins) {
  const environment_plan p = plan_environment(cpus(2, {0}), {});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(value(p, "KMP_BLOCKTIME"), "0");
  EXPECT_EQ(value(p, "OPENBLAS_NUM_THREADS"), "1");
  EXPECT_EQ(value(p, "GOMAXPROCS"), "not set");
}

TEST(plan, spins_on_the_cpus_that_nobody_uses) {
  const environment_plan p = plan_environment(cpus(8, {3}), {});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "7");
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "not set");
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
  const environment_plan p = plan_environment(with_quota(16, 2.0, std::nullopt), {{"JAVA_TOOL_OPTIONS", "-Xmx1g"}});
  EXPECT_EQ(value(p, "JAVA_TOOL_OPTIONS"), "-Xmx1g -XX:ActiveProcessorCount=2");
  EXPECT_EQ(value(p, "DOTNET_PROCESSOR_COUNT"), "2");
  EXPECT_EQ(value(plan_environment(with_quota(16, 12.0, std::nullopt), {}), "DOTNET_PROCESSOR_COUNT"), "not set");
  EXPECT_EQ(value(plan_environment(with_quota(16, 2.0, std::nullopt), {{"JDK_JAVA_OPTIONS", "-XX:ActiveProcessorCount=9"}}), "JAVA_TOOL_OPTIONS"), "not set");
}

TEST(plan, julia_gets_a_number_only_where_it_was_to_find_one) {
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {}), "JULIA_NUM_THREADS"), "not set");
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {{"JULIA_NUM_THREADS", "auto"}}), "JULIA_NUM_THREADS"), "2");
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {{"JULIA_NUM_THREADS", "3"}}), "JULIA_NUM_THREADS"), "not set");
}

TEST(plan, what_the_user_has_set_stays) {
  const environment_plan p = plan_environment(with_quota(4, 2.0), {{"OMP_NUM_THREADS", "3"}, {"GOMAXPROCS", "4"}, {"RAYON_NUM_THREADS", ""}});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(p, "GOMAXPROCS"), "not set");
  EXPECT_EQ(value(p, "RAYON_NUM_THREADS"), "2");  // an empty one says nothing
  ASSERT_EQ(p.left.size(), 2U);
  EXPECT_EQ(p.left[0].variable + "=" + p.left[0].value + " " + p.left[0].instead_of, "OMP_NUM_THREADS=3 OMP_NUM_THREADS=2");
}

TEST(plan, a_library_that_goes_by_the_users_number_is_left_alone) {
  const environment_plan p = plan_environment(cpus(2, {0}), {{"OMP_NUM_THREADS", "2"}});
  EXPECT_EQ(value(p, "OPENBLAS_NUM_THREADS"), "not set");
  EXPECT_EQ(value(plan_environment(cpus(2, {0}), {{"OMP_WAIT_POLICY", "active"}}), "KMP_BLOCKTIME"), "not set");
  EXPECT_EQ(value(plan_environment(cpus(2, {0}), {{"GOMP_SPINCOUNT", "1000"}}), "OMP_WAIT_POLICY"), "not set");
}

TEST(plan, more_threads_than_cpus_do_not_spin) {
  EXPECT_EQ(value(plan_environment(cpus(2), {{"OMP_NUM_THREADS", "8"}}), "OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(value(plan_environment(cpus(2), {{"OMP_NUM_THREADS", "2,8"}}), "OMP_WAIT_POLICY"), "not set");
  EXPECT_EQ(value(plan_environment(cpus(2), {{"OMP_NUM_THREADS", "many"}}), "OMP_WAIT_POLICY"), "not set");
}

TEST(plan, what_is_given_goes_before_everything) {
  const environment_plan p = plan_environment(with_quota(4, 2.0), {{"OMP_NUM_THREADS", "3"}}, {{"OMP_NUM_THREADS", "1"}, {"OTHER", "x y"}});
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "1");
  EXPECT_EQ(value(p, "OTHER"), "x y");
  EXPECT_EQ(value(plan_environment(with_quota(4, 2.0), {}, {{"JULIA_NUM_THREADS", "auto"}}), "JULIA_NUM_THREADS"), "auto");
}

TEST(plan, same_teams_keep_their_size) {
  const environment_plan p = plan_environment(with_quota(4, 2.0), {}, {}, true);
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(value(p, "GOMAXPROCS"), "2");
  EXPECT_EQ(value(plan_environment(cpus(2, {0}), {}, {}, true), "OPENBLAS_NUM_THREADS"), "not set");
}

TEST(plan, says_why) {
  const environment_plan quota = plan_environment(with_quota(4, 1.5), {}), neighbour = plan_environment(cpus(8, {3}), {});
  EXPECT_EQ(quota.set.front().why, "the quota pays for 1.5 of 4 CPUs");
  EXPECT_EQ(neighbour.set.front().why, "others use CPU 3, which would hold up the rest at equal shares");
}

environment_plan folded_on(const surroundings& s, const user_environment& user = {}, bool same_teams = false) { return plan_environment(s, user, {}, same_teams, {.folds = true}); }

TEST(folded, beside_a_neighbour_a_program_has_four_members_a_cpu_which_sleep_where_they_wait) {
  const environment_plan p = folded_on(cpus(2, {0}));
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "8");
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(value(folded_on(cpus(8, {3})), "OMP_NUM_THREADS"), "32");  // the eighth is worth half of one, and that is used
}

TEST(folded, so_it_is_on_kinds_of_cores) {
  surroundings s = cpus(4);
  s.cpus[0].speed = s.cpus[1].speed = 1.5;
  const environment_plan p = folded_on(s);
  EXPECT_EQ(value(p, "OMP_NUM_THREADS"), "16");
  EXPECT_EQ(value(p, "OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(p.set.front().why.substr(0, 34), "CPU 0 is 1.5 times as fast as CPU ");
  EXPECT_EQ(value(plan_environment(s, {}), "OMP_WAIT_POLICY"), "not set");
  s.cpus[0].speed = s.cpus[1].speed = 1.05;
  EXPECT_EQ(value(folded_on(s), "OMP_NUM_THREADS"), "not set");
}

TEST(folded, nothing_changes_where_it_would_win_nothing_or_is_not_wanted) {
  EXPECT_EQ(value(folded_on(cpus(2)), "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(folded_on(cpus(1, {0})), "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(folded_on(cpus(2, {0}), {}, true), "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(plan_environment(cpus(2, {0}), {}), "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(folded_on(cpus(64, {3})), "OMP_NUM_THREADS"), "63");
}

TEST(folded, what_the_user_has_set_stays) {
  EXPECT_EQ(value(folded_on(cpus(2, {0}), {{"OMP_NUM_THREADS", "2"}}), "OMP_NUM_THREADS"), "not set");
  for (const char* const variable : {"OMP_PROC_BIND", "OMP_STACKSIZE", "GOMP_SPINCOUNT", "OMP_MAX_ACTIVE_LEVELS", "OMP_DYNAMIC"})
    EXPECT_EQ(value(folded_on(cpus(2, {0}), {{variable, "1"}}), "OMP_NUM_THREADS"), "not set") << variable;
  EXPECT_EQ(value(folded_on(cpus(2, {0}), {{"OMP_WAIT_POLICY", "active"}}), "OMP_NUM_THREADS"), "not set");
  EXPECT_EQ(value(folded_on(cpus(2, {0}), {{"OMP_WAIT_POLICY", "passive"}}), "OMP_NUM_THREADS"), "8");
}

program_file of_gcc(std::vector<std::string> taken) { return {.path = "p", .run_by = "", .linked = program_file::linkage::dynamic, .needed = {"libgomp.so.1"}, .taken = std::move(taken)}; }

TEST(folded, a_program_may_if_threads_of_ours_carry_out_all_that_it_takes_from_openmp) {
  EXPECT_TRUE(may_fold(of_gcc({"GOMP_parallel", "GOMP_barrier", "GOMP_loop_ordered_static_start", "omp_get_thread_num", "omp_set_lock", "GOMP_critical_name_start", "printf"})));
  for (const char* const name : {"GOMP_task", "GOMP_cancel", "GOMP_loop_doacross_start", "GOMP_target_ext", "GOMP_something_new", "__kmpc_omp_task", "__kmpc_atomic_float10_add", "__kmpc_fork_teams", "kmp_set_defaults", "omp_set_nested", "omp_set_nest_lock",
                                 "omp_set_max_active_levels_", "omp_get_num_procs"})
    EXPECT_FALSE(may_fold(of_gcc({"GOMP_parallel", name}))) << name;
  program_file own = of_gcc({"GOMP_parallel"});
  own.has_own_data = true;
  EXPECT_FALSE(may_fold(own));
  program_file flags = of_gcc({"GOMP_parallel"});
  flags.has_fences = true;
  EXPECT_FALSE(may_fold(flags));
  program_file of_clang = of_gcc({"__kmpc_fork_call", "__kmpc_for_static_init_8u", "__kmpc_barrier", "__kmpc_critical"});
  of_clang.needed = {"libomp.so.5"};
  EXPECT_TRUE(may_fold(of_clang));
  program_file without = of_gcc({"printf"});
  without.needed = {"libc.so.6"};
  EXPECT_FALSE(may_fold(without));
}

TEST(openblas, gets_no_number_where_it_can_be_changed_while_the_program_runs) {
  const environment_plan p = plan_environment(cpus(2, {0}), {}, {}, false, {.openblas = true});
  EXPECT_TRUE(p.openblas_follows);
  EXPECT_EQ(value(p, "OPENBLAS_NUM_THREADS"), "not set");
  EXPECT_TRUE(plan_environment(cpus(2), {}, {}, false, {.openblas = true}).openblas_follows) << "a neighbour may come";
}

TEST(openblas, stays_as_the_user_wants_it) {
  for (const char* const variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"})
    EXPECT_FALSE(plan_environment(cpus(2, {0}), {{variable, "2"}}, {}, false, {.openblas = true}).openblas_follows) << variable;
  EXPECT_FALSE(plan_environment(cpus(2, {0}), {}, {}, true, {.openblas = true}).openblas_follows) << "sums would be made in another order";
}

}  // namespace
}  // namespace kilter::regions
