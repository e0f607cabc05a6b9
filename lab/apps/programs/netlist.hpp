#pragma once
// Elements and the wires between them, from a file or drawn, to be placed on a grid.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::apps {

struct place {
  std::int32_t column, row;

  bool operator==(const place&) const = default;
};

/// Manhattan.
[[nodiscard]] inline std::int64_t length(place a, place b) noexcept {
  return std::abs(a.column - b.column) + std::abs(a.row - b.row);
}

/// Lists of elements, one for each element.
struct adjacency {
  std::vector<std::uint64_t> first{0};  ///< where the list of each begins, and the end of the last
  std::vector<std::uint32_t> all;

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t element) const noexcept {
    return {all.data() + first[element], first[element + 1] - first[element]};
  }
};

/// Each input of an element is a wire from another element.
struct netlist {
  std::size_t columns = 0, rows = 0;
  std::vector<std::string> names;  ///< empty where it was drawn
  adjacency inputs;

  [[nodiscard]] std::size_t elements() const noexcept { return inputs.first.size() - 1; }
  [[nodiscard]] std::string name(std::size_t element) const {
    return names.empty() ? "e" + std::to_string(element) : names[element];
  }
  /// Row by row, in the order of the file.
  [[nodiscard]] place first_place(std::size_t element) const noexcept {
    return {static_cast<std::int32_t>(element % columns),
            static_cast<std::int32_t>(element / columns)};
  }
};

/// The other ends of the wires at each element, in whichever direction. Wires from an element to
/// itself are left out: they have no length.
[[nodiscard]] adjacency neighbours_of(const netlist&);

/// The format of PARSEC's inputs: "ELEMENTS COLUMNS ROWS", then a line for each element: its name,
/// its type (a whole number, which means nothing here), the names of its inputs, and END. Empty
/// lines count for nothing. input_error naming `file` and the line.
[[nodiscard]] netlist read_netlist(std::string_view text, const std::string& file);

/// 2 to 6 inputs an element, mostly from elements that a good placement has nearby; the order of
/// the elements says nothing of it. At least 16 elements.
[[nodiscard]] netlist drawn_netlist(std::size_t elements, std::uint64_t seed);

}  // namespace kilter::apps
