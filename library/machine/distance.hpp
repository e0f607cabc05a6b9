#pragma once
// How far two cores are from one another.

#include "kilter/machine.hpp"
#include "kilter/measured.hpp"

namespace kilter {

/// `data`: the core whose caches have them; no_core: unknown.
[[nodiscard]] inline distance distance_between(const machine& m, core_id data, core_id c) noexcept {
  if (data == no_core) return distance::unknown;
  if (data == c) return distance::none;
  return m.cores()[data].cluster == m.cores()[c].cluster ? distance::cluster : distance::beyond;
}

}  // namespace kilter
