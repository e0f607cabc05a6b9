#include "claims/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "kilter/error.hpp"
#include "measuring/presets.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"
#include "words/toml_table.hpp"

namespace kilter::lab {

namespace {

struct choice_of_reading {
  std::string key, value;
};

std::vector<choice_of_reading> choices_of(const std::string& reading) {
  std::vector<choice_of_reading> all;
  const auto keys = words_of_readings();
  for (const std::string_view one : split_list(reading)) {
    const auto equals = one.find('=');
    const std::string key(one.substr(0, equals));
    if (std::ranges::find(keys, key) == keys.end())
      throw input_error(
          fmt::format("reading '{}': {}", reading, unknown_name("choice", key, keys)));
    if (equals == one.npos)
      throw input_error(fmt::format("reading '{}': write {}=VALUE", reading, key));
    all.push_back({key, std::string(one.substr(equals + 1))});
  }
  return all;
}

/// True if some scenario knows the key.
bool give(std::vector<experiment_file>& files, const choice_of_reading& c,
          const std::string& reading, const std::vector<std::string>& only) {
  bool known = false;
  for (experiment_file& f : files)
    if (only.empty() || std::ranges::find(only, f.name) != only.end())
      for (experiment_scenario& s : f.scenarios) try {
          known = set_word(s, c.key, c.value) || known;
        } catch (const input_error& e) {
          throw input_error(fmt::format("reading '{}': {}", reading, e.what()));
        }
  return known;
}

void read_some(std::vector<experiment_file>& files, const std::string& reading,
               const std::vector<std::string>& only) {
  for (const choice_of_reading& c : choices_of(reading)) (void)give(files, c, reading, only);
}

/// Refused where it stands.
std::string checked_reading(const toml_table& t) {
  const std::string set = t.text("set");
  try {
    (void)choices_of(set);
  } catch (const input_error& e) {
    t.fail_at("set", e.what());
  }
  return set;
}

/// A policy that has no public code is compared with some that have: only these say what the code
/// does.
std::vector<std::string> with_code(const std::vector<std::string>& policies) {
  std::vector<std::string> some;
  for (const std::string& p : policies) try {
      (void)preset_of("coded", std::array{p});
      some.push_back(p);
    } catch (const input_error&) {
    }
  return some;
}

}  // namespace

known_readings read_readings(const std::string& directory) {
  const std::string path = directory + "/" + std::string(readings_name);
  known_readings all;
  if (!std::filesystem::exists(path)) return all;
  const toml::table root = kilter::detail::parse_toml_file(path, "file of readings");
  const toml_table top(path, "a file of readings", root);
  top.only({"schema", "first", "reading", "coded"});
  if (const auto given = top.text("schema"); given != "kilter.readings/1")
    top.fail_at(
        "schema",
        fmt::format("schema '{}' is not known; this version reads 'kilter.readings/1'", given));
  for (const toml_table& t : top.tables("first")) {
    t.only({"papers", "commit", "said"});
    all.first.push_back({t.words("papers"), t.text("commit"), t.text("said")});
  }
  for (const toml_table& t : top.tables("reading")) {
    t.only({"set", "papers", "source", "about"});
    all.one_by_one.push_back(
        {checked_reading(t), t.words("papers"), t.text("source"), t.text("about")});
  }
  for (const toml_table& t : top.tables("coded")) {
    t.only({"experiments", "set", "source", "about"});
    all.coded.push_back(
        {t.words("experiments"), checked_reading(t), t.text("source"), t.text("about")});
  }
  return all;
}

void read_differently(std::vector<experiment_file>& files, const std::string& reading) {
  read_some(files, reading, {});
}

void read_as(std::vector<experiment_file>& files, std::string_view reading,
             const known_readings& known) {
  if (std::ranges::find(readings, reading) == readings.end())
    throw input_error(unknown_name("reading", reading, readings));
  if (reading == "published") return;
  for (experiment_file& f : files)
    for (experiment_scenario& s : f.scenarios) {
      if (s.runs() != run_kind::tasks) continue;
      auto policies = s.find_axis("policy")->values;
      if (reading == "coded") policies = with_code(policies);
      if (!policies.empty())
        for (const auto& [key, value] : preset_of(reading, policies)) (void)set_word(s, key, value);
    }
  if (reading == "coded")
    for (const coded_experiment& c : known.coded) read_some(files, c.set, c.experiments);
}

std::vector<first_tally> first_tallies(const known_readings& known,
                                       const std::vector<experiment_file>& files,
                                       const std::vector<std::string>& ids) {
  std::vector<first_tally> all;
  for (const first_tally& f : known.first) {
    const auto asked = chosen_claims(files, f.papers);
    if (std::ranges::all_of(
            asked, [&](const std::string& id) { return std::ranges::find(ids, id) != ids.end(); }))
      all.push_back(f);
  }
  return all;
}

}  // namespace kilter::lab
