#include "base/replace_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>

namespace kilter::inline v0::detail {

namespace {

namespace fs = std::filesystem;

/// While it lives, this thread is not ended by those who ask politely.
class held_signals {
 public:
  held_signals() {
    sigset_t polite;
    ::sigemptyset(&polite);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&polite, s);
    ::pthread_sigmask(SIG_BLOCK, &polite, &before_);
  }
  ~held_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

 private:
  sigset_t before_{};
};

/// A name beside `target` that nobody can have guessed.
std::string name_beside(const fs::path& target) {
  std::uint64_t chance = 0;
  if (::getrandom(&chance, sizeof chance, GRND_NONBLOCK) != sizeof chance)
    chance = static_cast<std::uint64_t>(::getpid());
  constexpr std::size_t longest = 200;  // of 255, so that ours fits where the file's own name does
  return (target.parent_path() /
          (target.filename().string().substr(0, longest) + ".part-" + std::to_string(chance)))
      .string();
}

bool put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// a device or a pipe keeps nothing back
bool flushed(int fd) { return ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS; }

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// With an unnamed file: no kernel or file system without them, and a way to name it.
int open_unnamed(const std::string& folder) {
  return ::access("/proc/self/fd", X_OK) == 0
             ? ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)
             : -1;
}

}  // namespace

replacement::replacement(const std::string& path) : target_(path) {
  struct stat old {};
  const bool known = ::stat(path.c_str(), &old) == 0;
  if (known && !S_ISREG(old.st_mode)) {
    // a pipe that nobody reads would be waited for
    fd_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    straight_ = true;
    if (fd_ < 0)
      fail();
    else
      (void)::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) & ~O_NONBLOCK);
    return;
  }
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO})
    if (struct stat s{}; known && ::fstat(standard, &s) == 0 && same_file(s, old)) {
      fd_ = ::fcntl(standard, F_DUPFD_CLOEXEC, 3);
      straight_ = true;
      if (fd_ < 0) fail();
      return;
    }
  std::error_code ignored;
  if (known) target_ = fs::canonical(path, ignored).string();
  if (target_.empty()) target_ = path;
  const std::string folder = fs::path(target_).parent_path().string();
  open_beside(folder.empty() ? "." : folder);
  if (fd_ < 0 && known) {
    fd_ = ::memfd_create("kilter", MFD_CLOEXEC);
    in_place_ = true;
  }
  if (fd_ < 0) {
    fail();
    return;
  }
  if (!known || in_place_) return;
  // another's file that we may replace becomes ours
  if (::fchown(fd_, old.st_uid, old.st_gid) != 0) errno = 0;
  (void)::fchmod(fd_, old.st_mode & 07777);
}

replacement::~replacement() {
  if (fd_ >= 0) ::close(fd_);
  if (has_name()) ::unlink(part_.c_str());
}

void replacement::open_beside(const std::string& folder) {
  fd_ = open_unnamed(folder);
  constexpr int tries = 8;
  for (int i = 0; i < tries && fd_ < 0; ++i) {
    const std::string name = name_beside(target_);
    fd_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd_ >= 0)
      part_ = name;
    else if (errno != EEXIST)
      return;
  }
}

void replacement::add(std::string_view text) {
  if (why_.empty() && !put(fd_, text)) fail();
}

void replacement::keep() {
  if (!why_.empty()) return;
  if (straight_) {
    if (!flushed(fd_)) fail();
    return;
  }
  if (in_place_ || !flushed(fd_)) return in_place_ ? overwrite() : fail();
  const held_signals whole;
  if (!has_name()) {
    const std::string name = name_beside(target_);
    if (::linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd_)).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) != 0)
      return overwrite();
    part_ = name;
  }
  if (::rename(part_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::unlink(part_.c_str());
    part_.clear();
    errno = error;
    // mounted by itself, or another's in a sticky folder
    return error == EBUSY || error == EPERM || error == EACCES ? overwrite() : fail();
  }
  part_.clear();
}

/// The blocks first: a disk that is full is noticed before anything is lost.
void replacement::overwrite() {
  struct stat fresh {
  }, old{};
  const int to = ::open(target_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (to < 0 || ::fstat(fd_, &fresh) != 0 || ::fstat(to, &old) != 0) {
    fail();
    if (to >= 0) ::close(to);
    return;
  }
  const int reserved = fresh.st_size > 0 ? ::posix_fallocate(to, 0, fresh.st_size) : 0;
  if (reserved != 0 && reserved != EOPNOTSUPP && reserved != EINVAL) {
    if (::ftruncate(to, old.st_size) != 0) errno = 0;
    errno = reserved;
    fail();
    ::close(to);
    return;
  }
  char block[1 << 16];
  bool good = true;
  off_t at = 0;
  while (good && at < fresh.st_size) {
    const ssize_t n = ::pread(fd_, block, sizeof block, at);
    if (n < 0 && errno == EINTR) continue;
    good = n > 0 && put(to, {block, static_cast<std::size_t>(n)});
    at += n;
  }
  if (!good || ::ftruncate(to, fresh.st_size) != 0 || !flushed(to)) fail();
  if (::close(to) != 0 && why_.empty()) fail();
}

void replacement::fail() { why_ = std::strerror(errno); }

std::string replace_file(const std::string& path, std::string_view content) {
  replacement r(path);
  std::optional<held_signals> whole;
  if (r.has_name()) whole.emplace();
  r.add(content);
  r.keep();
  return r.why();
}

}  // namespace kilter::inline v0::detail
