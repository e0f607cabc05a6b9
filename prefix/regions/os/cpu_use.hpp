#pragma once
// What each CPU that this process may use is, and who else uses it.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kilter::regions::os {

struct cpu_user {
  std::optional<pid_t> pid;  ///< none: it is in a container whose processes have other numbers
  std::string name;          ///< of its first thread
  double share = 0.0;        ///< of the CPU's time
  bool of_kilter = false;    ///< it shares out CPUs with other programs (sharing/page.hpp)
};

struct cpu_in_use {
  int os_index = 0, core = 0;
  std::uint32_t cluster = 0;
  std::string kind;
  double speed = 1.0;   ///< nominal, against the fastest kind; 1 where speeds are not known
  double others = 0.0;  ///< the part that others used, another machine on the same computer too
  /// as far as /proc shows them, those that used most first; what they used together may differ
  /// from `others`, since the kernel counts that in ticks of 10 ms
  std::vector<cpu_user> users;
};

/// Of the while from its construction on. Reads each process's clock, and the files of the threads
/// of those that work: some milliseconds on a busy computer. Throws input_error if the computer
/// cannot be read.
class cpu_use {
 public:
  cpu_use();
  [[nodiscard]] std::vector<cpu_in_use> so_far() const;

 private:
  struct own_thread {
    std::uint64_t ran_ns = 0;
    int cpu = -1;
  };
  struct sample {
    std::int64_t at_ns = 0, own_ns = 0;
    std::map<int, std::int64_t> ticks;        // by CPU
    std::map<pid_t, own_thread> own;          // by thread
    std::map<pid_t, std::int64_t> processes;  // CPU time
  };
  static sample take();
  static std::map<int, double> own_parts(const sample& from, const sample& to);
  void add_users(const sample& now, std::vector<cpu_in_use>&) const;

  std::vector<cpu_in_use> cpus_;
  sample begin_;
};

}  // namespace kilter::regions::os
