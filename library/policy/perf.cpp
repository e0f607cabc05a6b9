// The performance-based scheduler (papers.md S2, sections 3.1 to 3.3, Fig. 3)
//
//   Where S0's schedulers grew from: the same table and the same searches, but the critical path is
//   found in the graph, and a critical task waits in its waker's deque like any other, where it may
//   be stolen.
//
//   before the run:   value(task) = 1 + largest value of its successors; the critical path follows
//   it (labels.hpp) ready:            push to the waking core's deque; roots have no parent to
//   compare with and are not critical taken, critical (by its owner or by a thief):
//                     place <- global search, least time x width
//   taken, else:      place <- local search for this core, least time x width
//   done:             the leader's time goes into the table
//
// A preset of DAM-C's code path (papers.md E17) with E5 (one chain), E9 (critical tasks may be
// stolen) and E10 set to S2's values.

#include "policy/dam.hpp"

namespace kilter::builtin {

made perf(const machine& m, const policy_options& o) {
  constexpr dam_policy::variant settings{
      "perf", objective::cost, dam_policy::variant::search_when::taken, criticality::chain};
  return std::make_shared<dam_policy>(settings, m, o);
}

}  // namespace kilter::builtin
