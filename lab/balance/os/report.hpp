#pragma once
// What `kilter lab balance` and `kilter top` print.

#include <string>
#include <vector>

#include "balance/os/board.hpp"
#include "balance/os/session.hpp"

namespace kilter::balance::os {

/// "kilter.balance/1" as one line.
[[nodiscard]] std::string session_json(const session_result&);
/// Two or three lines for people.
[[nodiscard]] std::string session_text(const session_result&);
/// What `kilter top` shows of them, line by line.
[[nodiscard]] std::vector<std::string> top_lines(const std::vector<board_view>&);

}  // namespace kilter::balance::os
