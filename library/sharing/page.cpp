#include "sharing/page.hpp"

#include <errno.h>
#include <linux/random.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kilter::sharing {

namespace {

class kept_errno {
 public:
  kept_errno() noexcept : error_(errno) {}
  ~kept_errno() { errno = error_; }
  kept_errno(const kept_errno&) = delete;
  kept_errno& operator=(const kept_errno&) = delete;

 private:
  int error_;
};

std::uint64_t new_nonce(const void* here) noexcept {
  std::uint64_t nonce = 0;
  if (syscall(SYS_getrandom, &nonce, sizeof nonce, GRND_NONBLOCK) !=
      static_cast<long>(sizeof nonce))
    nonce = static_cast<std::uint64_t>(boot_ns()) ^ static_cast<std::uint64_t>(getpid()) << 40 ^
            reinterpret_cast<std::uintptr_t>(here);
  return nonce | 1;
}

}  // namespace

const char* page::path(char (&room)[path_room]) const noexcept {
  if (path_) return path_;
  page_path(room, geteuid());
  return room;
}

share page::beat(const cpu_bits& allowed, std::uint32_t could_use_percent) noexcept {
  const kept_errno kept;
  if (still_alone(allowed, could_use_percent)) return {allowed, 0};
  return take_part(allowed, could_use_percent);
}

/// Who comes has the page's word until the next beat of who was there, so that may be late where it
/// says too much; but not for long, and what others wait for they are told.
bool page::still_alone(const cpu_bits& allowed, std::uint32_t could_use_percent) noexcept {
  if (!was_alone_ || !(allowed == me_.who.allowed)) return false;
  if (could_use_percent > told_percent_ || (could_use_percent == 0) != (told_percent_ == 0))
    return false;
  const std::int64_t now_ns = boot_ns();
  if (now_ns - me_.beat_ns > quiet_ns) return false;
  if (could_use_percent == told_percent_) told_at_ns_ = now_ns;
  char room[path_room];
  return page_file::is_signed(path(room), me_.nonce);
}

share page::take_part(const cpu_bits& allowed, std::uint32_t could_use_percent) noexcept {
  const share alone{allowed, 0};
  was_alone_ = false;
  char room[path_room];
  const page_file file(path(room), geteuid(), page_file::purpose::take_part);
  if (!file || !file.read(all_)) {
    own_ = none;
    return alone;
  }
  const std::int64_t now_ns = boot_ns();
  const bool is_new = own_ == none;
  if (is_new) {
    begin(allowed);
    own_ = free_slot(0, now_ns);
    if (own_ == none) return alone;
  }
  if (could_use_percent >= told_percent_ || now_ns - told_at_ns_ > stays_ns_) {
    told_percent_ = could_use_percent;
    told_at_ns_ = now_ns;
  }
  me_.who.allowed = allowed;
  me_.who.could_use_percent = told_percent_;

  const participant* part[slots];
  std::uint32_t count = 0, mine = 0;
  share answer = alone;
  for (std::uint32_t n = 0; n < slots; ++n) {
    if (n == own_) mine = count;
    // one that it had may be locked
    else if (all_[n].nonce == me_.nonce || !is_there(all_, n, looks_[n], me_.process, now_ns))
      continue;
    else if (all_[n].who.could_use_percent > 0)
      ++answer.others;
    part[count++] = n == own_ ? &me_.who : &all_[n].who;
  }
  answer.cpus = share_out(part, count, mine);
  me_.who.takes = answer.cpus;
  if (!write(file, is_new ? all_[own_].nonce : me_.nonce)) return alone;
  was_alone_ = answer.others == 0;
  if (was_alone_) file.sign(me_.nonce);
  return answer;
}

void page::begin(const cpu_bits& allowed) noexcept {
  me_ = {};
  me_.format = slot_format;
  me_.nonce = new_nonce(this);
  me_.process = this_process();
  me_.who.takes = allowed;
  told_percent_ = 0;
}

/// False: it does not take part this time. Another one may have its slot by now, if it stood for
/// long.
bool page::write(const page_file& file, std::uint64_t in_place_of) noexcept {
  constexpr int most_tries = 4;
  std::uint64_t tried = 0;
  for (int tries = 0; own_ != none && tries < most_tries; ++tries) {
    me_.beat_ns = boot_ns();
    me_.cpu_ns = cpu_ns_of(getpid());
    me_.checksum = checksum_of(me_);
    if (file.write(own_, me_, in_place_of)) return true;
    tried |= std::uint64_t{1} << own_;
    own_ = free_slot(tried, me_.beat_ns);
    if (own_ != none) in_place_of = all_[own_].nonce;
  }
  own_ = none;
  return false;
}

/// An empty one if there is one, else that of whoever has not been there for longest.
std::uint32_t page::free_slot(std::uint64_t not_these, std::int64_t now_ns) noexcept {
  std::uint32_t oldest = none;
  for (std::uint32_t n = 0; n < slots; ++n) {
    if ((not_these >> n & 1) != 0) continue;
    if (!plausible(all_[n]) || all_[n].beat_ns > now_ns) return n;
    if (!is_there(all_, n, looks_[n], me_.process, now_ns) &&
        (oldest == none || all_[n].beat_ns < all_[oldest].beat_ns))
      oldest = n;
  }
  return oldest;
}

void page::leave() noexcept {
  const kept_errno kept;
  was_alone_ = false;
  if (own_ == none) return;
  char room[path_room];
  const char* const name = path(room);
  const page_file file(name, geteuid(), page_file::purpose::leave);
  const bool left = file && file.write(own_, slot{}, me_.nonce) && file.read(all_);
  own_ = none;
  if (!left) return;
  const std::int64_t now_ns = boot_ns();
  bool others = false;
  for (std::uint32_t n = 0; n < slots; ++n)
    others = others || is_there(all_, n, looks_[n], me_.process, now_ns);
  if (!others) file.remove(name);  // who comes in this moment notices at its next beat
}

void page::forget_after_fork() noexcept {
  own_ = none;
  was_alone_ = false;
  for (last_look& l : looks_) l = {};
}

std::uint32_t who_is_there(const char* path, uid_t user, onlooked (&to)[slots]) noexcept {
  const kept_errno kept;
  char room[path_room];
  if (!path) page_path(room, user);
  slot all[slots];
  const page_file file(path ? path : room, user, page_file::purpose::look);
  if (!file || !file.read(all)) return 0;
  const std::int64_t now_ns = boot_ns();
  const process_identity me = this_process();
  std::uint32_t count = 0;
  for (std::uint32_t n = 0; n < slots; ++n) {
    last_look none_before;
    if (is_there(all, n, none_before, me, now_ns)) to[count++] = {all[n].process, all[n].who};
  }
  return count;
}

}  // namespace kilter::sharing
