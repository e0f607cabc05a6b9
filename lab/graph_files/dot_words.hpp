#pragma once
// The words of DOT.

#include <cstddef>
#include <string>
#include <string_view>

#include "graph_files/source_text.hpp"

namespace kilter::dags {

struct dot_word {
  enum class kind { id, symbol, end } what = kind::end;
  /// of an id, its quotes taken off; a symbol is one of { } [ ] ; , = : -> --
  std::string text;
  bool quoted = false;  ///< and so no keyword
  std::size_t at = 0;

  [[nodiscard]] bool is(std::string_view symbol) const {
    return what == kind::symbol && text == symbol;
  }
  /// An unquoted id that is `keyword`, in any case.
  [[nodiscard]] bool is_keyword(std::string_view keyword) const;
};

/// One word after the other, the next one always known.
class dot_words {
 public:
  explicit dot_words(const source_text& source) : source_(source) { next_ = scan(); }
  [[nodiscard]] const dot_word& next() const noexcept { return next_; }
  dot_word take();
  /// Takes the next word if it is this symbol.
  bool take_if(std::string_view symbol);
  void expect(std::string_view symbol);
  [[nodiscard]] dot_word take_id(const char* what);
  [[noreturn]] void unexpected(const std::string& wanted) const;

 private:
  [[nodiscard]] dot_word scan();
  void skip_blank();
  [[nodiscard]] dot_word scan_quoted();
  [[nodiscard]] dot_word scan_html();

  source_text source_;
  std::size_t at_ = 0;
  dot_word next_;
};

}  // namespace kilter::dags
