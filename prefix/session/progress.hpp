#pragma once
// One line that is rewritten in place while something takes long.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace kilter::lab {

/// Writes to standard error if that is a terminal, and to nowhere otherwise. Shows nothing in the
/// first two seconds, and then what the last call of `step` said, also while that still goes on.
class progress {
 public:
  /// `steps`: how many calls of `step` to expect.
  progress(std::uint64_t steps, bool quiet);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Something that takes a while begins now.
  void step(const std::string& what);
  /// Takes the line away; nothing is written afterwards.
  void clear();

 private:
  void show();

  bool on_;
  const std::uint64_t steps_;
  const std::int64_t start_ns_;
  std::uint64_t done_ = 0;
  std::mutex mutex_;
  std::condition_variable over_;
  bool early_ = true, ended_ = false, shown_ = false;  // these under the lock
  std::string line_;
  std::thread first_;  ///< sleeps until the first line is due; the last member: it uses all others
};

}  // namespace kilter::lab
