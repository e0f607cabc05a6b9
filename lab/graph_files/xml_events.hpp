#pragma once
// XML as it goes by. Alone links expat: it keeps no tree and does not recurse, so neither size nor
// nesting of a file costs memory or stack.

#include <cstddef>
#include <string>
#include <string_view>

#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Attributes of one element, valid during `open`. Names come without their namespace, as do those
/// of elements.
class xml_attributes {
 public:
  explicit xml_attributes(const char* const* pairs) : pairs_(pairs) {}
  /// Empty if there is none of that name.
  [[nodiscard]] std::string_view operator[](std::string_view name) const;

 private:
  const char* const* pairs_;
};

/// What a reader of a format is told, in the order of the file. `at` is a byte of the source, for
/// messages.
class xml_events {
 public:
  virtual ~xml_events() = default;
  virtual void open(std::string_view element, const xml_attributes&, std::size_t at) = 0;
  virtual void close(std::string_view element) = 0;
  /// The text of an element comes in pieces.
  virtual void text(std::string_view piece) = 0;
};

/// input_error naming file and line for what is no XML, is nested too deep, or brings definitions
/// of its own (entities could make a small file endless, and none of the formats that are read here
/// has any). Linear in the text.
void read_xml(const source_text&, xml_events&);
/// The name of the outermost element.
[[nodiscard]] std::string xml_root(const source_text&);

}  // namespace kilter::dags
