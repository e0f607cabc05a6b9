#include "words/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "words/join.hpp"

namespace kilter::lab {

namespace {

/// How many letters were added, left out or replaced, or swapped with their neighbour (optimal
/// string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), now(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), row[j] + 1, now[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(now);
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> choices) {
  if (word.size() > 64) return {};
  // What begins with the word was meant if it is the only one.
  const auto begins = [&](std::string_view choice) {
    return word.size() >= 3 && choice.starts_with(word);
  };
  if (std::ranges::count_if(choices, begins) == 1) return *std::ranges::find_if(choices, begins);
  std::string_view best;
  std::size_t best_distance = word.size() <= 3 ? 2 : 3;  // from here on it is another word
  for (const std::string_view choice : choices)
    if (const std::size_t d = distance(word, choice); d < best_distance && d < choice.size()) {
      best = choice;
      best_distance = d;
    }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view word,
                         std::span<const std::string_view> choices) {
  const std::string_view guess = nearest(word, choices);
  if (!guess.empty()) return fmt::format("unknown {} '{}': did you mean '{}'?", what, word, guess);
  return fmt::format("unknown {} '{}': there are {}", what, word, joined(choices, ", "));
}

}  // namespace kilter::lab
