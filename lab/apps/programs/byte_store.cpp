#include "apps/programs/byte_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

/// Empty if all were read, else why not.
std::string read_all(int fd, std::uint64_t at, std::span<char> to) {
  while (!to.empty()) {
    const ssize_t got = ::pread(fd, to.data(), to.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    if (got == 0) return "it became shorter while it was read";
    to = to.subspan(static_cast<std::size_t>(got));
    at += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

file_source::file_source(const std::string& path, const std::string& what)
    : which_(what + " '" + path + "'") {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw input_error(which_ + " cannot be read: " + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw input_error(which_ + " is a directory; name a file in it");
  if (!S_ISREG(status.st_mode))
    throw input_error(which_ +
                      " is no regular file; it is read more than once, so write what it gives into "
                      "a file and name that");
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) ::close(fd_);
    throw input_error(which_ + " cannot be read: " + why);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

file_source::~file_source() { ::close(fd_); }

void file_source::read(std::uint64_t at, std::span<char> to) const {
  if (const std::string why = read_all(fd_, at, to); !why.empty())
    throw input_error(which_ + " cannot be read: " + why);
}

byte_store::byte_store(const std::string& folder) : where_("a file in " + folder) {
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0) {  // not every file system has files without a name
    std::string name = folder + "/.kilter-XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) ::unlink(name.c_str());
  }
  if (fd_ < 0)
    throw input_error("the folder '" + folder + "' takes no file: " + std::strerror(errno));
}

byte_store::~byte_store() {
  if (fd_ >= 0) ::close(fd_);
}

void byte_store::read(std::uint64_t at, std::span<char> to) const {
  if (fd_ < 0) {
    bytes_.copy(to.data(), to.size(), at);
    return;
  }
  if (const std::string why = read_all(fd_, at, to); !why.empty())
    throw std::runtime_error(where_ + " cannot be read: " + why);
}

void byte_store::add(std::string_view more) {
  if (fd_ < 0) bytes_ += more;
  for (std::string_view left = fd_ < 0 ? "" : more; !left.empty();) {
    const ssize_t put = ::pwrite(fd_, left.data(), left.size(),
                                 static_cast<off_t>(size_ + more.size() - left.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw std::runtime_error("cannot write " + where_ + ": " + std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(put));
  }
  size_ += more.size();
}

void byte_store::clear() {
  bytes_.clear();
  size_ = 0;
  if (fd_ >= 0 && ::ftruncate(fd_, 0) != 0)
    throw std::runtime_error("cannot write " + where_ + ": " + std::strerror(errno));
}

}  // namespace kilter::apps
