#include "balance/preload/history.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

#include "kilter/error.hpp"

namespace kilter::balance::preload {

namespace {

constexpr std::string_view lengths_schema = "kilter.lengths/1";
constexpr std::size_t largest_history = 4u << 20;
constexpr unsigned long most_runs = 8, most_threads = 65536;

/// An open file that is locked while it lives.
class locked_file {
 public:
  locked_file(const std::string& path, int flags, int lock) : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ >= 0 && flock(fd_, lock) != 0) fail("be locked");
  }
  ~locked_file() {
    if (fd_ >= 0) close(fd_);
  }
  locked_file(const locked_file&) = delete;
  locked_file& operator=(const locked_file&) = delete;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[noreturn]] void fail(const std::string& what) const { throw input_error("'" + path_ + "' cannot " + what + ": " + std::strerror(errno)); }

  [[nodiscard]] std::string read_all() const {
    std::string text(largest_history + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
      const ssize_t got = read(fd_, text.data() + size, text.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("be read");
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    if (size > largest_history) throw input_error("'" + path_ + "' is larger than 4 MiB");
    text.resize(size);
    return text;
  }
  void replace(std::string_view text) const {
    if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) != 0) fail("be written");
    while (!text.empty()) {
      const ssize_t put = write(fd_, text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail("be written");
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }

 private:
  std::string path_;
  int fd_;
};

history parsed(const std::string& path, std::string_view text) {
  try {
    return parse_history(text);
  } catch (const input_error& e) {
    throw input_error("'" + path + "': " + e.what());
  }
}

}  // namespace

history parse_history(std::string_view text) {
  history h;
  if (text.empty()) return h;
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  if (line != lengths_schema) throw input_error("line 1 must be " + std::string(lengths_schema));
  for (int number = 2; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string program, more;
    unsigned long index = 0;
    past_thread t;
    if (!(words >> program >> index >> t.runs >> t.mean_s) || words >> more || index >= most_threads || t.runs == 0 ||
        !std::isfinite(t.mean_s) || t.mean_s < 0.0)
      throw input_error("line " + std::to_string(number) + " must be PROGRAM INDEX RUNS SECONDS");
    t.runs = std::min(t.runs, most_runs);
    h[{program, index}] = t;
  }
  return h;
}

std::string history_text(const history& h) {
  std::string text = std::string(lengths_schema) + "\n";
  for (const auto& [key, t] : h) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, " %lu %lu %.9g\n", key.second, t.runs, t.mean_s);
    text += key.first + numbers;
  }
  return text;
}

std::vector<double> predicted_lengths(const history& h, const std::string& program) {
  std::vector<double> lengths;
  for (auto at = h.find({program, 0}); at != h.end() && at->first.first == program && at->first.second == lengths.size(); ++at)
    lengths.push_back(std::max(at->second.mean_s, 1e-9));
  return lengths;
}

void add_run(history& h, const std::string& program, const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < std::min<std::size_t>(seconds.size(), most_threads); ++i) {
    if (seconds[i] <= 0.0) continue;
    past_thread& t = h[{program, i}];
    t.runs = std::min(t.runs + 1, most_runs);
    t.mean_s += (seconds[i] - t.mean_s) / static_cast<double>(t.runs);
  }
}

history load_history(const std::string& path) {
  const locked_file file(path, O_RDONLY, LOCK_SH);
  if (!file.is_open() && errno == ENOENT) return {};
  if (!file.is_open()) file.fail("be read");
  return parsed(path, file.read_all());
}

void save_run(const std::string& path, const std::string& program, const std::vector<double>& seconds) {
  const locked_file file(path, O_RDWR | O_CREAT, LOCK_EX);
  if (!file.is_open()) file.fail("be written");
  history h = parsed(path, file.read_all());
  add_run(h, program, seconds);
  file.replace(history_text(h));
}

}  // namespace kilter::balance::preload
