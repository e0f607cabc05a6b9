#include "balance/preload/counts.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "balance/symmetry.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::preload {

std::string counts_text(const std::vector<thread_counts>& threads) {
  std::string text = counts_begin;
  for (const thread_counts& t : threads) {
    char line[counts_line_size];
    text.append(line, counts_line(line, t));
  }
  return text + counts_end;
}

std::vector<thread_counts> parse_counts(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  if (line + "\n" != counts_begin)
    throw input_error("line 1 must be " + std::string(counts_begin, std::strlen(counts_begin) - 1));
  std::vector<thread_counts> threads;
  bool ended = false;
  for (int number = 2; !ended && std::getline(lines, line); ++number) {
    std::istringstream words(line);
    thread_counts t;
    std::string more;
    ended = line + "\n" == counts_end;
    if (!ended && (!(words >> t.index >> t.began_s >> t.ended_s >> t.cpu_s >> t.locks >>
                     t.barriers >> t.conditions) ||
                   words >> more))
      throw input_error("line " + std::to_string(number) +
                        " must be INDEX BEGAN ENDED CPU LOCKS BARRIERS CONDITIONS");
    if (!ended) threads.push_back(t);
  }
  if (!ended) throw input_error("the end is missing");
  std::sort(threads.begin(), threads.end(),
            [](const thread_counts& a, const thread_counts& b) { return a.index < b.index; });
  return threads;
}

symmetry_result symmetry_of(const std::vector<thread_counts>& threads) {
  std::vector<thread_life> lives;
  std::vector<double> work, primitives;
  for (const thread_counts& t : threads) {
    lives.push_back({t.began_s, t.ended_s});
    work.push_back(t.cpu_s);
    primitives.push_back(static_cast<double>(t.locks + t.barriers + t.conditions));
  }
  const auto group = thread_groups(lives);
  const std::uint32_t groups =
      group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  return {groups, symmetry(work, group), symmetry(primitives, group)};
}

}  // namespace kilter::balance::preload
