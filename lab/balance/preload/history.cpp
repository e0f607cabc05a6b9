#include "balance/preload/history.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/replace_file.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::preload {

namespace {

constexpr std::string_view lengths_schema = "kilter.lengths/1";
constexpr std::size_t largest_history = 4u << 20;
constexpr unsigned long most_runs = 8, most_threads = 65536;
constexpr double most_seconds = 1e12;

// a program waits for nobody because of us
constexpr int to_open = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// An open file, closed in the end. Everybody who may read it may lock it for ever.
class history_file {
 public:
  history_file(const std::string& path, int fd) : path_(path), fd_(fd) {
    struct stat s {};
    if (fd_ >= 0 && (fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode))) {
      close(fd_);
      throw input_error("'" + path_ + "' is no regular file");
    }
  }
  ~history_file() {
    if (fd_ >= 0) close(fd_);
  }
  history_file(const history_file&) = delete;
  history_file& operator=(const history_file&) = delete;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  /// While this lives, no other run renews it. Who does so takes milliseconds.
  void lock() const {
    constexpr int most_tries = 2000;
    for (int tries = 0; flock(fd_, LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail("be locked");
      if (tries == most_tries)
        throw input_error("'" + path_ + "' cannot be written: somebody keeps it locked");
      usleep(1000);
    }
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error("'" + path_ + "' cannot " + what + ": " + std::strerror(errno));
  }

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
  /// False if another file has taken the place of this one since it was opened: whoever held the
  /// lock before us has renamed his over it.
  [[nodiscard]] bool still_there() const {
    struct stat here {
    }, there{};
    return fstat(fd_, &here) == 0 && stat(path_.c_str(), &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  }

 private:
  std::string path_;
  int fd_;
};

/// A new one is nobody else's: no link is followed to a place where there is none.
int open_to_renew(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | to_open);
  return fd >= 0 || errno != ENOENT ? fd
                                    : open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | to_open, 0644);
}

known_history parsed(const std::string& path, std::string_view text) {
  try {
    known_history h = parse_history(text);
    if (!h.left_out.empty()) h.left_out = "'" + path + "': " + h.left_out;
    return h;
  } catch (const input_error& e) {
    throw input_error("'" + path + "': " + e.what());
  }
}

/// Takes the first word of `line`, and the blanks before it and behind.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r";
  const auto skip = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  };
  skip();
  const std::string_view word = line.substr(0, std::min(line.find_first_of(blanks), line.size()));
  line.remove_prefix(word.size());
  skip();
  return word;
}

template <class Number>
bool is_number(std::string_view word, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

bool parse_line(std::string_view line, std::string& program, unsigned long& index, past_thread& t) {
  program = next_word(line);
  const bool numbers = is_number(next_word(line), index) && is_number(next_word(line), t.runs) &&
                       is_number(next_word(line), t.mean_s);
  const bool shown = std::all_of(program.begin(), program.end(),
                                 [](unsigned char c) { return c > ' ' && c <= '~'; });
  t.runs = std::min(t.runs, most_runs);
  return numbers && line.empty() && shown && !program.empty() && index < most_threads &&
         t.runs > 0 && t.mean_s >= 0.0 && t.mean_s <= most_seconds;
}

}  // namespace

known_history parse_history(std::string_view text) {
  known_history h;
  std::size_t faults = 0;
  std::string first;
  const auto fault = [&](const std::string& what) {
    if (++faults == 1) first = what;
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::string which = "line " + std::to_string(number);
    const bool cut = end == std::string_view::npos;
    if (number == 1 && line != lengths_schema && !(cut && lengths_schema.starts_with(line)))
      throw input_error("line 1 must be " + std::string(lengths_schema));
    std::string program;
    unsigned long index = 0;
    past_thread t;
    if (cut)
      fault("the file ends within " + which);
    else if (number > 1 && !parse_line(line, program, index, t))
      fault(which + " must be PROGRAM INDEX RUNS SECONDS");
    else if (number > 1 && !h.lengths.emplace(std::pair(program, index), t).second)
      fault(which + " repeats the program and index of another");
    text.remove_prefix(cut ? text.size() : end + 1);
  }
  if (faults > 0)
    h.left_out = first + "; " +
                 (faults == 1 ? "that line is" : std::to_string(faults) + " such lines are") +
                 " left out";
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
  for (auto at = h.find({program, 0});
       at != h.end() && at->first.first == program && at->first.second == lengths.size(); ++at)
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

known_history load_history(const std::string& path) {
  // it is replaced as a whole, so nobody need be kept from that
  const history_file file(path, open(path.c_str(), O_RDONLY | to_open));
  if (!file.is_open() && errno == ENOENT) return {};
  if (!file.is_open()) file.fail("be read");
  return parsed(path, file.read_all());
}

void save_run(const std::string& path, const std::string& program,
              const std::vector<double>& seconds) {
  constexpr int most_tries = 100;
  for (int tries = 0;; ++tries) {
    const history_file file(path, open_to_renew(path));
    // EEXIST: another run has just made it, or it is a link to nowhere
    if (!file.is_open() && (errno != EEXIST || tries == most_tries)) file.fail("be written");
    if (!file.is_open()) continue;
    file.lock();
    if (!file.still_there() && tries < most_tries) continue;
    history h = parsed(path, file.read_all()).lengths;
    add_run(h, program, seconds);
    if (const std::string why = kilter::detail::replace_file(path, history_text(h)); !why.empty())
      throw input_error("'" + path + "' cannot be written: " + why);
    return;
  }
}

}  // namespace kilter::balance::preload
