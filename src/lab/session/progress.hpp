#pragma once
// One line that is rewritten in place while something takes long.

#include <cstdint>
#include <string>

namespace kilter::lab {

/// Writes to standard error if that is a terminal, and to nowhere otherwise. Shows nothing in the first two seconds.
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
  bool on_;
  bool shown_ = false;
  std::uint64_t steps_, done_ = 0;
  std::int64_t start_ns_;
};

}  // namespace kilter::lab
