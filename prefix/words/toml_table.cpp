#include "words/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kilter/error.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {
constexpr std::size_t most_words = 1000;
}

void toml_table::fail_where(const toml::source_region& where, const std::string& what) const {
  detail::fail_at(file_, where.begin.line, what);
}

void toml_table::fail(const std::string& what) const { fail_where(table_.source(), what); }

void toml_table::fail_at(std::string_view key, const std::string& what) const {
  const toml::node* node = table_.get(key);
  fail_where(node ? node->source() : table_.source(), what);
}

void toml_table::only(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : table_)
    if (std::find(known.begin(), known.end(), key.str()) == known.end())
      fail_where(key.source(), unknown_name("key of " + title_, key.str(), known));
}

std::vector<std::string> toml_table::keys() const {
  std::vector<std::string> found;
  for (const auto& [key, value] : table_) found.emplace_back(key.str());
  return found;
}

const toml::node& toml_table::required(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (!node) fail(fmt::format("{} lacks '{}'", title_, key));
  return *node;
}

std::string toml_table::text(std::string_view key) const {
  const auto value = required(key).value_exact<std::string>();
  if (!value || value->empty())
    fail_at(key, fmt::format("'{}' must be a text in quotes, not empty", key));
  return *value;
}

std::string toml_table::text_or(std::string_view key, std::string other) const {
  return has(key) ? text(key) : std::move(other);
}

double toml_table::number(std::string_view key) const {
  const toml::node& node = required(key);
  const auto value = node.value<double>();
  if (!node.is_number() || !value || !std::isfinite(*value))
    fail_at(key, fmt::format("'{}' must be a number", key));
  return *value;
}

bool toml_table::flag(std::string_view key) const {
  if (!has(key)) return false;
  const auto value = required(key).value_exact<bool>();
  if (!value) fail_at(key, fmt::format("'{}' must be true or false", key));
  return *value;
}

std::vector<double> toml_table::numbers(std::string_view key) const {
  const toml::array* list = required(key).as_array();
  if (!list) fail_at(key, fmt::format("'{}' must be a list of numbers", key));
  std::vector<double> found;
  for (const toml::node& node : *list) {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !std::isfinite(*value))
      fail_at(key, fmt::format("'{}' must be a list of numbers", key));
    found.push_back(*value);
  }
  return found;
}

std::vector<std::string> toml_table::words(std::string_view key) const {
  const toml::node& node = required(key);
  std::vector<std::string> found;
  const auto take = [&](const toml::node& one) {
    if (const auto t = one.value_exact<std::string>(); t && !t->empty()) {
      found.push_back(*t);
    } else if (const auto n = one.value_exact<std::int64_t>(); n && *n >= 0) {
      found.push_back(std::to_string(*n));
    } else if (const auto d = one.value_exact<double>(); d && std::isfinite(*d) && *d >= 0) {
      found.push_back(fmt::format("{}", *d));
    } else {
      fail_at(key,
              fmt::format("'{}' must be a text in quotes, a number of 0 or more, or a list of them",
                          key));
    }
  };
  if (const toml::array* list = node.as_array()) {
    if (list->empty())
      fail_at(key, fmt::format("'{}' is an empty list; name at least one value", key));
    if (list->size() > most_words)
      fail_at(key, fmt::format("'{}' has {} values; at most {}", key, list->size(), most_words));
    for (const toml::node& one : *list) take(one);
  } else {
    take(node);
  }
  for (std::size_t i = 1; i < found.size(); ++i)
    if (const auto here = found.begin() + static_cast<std::ptrdiff_t>(i);
        std::find(found.begin(), here, *here) != here)
      fail_at(key, fmt::format("'{}' names '{}' twice", key, *here));
  return found;
}

toml_table toml_table::table(std::string_view key) const {
  const toml::table* inner = required(key).as_table();
  if (!inner) fail_at(key, fmt::format("'{}' must be a table in braces", key));
  return {file_, fmt::format("'{}'", key), *inner};
}

std::vector<toml_table> toml_table::tables(std::string_view key) const {
  std::vector<toml_table> found;
  const toml::node* node = table_.get(key);
  if (!node) return found;
  const toml::array* list = node->as_array();
  if (!list || !std::all_of(list->begin(), list->end(),
                            [](const toml::node& one) { return one.is_table(); }))
    fail_at(key, fmt::format("'{}' must be written as [[{}]] tables", key, key));
  for (const toml::node& one : *list)
    found.emplace_back(file_, fmt::format("[[{}]]", key), *one.as_table());
  return found;
}

}  // namespace kilter::lab
