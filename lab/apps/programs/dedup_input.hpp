#pragma once
// What dedup packs where no file is named.

#include <cstddef>
#include <cstdint>
#include <string>

namespace kilter::apps {

/// Text of drawn words, common ones more often, in which stretches of up to 256 kB come again, so
/// that some half of it has been there before. The same on every computer.
[[nodiscard]] std::string drawn_text(std::size_t bytes, std::uint64_t seed);

}  // namespace kilter::apps
