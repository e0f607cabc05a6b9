#pragma once
// Where the libraries are that are loaded into other programs.

#include <string>

namespace kilter::balance::preload {

/// LD_PRELOAD for a program: this library of Kilter ("libkilter_preload.so"), before those that this process would preload anyway. input_error if it is neither
/// where it was built nor where it is installed.
[[nodiscard]] std::string preloaded_with(const std::string& library);

}  // namespace kilter::balance::preload
