#pragma once
// What `kilter lab platforms` shows: which platforms there are, and every number of one with its
// source.

#include <string>

#include "sim/platform.hpp"

namespace kilter::lab {

/// One line a platform: name, what it is. A file that cannot be read stands there with its error.
[[nodiscard]] std::string platform_list_text(bool colour);
/// `{"platforms": [{name, description, file}, ...]}`; a file that cannot be read has `error` in
/// place of the last two. Ends with a newline.
[[nodiscard]] std::string platform_list_json();

/// Kinds, clusters, clocks, bandwidths, kernels, power and habits; below each where it is from and,
/// if it was fitted, to what.
[[nodiscard]] std::string platform_text(const sim::platform&, bool colour);
/// The same numbers in SI units; every object has `source` and `fitted_to`. Limits that the file
/// does not set are null. Ends with a newline.
[[nodiscard]] std::string platform_json(const sim::platform&);

}  // namespace kilter::lab
