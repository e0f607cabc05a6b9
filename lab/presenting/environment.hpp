#pragma once
// Where, when and with what a document was made: everything in it that two equal questions may
// answer differently.

#include <string>
#include <vector>

#include "presenting/document.hpp"

namespace kilter::lab {

struct circumstances {
  std::vector<std::string> notes{};  ///< what a reader must know about how it was measured
  bool complete = false;             ///< false after Ctrl-C
  double tool_seconds = 0.0;
};

[[nodiscard]] document environment_of(const circumstances&, const invocation&);

}  // namespace kilter::lab
