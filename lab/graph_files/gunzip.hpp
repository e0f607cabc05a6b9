#pragma once
// What gzip has packed. Alone links zlib.

#include <cstddef>
#include <string>
#include <string_view>

namespace kilter::dags {

/// Told by the first two bytes (RFC 1952, section 2.3.1).
[[nodiscard]] bool is_gzip(std::string_view bytes) noexcept;
/// All members, one after the other. input_error for damaged or cut data, for bytes behind it, and
/// for more than `most_bytes` unpacked. It stops at the first NUL: what has one is no text, and a
/// small file may hold very many.
[[nodiscard]] std::string gunzip(const std::string& file, std::string_view packed,
                                 std::size_t most_bytes);

}  // namespace kilter::dags
