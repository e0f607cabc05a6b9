#include "presenting/topcuoglu_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "measuring/results.hpp"
#include "presenting/environment.hpp"
#include "words/join.hpp"

namespace kilter::lab {

namespace {

/// Sums over graphs that have something in common. Index 0 is HEFT's, 1 CPOP's.
struct sums {
  std::size_t graphs = 0;
  double slr[2] = {}, speedup[2] = {}, planning_s[2] = {};
  std::size_t better = 0, equal = 0, worse = 0;       ///< HEFT's execution against CPOP's
  std::size_t planned_better = 0, planned_equal = 0;  ///< and its plan
  /// executions that take what the plan says
  std::size_t as_planned[2] = {};

  void add(const topcuoglu_result& r) {
    ++graphs;
    for (int w = 0; w < 2; ++w) {
      slr[w] += r.slr(w);
      speedup[w] += r.speedup(w);
      planning_s[w] += r.planning_s[w];
      as_planned[w] += same(r.executed_s[w], r.planned_s[w]);
    }
    const bool tie = same(r.executed_s[0], r.executed_s[1]);
    equal += tie;
    better += !tie && r.executed_s[0] < r.executed_s[1];
    worse += !tie && r.executed_s[0] > r.executed_s[1];
    planned_equal += same(r.planned_s[0], r.planned_s[1]);
    planned_better += !same(r.planned_s[0], r.planned_s[1]) && r.planned_s[0] < r.planned_s[1];
  }
  [[nodiscard]] double mean(double sum) const { return sum / static_cast<double>(graphs); }
  [[nodiscard]] double percent(std::size_t n) const {
    return 100.0 * static_cast<double>(n) / static_cast<double>(graphs);
  }

 private:
  /// Virtual time is counted in whole steps, plans in doubles.
  static bool same(double a, double b) {
    return std::max(a, b) - std::min(a, b) <= 1e-6 * std::max(a, b);
  }
};

struct table {
  std::string name;
  std::map<double, sums> rows;
};

std::vector<table> tables_of(const std::vector<topcuoglu_result>& results) {
  using value_of = std::function<double(const topcuoglu_graph&)>;
  const std::pair<const char*, value_of> keys[] = {
      {"all", [](const auto&) { return 0.0; }},
      {"tasks", [](const auto& g) { return g.tasks; }},
      {"ccr", [](const auto& g) { return g.ccr; }},
      {"alpha", [](const auto& g) { return g.alpha; }},
      {"out_degree", [](const auto& g) { return g.out_degree == g.tasks ? -1.0 : g.out_degree; }},
      {"beta", [](const auto& g) { return g.beta; }}};
  std::vector<table> all;
  for (const auto& [name, key] : keys) {
    table t{name, {}};
    for (const topcuoglu_result& r : results) t.rows[key(r.graph)].add(r);
    all.push_back(std::move(t));
  }
  return all;
}

std::string value_text(const table& t, double value) {
  if (t.name == "all") return "";
  return t.name == "out_degree" && value < 0 ? "v" : fmt::format("{:g}", value);
}

}  // namespace

std::string topcuoglu_text(const topcuoglu_outcome& o) {
  if (o.results.empty()) return "No graph was finished.\n";
  std::string out =
      fmt::format("{} of Topcuoglu's set, as executed on the ideal machine; HEFT against CPOP\n\n",
                  counted(o.results.size(), "graph"));
  out += fmt::format("  {:<16} {:>7} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7} {:>7} {:>9} {:>9}\n", "",
                     "graphs", "SLR heft", "cpop", "speedup", "cpop", "better", "equal", "worse",
                     "plan heft", "cpop");
  for (const table& t : tables_of(o.results))
    for (const auto& [value, s] : t.rows)
      out += fmt::format(
          "  {:<16} {:>7} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>6.1f} % {:>5.1f} % {:>5.1f} % "
          "{:>6.1f} us {:>6.1f} us\n",
          t.name + " " + value_text(t, value), s.graphs, s.mean(s.slr[0]), s.mean(s.slr[1]),
          s.mean(s.speedup[0]), s.mean(s.speedup[1]), s.percent(s.better), s.percent(s.equal),
          s.percent(s.worse), 1e6 * s.mean(s.planning_s[0]), 1e6 * s.mean(s.planning_s[1]));
  const sums all = tables_of(o.results).front().rows.begin()->second;
  return out +
         fmt::format("\n{} of {} executions of HEFT and {} of CPOP take what the plan says.\n",
                     all.as_planned[0], all.graphs, all.as_planned[1]);
}

document to_document(const topcuoglu_specification& a, const topcuoglu_outcome& o,
                     const invocation& how) {
  document d{{"schema", "kilter.topcuoglu/1"}};
  d["config"] = {{"every", a.every}, {"processors", a.processors}, {"graphs", o.results.size()}};
  d["environment"] = environment_of({{}, o.complete, o.tool_seconds}, how);
  document planning = document::array(), rows = document::array();
  for (const table& t : tables_of(o.results))
    for (const auto& [value, s] : t.rows) {
      const document shown = t.name == "all"                       ? document(nullptr)
                             : t.name == "out_degree" && value < 0 ? document("v")
                                                                   : document(value);
      rows.push_back({{"by", t.name},
                      {"value", shown},
                      {"graphs", s.graphs},
                      {"slr_heft", s.mean(s.slr[0])},
                      {"slr_cpop", s.mean(s.slr[1])},
                      {"speedup_heft", s.mean(s.speedup[0])},
                      {"speedup_cpop", s.mean(s.speedup[1])},
                      {"efficiency_heft", s.mean(s.speedup[0]) / a.processors},
                      {"efficiency_cpop", s.mean(s.speedup[1]) / a.processors},
                      {"better", s.better},
                      {"equal", s.equal},
                      {"worse", s.worse},
                      {"planned_better", s.planned_better},
                      {"planned_equal", s.planned_equal},
                      {"as_planned_heft", s.as_planned[0]},
                      {"as_planned_cpop", s.as_planned[1]}});
      planning.push_back({{"by", t.name},
                          {"value", shown},
                          {"plan_s_heft", s.mean(s.planning_s[0])},
                          {"plan_s_cpop", s.mean(s.planning_s[1])}});
    }
  d["environment"]["planning"] = std::move(planning);
  d["rows"] = std::move(rows);
  return d;
}

}  // namespace kilter::lab
