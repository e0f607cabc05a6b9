#pragma once
// What `kilter balance` and `kilter top` print.

#include <string>
#include <vector>

#include "balance/os/board.hpp"
#include "balance/os/session.hpp"

namespace kilter::balance::os {

/// "kilter.balance/1" as one line.
[[nodiscard]] std::string session_json(const session_result&);
/// Two or three lines for people.
[[nodiscard]] std::string session_text(const session_result&);
/// The table of `kilter top`; at most `columns` wide and `rows` long (0: no limit).
[[nodiscard]] std::string top_text(const std::vector<board_view>&, std::size_t columns, std::size_t rows);

}  // namespace kilter::balance::os
