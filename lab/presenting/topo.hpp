#pragma once
// What `kilter topo` shows: a machine as a picture in text, and as JSON.

#include <string>

#include "kilter/machine.hpp"

namespace kilter::lab {

/// Kinds, then for every cluster its core ids with the operating system's CPU numbers beside and a
/// bracket for each place, then the list of places. At most 100 columns. `colour` adds terminal
/// escapes, one colour a kind. Ends with a newline.
[[nodiscard]] std::string topo_text(const machine& m, bool colour);

/// An object with `name`, `kinds`, `cores`, `clusters` and `places` (each `{leader, width}`), in
/// the order of the machine's own lists, so that an index there is an id here. Indented, ends with
/// a newline.
[[nodiscard]] std::string topo_json(const machine& m);

}  // namespace kilter::lab
