#pragma once
// What libkilter_count.so saw, read back, and how alike the threads are by it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "balance/preload/counts_format.hpp"

namespace kilter::balance::preload {

[[nodiscard]] std::string counts_text(const std::vector<thread_counts>&);
/// Sorted by index. input_error names the line that is wrong, or says that the end is missing.
[[nodiscard]] std::vector<thread_counts> parse_counts(std::string_view);

struct symmetry_result {
  std::uint32_t groups = 0;
  double sym_inst = 0.0;  ///< over CPU time, which stands in for instructions
  double sym_lock = 0.0;  ///< over locks, barriers and conditions together
};
[[nodiscard]] symmetry_result symmetry_of(const std::vector<thread_counts>&);

}  // namespace kilter::balance::preload
