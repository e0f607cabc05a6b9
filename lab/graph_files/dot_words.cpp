#include "graph_files/dot_words.hpp"

#include <algorithm>
#include <utility>

#include "graph/dag_limits.hpp"

namespace kilter::dags {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80);
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool dot_word::is_keyword(std::string_view keyword) const {
  return what == kind::id && !quoted && std::ranges::equal(text, keyword, {}, lower);
}

dot_word dot_words::take() {
  dot_word taken = std::move(next_);
  next_ = scan();
  return taken;
}

bool dot_words::take_if(std::string_view symbol) {
  if (!next_.is(symbol)) return false;
  (void)take();
  return true;
}

void dot_words::expect(std::string_view symbol) {
  if (!take_if(symbol)) unexpected("'" + std::string(symbol) + "'");
}

dot_word dot_words::take_id(const char* what) {
  if (next_.what != dot_word::kind::id) unexpected(what);
  return take();
}

void dot_words::unexpected(const std::string& wanted) const {
  if (next_.what == dot_word::kind::end)
    source_.fail_at(next_.at, "the file ends where " + wanted + " should be");
  source_.fail_at(next_.at, "expected " + wanted + ", found '" + shown(next_.text) + "'");
}

void dot_words::skip_blank() {
  const std::string_view text = source_.text;
  while (at_ < text.size()) {
    const char c = text[at_];
    const bool line_begins = at_ == 0 || text[at_ - 1] == '\n';
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (text.substr(at_).starts_with("//") || (c == '#' && line_begins)) {
      at_ = std::min(text.find('\n', at_), text.size());
    } else if (text.substr(at_).starts_with("/*")) {
      const std::size_t end = text.find("*/", at_ + 2);
      if (end == text.npos) source_.fail_at(at_, "this comment has no end");
      at_ = end + 2;
    } else {
      return;
    }
  }
}

dot_word dot_words::scan() {
  skip_blank();
  const std::string_view text = source_.text;
  dot_word word{.what = dot_word::kind::id, .text = {}, .quoted = false, .at = at_};
  if (at_ == text.size()) {
    word.what = dot_word::kind::end;
    return word;
  }
  const char c = text[at_];
  if (c == '"') return scan_quoted();
  if (c == '<') return scan_html();
  std::size_t end = at_;
  if (is_letter(c)) {
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  } else if (is_digit(c) || c == '.' ||
             (c == '-' && at_ + 1 < text.size() &&
              (is_digit(text[at_ + 1]) || text[at_ + 1] == '.'))) {
    // Numbers may have an exponent here, which DOT itself splits in two.
    ++end;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    std::size_t exponent = end;
    if (exponent < text.size() && lower(text[exponent]) == 'e') {
      ++exponent;
      if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
      if (exponent < text.size() && is_digit(text[exponent]))
        for (end = exponent; end < text.size() && is_digit(text[end]);) ++end;
    }
  } else {
    word.what = dot_word::kind::symbol;
    const std::string_view two = text.substr(at_, 2);
    if (two == "->" || two == "--")
      end = at_ + 2;
    else if (std::string_view("{}[];,=:").find(c) != std::string_view::npos)
      end = at_ + 1;
    else
      source_.fail_at(at_, "'" + shown(text.substr(at_, 1)) + "' has no meaning in DOT");
  }
  word.text = text.substr(at_, end - at_);
  at_ = end;
  return word;
}

/// "a" + "b" is one id; \" is a quote, and a line that ends in \ goes on.
dot_word dot_words::scan_quoted() {
  const std::string_view text = source_.text;
  dot_word word{.what = dot_word::kind::id, .text = {}, .quoted = true, .at = at_};
  for (;;) {
    const std::size_t begin = at_++;
    for (;; ++at_) {
      if (at_ == text.size()) source_.fail_at(begin, "this string has no end");
      if (text[at_] == '"') break;
      const std::string_view two = text.substr(at_, 2);
      if (two == "\\\"")
        word.text.push_back('"'), ++at_;
      else if (two == "\\\n")
        ++at_;
      else if (two == "\\\\")
        word.text += two, ++at_;
      else
        word.text.push_back(text[at_]);
    }
    ++at_;
    const std::size_t after = at_;
    skip_blank();
    if (at_ == text.size() || text[at_] != '+') {
      at_ = after;
      return word;
    }
    ++at_;
    skip_blank();
    if (at_ == text.size() || text[at_] != '"')
      source_.fail_at(std::min(at_, text.size()), "'+' joins two quoted strings");
  }
}

dot_word dot_words::scan_html() {
  const std::string_view text = source_.text;
  dot_word word{.what = dot_word::kind::id, .text = {}, .quoted = true, .at = at_};
  std::size_t depth = 0, end = at_;
  do {
    if (end == text.size()) source_.fail_at(at_, "this <...> has no end");
    if (text[end] == '<') ++depth;
    if (text[end] == '>') --depth;
    ++end;
  } while (depth > 0);
  word.text = text.substr(at_, end - at_);
  at_ = end;
  return word;
}

}  // namespace kilter::dags
