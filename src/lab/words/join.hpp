#pragma once
// Lists in messages. (fmt::join draws false warnings out of the C++ library's headers under gcc 12.)

#include <fmt/format.h>

#include <string>

namespace kilter::lab {

/// The items one after the other with `separator` between them.
template <class Items>
[[nodiscard]] std::string joined(const Items& items, const char* separator) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += fmt::to_string(item);
  }
  return text;
}

}  // namespace kilter::lab
