#pragma once
// The file in which programs of one user tell one another of themselves. It is opened for each look
// and closed after it, so nothing stays open in a program that may close or take over what it did
// not open; and it is read and written, not mapped, so nobody can end a program by making it
// shorter.

#include <sys/types.h>

#include <cstdint>

#include "sharing/slot.hpp"

namespace kilter::sharing {

inline constexpr std::uint32_t page_bytes = slots * sizeof(slot);

/// Room for `page_path`.
inline constexpr std::uint32_t path_room = 64;
/// Of this user's page.
void page_path(char (&to)[path_room], uid_t) noexcept;

class page_file {
 public:
  enum class purpose { take_part, leave, look };

  /// As it is open afterwards it is a regular file of `owner` that nobody else may read, of the
  /// right size, in memory, and has no second name. Only who takes part makes it, if nothing has
  /// its name.
  page_file(const char* path, uid_t owner, purpose) noexcept;
  ~page_file();
  page_file(const page_file&) = delete;
  page_file& operator=(const page_file&) = delete;

  explicit operator bool() const noexcept { return file_ >= 0; }

  [[nodiscard]] bool read(slot (&all)[slots]) const noexcept;
  /// Writes slot `n` if it is that of the nonce `in_place_of`, or that of nobody who has written it
  /// lately. Not while somebody else is about to write it.
  [[nodiscard]] bool write(std::uint32_t n, const slot&, std::uint64_t in_place_of) const noexcept;
  /// Leaves a sign of this nonce, in the time of the last change, which any later write takes away.
  void sign(std::uint64_t nonce) const noexcept;
  /// Nobody has written it since. One system call, where a look takes twenty.
  [[nodiscard]] static bool is_signed(const char* path, std::uint64_t nonce) noexcept;
  /// Takes its name away, if it still has it.
  void remove(const char* path) const noexcept;

 private:
  int file_ = -1;
};

}  // namespace kilter::sharing
