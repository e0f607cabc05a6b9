#include "apps/programs/dedup_input.hpp"

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

namespace kilter::apps {

namespace {

constexpr std::size_t word_count = 8192;

/// Letters about as often as English has them.
std::vector<std::string> drawn_words(std::mt19937_64& random) {
  constexpr std::string_view letters =
      "eeeeeeetttttaaaaaooooiiiinnnnssssrrrhhhdddllluuccmmfyywggpbvk";
  std::vector<std::string> words(word_count);
  for (std::string& w : words) {
    for (std::size_t left = 2 + random() % 9; left > 0; --left)
      w += letters[random() % letters.size()];
    w += ' ';
  }
  return words;
}

void add_words(std::string& text, std::size_t until, const std::vector<std::string>& words,
               std::mt19937_64& random) {
  while (text.size() < until) {
    std::uint64_t r = random();
    // The product of three numbers below one is small more often than not, so the first words are
    // the common ones.
    const std::uint64_t a = r % word_count, b = (r >> 13) % word_count, c = (r >> 26) % word_count;
    text += words[a * b / word_count * c / word_count];
    if (r >> 60 == 0) text.back() = '\n';
  }
}

}  // namespace

std::string drawn_text(std::size_t bytes, std::uint64_t seed) {
  constexpr std::size_t shortest = 16 * 1024, longest = 256 * 1024;
  std::mt19937_64 random(seed);
  const std::vector<std::string> words = drawn_words(random);
  std::string text;
  text.reserve(bytes + longest);
  while (text.size() < bytes) {
    const std::size_t length = shortest + random() % (longest - shortest), before = text.size();
    if (before > length && random() % 2 == 0) {
      const std::size_t from = random() % (before - length);
      text.append(text.data() + from, length);  // there is room: nothing moves
    } else {
      add_words(text, before + length / 2, words, random);
    }
  }
  text.resize(bytes);
  return text;
}

}  // namespace kilter::apps
