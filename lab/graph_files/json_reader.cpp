#include "graph_files/json_reader.hpp"

#include <charconv>
#include <system_error>

#include "graph/dag_limits.hpp"

namespace kilter::dags {

namespace {

constexpr int deepest = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::size_t json_reader::at() {
  const std::string_view text = source_.text;
  while (at_ < text.size() &&
         (text[at_] == ' ' || text[at_] == '\n' || text[at_] == '\t' || text[at_] == '\r'))
    ++at_;
  return at_;
}

void json_reader::unexpected(const std::string& wanted) {
  const std::size_t begin = at();
  if (begin == source_.text.size())
    source_.fail_at(begin, "the file ends where " + wanted + " should be");
  std::size_t end = begin + 1;
  const auto word = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' ||
           c == '-' || c == '+' || (c & 0x80);
  };
  if (word(source_.text[begin]))
    while (end < source_.text.size() && word(source_.text[end])) ++end;
  source_.fail_at(begin, "expected " + wanted + ", found '" +
                             shown(source_.text.substr(begin, end - begin)) + "'");
}

json_reader::kind json_reader::next() {
  const std::size_t begin = at();
  const std::string_view rest = source_.text.substr(begin);
  if (rest.starts_with('{')) return kind::object;
  if (rest.starts_with('[')) return kind::array;
  if (rest.starts_with('"')) return kind::string;
  if (rest.starts_with('-') || (!rest.empty() && is_digit(rest.front()))) return kind::number;
  if (rest.starts_with("true") || rest.starts_with("false")) return kind::truth;
  if (rest.starts_with("null")) return kind::null;
  unexpected("a JSON value");
  return kind::null;
}

void json_reader::enter(char bracket, const char* what) {
  if (at() == source_.text.size() || source_.text[at_] != bracket) unexpected(what);
  if (++depth_ > deepest) fail("values are nested more than " + std::to_string(deepest) + " deep");
  ++at_;
}

bool json_reader::more(bool first, char closing) {
  if (at() < source_.text.size() && source_.text[at_] == closing) {
    ++at_;
    --depth_;
    return false;
  }
  if (!first) {
    if (at_ == source_.text.size() || source_.text[at_] != ',')
      unexpected(std::string("',' or '") + closing + "'");
    ++at_;
  }
  return true;
}

void json_reader::expect(char c) {
  if (at() == source_.text.size() || source_.text[at_] != c) unexpected(std::string("'") + c + "'");
  ++at_;
}

std::string_view json_reader::string() {
  if (at() == source_.text.size() || source_.text[at_] != '"') unexpected("a string");
  const std::string_view text = source_.text;
  const std::size_t begin = ++at_;
  while (at_ < text.size() && text[at_] != '"' && text[at_] != '\\' &&
         static_cast<unsigned char>(text[at_]) >= 0x20)
    ++at_;
  // the usual case: nothing to copy
  if (at_ < text.size() && text[at_] == '"') return text.substr(begin, at_++ - begin);
  unescaped_.assign(text, begin, at_ - begin);
  for (;; ++at_) {
    if (at_ == text.size()) source_.fail_at(begin, "this string has no end");
    const char c = text[at_];
    if (c == '"') break;
    if (static_cast<unsigned char>(c) < 0x20)
      source_.fail_at(at_, "a control character in a string; write it as \\n, \\t or \\u00XX");
    if (c == '\\')
      take_escape();
    else
      unescaped_.push_back(c);
  }
  ++at_;
  return unescaped_;
}

/// Leaves `at_` on the last character of the escape.
void json_reader::take_escape() {
  ++at_;
  const char c = at_ < source_.text.size() ? source_.text[at_] : '\0';
  constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  if (const std::size_t i = c == '\0' ? names.npos : names.find(c); i != names.npos) {
    unescaped_.push_back(meanings[i]);
    return;
  }
  if (c != 'u')
    source_.fail_at(at_, "no such escape in a string: '\\" + shown(std::string_view(&c, 1)) + "'");
  unsigned code = take_hex4();
  if (code >= 0xD800 && code < 0xDC00 && source_.text.substr(at_ + 1).starts_with("\\u")) {
    at_ += 2;
    const unsigned low = take_hex4();
    if (low < 0xDC00 || low > 0xDFFF) source_.fail_at(at_, "half of a surrogate pair in a string");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (code >= 0xD800 && code < 0xE000) source_.fail_at(at_, "half of a surrogate pair in a string");
  if (code == 0) source_.fail_at(at_, "a NUL character in a string");
  append_utf8(unescaped_, code);
}

unsigned json_reader::take_hex4() {
  const std::string_view digits =
      source_.text.substr(at_ + 1 < source_.text.size() ? at_ + 1 : source_.text.size(), 4);
  unsigned code = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < 4 || read.ec != std::errc{} || read.ptr != digits.data() + 4)
    source_.fail_at(at_, "\\u is followed by four hexadecimal digits");
  at_ += 4;
  return code;
}

std::string_view json_reader::number_token() {
  const std::size_t begin = at();
  const std::string_view text = source_.text;
  std::size_t end = begin;
  const auto digits = [&] {
    const std::size_t from = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end > from;
  };
  if (end < text.size() && text[end] == '-') ++end;
  bool valid = digits();
  if (valid && end < text.size() && text[end] == '.') {
    ++end;
    valid = digits();
  }
  if (valid && end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    ++end;
    if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
    valid = digits();
  }
  if (!valid) unexpected("a number");
  at_ = end;
  return text.substr(begin, end - begin);
}

double json_reader::number() {
  const std::string_view token = number_token();
  double value = 0.0;
  if (std::from_chars(token.data(), token.data() + token.size(), value).ec ==
      std::errc::result_out_of_range)
    source_.fail_at(at_ - token.size(), "the number " + shown(token) + " is out of range");
  return value;
}

std::string_view json_reader::string_or_number() {
  return next() == kind::number ? number_token() : string();
}

void json_reader::skip() {
  switch (next()) {
    case kind::object: return object([&](std::string_view) { skip(); });
    case kind::array: return array([&] { skip(); });
    case kind::string: return static_cast<void>(string());
    case kind::number: return static_cast<void>(number_token());
    case kind::truth: at_ += source_.text[at_] == 't' ? 4 : 5; return;
    case kind::null: at_ += 4; return;
  }
}

void json_reader::end() {
  if (at() != source_.text.size()) unexpected("the end of the file");
}

}  // namespace kilter::dags
