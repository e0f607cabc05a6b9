#pragma once
// A specification in the words of documents.

#include <initializer_list>
#include <string_view>

#include "measuring/specification.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

/// The value of a setting: true or false, a number, or its text; null if that is empty.
[[nodiscard]] document value_of(const specification&, std::string_view setting);
/// Adds each of them under its name.
void add_settings(document&, const specification&, std::initializer_list<std::string_view> names);
/// "cats": its four settings.
[[nodiscard]] document cats_of(const specification&);

}  // namespace kilter::lab
