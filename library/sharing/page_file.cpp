#include "sharing/page_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace kilter::sharing {

namespace {

// System calls of their own where the C library has points at which a thread may be cancelled.

void close_file(int file) noexcept { syscall(SYS_close, file); }

/// -1: there is none. Not a low number for longer than it takes: those are what a program closes
/// without having opened them, and opens again.
int open_high(const char* path, int how) noexcept {
  constexpr int above_the_programs_own = 900;
  constexpr mode_t own = 0600;
  // Whatever is there: a link is not followed, and nothing is waited for.
  const long low = syscall(SYS_openat, AT_FDCWD, path,
                           how | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, own);
  if (low < 0) return -1;
  const long high = syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, above_the_programs_own);
  if (high < 0) return static_cast<int>(low);
  close_file(static_cast<int>(low));
  return static_cast<int>(high);
}

bool is_own(const struct stat& s, uid_t owner) noexcept {
  return S_ISREG(s.st_mode) && s.st_uid == owner && (s.st_mode & 077) == 0 && s.st_nlink == 1;
}

/// Elsewhere reading could take its time, and what is left would stay for ever.
bool in_memory(int file) noexcept {
  struct statfs f {};
  return fstatfs(file, &f) == 0 &&
         (f.f_type == TMPFS_MAGIC || static_cast<unsigned long>(f.f_type) == RAMFS_MAGIC);
}

bool lock(int file, short type, off_t from, off_t length) noexcept {
  struct flock l {};
  l.l_type = type;
  l.l_whence = SEEK_SET;
  l.l_start = from;
  l.l_len = length;
  return syscall(SYS_fcntl, file, F_OFD_SETLK, &l) == 0;
}

/// Bytes that are locked for the time in which something is decided. Nobody waits for them: who was
/// stopped has them for as long as it stands.
class locked {
 public:
  locked(int file, off_t from, off_t length) noexcept
      : file_(file), from_(from), length_(length), is_(lock(file, F_WRLCK, from, length)) {}
  ~locked() {
    // closing is not enough: a fork may have it open, too
    if (is_) lock(file_, F_UNLCK, from_, length_);
  }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;
  explicit operator bool() const noexcept { return is_; }

 private:
  int file_;
  off_t from_, length_;
  bool is_;
};

bool has_name(const struct stat& s, const char* path) noexcept {
  struct stat named {};
  return fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == s.st_dev &&
         named.st_ino == s.st_ino;
}

/// Under another name, which whoever holds its lock may use, so that nobody sees half of one. What
/// a killed one left under it is used by the next.
void make_page(const char* path, uid_t owner) noexcept {
  char name[path_room + sizeof ".new"];
  snprintf(name, sizeof name, "%s.new", path);
  const int file = open_high(name, O_RDWR | O_CREAT);
  if (file < 0) return;
  struct stat s {};
  if (const locked whole(file, 0, 0);
      whole && fstat(file, &s) == 0 && is_own(s, owner) && in_memory(file) && has_name(s, name)) {
    const bool made = fchmod(file, 0600) == 0 && syscall(SYS_ftruncate, file, 0) == 0 &&
                      syscall(SYS_ftruncate, file, page_bytes) == 0 &&
                      syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0;
    if (!made) unlink(name);  // somebody else was quicker
  }
  close_file(file);
}

bool is_page(int file, uid_t owner) noexcept {
  struct stat s {};
  return fstat(file, &s) == 0 && is_own(s, owner) && s.st_size == off_t{page_bytes} &&
         in_memory(file);
}

/// Who writes beyond it is sent a signal.
bool limit_allows() noexcept {
  rlimit size{};
  return getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur >= page_bytes;
}

timespec sign_of(std::uint64_t nonce) noexcept {
  constexpr std::uint64_t seconds_ns = 1'000'000'000;
  return {static_cast<time_t>(nonce / seconds_ns % seconds_ns),
          static_cast<long>(nonce % seconds_ns)};
}

off_t place_of(std::uint32_t n) noexcept { return static_cast<off_t>(n * sizeof(slot)); }

}  // namespace

void page_path(char (&to)[path_room], uid_t user) noexcept {
  snprintf(to, sizeof to, "/dev/shm/kilter-%u", static_cast<unsigned>(user));
}

page_file::page_file(const char* path, uid_t owner, purpose why) noexcept {
  if (why != purpose::look && !limit_allows()) return;
  const int how = why == purpose::look ? O_RDONLY : O_RDWR;
  file_ = open_high(path, how);
  if (file_ < 0 && errno == ENOENT && why == purpose::take_part) {
    make_page(path, owner);
    file_ = open_high(path, how);
  }
  if (file_ < 0 || is_page(file_, owner)) return;
  close_file(file_);
  file_ = -1;
}

page_file::~page_file() {
  if (file_ >= 0) close_file(file_);
}

bool page_file::read(slot (&all)[slots]) const noexcept {
  if (syscall(SYS_pread64, file_, &all, sizeof all, off_t{0}) != static_cast<long>(sizeof all))
    return false;
  constexpr int most_tries = 3;
  for (std::uint32_t n = 0; n < slots; ++n)  // somebody may have been about to write it
    for (int tries = 0; all[n].format == slot_format && !plausible(all[n]) && tries < most_tries;
         ++tries)
      if (syscall(SYS_pread64, file_, &all[n], sizeof(slot), place_of(n)) !=
          static_cast<long>(sizeof(slot)))
        return false;
  return true;
}

bool page_file::write(std::uint32_t n, const slot& s, std::uint64_t in_place_of) const noexcept {
  const off_t at = place_of(n);
  const locked its(file_, at, sizeof(slot));
  slot there{};
  if (!its ||
      syscall(SYS_pread64, file_, &there, sizeof there, at) != static_cast<long>(sizeof there))
    return false;
  if (plausible(there) && there.nonce != in_place_of && fresh(there, boot_ns())) return false;
  return syscall(SYS_pwrite64, file_, &s, sizeof s, at) == static_cast<long>(sizeof s);
}

void page_file::sign(std::uint64_t nonce) const noexcept {
  const timespec sign = sign_of(nonce), times[] = {{0, UTIME_OMIT}, sign};
  futimens(file_, times);
}

bool page_file::is_signed(const char* path, std::uint64_t nonce) noexcept {
  struct stat s {};
  const timespec sign = sign_of(nonce);
  return fstatat(AT_FDCWD, path, &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_mtim.tv_sec == sign.tv_sec &&
         s.st_mtim.tv_nsec == sign.tv_nsec;
}

void page_file::remove(const char* path) const noexcept {
  struct stat s {};
  if (fstat(file_, &s) == 0 && has_name(s, path)) unlink(path);
}

}  // namespace kilter::sharing
