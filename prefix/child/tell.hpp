#pragma once
// What Kilter says must never change what happens to the program: neither a full disk, nor a pipe
// that nobody reads, nor a closed descriptor.

#include <signal.h>

#include <string_view>

namespace kilter::prefix {

/// While it lives, writing to a pipe that nobody reads is an error and not the end of this process.
/// Of one thread.
class no_sigpipe {
 public:
  no_sigpipe() noexcept;
  ~no_sigpipe();
  no_sigpipe(const no_sigpipe&) = delete;
  no_sigpipe& operator=(const no_sigpipe&) = delete;

 private:
  sigset_t before_;
  bool pending_ = false;  ///< already, and not ours to take
};

/// To standard error, as far as that works.
void tell_user(std::string_view text) noexcept;

/// Descriptors 0 to 2 that are closed are taken, or the next file opened would be what everybody
/// writes to. A program that is started finds them closed.
void hold_standard_descriptors() noexcept;

}  // namespace kilter::prefix
