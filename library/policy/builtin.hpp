#pragma once
// The built-in policies, one a file. Each of these makes one; `make_policy` finds it by name.

#include <memory>

#include "kilter/policy.hpp"

namespace kilter::detail {

/// For what Kilter makes itself, or has looked at.
struct trusting {
  static void on(policy& p, const machine& m) noexcept {
    p.cores_ = m.core_count();
    p.places_ = m.places().size();
  }
};

}  // namespace kilter::detail

namespace kilter::builtin {

using made = std::shared_ptr<policy>;

/// What the options say about queues; a policy adds its questions.
[[nodiscard]] inline discipline start_of(const policy_options& o) {
  discipline d;
  d.steal_from = o.steal_from;
  d.forward_child = o.forward_child;
  return d;
}

[[nodiscard]] made rws(const machine&, const policy_options&);
[[nodiscard]] made rwsm_c(const machine&, const policy_options&);
[[nodiscard]] made fa(const machine&, const policy_options&);
[[nodiscard]] made fam_c(const machine&, const policy_options&);
[[nodiscard]] made da(const machine&, const policy_options&);
[[nodiscard]] made dam_c(const machine&, const policy_options&);
[[nodiscard]] made dam_p(const machine&, const policy_options&);
[[nodiscard]] made perf(const machine&, const policy_options&);
[[nodiscard]] made fifo(const machine&, const policy_options&);
[[nodiscard]] made random(const machine&, const policy_options&);
[[nodiscard]] made bias(const machine&, const policy_options&);
[[nodiscard]] made cats(const machine&, const policy_options&);
[[nodiscard]] made cats_2q(const machine&, const policy_options&);
[[nodiscard]] made dheft(const machine&, const policy_options&);
[[nodiscard]] made heft(const machine&, const policy_options&);
[[nodiscard]] made cpop(const machine&, const policy_options&);
[[nodiscard]] made automatic(const machine&, const policy_options&);

}  // namespace kilter::builtin
