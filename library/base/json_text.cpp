#include "base/json_text.hpp"

#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file_text.hpp"
#include "kilter/error.hpp"

namespace kilter {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t deepest = 100, most_members = 1000;

[[noreturn]] void refuse(const std::string& what, std::size_t at) {
  throw input_error(what + ", at byte " + std::to_string(at + 1));
}

/// Brackets and commas outside strings. The parser stops at the first thing that is not JSON, and
/// up to there it sees the same.
void check_limits(std::string_view text) {
  std::vector<std::size_t> commas;  // of each open value
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at)
          if (text[at] == '\\') ++at;
        break;
      case '[':
      case '{':
        if (commas.size() == deepest)
          refuse("nested more than " + std::to_string(deepest) + " deep", at);
        // lists may be long: the count of one never passes the limit
        commas.push_back(text[at] == '[' ? most_members : 0);
        break;
      case ']':
      case '}':
        if (!commas.empty()) commas.pop_back();
        break;
      case ',':
        if (!commas.empty() && commas.back() < most_members && ++commas.back() == most_members)
          refuse("an object of more than " + std::to_string(most_members) + " members", at);
        break;
      default: break;
    }
  }
}

}  // namespace

json parse_json(std::string_view text) {
  check_limits(text);
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    throw input_error("not JSON, at byte " + std::to_string(e.byte));
  } catch (const json::exception&) {
    throw input_error("not JSON: a number is out of range");
  }
}

std::uint64_t whole_number(const nlohmann::ordered_json& value) {
  if (!value.is_number_unsigned())
    throw input_error(shown(value) + " is no whole number from 0 on");
  return value.get<std::uint64_t>();
}

std::string shown(const json& value) {
  return one_line(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

}  // namespace kilter
