#pragma once
// The one table of what a row of a comparison has: text, JSON and report show its columns, so that
// a new column is one entry.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measuring/results.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

struct column {
  std::string_view name;     ///< key of a row in documents
  std::string_view unit;     ///< "s", "1/s", "J", "J s", "share"; empty: a ratio, a count, words
  std::string_view meaning;  ///< for the legend of tables and the report
  document (*value)(const result_row&);
  std::string_view head{};  ///< of text tables; empty: it is in documents alone
  int rank =
      0;  ///< a text table takes the columns with the highest first, as long as there is room
  std::string (*text)(const result_row&) = nullptr;
  /// for words, which begin on the left
  bool left = false;
};

/// In the order in which they are shown.
[[nodiscard]] std::span<const column> columns();

/// One row of `rows[]`: the value of every column.
[[nodiscard]] document document_of(const result_row&);
/// `columns[]`: what the keys of a row mean.
[[nodiscard]] document documents_of_columns();

/// A heading and a line for each row, with as many columns as `width` has room for; a column in
/// which no row has anything is left out. `colour` marks what rws is beaten by, and what it beats.
[[nodiscard]] std::string table_text(const std::vector<const result_row*>&, std::size_t width,
                                     bool colour);
/// The meaning of the columns that such a table shows; one line.
[[nodiscard]] std::string legend_text(const std::vector<const result_row*>&, std::size_t width);

}  // namespace kilter::lab
