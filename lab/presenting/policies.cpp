#include "presenting/policies.hpp"

#include <fmt/format.h>

#include "kilter/policy.hpp"
#include "presenting/paint.hpp"

namespace kilter::lab {

std::string policies_text(bool colour) {
  const paint ink{colour};
  std::string out;
  for (const policy_info& p : policy_catalogue())
    out += fmt::format("{} {}  {}\n", ink.bold(fmt::format("{:<8}", p.name)), p.summary,
                       ink.dim(fmt::format("[{}]", p.source)));
  return out;
}

}  // namespace kilter::lab
