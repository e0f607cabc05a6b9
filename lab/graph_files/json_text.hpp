#pragma once
// Writes JSON without a tree of it.

#include <string>
#include <string_view>
#include <utility>

#include "graph/dag_limits.hpp"

namespace kilter::dags {

class json_text {
 public:
  json_text& raw(std::string_view text) {
    out_ += text;
    return *this;
  }
  json_text& string(std::string_view text);
  json_text& number(double value) { return raw(number_text(value)); }
  /// `[`, what `write` writes for each element, each after `before`, and `]`.
  template <class Elements, class Write>
  json_text& list(const Elements& elements, std::string_view before, Write&& write) {
    raw("[");
    bool first = true;
    for (const auto& e : elements) {
      raw(first ? "" : ",").raw(before);
      first = false;
      write(e);
    }
    return raw("]");
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace kilter::dags
