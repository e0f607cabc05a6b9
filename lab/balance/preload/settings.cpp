#include "balance/preload/settings.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "kilter/error.hpp"

namespace kilter::balance::preload {

namespace {

constexpr std::size_t largest_settings = 1u << 20;
constexpr std::size_t most_lengths = 65536;
constexpr int largest_cpu = 65535;

int cpu_number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > largest_cpu)
    throw input_error("'" + std::string(text.substr(0, 40)) +
                      "' is no CPU number; it must be a list such as 0-3,6");
  return value;
}

/// Of a file, not of a pipe: the program that it is read in would wait for who writes into that.
std::string contents(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat s {};
  std::string text;
  ssize_t got = -1;
  if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) {
    text.resize(largest_settings + 1);
    std::size_t size = 0;
    while (size < text.size() && (got = read(fd, text.data() + size, text.size() - size)) > 0)
      size += static_cast<std::size_t>(got);
    text.resize(size);
  }
  if (fd >= 0) close(fd);
  if (got < 0) throw input_error("'" + path + "' cannot be read as a file");
  if (text.size() > largest_settings) throw input_error("'" + path + "' is larger than 1 MiB");
  return text;
}

}  // namespace

std::vector<int> parse_cpus(std::string_view text) {
  std::vector<int> cpus;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, comma - at);
    const std::size_t dash = item.find('-');
    const int first = cpu_number(item.substr(0, dash)),
              last = dash == std::string_view::npos ? first : cpu_number(item.substr(dash + 1));
    for (int c = first; c <= last; ++c) cpus.push_back(c);
    if (last < first) throw input_error("'" + std::string(item) + "' runs backwards");
    at = comma + 1;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::vector<double> parse_lengths(std::string_view text) {
  std::vector<double> lengths;
  constexpr std::string_view between = ", \t\r\n";
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;
       at = text.find_first_not_of(between, at)) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    const std::string_view item = text.substr(at, end - at);
    double value = 0.0;
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || stop != item.data() + item.size() || !std::isfinite(value) ||
        value <= 0.0)
      throw input_error("'" + std::string(item.substr(0, 40)) +
                        "' is no length; lengths are numbers above 0, separated by commas");
    if (lengths.size() == most_lengths)
      throw input_error("more than " + std::to_string(most_lengths) + " lengths");
    lengths.push_back(value);
    at = end;
  }
  if (lengths.empty()) throw input_error("there is no length in it");
  return lengths;
}

std::vector<double> read_lengths(const std::string& text) {
  return parse_lengths(text.starts_with('@') ? contents(text.substr(1)) : text);
}

settings read_settings(const char* (*get)(const char*)) {
  settings s;
  const auto take = [&](const char* name, auto&& use) {
    const char* value = get(name);
    if (value == nullptr || *value == '\0') return;
    try {
      use(std::string(value));
    } catch (const input_error& e) {
      throw input_error(std::string(name) + ": " + e.what());
    }
  };
  take("KILTER_POLICY", [&](const std::string& v) {
    if (v != "ljfpf" && v != "cjfpf" && v != "rr")
      throw input_error("'" + v.substr(0, 40) +
                        "' is no policy of the preload library; there are ljfpf, cjfpf, rr");
    s.policy = v;
  });
  take("KILTER_LENGTHS", [&](const std::string& v) { s.lengths = read_lengths(v); });
  take("KILTER_FAST_CPUS", [&](const std::string& v) { s.fast_cpus = parse_cpus(v); });
  take("KILTER_HISTORY", [&](const std::string& v) { s.history = v; });
  take("KILTER_VERBOSE", [&](const std::string& v) { s.verbose = v != "0"; });
  return s;
}

}  // namespace kilter::balance::preload
