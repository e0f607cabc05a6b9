#pragma once
// Where the libraries are that are loaded into other programs, and how a program is made to load
// one.

#include <string>
#include <utility>
#include <vector>

namespace kilter::guest {

using environment = std::vector<std::pair<std::string, std::string>>;

/// What a program must find in its environment to load this library of Kilter
/// ("libkilter_preload.so") before those that this process would preload anyway. input_error if it
/// is neither beside this program nor where it was built or to be installed, or in a directory from
/// which nothing can be preloaded.
[[nodiscard]] environment preloading(const std::string& library);

/// The same for a library in `directory`, before what LD_PRELOAD and LD_LIBRARY_PATH hold (may be
/// null). A blank ends a name in LD_PRELOAD and nothing can quote it, so that a library below a
/// directory with a blank is named without its path and looked for, last, in that directory
/// (ld.so(8)). A colon ends a name in both.
[[nodiscard]] environment preloading_from(const std::string& directory, const std::string& library,
                                          const char* preloaded, const char* searched);

}  // namespace kilter::guest
