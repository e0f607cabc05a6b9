#pragma once
// What a user sets for an OpenMP library and threads of ours would not heed. Then everything is
// left to that library.

namespace kilter::regions {

struct refused_setting {
  const char* name;
  const char* value;  ///< null: any
  const char* told;   ///< null: the name
};

/// Threads that spin without end would do so beside ours after the executions that they have
/// watched.
inline constexpr refused_setting refused_of_both[] = {
    {"OMP_PROC_BIND", nullptr, nullptr},
    {"OMP_PLACES", nullptr, nullptr},
    {"OMP_STACKSIZE", nullptr, nullptr},
    {"OMP_THREAD_LIMIT", nullptr, nullptr},
    {"OMP_CANCELLATION", nullptr, nullptr},
    {"OMP_TOOL_LIBRARIES", nullptr, nullptr},
    {"OMP_WAIT_POLICY", "active", "OMP_WAIT_POLICY=active"}};
inline constexpr refused_setting refused_of_libgomp[] = {{"GOMP_CPU_AFFINITY", nullptr, nullptr},
                                                         {"GOMP_STACKSIZE", nullptr, nullptr},
                                                         {"GOMP_SPINCOUNT", nullptr, nullptr}};

/// What decides how many members a team has, where the user sets one of them. The last one is
/// `kilter run --same-team`.
inline constexpr const char* variables_of_team_size[] = {
    "OMP_NUM_THREADS", "OMP_DYNAMIC", "OMP_NESTED", "OMP_MAX_ACTIVE_LEVELS", "KILTER_SAME_TEAM"};
/// Members for each CPU where CPUs are worth differently much and teams are folded: shares fine
/// enough for one that is worth half of another one.
inline constexpr unsigned members_a_cpu = 4;
/// On more CPUs teams keep their size: programs have room for 64 members more often than for more.
inline constexpr unsigned most_cpus_that_fold = 16;

}  // namespace kilter::regions
