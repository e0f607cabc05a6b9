#include "words/wrapped.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace kilter::lab {

namespace {

/// A line as the terminal shows it: where each column begins in its bytes. Of a letter of several
/// bytes the first counts.
std::vector<std::size_t> columns_of(std::string_view line) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
      continue;
    }
    if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) at.push_back(i);
  }
  return at;
}

/// In which column the rest of a line goes on.
std::size_t indent_of(std::string_view shown, std::size_t columns) {
  const std::size_t first = std::min(shown.find_first_not_of(' '), shown.size());
  if (shown.substr(first).starts_with("- ")) return first + 2;
  const std::size_t gap = shown.find("  ", first);
  const std::size_t entry = gap == shown.npos ? shown.npos : shown.find_first_not_of(' ', gap);
  return entry != shown.npos && entry <= 2 * columns / 3 ? entry : first;
}

std::string fitted_line(std::string_view line, std::size_t columns) {
  const std::vector<std::size_t> at = columns_of(line);
  if (at.size() <= columns) return std::string(line);
  std::string shown;
  for (const std::size_t i : at) shown += line[i];
  const std::size_t first = std::min(shown.find_first_not_of(' '), shown.size());
  const bool command = std::string_view(shown).substr(first).starts_with("kilter ");
  const std::size_t indent = command ? first + 4 : indent_of(shown, columns),
                    room = columns - (command ? 2 : 0);

  std::string out;
  std::size_t begin = 0, byte = 0;  // column and byte from which the next piece is taken
  for (std::size_t width = room;; width = room > indent ? room - indent : 1) {
    if (shown.size() - begin <= width) break;
    const std::size_t least = begin == 0 ? std::max(indent, first + 1) : begin + 1;
    std::size_t cut = shown.rfind(' ', begin + width);
    // a word that is longer than the line
    if (cut == shown.npos || cut < least) cut = shown.find(' ', begin + width);
    const std::size_t next = std::min(shown.find_first_not_of(' ', cut), shown.size());
    if (cut == shown.npos || next == shown.size()) break;
    const std::size_t end = at[shown.find_last_not_of(' ', cut)] + 1;
    out += line.substr(byte, end - byte);
    // colours that begin or end there
    std::ranges::copy_if(line.substr(end, at[next] - end), std::back_inserter(out),
                         [](char c) { return c != ' '; });
    out += (command ? " \\\n" : "\n") + std::string(indent, ' ');
    begin = next;
    byte = at[next];
  }
  return out.append(line.substr(byte));
}

}  // namespace

std::string fitted(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += fitted_line(text.substr(0, end), columns);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace kilter::lab
