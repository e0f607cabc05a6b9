#include "apps/programs/netlist.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_map>
#include <utility>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

constexpr std::string_view blanks = " \t\r\v\f";
constexpr std::string_view last_word = "END";
constexpr std::uint64_t most_elements = 100'000'000, longest_side = 1'000'000;

/// Takes the next word off the line; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

bool read_whole(std::string_view word, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size() && !word.empty();
}

std::string quoted(std::string_view word) { return "'" + std::string(word.substr(0, 40)) + "'"; }

/// A file, line by line.
class netlist_reader {
 public:
  netlist_reader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  netlist read() {
    std::string_view line;
    if (!next_line(line))
      throw input_error("netlist '" + file_ +
                        "' is empty; its first line is ELEMENTS COLUMNS ROWS");
    const std::uint64_t elements = read_heading(line);
    // Elements may be inputs before their own line comes, so all names are read first.
    struct element_line {
      std::size_t number;
      std::string_view inputs;
    };
    std::vector<element_line> lines;
    while (next_line(line)) {
      if (lines.size() == elements)
        refuse("there are more elements than the " + std::to_string(elements) +
               " of the first line");
      read_name(line);
      lines.push_back({number_, line});
    }
    if (lines.size() < elements)
      refuse("the file ends after " + std::to_string(lines.size()) +
             " elements; its first line says " + std::to_string(elements));
    for (const element_line& each : lines) {
      number_ = each.number;
      read_inputs(each.inputs);
    }
    return std::move(all_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw input_error("netlist '" + file_ + "', line " + std::to_string(number_) + ": " + why);
  }

  /// False at the end. Lines of blanks are passed over.
  bool next_line(std::string_view& line) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (line.find_first_not_of(blanks) != std::string_view::npos) return true;
    }
    return false;
  }

  std::uint64_t read_heading(std::string_view line) {
    std::array<std::uint64_t, 3> numbers{};
    constexpr std::array<std::uint64_t, 3> most{most_elements, longest_side, longest_side};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string_view word = next_word(line);
      if (!read_whole(word, numbers[i]) || numbers[i] < (i == 0 ? 2u : 1u) || numbers[i] > most[i])
        refuse(quoted(word) + ": write ELEMENTS COLUMNS ROWS, whole numbers, elements from 2 to " +
               std::to_string(most_elements) + ", the others from 1 to " +
               std::to_string(longest_side));
    }
    if (const std::string_view word = next_word(line); !word.empty())
      refuse(quoted(word) + " comes after ELEMENTS COLUMNS ROWS, where the line ends");
    if (numbers[1] * numbers[2] < numbers[0])
      refuse(std::to_string(numbers[1]) + " x " + std::to_string(numbers[2]) +
             " places are fewer than " + std::to_string(numbers[0]) + " elements");
    all_.columns = numbers[1];
    all_.rows = numbers[2];
    return numbers[0];
  }

  void read_name(std::string_view& line) {
    const std::string_view name = next_word(line), type = next_word(line);
    if (name == last_word) refuse("END stands where the name of an element should");
    if (std::uint64_t ignored = 0; !read_whole(type, ignored))
      refuse("the type of " + quoted(name) + " is " + quoted(type) + "; it is a whole number");
    if (!known_.emplace(name, static_cast<std::uint32_t>(all_.names.size())).second)
      refuse("there is an element " + quoted(name) + " already");
    all_.names.emplace_back(name);
  }

  void read_inputs(std::string_view line) {
    for (;;) {
      const std::string_view word = next_word(line);
      if (word == last_word) break;
      if (word.empty()) refuse("the line does not end with END");
      const auto at = known_.find(word);
      if (at == known_.end()) refuse("there is no element " + quoted(word));
      all_.inputs.all.push_back(at->second);
    }
    if (const std::string_view word = next_word(line); !word.empty())
      refuse(quoted(word) + " comes after END, where the line ends");
    all_.inputs.first.push_back(all_.inputs.all.size());
  }

  std::string_view rest_;
  const std::string& file_;
  std::size_t number_ = 0;  // of the line
  netlist all_;
  std::unordered_map<std::string_view, std::uint32_t> known_;  // the words are those of the text
};

}  // namespace

netlist read_netlist(std::string_view text, const std::string& file) {
  return netlist_reader(text, file).read();
}

netlist drawn_netlist(std::size_t elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  netlist n;
  n.columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(elements))));
  n.rows = (elements + n.columns - 1) / n.columns;
  // A placement in which wires are short, which annealing does not know.
  std::vector<std::uint32_t> element_at(elements), cell_of(elements);
  std::iota(element_at.begin(), element_at.end(), 0u);
  for (std::size_t i = elements; i > 1; --i) std::swap(element_at[i - 1], element_at[random() % i]);
  for (std::size_t c = 0; c < elements; ++c) cell_of[element_at[c]] = static_cast<std::uint32_t>(c);
  const auto near = [&](std::uint32_t cell) {
    const std::uint64_t bits = random(), reach = 1 + ((bits >> 8) % 8), across = 2 * reach + 1;
    if (bits % 8 == 0) return random() % elements;
    const std::uint64_t column = cell % n.columns + (bits >> 16) % across,
                        row = cell / n.columns + (bits >> 32) % across;
    if (column < reach || column - reach >= n.columns || row < reach) return elements;
    return std::min<std::uint64_t>((row - reach) * n.columns + (column - reach), elements);
  };
  for (std::size_t e = 0; e < elements; ++e) {
    for (std::uint64_t left = 2 + random() % 5; left > 0;) {
      const std::uint64_t cell = near(cell_of[e]);
      if (cell == elements || cell == cell_of[e]) continue;
      n.inputs.all.push_back(element_at[cell]);
      --left;
    }
    n.inputs.first.push_back(n.inputs.all.size());
  }
  return n;
}

adjacency neighbours_of(const netlist& n) {
  adjacency both;
  both.first.assign(n.elements() + 1, 0);
  const auto for_each_wire = [&](auto wire) {
    for (std::uint32_t e = 0; e < n.elements(); ++e)
      for (const std::uint32_t input : n.inputs.of(e))
        if (input != e) wire(e, input);
  };
  for_each_wire([&](std::uint32_t a, std::uint32_t b) {
    ++both.first[a + 1];
    ++both.first[b + 1];
  });
  std::partial_sum(both.first.begin(), both.first.end(), both.first.begin());
  both.all.resize(both.first.back());
  std::vector<std::uint64_t> next(both.first.begin(), both.first.end() - 1);
  for_each_wire([&](std::uint32_t a, std::uint32_t b) {
    both.all[next[a]++] = b;
    both.all[next[b]++] = a;
  });
  return both;
}

}  // namespace kilter::apps
