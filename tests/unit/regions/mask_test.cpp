// On which CPUs a program may run, by what is paid for, by who uses them, and by what the program
// is.

#include "regions/mask.hpp"

#include <gtest/gtest.h>

namespace kilter::regions {
namespace {

surroundings machine_of(std::uint32_t count, std::optional<double> quota = std::nullopt) {
  surroundings s;
  for (std::uint32_t c = 0; c < count; ++c) s.cpus.push_back({static_cast<int>(c)});
  s.online = count;
  s.quota = s.quota_of_own_group = quota;
  return s;
}

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
  EXPECT_EQ(chosen(machine_of(2, 0.5), 1), numbers{1});
  EXPECT_EQ(chosen(machine_of(2, 1.0), 0), numbers{0});
  EXPECT_EQ(chosen(machine_of(4, 1.5), 3), (numbers{0, 3}))
      << "the one that we are on, and the next one";
  EXPECT_EQ(chosen(machine_of(4, 3.0), 1), (numbers{1, 2, 3}));
  EXPECT_EQ(plan_mask(machine_of(2, 1.0), program(), {}, loaded).why,
            "CPU 0 of 2, since the quota pays for 1 of 2 CPUs");
}

TEST(mask, stays_where_all_are_paid_for) {
  for (const surroundings& s :
       {machine_of(2), machine_of(2, 1.5), machine_of(2, 8.0), machine_of(1, 0.5)}) {
    const mask_plan p = plan_mask(s, program(), {}, loaded);
    EXPECT_TRUE(p.cpus.empty());
    EXPECT_EQ(p.why, "");
    EXPECT_EQ(within(s, p).cpus.size(), s.cpus.size());
  }
}

TEST(mask, takes_one_logical_cpu_of_each_core_first) {
  surroundings s = machine_of(8, 2.0);
  for (usable_cpu& c : s.cpus) c.core = c.os_index / 2;
  EXPECT_EQ(chosen(s, 2), (numbers{2, 4}));
  s.quota = 5.0;
  EXPECT_EQ(chosen(s, 0), (numbers{0, 1, 2, 4, 6}));
}

TEST(mask, takes_fast_cpus_first) {
  surroundings s = machine_of(4, 2.0);
  s.cpus[2].speed = s.cpus[3].speed = 2.0;
  EXPECT_EQ(chosen(s, 0), (numbers{2, 3}));
}

TEST(mask, of_a_program_that_goes_by_numbers_of_cpus_stays) {
  for (const char* const name :
       {"sched_setaffinity", "pthread_setaffinity_np", "pthread_attr_setaffinity_np",
        "numa_run_on_node", "hwloc_set_cpubind", "sched_getcpu"}) {
    const mask_plan p = plan_mask(machine_of(2, 1.0), program({"write", name}), {}, loaded);
    EXPECT_TRUE(p.cpus.empty()) << name;
    EXPECT_EQ(p.why, std::string("stays, although the quota pays for 1 of 2 CPUs: the program goes "
                                 "by the numbers of CPUs itself (") +
                         name + ")");
  }
  EXPECT_FALSE(
      plan_mask(machine_of(2, 1.0), program({"sched_getaffinity"}), {}, loaded).cpus.empty());
}

TEST(mask, of_what_runs_scripts_does_not_stay_for_names_that_few_scripts_use) {
  program_file python = program({"sched_setaffinity"});
  python.path = "/usr/bin/python3.11";
  EXPECT_FALSE(plan_mask(machine_of(2, 1.0), python, {}, loaded).cpus.empty());
  program_file script = program({"sched_setaffinity"});
  script.run_by = "/usr/bin/python3";
  EXPECT_FALSE(plan_mask(machine_of(2, 1.0), script, {}, loaded).cpus.empty());
}

TEST(mask, of_a_user_who_binds_threads_stays) {
  const auto narrowed = [](const char* name, const char* value) {
    return !plan_mask(machine_of(2, 1.0), program(), {{name, value}}, loaded).cpus.empty();
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
  EXPECT_TRUE(plan_mask(machine_of(2, 1.0), program(), {}, c).cpus.empty());
  c = loaded;
  c.same_teams = true;
  EXPECT_TRUE(plan_mask(machine_of(2, 1.0), program(), {}, c).cpus.empty());
  EXPECT_EQ(plan_mask(machine_of(2, 1.0), program(), {}, with(cpu_choice::all)).why, "")
      << "as the user wants it";
}

TEST(mask, to_the_fast_kind_where_the_user_wants_it) {
  surroundings s = machine_of(4);
  s.cpus[0].speed = s.cpus[1].speed = 1.6;
  EXPECT_TRUE(plan_mask(s, program(), {}, loaded).cpus.empty());
  const mask_plan p = plan_mask(s, program({"sched_setaffinity"}), {}, with(cpu_choice::fast));
  EXPECT_EQ(p.cpus, (numbers{0, 1}));
  EXPECT_EQ(p.why, "CPUs 0, 1 of 4, since the others are slower");
  s.quota = 1.0;
  const mask_plan paid = plan_mask(s, program(), {}, with(cpu_choice::fast));
  EXPECT_EQ(paid.cpus, numbers{0});
  EXPECT_EQ(paid.among, (numbers{0, 1}));
  EXPECT_EQ(plan_mask(machine_of(4), program(), {}, with(cpu_choice::fast)).why,
            "stays, since no CPU is of a slower kind");
}

TEST(mask, runtimes_that_count_it_need_no_variable) {
  const surroundings s = machine_of(4, 2.0);
  const environment_plan p = plan_environment(within(s, plan_mask(s, program(), {}, loaded)),
                                              {{"JULIA_NUM_THREADS", "auto"}});
  for (const setting& one : p.set)
    EXPECT_TRUE(one.variable == "OPENBLAS_NUM_THREADS" || one.variable == "NUMEXPR_NUM_THREADS")
        << one.variable;
  EXPECT_EQ(p.sizes.pool, 2U);
}

TEST(mask, rust_rounds_a_quota_down) {
  const surroundings s = machine_of(4, 1.5);
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
