#pragma once
// What `kilter lab app` shows.

#include <string>

#include "measuring/program_run.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

[[nodiscard]] std::string program_text(const program_plan&, const std::string& about,
                                       const program_result&, bool colour);

/// kilter.app/1. `chosen`: the program's own options, as it took them.
[[nodiscard]] document to_document(const program_plan&, const std::string& about,
                                   const document& chosen, const program_result&,
                                   const invocation&);

}  // namespace kilter::lab
