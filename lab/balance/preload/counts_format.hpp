#pragma once
// What libkilter_count.so saw of the threads of one process: a text file, one line a thread, in any
// order.
//
//   kilter.counts/1
//   INDEX BEGAN ENDED CPU LOCKS BARRIERS CONDITIONS      seconds of any clock, CPU seconds, calls
//   end                                                  without it the file is not whole
//
// Without the C++ library, since it is written in programs that may have another one or none.

#include <stdio.h>

#include <cstdint>

namespace kilter::balance::preload {

struct thread_counts {
  unsigned long index = 0;  ///< in order of creation; 0 is the main thread
  /// From its creation until somebody joined it, so that threads of one fork and join are together
  /// even if each is done before the next one begins. A thread that nobody joins is over when it
  /// ends, or the process does.
  double began_s = 0.0, ended_s = 0.0;
  double cpu_s = 0.0;
  /// of mutexes, spin locks and both sides of reader-writer locks, taken
  std::uint64_t locks = 0;
  std::uint64_t barriers = 0;
  std::uint64_t conditions = 0;  ///< waits, signals and broadcasts
};

inline constexpr const char *counts_begin = "kilter.counts/1\n", *counts_end = "end\n";
inline constexpr std::size_t counts_line_size = 256;

/// The thread's line; returns its length.
inline std::size_t counts_line(char (&line)[counts_line_size], const thread_counts& t) noexcept {
  return static_cast<std::size_t>(snprintf(
      line, sizeof line, "%lu %.9f %.9f %.9f %llu %llu %llu\n", t.index, t.began_s, t.ended_s,
      t.cpu_s, static_cast<unsigned long long>(t.locks),
      static_cast<unsigned long long>(t.barriers), static_cast<unsigned long long>(t.conditions)));
}

}  // namespace kilter::balance::preload
