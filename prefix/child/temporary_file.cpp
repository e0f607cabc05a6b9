#include "child/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "kilter/error.hpp"

namespace kilter::prefix {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw input_error(what + " '" + path + "': " + std::strerror(error));
}

}  // namespace

temporary_file::temporary_file(const std::string& what)
    : folder_(fs::absolute(fs::temp_directory_path() / ("kilter-" + what + "-XXXXXX")).string()) {
  if (!::mkdtemp(folder_.data())) fail("no temporary folder", folder_, errno);
  path_ = folder_ + "/told";
  file_ =
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ >= 0) return;
  const int error = errno;
  ::rmdir(folder_.c_str());
  fail("no temporary file", path_, error);
}

temporary_file::~temporary_file() {
  ::close(file_);
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

std::string temporary_file::content() const {
  std::string text;
  for (char block[1 << 16];;) {
    const ssize_t got = ::pread(file_, block, sizeof block, static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

void temporary_file::add(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write", path_, errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace kilter::prefix
