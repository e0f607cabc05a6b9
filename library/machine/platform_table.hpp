#pragma once
// Reading platform files: where they lie, and their tables with errors that point at lines. Shared
// by all who read a part of one.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kilter/error.hpp"
#include "kilter/machine.hpp"
#include "machine/platform_ranges.hpp"
#include "machine/toml_text.hpp"

namespace kilter::inline v0::detail {

/// The file behind a name or a path. Throws input_error with the names that exist.
[[nodiscard]] std::string find_platform_file(const std::string& name_or_path);

/// Names that find_platform_file knows, sorted, each once.
[[nodiscard]] std::vector<std::string> platform_names();

/// Throws input_error with file and line if it is not TOML, with the reason if it cannot be read.
[[nodiscard]] toml::table parse_platform_file(const std::string& file);

/// The cores of a platform file; `file` is its name in messages.
[[nodiscard]] machine machine_of(const std::string& file, const toml::table&,
                                 const machine_options& = {});

/// A table of a platform file whose keys are all known to us, with errors that point at lines.
class owned_table {
 public:
  owned_table(const std::string& file, std::string title, const toml::table& table)
      : file_(file), title_(std::move(title)), table_(table) {}

  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    fail_at(file_, where.begin.line, what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(table_.source(), what); }

  /// Refuses every other key. At the top of a file, tables of others may stand beside ours.
  void only(std::initializer_list<std::string_view> keys, bool foreign_tables = false) const {
    for (const auto& [key, value] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      if (foreign_tables && (value.is_table() || value.is_array_of_tables())) continue;
      std::string known;
      for (const std::string_view k : keys) known += (known.empty() ? "" : ", ") + std::string(k);
      fail(key.source(), title_ + " has no key '" + std::string(key.str()) + "'; it has " + known);
    }
  }

  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty())
      fail(node->source(), "'" + std::string(key) + "' must be a text in quotes, not empty");
    return *value;
  }
  [[nodiscard]] std::string required_text(std::string_view key) const {
    const auto value = text(key);
    if (!value) fail(title_ + " lacks '" + std::string(key) + "'");
    return *value;
  }

  [[nodiscard]] std::int64_t integer(const toml::node& node, std::string_view key,
                                     std::int64_t lowest, std::int64_t highest) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < lowest || *value > highest)
      fail(node.source(), "'" + std::string(key) + "' must be a whole number from " +
                              std::to_string(lowest) + " to " + std::to_string(highest));
    return *value;
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t lowest,
                                                    std::int64_t highest) const {
    const toml::node* node = table_.get(key);
    return node ? std::optional(integer(*node, key, lowest, highest)) : std::nullopt;
  }
  void required_integer(std::string_view key, std::int64_t lowest, std::int64_t highest) const {
    if (!integer(key, lowest, highest)) fail(title_ + " lacks '" + std::string(key) + "'");
  }

  /// A number, whole or not, that `right` accepts; `rule` says what would be right.
  template <class Accepts>
  [[nodiscard]] double number(const toml::node& node, std::string_view key, Accepts right,
                              std::string_view rule) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !std::isfinite(*value) || !right(*value))
      fail(node.source(),
           "'" + std::string(key) + "' " + given(node) + "must be " + std::string(rule));
    return *value;
  }
  template <class Accepts>
  [[nodiscard]] std::optional<double> number(std::string_view key, Accepts right,
                                             std::string_view rule) const {
    const toml::node* node = table_.get(key);
    return node ? std::optional(number(*node, key, right, rule)) : std::nullopt;
  }
  template <class Accepts>
  [[nodiscard]] double required_number(std::string_view key, Accepts right,
                                       std::string_view rule) const {
    return number(required(key), key, right, rule);
  }
  [[nodiscard]] double number(const toml::node& node, std::string_view key,
                              const quantity& q) const {
    return number(
        node, key, [&q](double v) { return q.holds(v); }, rule_of(q));
  }
  [[nodiscard]] std::optional<double> number(std::string_view key, const quantity& q) const {
    const toml::node* node = table_.get(key);
    return node ? std::optional(number(*node, key, q)) : std::nullopt;
  }
  [[nodiscard]] double required_number(std::string_view key, const quantity& q) const {
    return number(required(key), key, q);
  }
  /// The node of a key that must be there.
  [[nodiscard]] const toml::node& required(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) fail(title_ + " lacks '" + std::string(key) + "'");
    return *node;
  }
  /// "is -3 and ", for a message about a value that is short enough to repeat.
  [[nodiscard]] static std::string given(const toml::node& node) {
    std::ostringstream text;
    if (const auto* whole = node.as_integer())
      text << whole->get();
    else if (const auto* broken = node.as_floating_point())
      text << broken->get();
    else if (const auto* word = node.as_string())
      text << '"' << word->get().substr(0, 40) << '"';
    return text.str().empty() ? "" : "is " + text.str() + " and ";
  }

  /// A single table, [key]; nothing if it is absent.
  [[nodiscard]] std::optional<owned_table> one_table(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    if (!node->is_table())
      fail(node->source(),
           "'" + std::string(key) + "' must be written as one [" + std::string(key) + "] table");
    return owned_table(file_, "[" + std::string(key) + "]", *node->as_table());
  }

  /// The tables of an array of tables; none if it is absent.
  [[nodiscard]] std::vector<owned_table> tables(std::string_view key) const {
    std::vector<owned_table> found;
    const toml::node* node = table_.get(key);
    if (!node) return found;
    if (!node->is_array_of_tables())
      fail(node->source(),
           "'" + std::string(key) + "' must be written as [[" + std::string(key) + "]] tables");
    for (const toml::node& element : *node->as_array())
      found.emplace_back(file_, "[[" + std::string(key) + "]]", *element.as_table());
    return found;
  }

  [[nodiscard]] const toml::table& raw() const noexcept { return table_; }

 private:
  const std::string& file_;
  std::string title_;
  const toml::table& table_;
};

}  // namespace kilter::inline v0::detail
