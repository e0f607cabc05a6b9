#pragma once
// Programs of one user on one computer know of each other: who is there, which CPUs each may use,
// and how many it could use now. From that follows which are whose (share_out.hpp). A small file in
// /dev/shm holds it; nothing in it is trusted, and any of them may be killed or stopped at any
// moment, or be in another container.
//
// C library only, and nothing allocates, throws or waits: this is loaded into programs of others,
// and into those that use the runtime.

#include <cstdint>

#include "sharing/page_file.hpp"
#include "sharing/presence.hpp"

namespace kilter::sharing {

struct share {
  cpu_bits cpus;             ///< that the caller should use
  std::uint32_t others = 0;  ///< that have something to do; 0: alone, or nobody can be known of
};

/// One program's part in it. Not for two threads at once. `errno` is kept.
class page {
 public:
  /// Null: this user's. Else for as long as this exists. What could be used counts for `stays_ns`
  /// after it went down, so that short pauses move nothing.
  constexpr explicit page(const char* path = nullptr, std::int64_t stays_ns = 200'000'000) noexcept
      : path_(path), stays_ns_(stays_ns) {}

  /// Tells how many CPUs (in hundredths) the program could use now, of those that it may, and reads
  /// the others. To be called some ten times a second, since who has not done so for .3 s is taken
  /// to be gone unless others can see it work. On any failure the answer is `allowed`. `allowed` is
  /// not empty. Takes 20 us warm and 80 us cold; who was alone and needs no more asks in a quarter
  /// of that whether anybody has come, and writes again after a tenth of a second.
  [[nodiscard]] share beat(const cpu_bits& allowed, std::uint32_t could_use_percent) noexcept;
  /// Nothing is left of it; and of the file, if nobody else is there.
  void leave() noexcept;
  /// In a fork's child, whose parent goes on.
  void forget_after_fork() noexcept;

 private:
  static constexpr std::uint32_t none = slots;
  static constexpr std::int64_t quiet_ns = fresh_ns / 3;

  const char* path(char (&room)[path_room]) const noexcept;
  [[nodiscard]] bool still_alone(const cpu_bits& allowed, std::uint32_t could_use_percent) noexcept;
  share take_part(const cpu_bits& allowed, std::uint32_t could_use_percent) noexcept;
  void begin(const cpu_bits& allowed) noexcept;
  bool write(const page_file&, std::uint64_t in_place_of) noexcept;
  [[nodiscard]] std::uint32_t free_slot(std::uint64_t not_these, std::int64_t now_ns) noexcept;

  const char* path_;
  std::int64_t stays_ns_;
  std::uint32_t own_ = none;
  std::uint32_t told_percent_ = 0;
  std::int64_t told_at_ns_ = 0;
  bool was_alone_ = false;  // and has signed the page
  slot me_{};
  slot all_[slots]{};
  last_look looks_[slots]{};
};

/// One that is there, as whoever looks on sees it.
struct onlooked {
  process_identity process;
  participant who;
};

/// Of the page of this user; null `path`: where that is. Returns how many are there, and writes as
/// many.
[[nodiscard]] std::uint32_t who_is_there(const char* path, uid_t user,
                                         onlooked (&to)[slots]) noexcept;

}  // namespace kilter::sharing
