#pragma once
// JSON read as it goes: nothing is kept but what the caller keeps, so that a graph of a million
// tasks needs no tree of a hundred million nodes, and every message, those about meaning too, names
// the line.

#include <cstddef>
#include <string>
#include <string_view>

#include "graph_files/source_text.hpp"

namespace kilter::dags {

class json_reader {
 public:
  enum class kind { object, array, string, number, truth, null };

  explicit json_reader(const source_text& source) : source_(source) {}

  /// What the next value is. input_error if no value begins here.
  [[nodiscard]] kind next();
  /// `each(key)` for every member of the object that comes next; it must take or skip the value.
  template <class Each>
  void object(Each&& each) {
    object_until([&](std::string_view key) {
      each(key);
      return false;
    });
  }
  /// As above, until `each` returns true; the reader then stays within the object and is of no
  /// further use.
  template <class Each>
  void object_until(Each&& each) {
    enter('{', "an object");
    std::string key;
    for (bool first = true; more(first, '}'); first = false) {
      key = string();
      expect(':');
      if (each(std::string_view(key))) return;
    }
  }
  /// `each()` for every element of the array that comes next; it must take or skip it.
  template <class Each>
  void array(Each&& each) {
    enter('[', "a list");
    for (bool first = true; more(first, ']'); first = false) each();
  }
  /// The string that comes next, valid until the next call.
  [[nodiscard]] std::string_view string();
  /// The number that comes next, finite.
  [[nodiscard]] double number();
  /// A string, or a number as it is written: what an id may be.
  [[nodiscard]] std::string_view string_or_number();
  void skip();
  /// Nothing but white space may be left.
  void end();

  /// Where the next value begins, for `fail_at`.
  [[nodiscard]] std::size_t at();
  [[noreturn]] void fail(const std::string& what) { source_.fail_at(at(), what); }
  [[nodiscard]] const source_text& source() const noexcept { return source_; }

 private:
  void enter(char bracket, const char* what);
  [[nodiscard]] bool more(bool first, char closing);
  void expect(char);
  void unexpected(const std::string& wanted);
  void take_escape();
  [[nodiscard]] unsigned take_hex4();
  [[nodiscard]] std::string_view number_token();

  source_text source_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string unescaped_;
};

}  // namespace kilter::dags
