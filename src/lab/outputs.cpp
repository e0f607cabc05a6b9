#include "lab/outputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

/// Writes all bytes and closes; empty if that worked, else why not.
std::string write_all(int fd, const std::string& content) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      std::string why = reason();
      if (fd != STDOUT_FILENO) ::close(fd);
      return why;
    }
    done += static_cast<std::size_t>(n);
  }
  if (fd == STDOUT_FILENO) return {};
  const bool synced = ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS;  // EINVAL: a device or pipe
  const std::string why = synced ? "" : reason();
  if (::close(fd) != 0 && why.empty()) return reason();
  return why;
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path, why));
}

}  // namespace

void check_output(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return;
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("{} '{}': {}", option, path, why));
  };
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) refuse("is a directory; name a file in it");
  const fs::path folder = fs::absolute(path, ignored).parent_path();
  if (!fs::is_directory(folder, ignored)) refuse(fmt::format("there is no directory {}; create it first", folder.string()));
  const bool existed = fs::exists(status);
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (fd < 0) refuse(fmt::format("cannot be written ({}); name another file", reason()));
  ::close(fd);
  if (!existed) ::unlink(path.c_str());
}

void check_report_output(const std::string& option, const std::string& path) {
  check_output(option, path);
  if (path.empty() || path == "-" || !fs::is_regular_file(path)) return;
  std::ifstream file(path, std::ios::binary);
  std::string head(8192, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (!head.empty() && head.find("<title>Kilter report</title>") == std::string::npos)
    throw input_error(fmt::format("{} '{}': exists and is not a report of kilter; name another file or remove it", option, path));
}

void write_output(const std::string& path, const std::string& content) {
  if (path == "-") {
    if (const std::string why = write_all(STDOUT_FILENO, content); !why.empty()) fail("standard output", why);
    return;
  }
  struct stat existing {};
  const bool known = ::stat(path.c_str(), &existing) == 0;
  std::error_code ignored;
  const std::string target = known ? fs::canonical(path, ignored).string() : path;  // a link's file is replaced, not the link
  const std::string part = fmt::format("{}.part-{}", target, ::getpid());
  int fd = known && !S_ISREG(existing.st_mode) ? -1 : ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool in_place = fd < 0;  // a device, or a file in a folder that takes no new ones
  if (in_place) fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) fail(path, reason());
  if (known && !in_place) (void)::fchmod(fd, existing.st_mode & 07777);
  std::string why = write_all(fd, content);
  if (!in_place && why.empty() && ::rename(part.c_str(), target.c_str()) != 0) why = reason();
  if (why.empty()) return;
  if (!in_place) ::unlink(part.c_str());
  fail(path, why);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace kilter::lab
