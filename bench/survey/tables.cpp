// How a number is formed: ours over the other within one round, then the median, least and most of
// all rounds. In scaling, who runs on so many cores over the same on one core in the same round.

#include "survey/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace kilter::bench {

namespace {

struct kind_words {
  const char *kind, *title, *about, *unit;
};
constexpr kind_words tables[] = {
    {"graph", "Layered graphs",
     "Speed of `auto` over that of each other system in the same round. P4/16us: four tasks a "
     "layer, one of which "
     "releases the next; B: each layer waits for the whole one before.",
     "task"},
    {"program", "Programs",
     "Speed of Kilter (`auto`) over that of OpenMP's and oneTBB's loops in the same round.", "run"},
    {"regions", "OpenMP programs under kilter run",
     "Speed of `kilter run` over that of the program alone, and with OMP_WAIT_POLICY=passive, in "
     "the same "
     "round. loop/8: so many sweeps a core in a region.",
     "step"},
    {"scaling", "More cores",
     "Speed on so many cores over that of the same system on one core in the same round.",
     "task or run"},
};

using by_label = std::map<std::string, double>;

/// The order in which labels are shown; what is not here comes last.
constexpr const char* order[] = {
    "auto",         "kilter",   "rws",      "dam-c",  "plain",         "passive", "loop-static",
    "loop-dynamic", "omp-task", "tbb-loop", "onetbb", "onetbb-pinned", "openmp",  "openmp-pinned"};
std::size_t rank_of(const std::string& label) {
  return static_cast<std::size_t>(std::find(std::begin(order), std::end(order), label) -
                                  std::begin(order));
}

void add_columns(survey_table& t, const by_label& labels, const std::string& without) {
  for (const auto& [label, speed] : labels)
    if (label != without && std::ranges::find(t.columns, label) == t.columns.end())
      t.columns.push_back(label);
  std::ranges::stable_sort(t.columns, {}, rank_of);
}

survey_ratio ratio_of(const std::string& against, const std::vector<double>& values) {
  return {.against = against, .rounds = values.size(), .over = lab::spread_of(values)};
}

/// Rows in the order in which their first run came.
template <class Key, class Value>
Value& entry(std::vector<std::pair<Key, Value>>& all, const Key& key) {
  const auto at = std::ranges::find(all, key, &std::pair<Key, Value>::first);
  return at != all.end() ? at->second : all.emplace_back(key, Value{}).second;
}

void fill_comparison(survey_table& t, const std::vector<survey_run>& runs) {
  const std::string ours = our_label(t.kind);
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<by_label>>> rows;
  for (const survey_run& r : runs)
    if (r.kind == t.kind)
      for (const auto& [scene, labels] : r.speeds)
        if (labels.contains(ours)) {
          entry(rows, std::pair(scene, r.work)).push_back(labels);
          add_columns(t, labels, ours);
        }
  // All that is undisturbed first.
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first.first != "none"; });
  for (const auto& [key, rounds] : rows) {
    survey_row row{.what = key.second, .scene = key.first, .ratios = {}};
    std::vector<double> own;
    for (const by_label& speeds : rounds) own.push_back(1e6 / speeds.at(ours));
    row.ours_us = lab::median(own);
    for (const std::string& column : t.columns) {
      std::vector<double> over;
      for (const by_label& speeds : rounds)
        if (const auto other = speeds.find(column); other != speeds.end())
          over.push_back(speeds.at(ours) / other->second);
      row.ratios.push_back(ratio_of(column, over));
    }
    t.rows.push_back(std::move(row));
  }
}

void fill_scaling(survey_table& t, const std::vector<survey_run>& runs) {
  std::map<std::pair<std::string, std::uint32_t>, const by_label*> one_core;
  for (const survey_run& r : runs)
    if (r.kind == t.kind && r.cores == 1 && r.speeds.contains("none"))
      one_core[{r.work, r.round}] = &r.speeds.at("none");
  std::map<std::pair<std::string, std::uint32_t>, std::map<std::string, std::vector<double>>> over;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<double>> own_us;
  std::vector<std::pair<std::string, std::map<std::uint32_t, bool>>> works;
  for (const survey_run& r : runs) {
    const auto one = one_core.find({r.work, r.round});
    if (r.kind != t.kind || r.cores < 2 || one == one_core.end() || !r.speeds.contains("none"))
      continue;
    entry(works, r.work)[r.cores] = true;
    add_columns(t, r.speeds.at("none"), "");
    for (const auto& [label, speed] : r.speeds.at("none")) {
      if (const auto alone = one->second->find(label); alone != one->second->end())
        over[{r.work, r.cores}][label].push_back(speed / alone->second);
      if (!is_other(label)) own_us[{r.work, r.cores}].push_back(1e6 / speed);
    }
  }
  for (const auto& [work, counts] : works)
    for (const auto& [cores, there] : counts) {
      survey_row row{.what = work, .scene = fmt::format("{} cores", cores), .ratios = {}};
      row.ours_us = lab::median(own_us[{work, cores}]);
      for (const std::string& column : t.columns)
        row.ratios.push_back(ratio_of(column, over[{work, cores}][column]));
      t.rows.push_back(std::move(row));
    }
}

nlohmann::ordered_json json_of(const survey_row& row) {
  nlohmann::ordered_json ratios;
  for (const survey_ratio& r : row.ratios)
    if (r.rounds > 0)
      ratios[r.against] = {{"rounds", r.rounds},
                           {"median", r.over.median},
                           {"min", r.over.smallest},
                           {"max", r.over.largest}};
  return {{"what", row.what}, {"scene", row.scene}, {"ours_us", row.ours_us}, {"ratios", ratios}};
}

}  // namespace

std::vector<survey_table> survey_tables(const std::vector<survey_run>& runs) {
  std::vector<survey_table> all;
  for (const kind_words& k : tables) {
    survey_table t{.kind = k.kind,
                   .title = k.title,
                   .about = k.about,
                   .unit = k.unit,
                   .columns = {},
                   .rows = {}};
    if (t.kind == "scaling")
      fill_scaling(t, runs);
    else
      fill_comparison(t, runs);
    if (!t.rows.empty()) all.push_back(std::move(t));
  }
  return all;
}

nlohmann::ordered_json json_of(const std::vector<survey_table>& tables) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const survey_table& t : tables) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const survey_row& row : t.rows) rows.push_back(json_of(row));
    all.push_back({{"kind", t.kind},
                   {"title", t.title},
                   {"about", t.about},
                   {"unit", t.unit},
                   {"columns", t.columns},
                   {"rows", rows}});
  }
  return all;
}

}  // namespace kilter::bench
