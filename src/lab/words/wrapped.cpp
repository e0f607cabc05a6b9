#include "lab/words/wrapped.hpp"

#include <algorithm>

namespace kilter::lab {

std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& rest) {
  std::string out, current = first;
  bool empty = true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!empty && current.size() + 1 + word.size() > width) {
      out += current + "\n";
      current = rest;
      empty = true;
    }
    current += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  return out + current + "\n";
}

}  // namespace kilter::lab
