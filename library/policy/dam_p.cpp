// Dynamic asymmetry, moldable, by performance (papers.md S0, Table 1, Algorithm 1: DAM-P)
//
//   As DAM-C, but a task of high priority gets the place where it is done soonest, however many
//   cores that takes.
//
//   ready, high priority:  place <- global search, least time
//   everything else:       as DAM-C; low priority by cost too (Algorithm 1, papers.md E11)

#include "policy/dam.hpp"

namespace kilter::builtin {

made dam_p(const machine& m, const policy_options& o) {
  constexpr dam_policy::variant settings{
      "dam-p", objective::time, dam_policy::variant::search_when::ready, criticality::user};
  return std::make_shared<dam_policy>(settings, m, o);
}

}  // namespace kilter::builtin
