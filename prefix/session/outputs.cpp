#include "session/outputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/replace_file.hpp"
#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

/// 0 if all bytes were taken, else errno. A pipe that whoever started us made non-blocking is
/// waited for.
int write_all(int fd, std::string_view content) noexcept {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n >= 0) {
      content.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      (void)::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
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
  if (!fs::is_directory(folder, ignored))
    refuse(fmt::format("there is no directory {}; create it first", folder.string()));
  if (!fs::exists(status)) {
    if (const kilter::detail::replacement trial(path); !trial.why().empty())
      refuse(fmt::format("cannot be written ({}); name another file", trial.why()));
    return;
  }
  if (fs::is_fifo(status)) {  // who reads it would see its end if it were opened and closed
    if (::access(path.c_str(), W_OK) != 0)
      refuse(fmt::format("cannot be written ({}); name another file", reason()));
    return;
  }
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) refuse(fmt::format("cannot be written ({}); name another file", reason()));
  ::close(fd);
}

void check_report_output(const std::string& option, const std::string& path) {
  check_output(option, path);
  if (path.empty() || path == "-" || !fs::is_regular_file(path)) return;
  std::ifstream file(path, std::ios::binary);
  std::string head(8192, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (!head.empty() && head.find("<title>Kilter report</title>") == std::string::npos)
    throw input_error(
        fmt::format("{} '{}': exists and is not a report of kilter; name another file or remove it",
                    option, path));
}

void write_output(const std::string& path, const std::string& content) {
  if (path == "-") {
    const int error = write_all(STDOUT_FILENO, content);
    if (error == EPIPE) throw reader_gone("nobody reads standard output");
    if (error != 0) fail("standard output", std::strerror(error));
    return;
  }
  if (const std::string why = kilter::detail::replace_file(path, content); !why.empty())
    fail(path, why);
}

void tell(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text); }

std::string absolute_path(const std::string& path) {
  std::error_code error;
  // or what does not exist yet would stay relative
  const fs::path whole = fs::absolute(path, error);
  const fs::path resolved = error ? whole : fs::weakly_canonical(whole, error);
  return error ? path : resolved.string();
}

}  // namespace kilter::lab
