#include <iterator>
#include <stdexcept>
#include <string>

#include "kilter/error.hpp"
#include "policy/builtin.hpp"

namespace kilter {
inline namespace v0 {

namespace {

#define ROW(function, name, when, summary, source) policy_info{name, summary, source},
constexpr policy_info catalogue[] = {KILTER_BUILT_IN_POLICIES(ROW)};
#undef ROW

// A switch, not a table of functions: those would need relocation and so be writable at start.
builtin::made make(std::size_t which, const machine& m, const policy_options& o) {
#define PLACE(function, name, when, summary, source) at_##function,
  enum place : std::size_t { KILTER_BUILT_IN_POLICIES(PLACE) };
#undef PLACE
  switch (static_cast<place>(which)) {
#define CASE(function, name, when, summary, source) \
  case at_##function: return builtin::function(m, o);
    KILTER_BUILT_IN_POLICIES(CASE)
#undef CASE
  }
  throw std::logic_error("the catalogue has no policy " + std::to_string(which));
}

}  // namespace

std::span<const policy_info> policy_catalogue() noexcept { return catalogue; }

std::shared_ptr<const policy> make_policy(std::string_view name, const machine& m,
                                          const policy_options& o) {
  const bool by_watts = o.minimise == objective::energy || o.minimise == objective::edp;
  if (by_watts && o.watts.size() != m.places().size())
    throw input_error("energy and edp need the watts of each of the " +
                      std::to_string(m.places().size()) + " places of " + m.name() + "; " +
                      std::to_string(o.watts.size()) + " are given");
  for (std::size_t i = 0; i < std::size(catalogue); ++i)
    if (catalogue[i].name == name) {
      const builtin::made p = make(i, m, o);
      detail::trusting::on(*p, m);
      return p;
    }
  std::string known;
  for (const policy_info& p : catalogue) known += (known.empty() ? "" : ", ") + std::string(p.name);
  throw input_error("no policy '" + std::string(name) + "'; there are " + known);
}

}  // namespace v0
}  // namespace kilter

namespace kilter::builtin {

bool is_planned(std::string_view policy) noexcept {
#define CASE(function, name, when, summary, source) \
  if (policy == name) return decides::when == decides::planned;
  KILTER_BUILT_IN_POLICIES(CASE)
#undef CASE
  return false;
}

}  // namespace kilter::builtin
