#include "peers/environment.hpp"
#include "study/report.hpp"

namespace kilter::bench {

namespace {

using json = nlohmann::ordered_json;

json or_null(const std::optional<double>& v) { return v ? json(*v) : json(nullptr); }

}  // namespace

json json_of(const study_summary& s, const machine& m, bool complete) {
  json cells = json::array(), goals = json::array();
  for (const cell_summary& c : s.cells) {
    json systems = json::array();
    for (const system_summary& who : c.systems)
      systems.push_back({{"system", who.name},
                         {"runs", who.runs},
                         {"of_bound_median", who.median},
                         {"of_bound_min", who.smallest},
                         {"of_bound_max", who.largest},
                         {"mean_s", who.mean_s},
                         {"critical_on_core_0", or_null(who.critical_on_core_0)},
                         {"lost_ms_median", or_null(who.lost_ms)},
                         {"lost_ms_max", or_null(who.lost_ms_max)},
                         {"ours_faster", or_null(who.ours_faster)},
                         {"ours_faster_error", or_null(who.ours_faster_error)}});
    cells.push_back({{"cell", c.name()},
                     {"parallelism", c.what.parallelism},
                     {"barriers", c.what.barriers},
                     {"body", c.what.body},
                     {"disturb", lab::to_string(c.what.parts)},
                     {"length", c.what.length},
                     {"graphs", c.graphs.empty() ? json(nullptr) : json(c.graphs)},
                     {"tasks", c.tasks},
                     {"bound_s", c.bound_s},
                     {"bound_refuted", c.bound_refuted},
                     {"free_cores", c.free_cores},
                     {"systems", systems}});
  }
  for (const goal_row& g : s.goals)
    goals.push_back({{"goal", g.goal},
                     {"where", g.where},
                     {"value", g.value},
                     {"limit", g.limit},
                     {"at_least", g.at_least},
                     {"met", g.met()}});
  return {{"schema", "kilter.interference/1"},
          {"config", {{"cores", m.core_count()}, {"runs", s.runs}, {"builds", s.builds}}},
          {"goals", goals},
          {"cells", cells},
          {"environment", environment_of_bench(complete)}};
}

}  // namespace kilter::bench
