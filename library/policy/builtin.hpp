#pragma once
// The built-in policies, one a file. Each of these makes one; `make_policy` finds it by name.

#include <memory>
#include <string_view>

#include "kilter/policy.hpp"

namespace kilter::inline v0::detail {

/// For what Kilter makes itself, or has looked at.
struct trusting {
  static void on(policy& p, const machine& m) noexcept {
    p.cores_ = m.core_count();
    p.places_ = m.places().size();
  }
};

}  // namespace kilter::inline v0::detail

namespace kilter::builtin {

using made = std::shared_ptr<policy>;

/// What the options say about queues; a policy adds its questions.
[[nodiscard]] inline discipline start_of(const policy_options& o) {
  discipline d;
  d.steal_from = o.steal_from;
  d.forward_child = o.forward_child;
  return d;
}

/// When a policy decides: as tasks come, or before the run.
enum class decides { online, planned };

/// The built-in policies: the function that makes one, its name, when it decides, what it does,
/// where it comes from. X(function, name, when, summary, source)
// clang-format off
#define KILTER_BUILT_IN_POLICIES(X) \
  X(rws, "rws", online, \
    "random work stealing, one core a task", "S0 Table 1; S2 section 4 (homogeneous)") \
  X(rwsm_c, "rwsm-c", online, "work stealing; the width is learned, by cost", "S0 Table 1") \
  X(fa, "fa", online, "critical tasks on cores said to be fast, in turn", "S0 Table 1") \
  X(fam_c, "fam-c", online, \
    "critical tasks on cores said to be fast; the width is learned, by cost", "S0 Table 1") \
  X(da, "da", online, "critical tasks on the core learned to be fastest", "S0 Table 1") \
  X(dam_c, "dam-c", online, \
    "critical tasks on the place learned to be cheapest (time x width)", \
    "S0 Table 1, Algorithm 1") \
  X(dam_p, "dam-p", online, \
    "critical tasks on the place learned to be fastest", "S0 Table 1, Algorithm 1") \
  X(perf, "perf", online, \
    "critical path found in the graph; its tasks search when taken and may be stolen", \
    "S2 sections 3.1-3.3") \
  X(fifo, "fifo", online, \
    "one shared queue, any idle core takes the oldest task (breadth-first)", \
    "S1, task-based OpenMP") \
  X(random, "random", online, "every task on a core drawn at random", "baseline") \
  X(bias, "bias", online, \
    "tasks that gain most from a fast core go to one, by the learned gain", \
    "Koufaty et al. 2010; as in XiTAO") \
  X(cats, "cats", online, \
    "critical tasks on fast cores, by hops to the end; sorted shared queues", \
    "Chronaki et al. 2015 (CATS)") \
  X(cats_2q, "cats-2q", online, \
    "critical tasks to a random fast core, others to a random slow one; only fast cores " \
    "steal from both", "CATS as in XiTAO") \
  X(dheft, "dheft", online, \
    "the core that is expected to end the task first, from mean times by kind of core", \
    "Chronaki et al. 2015 (dHEFT)") \
  X(heft, "heft", planned, \
    "planned before the run: by rank, each task where it ends first", \
    "Topcuoglu 2002, section 4.1") \
  X(cpop, "cpop", planned, \
    "planned before the run: the critical path on one core, other tasks where they end first", \
    "Topcuoglu 2002, section 4.2") \
  X(automatic, "auto", online, \
    "chooses place, width and order by what was learned; the default", "this project")
// clang-format on

#define KILTER_DECLARE(function, name, when, summary, source) \
  [[nodiscard]] made function(const machine&, const policy_options&);
KILTER_BUILT_IN_POLICIES(KILTER_DECLARE)
#undef KILTER_DECLARE

/// False for what is not built in.
[[nodiscard]] bool is_planned(std::string_view policy) noexcept;

}  // namespace kilter::builtin
