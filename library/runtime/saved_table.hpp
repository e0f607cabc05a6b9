#pragma once
// A trace table as a file: JSON, schema "kilter.table/1". It says which cores it was learned on;
// only a machine with the same ones takes it.

#include <string>

#include "kilter/machine.hpp"
#include "model/saved.hpp"

namespace kilter::model {

/// What a place of the machine means: each cluster's cores, their kind, and its widths. Not the
/// computer's name.
[[nodiscard]] std::string fingerprint(const machine&);
/// input_error if it cannot be written.
void write_table(const std::string& path, const saved_table&, const machine&);
/// input_error with one line naming the file and what is wrong with it: unreadable, not ours,
/// broken, or another machine's.
[[nodiscard]] saved_table read_table(const std::string& path, const machine&);

}  // namespace kilter::model
