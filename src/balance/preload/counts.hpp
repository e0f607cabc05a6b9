#pragma once
// What libkilter_count.so saw of the threads of one process: a text file, one line a thread, the main thread first.
//
//   kilter.counts/1
//   INDEX BEGAN ENDED CPU LOCKS BARRIERS CONDITIONS      seconds of any clock, CPU seconds, calls

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::balance::preload {

struct thread_counts {
  unsigned long index = 0;              ///< in order of creation; 0 is the main thread
  /// From its creation until somebody joined it, so that threads of one fork and join are together even if each is done before the next one begins. A
  /// thread that nobody joins is over when it ends, or the process does.
  double began_s = 0.0, ended_s = 0.0;
  double cpu_s = 0.0;
  std::uint64_t locks = 0;              ///< of mutexes, spin locks and both sides of reader-writer locks, taken
  std::uint64_t barriers = 0;
  std::uint64_t conditions = 0;         ///< waits, signals and broadcasts
};

[[nodiscard]] std::string counts_text(const std::vector<thread_counts>&);
/// Sorted by index. input_error names the line that is wrong.
[[nodiscard]] std::vector<thread_counts> parse_counts(std::string_view);

struct symmetry_result {
  std::uint32_t groups = 0;
  double sym_inst = 0.0;                ///< over CPU time, which stands in for instructions
  double sym_lock = 0.0;                ///< over locks, barriers and conditions together
};
[[nodiscard]] symmetry_result symmetry_of(const std::vector<thread_counts>&);

}  // namespace kilter::balance::preload
