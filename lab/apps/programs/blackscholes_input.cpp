// Options that `blackscholes` prices: drawn, or from a table.

#include "apps/programs/blackscholes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <random>
#include <utility>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

struct column {
  const char* name;
  double european_option::*value;
  double least, most;
  const char* range;
};
constexpr std::array<column, 5> columns{
    {{"spot", &european_option::spot, 1e-6, 1e12, "0.000001 to 1e12"},
     {"strike", &european_option::strike, 1e-6, 1e12, "0.000001 to 1e12"},
     {"rate", &european_option::rate, -1, 1, "-1 to 1 (5 % is 0.05)"},
     {"volatility", &european_option::volatility, 1e-4, 10, "0.0001 to 10 (20 % is 0.2)"},
     {"years", &european_option::years, 1e-9, 500, "1e-9 to 500"}}};

std::string shortened(std::string_view text) {  // in one line
  return "'" + std::string(text.substr(0, std::min<std::size_t>(40, text.find('\r')))) + "'";
}

std::string outside(const column& c, std::string_view value) {
  return std::string(c.name) + " " + shortened(value) + ": write a number from " + c.range;
}

// not NaN
bool holds(const column& c, double value) { return value >= c.least && value <= c.most; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<bool> is_call(std::string_view text) {
  std::string lower(text.substr(0, 5));
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "c" || lower == "call") return true;
  if (lower == "p" || lower == "put") return false;
  return std::nullopt;
}

/// The fields of a line; those after the seventh do not matter.
struct fields {
  std::array<std::string_view, columns.size() + 2> text;
  std::size_t count = 0;

  explicit fields(std::string_view line) {
    for (std::size_t begin = 0; begin <= line.size() && count < text.size();) {
      const std::size_t end = std::min(line.find_first_of(",;\t", begin), line.size());
      text[count++] = trimmed(line.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  /// `nan` and `inf` are values, though words.
  [[nodiscard]] bool heading() const {
    return std::all_of(text.begin(), text.begin() + count, [](std::string_view f) {
      if (f.starts_with('"')) f.remove_prefix(1);
      return !f.empty() && std::isalpha(static_cast<unsigned char>(f.front())) && !number_in(f);
    });
  }
};

/// What is wrong with the line and what would be right; empty if nothing is.
std::string read_into(european_option& o, const fields& f) {
  if (f.count != columns.size() + 1)
    return (f.count > columns.size() + 1
                ? "it has more than 6 fields"
                : "it has " + std::to_string(f.count) + (f.count == 1 ? " field" : " fields")) +
           ": write spot, strike, rate, volatility, years, C or P";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::optional<double> value = number_in(f.text[i]);
    if (!value || !holds(columns[i], *value)) return outside(columns[i], f.text[i]);
    o.*columns[i].value = *value;
  }
  const std::optional<bool> call = is_call(f.text[columns.size()]);
  if (!call) return "type " + shortened(f.text[columns.size()]) + ": write C (call) or P (put)";
  o.call = *call;
  return {};
}

}  // namespace

std::string out_of_range(const european_option& o) {
  for (const column& c : columns) {
    if (holds(c, o.*c.value)) continue;
    char digits[32];
    char* const end = std::to_chars(digits, digits + sizeof digits, o.*c.value).ptr;
    return outside(c, {digits, static_cast<std::size_t>(end - digits)});
  }
  return {};
}

std::vector<european_option> drawn_options(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // The high half of a draw times the number of values: the standard's distributions differ from
  // one library to the next.
  const auto draw = [&random](std::uint64_t values) {
    return static_cast<double>((random() >> 32) * values >> 32);
  };
  std::vector<european_option> all(count);
  for (european_option& o : all) {
    o.spot = (1000 + draw(19'001)) / 100;
    o.strike =
        std::max(1.0, static_cast<double>(static_cast<std::uint64_t>(o.spot * (50 + draw(101))))) /
        100;
    o.rate = draw(1001) / 10'000;
    o.volatility = (50 + draw(851)) / 1000;
    o.years = (1 + draw(100)) / 20;
    o.call = draw(2) == 1;
  }
  return all;
}

std::vector<european_option> read_options(std::string_view text, const std::string& file) {
  // the byte order mark with which spreadsheets begin
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<european_option> all;
  std::size_t number = 0;
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const fields f(line);
    if (std::exchange(first, false) && f.heading()) continue;
    european_option o{};
    if (const std::string wrong = read_into(o, f); !wrong.empty())
      throw input_error("options '" + file + "', line " + std::to_string(number) + ": " + wrong);
    all.push_back(o);
  }
  if (all.empty())
    throw input_error(
        "options '" + file +
        "' has none: write spot, strike, rate, volatility, years, C or P, a line for each");
  return all;
}

}  // namespace kilter::apps
