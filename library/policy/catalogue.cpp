#include <array>
#include <stdexcept>
#include <string>

#include "kilter/error.hpp"
#include "policy/builtin.hpp"

namespace kilter {
inline namespace v0 {

namespace {

constexpr auto catalogue = std::to_array<policy_info>({
    {"rws", "random work stealing, one core a task", "S0 Table 1; S2 section 4 (homogeneous)"},
    {"rwsm-c", "work stealing; the width is learned, by cost", "S0 Table 1"},
    {"fa", "critical tasks on cores said to be fast, in turn", "S0 Table 1"},
    {"fam-c", "critical tasks on cores said to be fast; the width is learned, by cost",
     "S0 Table 1"},
    {"da", "critical tasks on the core learned to be fastest", "S0 Table 1"},
    {"dam-c", "critical tasks on the place learned to be cheapest (time x width)",
     "S0 Table 1, Algorithm 1"},
    {"dam-p", "critical tasks on the place learned to be fastest", "S0 Table 1, Algorithm 1"},
    {"perf", "critical path found in the graph; its tasks search when taken and may be stolen",
     "S2 sections 3.1-3.3"},
    {"fifo", "one shared queue, any idle core takes the oldest task (breadth-first)",
     "S1, task-based OpenMP"},
    {"random", "every task on a core drawn at random", "baseline"},
    {"bias", "tasks that gain most from a fast core go to one, by the learned gain",
     "Koufaty et al. 2010; as in XiTAO"},
    {"cats", "critical tasks on fast cores, by hops to the end; sorted shared queues",
     "Chronaki et al. 2015 (CATS)"},
    {"cats-2q",
     "critical tasks to a random fast core, others to a random slow one; only fast cores steal "
     "from both",
     "CATS as in XiTAO"},
    {"dheft", "the core that is expected to end the task first, from mean times by kind of core",
     "Chronaki et al. 2015 (dHEFT)"},
    {"heft", "planned before the run: by rank, each task where it ends first",
     "Topcuoglu 2002, section 4.1"},
    {"cpop",
     "planned before the run: the critical path on one core, other tasks where they end first",
     "Topcuoglu 2002, section 4.2"},
    {"auto", "chooses place, width and order by what was learned; the default", "this project"},
});

// A switch, not a table of functions: those would need relocation and so be writable at start.
builtin::made make(std::size_t which, const machine& m, const policy_options& o) {
  switch (which) {
    case 0: return builtin::rws(m, o);
    case 1: return builtin::rwsm_c(m, o);
    case 2: return builtin::fa(m, o);
    case 3: return builtin::fam_c(m, o);
    case 4: return builtin::da(m, o);
    case 5: return builtin::dam_c(m, o);
    case 6: return builtin::dam_p(m, o);
    case 7: return builtin::perf(m, o);
    case 8: return builtin::fifo(m, o);
    case 9: return builtin::random(m, o);
    case 10: return builtin::bias(m, o);
    case 11: return builtin::cats(m, o);
    case 12: return builtin::cats_2q(m, o);
    case 13: return builtin::dheft(m, o);
    case 14: return builtin::heft(m, o);
    case 15: return builtin::cpop(m, o);
    case 16: return builtin::automatic(m, o);
    default:
      throw std::logic_error("policy " + std::string(catalogue.at(which).name) +
                             " stands in the catalogue and is not made");
  }
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
  for (std::size_t i = 0; i < catalogue.size(); ++i)
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
