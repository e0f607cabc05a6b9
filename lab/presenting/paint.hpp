#pragma once
// Text for a terminal, or for what is none.

#include <fmt/format.h>

#include <string>

namespace kilter::lab {

struct paint {
  bool on;
  [[nodiscard]] std::string with(const char* code, const std::string& text) const {
    return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  [[nodiscard]] std::string bold(const std::string& text) const { return with("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return with("2", text); }
};

}  // namespace kilter::lab
