#include "presenting/document.hpp"

#include <cmath>

namespace kilter::lab {

namespace {

/// True if the value holds a list of objects somewhere below: then it is spread over lines.
bool holds_rows(const document& value) {
  for (const auto& inner : value)
    if (inner.is_structured() && ((value.is_array() && inner.is_object()) || holds_rows(inner)))
      return true;
  return false;
}

void append_text(const document& value, std::size_t indent, std::string& out) {
  if (!value.is_structured() || value.empty() || !(holds_rows(value) || indent == 0)) {
    out += value.dump(-1, ' ', false, document::error_handler_t::replace);
    return;
  }
  const bool object = value.is_object();
  const std::string margin(indent + 1, ' ');
  out += object ? "{\n" : "[\n";
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) out += ",\n";
    first = false;
    out += margin;
    if (object) out += document(it.key()).dump() + ": ";
    append_text(*it, indent + 1, out);
  }
  out += "\n" + std::string(indent, ' ') + (object ? "}" : "]");
}

}  // namespace

document finite_or_null(double value) {
  return std::isfinite(value) ? document(value) : document(nullptr);
}

document finite_or_null(const std::optional<double>& value) {
  return value ? finite_or_null(*value) : document(nullptr);
}

document finite_or_null(const std::vector<double>& values) {
  document list = document::array();
  for (const double v : values) list.push_back(finite_or_null(v));
  return list;
}

std::string document_text(const document& d) {
  std::string out;
  append_text(d, 0, out);
  return out + "\n";
}

}  // namespace kilter::lab
