#pragma once

#include <string.h>
#include <unistd.h>

namespace kilter::regions {

/// Takes lines: a file, or memory of a limited length, which takes no line that it has no room for.
class sink {
 public:
  explicit sink(int file) noexcept : file_(file) {}
  sink(char* to, size_t room) noexcept : to_(to), room_(room) {}

  void put(const char* text, int size) noexcept {
    if (to_) return put_in_memory(text, static_cast<size_t>(size));
    for (int done = 0; done < size;) {
      const ssize_t now = write(file_, text + done, static_cast<size_t>(size - done));
      if (now <= 0) return;
      done += static_cast<int>(now);
    }
  }
  /// Of whole lines.
  [[nodiscard]] size_t length() const noexcept { return whole_; }

 private:
  void put_in_memory(const char* text, size_t size) noexcept {
    if (full_ || size > room_ - used_) {
      full_ = true;
      return;
    }
    memcpy(to_ + used_, text, size);
    used_ += size;
    if (text[size - 1] == '\n') whole_ = used_;
  }

  int file_ = -1;
  char* to_ = nullptr;
  size_t room_ = 0, used_ = 0, whole_ = 0;
  bool full_ = false;
};

}  // namespace kilter::regions
