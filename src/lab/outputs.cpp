#include "lab/outputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

/// Empty if all bytes were taken, else why not.
std::string write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return reason();
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
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
  if (!fs::exists(status)) {
    if (const kilter::detail::replacement trial(path); !trial.why().empty()) refuse(fmt::format("cannot be written ({}); name another file", trial.why()));
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
    throw input_error(fmt::format("{} '{}': exists and is not a report of kilter; name another file or remove it", option, path));
}

void write_output(const std::string& path, const std::string& content) {
  if (path == "-") {
    if (const std::string why = write_all(STDOUT_FILENO, content); !why.empty()) fail("standard output", why);
    return;
  }
  if (const std::string why = kilter::detail::replace_file(path, content); !why.empty()) fail(path, why);
}

void tell(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace kilter::lab
