#pragma once
// One line on standard error that tells what runs and how long it will take, if that is a terminal;
// a line for each tenth otherwise.

#include <cstdint>
#include <string>

namespace kilter::bench {

class study_progress {
 public:
  /// `total_s`: sum of what the calls of `end` will say.
  study_progress(double total_s, bool quiet);
  ~study_progress() { clear(); }
  study_progress(const study_progress&) = delete;
  study_progress& operator=(const study_progress&) = delete;

  void begin(const std::string& what);
  /// What began is over; it was expected to take so long.
  void end(double expected_s);
  void clear();

 private:
  [[nodiscard]] double left_s() const;
  bool quiet_, terminal_, shown_ = false;
  double total_s_, done_s_ = 0.0;
  int tenths_ = 0;
  std::int64_t start_ns_;
};

/// "2 h 5 min", "40 s".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace kilter::bench
