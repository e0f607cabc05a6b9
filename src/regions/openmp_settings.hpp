#pragma once
// What a user sets for an OpenMP library and threads of ours would not heed. Then everything is left to that library.

namespace kilter::regions {

struct refused_setting {
  const char* name;
  const char* value;         ///< null: any
  const char* told;          ///< null: the name
};

/// Threads that spin without end would do so beside ours after the executions that they have watched.
inline constexpr refused_setting refused_of_both[] = {{"OMP_PROC_BIND", nullptr, nullptr}, {"OMP_PLACES", nullptr, nullptr}, {"OMP_STACKSIZE", nullptr, nullptr},
                                                      {"OMP_THREAD_LIMIT", nullptr, nullptr}, {"OMP_CANCELLATION", nullptr, nullptr}, {"OMP_TOOL_LIBRARIES", nullptr, nullptr},
                                                      {"OMP_WAIT_POLICY", "active", "OMP_WAIT_POLICY=active"}};
inline constexpr refused_setting refused_of_libgomp[] = {{"GOMP_CPU_AFFINITY", nullptr, nullptr}, {"GOMP_STACKSIZE", nullptr, nullptr}, {"GOMP_SPINCOUNT", nullptr, nullptr}};

}  // namespace kilter::regions
