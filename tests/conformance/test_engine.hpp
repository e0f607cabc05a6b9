#pragma once
// A single-threaded engine on virtual time. It knows nothing of any policy: what it does is the
// contract, in the plainest form.
//
//   A worker that is free looks for work in this order: its assembly queue, its bound inbox
//   (youngest first), what it is to run next, then question 3. A task that it takes goes to the
//   place that travels with it, else to the answer of question 4. The first member of a place to
//   arrive starts the task; members that arrive before it ends take part; later ones find it done.

#include "conformance/engines.hpp"

namespace kilter::conformance {

/// Throws std::runtime_error naming what happened if the policy breaks the contract (a queue that
/// the worker may not take from, a place that the task does not allow) or if no worker will ever
/// run what is left.
[[nodiscard]] run_result run_single_threaded(const run_request&);

}  // namespace kilter::conformance
