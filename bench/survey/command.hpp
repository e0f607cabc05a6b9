#pragma once
// A program that is started, waited for, and ended with all that it started when it takes too long.

#include <string>
#include <utility>
#include <vector>

namespace kilter::bench {

struct child_options {
  std::vector<std::string> words;                              ///< the first is a path
  std::vector<std::pair<std::string, std::string>> variables;  ///< beside those of this process
  std::vector<int> cpus;  ///< that it may use; empty: as this process
  double cap_s = 60.0;
};

struct child_result {
  std::string output;        ///< standard output, as far as it came
  std::string why;           ///< empty: it ended with 0. Else one line that says what went wrong
  bool interrupted = false;  ///< by Ctrl-C, which is nobody's fault
};

/// Runs it in a process group of its own, without standard input. The group is ended after `cap_s`,
/// and when this process is interrupted. It does not outlive this process.
[[nodiscard]] child_result run_child(const child_options&);

/// Endless loops, one pinned to each CPU, in this session, while this lives.
class endless_loops {
 public:
  explicit endless_loops(const std::vector<int>& cpus);
  ~endless_loops();
  endless_loops(const endless_loops&) = delete;
  endless_loops& operator=(const endless_loops&) = delete;

 private:
  std::vector<int> processes_;
};

}  // namespace kilter::bench
