#pragma once
// Which use of a CPU by others counts: before a program begins, and while it runs.

namespace kilter::regions {

/// A part of a CPU. Below it the CPU counts as nobody's: the part is read from ticks of 10 ms over a tenth or a fifth of a second.
inline constexpr double counts_as_used = 0.25;

}  // namespace kilter::regions
