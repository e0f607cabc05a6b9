#pragma once
// A policy from outside (a library of its own, runtime_options::custom) may answer what is not
// there. Its answers are looked at once, here, before an engine sees them, so that engines need not
// look at anybody's. docs/inside/decisions/checked-policies.md has why.

#include <memory>

#include "kilter/policy.hpp"

namespace kilter {

/// The same policy with its answers checked; `asked` itself if it is trusted. What it answers to
/// question 0 is checked at once: usage_error, as for a trusted one that was made for another
/// machine: it would name cores and places that this one has not.
[[nodiscard]] std::shared_ptr<const policy> checked(std::shared_ptr<const policy> asked,
                                                    const machine&);

}  // namespace kilter
