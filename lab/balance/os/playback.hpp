#pragma once
// A recording in place of an observer: what it says of a thread is taken for what is seen of that
// thread now.

#include <sstream>
#include <string>

#include "balance/recording.hpp"

namespace kilter::balance::os {

class playback {
 public:
  /// Reads the file whole. input_error if it cannot be opened or its header is wrong.
  explicit playback(const std::string& file);
  playback(const playback&) = delete;
  playback& operator=(const playback&) = delete;

  /// Puts the next recorded observation over this one: where threads are and how long they ran
  /// stays what it is. False: the recording has ended. input_error for what cannot be read.
  [[nodiscard]] bool put_over(observation&);
  /// Whether anything put over had misses.
  [[nodiscard]] bool saw_rates() const noexcept { return rates_; }

 private:
  std::istringstream text_;
  recording_reader reader_;
  bool rates_ = false;
};

}  // namespace kilter::balance::os
