#pragma once
// For a policy in a shared library of its own: `kilter bench --policy ./libmine.so`. See docs/policies.md.

#include <cstdint>
#include <type_traits>

#include "kilter/policy.hpp"

namespace kilter {

/// Changes with the contract and with the layout of what passes between a policy and its engine; the command refuses a library that says another.
[[nodiscard]] constexpr std::uint64_t policy_abi() noexcept {
  constexpr std::uint64_t version = 1;
  return version << 48 | std::uint64_t{sizeof(view)} << 36 | std::uint64_t{sizeof(discipline)} << 24 | std::uint64_t{sizeof(policy_options)} << 12 |
         sizeof(machine);
}

}  // namespace kilter

/// Once in the library: how the command makes the policy. CLASS is made from (const machine&, const policy_options&) if it can be, else without arguments.
#define KILTER_POLICY_PLUGIN(CLASS)                                                                                          \
  extern "C" std::uint64_t kilter_policy_abi() { return kilter::policy_abi(); }                                              \
  extern "C" kilter::policy* kilter_make_policy(const kilter::machine& m, const kilter::policy_options& o) {                 \
    return [](const auto& where, const auto& settings) -> kilter::policy* {                                                  \
      if constexpr (std::is_constructible_v<CLASS, decltype(where), decltype(settings)>) return new CLASS(where, settings);   \
      else return new CLASS();                                                                                                \
    }(m, o);                                                                                                                  \
  }
