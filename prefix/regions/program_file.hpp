#pragma once
// What a program is, as far as its file says it: whether a library can be loaded into it, and
// whether it is linked with OpenMP.

#include <string>
#include <vector>

namespace kilter::regions {

struct program_file {
  enum class linkage {
    unknown,  ///< not found, not readable, or no program of this system
    dynamic,  ///< a loader starts it, which heeds LD_PRELOAD
    fixed,    ///< linked statically
    foreign,  ///< of another processor or word size
  };
  std::string path;  ///< as PATH leads to it; empty: it was not found
  /// of a script: the program that runs it, which the rest is about; empty: it is none
  std::string run_by;
  linkage linked = linkage::unknown;
  /// setuid, setgid or with capabilities of its own: the loader ignores LD_PRELOAD
  bool privileged = false;
  std::vector<std::string> needed{};  ///< libraries that it is linked with, as "libgomp.so.1"
  bool has_own_data = false;          ///< data of which each thread has a copy
  std::vector<std::string> taken{};   ///< names that it takes from libraries
};

/// The OpenMP runtime that it is linked with itself; empty: none. One that comes with another
/// library is not seen.
[[nodiscard]] std::string openmp_of(const program_file&);
/// Whether its OpenMP teams may have more members than threads (docs/openmp.md), going by what it
/// takes from libraries: nothing in it goes by threads. Libraries that it is linked with are not
/// looked at, nor its code (fences.hpp).
[[nodiscard]] bool may_fold(const program_file&);
/// Why no library can be loaded into it, one line; empty: one can.
[[nodiscard]] std::string why_not_loaded(const program_file&);

}  // namespace kilter::regions
