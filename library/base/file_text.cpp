#include "base/file_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "base/printable.hpp"
#include "kilter/error.hpp"

namespace kilter {

namespace {

class opened {
 public:
  explicit opened(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~opened() {
    if (fd_ >= 0) close(fd_);
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string file_text(const std::string& path, const std::string& what, std::size_t most_mib) {
  const std::size_t most = most_mib << 20;
  const std::string which = what + " '" + path + "'";
  const opened file(path);
  struct stat status {};
  if (file.fd() < 0 || fstat(file.fd(), &status) != 0)
    throw input_error(which + " cannot be read: " + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw input_error(which + " is a directory; name a file in it");
  std::string text;
  for (char block[1 << 16];;) {
    const ssize_t got = read(file.fd(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw input_error(which + " cannot be read: " + std::strerror(errno));
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > most)
      throw input_error(which + " is larger than " + std::to_string(most_mib) +
                        " MiB, the most that is read");
  }
}

std::string one_line(std::string_view text, std::size_t longest) {
  std::string line = printable(text.substr(0, longest + 1));
  if (line.size() <= longest) return line;
  std::size_t kept = longest - 3;
  while (kept > 0 && (line[kept] & 0xC0) == 0x80) --kept;
  return line.substr(0, kept) + "...";
}

}  // namespace kilter
