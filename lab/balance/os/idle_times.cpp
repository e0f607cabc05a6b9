#include "balance/os/idle_times.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace kilter::balance::os {

std::vector<std::uint64_t> parse_idle(std::string_view text) {
  // "cpu  TOTALS", then "cpu0 USER NICE SYSTEM IDLE IOWAIT ..." for each that is switched on.
  std::vector<std::uint64_t> idle;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("cpu")) break;
    line.remove_prefix(3);
    const auto number = [&](std::uint64_t& into) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), into);
      line.remove_prefix(static_cast<std::size_t>(after - line.data()));
      return error == std::errc{};
    };
    if (line.starts_with(' ')) continue;  // all of them
    std::uint64_t cpu = 0, ticks[5] = {};
    if (!number(cpu) || cpu >= host::cpu_mask::capacity ||
        !std::all_of(std::begin(ticks), std::end(ticks), number))
      return {};
    if (idle.size() <= cpu) idle.resize(cpu + 1);
    idle[cpu] = ticks[3] + ticks[4];
  }
  return idle;
}

std::vector<double> idle_times::since_last(const core_map& cores, double now_s) {
  std::ifstream in("/proc/stat");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto by_cpu = parse_idle(text);
  std::vector<std::uint64_t> ticks;
  for (core_id c = 0; c < cores.cores(); ++c) {
    const auto cpu = static_cast<std::size_t>(cores.os_cpu(c));
    if (cpu >= by_cpu.size()) return {};
    ticks.push_back(by_cpu[cpu]);
  }
  std::vector<double> idle;
  const double length_ticks = (now_s - last_s_) * static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (ticks_.size() == ticks.size() && length_ticks > 0.0)
    for (std::size_t c = 0; c < ticks.size(); ++c)
      idle.push_back(std::clamp(
          static_cast<double>(ticks[c] - std::min(ticks[c], ticks_[c])) / length_ticks, 0.0, 1.0));
  ticks_ = std::move(ticks);
  last_s_ = now_s;
  return idle;
}

}  // namespace kilter::balance::os
