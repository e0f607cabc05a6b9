#pragma once
// A table of a TOML file that is read by its known keys, with errors that point at lines. Only for
// .cpp files: it pulls in the whole TOML library.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/toml_text.hpp"

namespace kilter::lab {

class toml_table {
 public:
  /// `file` and the table must outlive this.
  toml_table(const std::string& file, std::string title, const toml::table& table)
      : file_(file), title_(std::move(title)), table_(table) {}

  /// Throws input_error "FILE:LINE: what", at the value of `key` or at the table itself.
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at(std::string_view key, const std::string& what) const;

  /// Refuses every other key.
  void only(std::span<const std::string_view> keys) const;
  void only(std::initializer_list<std::string_view> keys) const {
    only(std::span(keys.begin(), keys.size()));
  }

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] std::vector<std::string> keys() const;

  [[nodiscard]] std::string text(std::string_view key) const;  ///< required, not empty
  [[nodiscard]] std::string text_or(std::string_view key, std::string other) const;
  [[nodiscard]] double number(std::string_view key) const;                ///< required, finite
  [[nodiscard]] bool flag(std::string_view key) const;                    ///< false if absent
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;  ///< required list

  /// A text, a number of 0 or more, or a not empty list of them without repeats, as texts.
  /// Required.
  [[nodiscard]] std::vector<std::string> words(std::string_view key) const;

  /// The table `key = { ... }`; required.
  [[nodiscard]] toml_table table(std::string_view key) const;
  /// The tables of `[[key]]`, or of a list of inline tables; none if it is absent.
  [[nodiscard]] std::vector<toml_table> tables(std::string_view key) const;

 private:
  [[nodiscard]] const toml::node& required(std::string_view key) const;
  [[noreturn]] void fail_where(const toml::source_region& where, const std::string& what) const;

  const std::string& file_;
  std::string title_;
  const toml::table& table_;
};

}  // namespace kilter::lab
