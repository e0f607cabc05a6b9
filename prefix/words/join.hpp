#pragma once
// Lists and numbers of things in messages. (fmt::join draws false warnings out of the C++ library's
// headers under gcc 12.)

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

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

/// "1 run", "2 runs"
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace kilter::lab
