#pragma once
// SymInst and SymLock of a run, for people and as JSON.

#include <string>

#include "balance/preload/counted_run.hpp"

namespace kilter::balance::preload {

/// A few lines; says so if the program left no counts.
[[nodiscard]] std::string symmetry_text(const counted_run&);

/// {schema "kilter.sym/1", instructions: what stands in for them, groups, sym_inst, sym_lock,
/// symmetric, threads[]}, one line; null where there are no counts.
[[nodiscard]] std::string symmetry_json(const counted_run&);

}  // namespace kilter::balance::preload
