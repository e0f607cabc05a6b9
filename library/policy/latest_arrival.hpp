#pragma once
// When the data of several predecessors, each on its core, have all reached a core: what is on
// another core takes the edge's cost to come.

#include "kilter/ids.hpp"

namespace kilter {

/// The latest arrival from anywhere, and the latest from any other core than that one: enough to
/// tell every core's in constant time and space. What a core has itself is not counted; it is there
/// when its predecessor ends.
template <class Time>
struct latest_arrival {
  Time latest{}, elsewhere{};
  core_id from = no_core;

  /// A predecessor on `of`; its data reach the other cores at `when`.
  void add(core_id of, Time when) noexcept {
    if (of == from || from == no_core) {
      if (when > latest) latest = when;
      from = of;
    } else if (when > latest) {
      elsewhere = latest;
      latest = when;
      from = of;
    } else if (when > elsewhere) {
      elsewhere = when;
    }
  }
  [[nodiscard]] Time at(core_id c) const noexcept { return c == from ? elsewhere : latest; }
};

}  // namespace kilter
