#include "graph_files/dag_gml.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/named_attributes.hpp"
#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

constexpr int deepest = 100;

struct gml_word {
  enum class kind { key, number, string, unended_string, open, close, end } what = kind::end;
  std::string_view text{};  ///< of a string: between its quotes
  std::size_t at = 0;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// One word after the other, the next one always known.
class gml_words {
 public:
  explicit gml_words(const source_text& source) : source_(source) { next_ = scan(); }
  [[nodiscard]] const gml_word& next() const noexcept { return next_; }
  gml_word take() { return std::exchange(next_, scan()); }
  void expect(gml_word::kind what, const char* wanted) {
    if (next_.what != what) unexpected(wanted);
    (void)take();
  }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    if (next_.what == gml_word::kind::end)
      source_.fail_at(next_.at, "the file ends where " + wanted + " should be");
    if (next_.what == gml_word::kind::unended_string)
      source_.fail_at(next_.at, "this string has no end");
    source_.fail_at(next_.at, "expected " + wanted + ", found '" + shown(next_.text) + "'");
  }

 private:
  gml_word scan() {
    using enum gml_word::kind;
    const std::string_view text = source_.text;
    for (;;) {
      at_ = std::min(text.find_first_not_of(" \t\r\n", at_), text.size());
      if (at_ == text.size() || text[at_] != '#') break;
      at_ = std::min(text.find('\n', at_), text.size());
    }
    if (at_ == text.size()) return {end, {}, at_};
    const std::size_t begin = at_;
    const char c = text[begin];
    if (c == '[' || c == ']') return {c == '[' ? open : close, text.substr(at_++, 1), begin};
    if (c == '"') {
      const std::size_t last = text.find('"', begin + 1);
      at_ = std::min(last, text.size() - 1) + 1;
      return {last == text.npos ? unended_string : string,
              text.substr(begin + 1, at_ - 1 - (begin + 1)), begin};
    }
    at_ = std::min(text.find_first_of(" \t\r\n[]\"#", begin), text.size());
    // a number that is none is an attribute's reader's to refuse
    return {is_letter(c) ? key : number, text.substr(begin, at_ - begin), begin};
  }

  source_text source_;
  std::size_t at_ = 0;
  gml_word next_;
};

/// Writers differ in the case of keys.
bool is_key(std::string_view written, std::string_view key) {
  return std::ranges::equal(written, key, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

/// Of "#228"; 0 if there is none.
std::uint32_t numbered_character(std::string_view name) {
  std::uint32_t code = 0;
  if (!name.starts_with('#')) return 0;
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), code);
  const bool is_one = read.ptr == name.data() + name.size() && read.ec == std::errc{} &&
                      code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return is_one ? code : 0;
}

/// With the characters that &#228; and &quot; stand for: GML itself is ASCII.
std::string unescaped(std::string_view text) {
  static constexpr std::pair<std::string_view, char> named[] = {
      {"quot", '"'}, {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"apos", '\''}};
  std::string out;
  while (!text.empty()) {
    const std::size_t amp = std::min(text.find('&'), text.size());
    out += text.substr(0, amp);
    text.remove_prefix(amp);
    if (text.empty()) break;
    const std::size_t semicolon = text.find(';');
    const std::string_view name =
        semicolon == text.npos ? std::string_view{} : text.substr(1, semicolon - 1);
    const auto known = std::ranges::find(named, name, &std::pair<std::string_view, char>::first);
    const std::uint32_t code = known != std::end(named) ? static_cast<unsigned char>(known->second)
                                                        : numbered_character(name);
    append_utf8(out, code == 0 ? '&' : code);
    text.remove_prefix(code == 0 ? 1 : name.size() + 2);
  }
  return out;
}

class gml_reader {
 public:
  explicit gml_reader(const source_text& source) : words_(source), made_(source), meaning_(made_) {}

  dag read() {
    made_.graph().name = made_.source().name();
    int graphs = 0;
    while (words_.next().what != gml_word::kind::end) {
      const gml_word key = take_key("a key");
      if (!is_key(key.text, "graph") || words_.next().what != gml_word::kind::open) {
        skip_value();
        continue;
      }
      if (graphs++ > 0) made_.source().fail_at(key.at, "a second graph; one graph a file is read");
      read_graph(key.at);
    }
    // `finish` of the builder refuses those that are not defined
    for (std::size_t t = 0; t < made_.graph().tasks.size(); ++t)
      if (!made_.defined(static_cast<std::uint32_t>(t))) return made_.finish();
    meaning_.finish();
    take_names_for_ids();
    return made_.finish();
  }

 private:
  gml_word take_key(const char* wanted) {
    if (words_.next().what != gml_word::kind::key) words_.unexpected(wanted);
    return words_.take();
  }

  /// `each(key)` for every key of the list that comes next; it must take or skip the value.
  template <class Each>
  void list(Each&& each) {
    words_.expect(gml_word::kind::open, "'['");
    while (words_.next().what != gml_word::kind::close) each(take_key("a key or ']'"));
    (void)words_.take();
  }

  void skip_value() {
    if (words_.next().what != gml_word::kind::open) return static_cast<void>(take_value());
    int depth = 0;
    do {
      const gml_word word = words_.take();
      if (word.what == gml_word::kind::end) words_.unexpected("']'");
      if (word.what == gml_word::kind::open && ++depth > deepest)
        made_.source().fail_at(word.at,
                               "lists are nested more than " + std::to_string(deepest) + " deep");
      if (word.what == gml_word::kind::close) --depth;
    } while (depth > 0);
  }

  /// A number as it is written, or a string. NAN and INF look like keys.
  std::string take_value() {
    using enum gml_word::kind;
    if (words_.next().what != string && words_.next().what != number && words_.next().what != key)
      words_.unexpected("a value");
    const gml_word word = words_.take();
    if (word.what == string) return unescaped(word.text);
    return std::string(word.text.substr(word.text.starts_with('+') ? 1 : 0));
  }

  void read_graph(std::size_t at) {
    std::size_t said_at = at;
    std::string directed;
    list([&](const gml_word& key) {
      if (is_key(key.text, "node")) {
        read_node(key.at);
      } else if (is_key(key.text, "edge")) {
        read_edge(key.at);
      } else if (is_key(key.text, "directed")) {
        said_at = key.at;
        directed = take_value();
      } else if (is_key(key.text, "name") && words_.next().what == gml_word::kind::string) {
        made_.graph().name = take_value();
      } else {
        skip_value();
      }
    });
    if (directed == "1") return;
    made_.source().fail_at(
        said_at,
        (directed.empty() ? "no 'directed 1', so" : "'directed " + shown(directed) + "':") +
            std::string(" edges have no direction in GML; write 'directed 1' behind "
                        "'graph [' if each runs from its source to its target"));
  }

  void read_node(std::size_t at) {
    std::string id, name;
    attributes own;
    list([&](const gml_word& key) {
      if (is_key(key.text, "id"))
        id = take_value();
      else if (is_key(key.text, "name"))
        name = take_value();
      else
        take_attribute(key, own);
    });
    if (id.empty()) made_.source().fail_at(at, "a node without an id");
    const std::uint32_t node = made_.define(id, at);
    meaning_.describe(node, own);
    if (names_.size() <= node) names_.resize(node + 1);
    if (const auto label = own.find("label"); name.empty() && label != own.end())
      name = std::move(label->second.value);
    names_[node] = std::move(name);
  }

  void read_edge(std::size_t at) {
    std::string from, to;
    attributes own;
    list([&](const gml_word& key) {
      if (is_key(key.text, "source"))
        from = take_value();
      else if (is_key(key.text, "target"))
        to = take_value();
      else
        take_attribute(key, own);
    });
    if (from.empty()) made_.source().fail_at(at, "an edge without a source");
    if (to.empty()) made_.source().fail_at(at, "an edge without a target");
    const std::uint32_t first = made_.refer(from, at), then = made_.refer(to, at);
    meaning_.join({first}, {then}, own, at);
  }

  void take_attribute(const gml_word& key, attributes& into) {
    const std::string name = attribute_named(key.text);
    if (name.empty()) return skip_value();
    into[name] = {take_value(), key.at};
  }

  void take_names_for_ids() {
    auto& tasks = made_.graph().tasks;
    std::unordered_set<std::string_view> all;
    for (const std::string& name : names_)
      if (name.empty() || !all.insert(name).second) return;
    for (std::size_t t = 0; t < tasks.size(); ++t) tasks[t].id = std::move(names_[t]);
  }

  gml_words words_;
  dag_builder made_;
  named_attributes meaning_;
  std::vector<std::string> names_;  ///< by task: `name`, else `label`
};

}  // namespace

bool is_gml(const source_text& source) {
  gml_words words(source);
  while (words.next().what == gml_word::kind::key) {
    const gml_word key = words.take();
    if (words.next().what == gml_word::kind::open) return is_key(key.text, "graph");
    if (words.next().what != gml_word::kind::string && words.next().what != gml_word::kind::number)
      return false;
    (void)words.take();
  }
  return false;
}

dag read_gml(const source_text& source) { return gml_reader(source).read(); }

}  // namespace kilter::dags
