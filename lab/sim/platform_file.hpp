#pragma once
// The simulator's tables of a platform file.

#include <string>
#include <string_view>

#include "sim/platform.hpp"

namespace kilter::sim {

/// `file` as detail::find_platform_file gives it. Throws input_error with file and line.
[[nodiscard]] platform read_platform(const std::string& file);
/// The same of a platform file's text; `name` stands for the file in messages.
[[nodiscard]] platform parse_platform(const std::string& name, std::string_view text);

/// "2035.2", "64": as people write it, without zeros behind.
[[nodiscard]] std::string plain_number(double value);

/// "kernel matmul 256 on denver": its name in platform::origins. The others are listed there.
[[nodiscard]] std::string kernel_label(const kernel_cost&, const std::string& kind);

}  // namespace kilter::sim
