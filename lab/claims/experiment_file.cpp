#include "claims/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/installation.hpp"
#include "claims/experiment_reader.hpp"
#include "claims/readings.hpp"
#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view schema = "kilter.experiment/1";

experiment_file read_tables(const toml::table& root, const std::string& path) {
  const toml_table top(path, "an experiment file", root);
  top.only({"schema", "name", "title", "source", "scenario", "native", "claim", "figure"});
  if (const auto given = top.text("schema"); given != schema)
    top.fail_at("schema",
                fmt::format("schema '{}' is not known; this version reads '{}'", given, schema));
  experiment_file file{path, top.text("name"), top.text("title"), top.text("source"), {}, {}, {},
                       {}};
  const auto add = [](std::vector<experiment_scenario>& all, const toml_table& t,
                      experiment_scenario one) {
    if (std::ranges::find(all, one.name, &experiment_scenario::name) != all.end())
      t.fail_at("name", fmt::format("scenario '{}' is described twice", one.name));
    all.push_back(std::move(one));
  };
  for (const toml_table& t : top.tables("scenario")) add(file.scenarios, t, read_scenario(t));
  for (const toml_table& t : top.tables("native")) add(file.natives, t, read_native(t));
  for (const toml_table& t : top.tables("claim")) {
    file.claims.push_back(read_claim(t, file.scenarios, file.natives));
    const auto& last = file.claims.back();
    for (const claim& c : file.claims)
      if (&c != &last && c.id == last.id)
        t.fail_at("id", fmt::format("claim '{}' stands here twice", c.id));
  }
  if (file.claims.empty()) top.fail("an experiment file needs at least one [[claim]]");
  for (const toml_table& t : top.tables("figure")) {
    file.figures.push_back(read_figure(t, file.scenarios, file.claims));
    const auto& last = file.figures.back();
    for (const figure& f : file.figures)
      if (&f != &last && f.id == last.id)
        t.fail_at("id", fmt::format("figure '{}' stands here twice", f.id));
  }
  return file;
}

}  // namespace

experiment_file parse_experiment(const std::string& text, const std::string& path) {
  return read_tables(kilter::detail::parse_toml(text, path), path);
}

experiment_file read_experiment(const std::string& path) {
  return read_tables(kilter::detail::parse_toml_file(path, "experiment file"), path);
}

std::string experiments_directory() {
  if (const char* own = std::getenv("KILTER_EXPERIMENTS"); own && *own) {
    if (!std::filesystem::is_directory(own))
      throw input_error(fmt::format(
          "KILTER_EXPERIMENTS '{}': is no directory; name the one with the experiment files", own));
    return own;
  }
  std::vector<std::string> places =
      kilter::detail::data_directories("experiments", KILTER_SOURCE_EXPERIMENTS);
  for (std::string& p : places)
    if (std::filesystem::is_directory(p)) return std::move(p);
  throw input_error(
      fmt::format("there are no experiment files in {}; set KILTER_EXPERIMENTS to their directory",
                  places.front()));
}

std::vector<std::string> chosen_claims(const std::vector<experiment_file>& files,
                                       const std::vector<std::string>& wanted) {
  std::vector<std::string> ids;
  std::set<std::string> found;
  for (const experiment_file& f : files)
    for (const claim& c : f.claims)
      for (const std::string& w : wanted)
        if (w == "all" || w == c.id || c.id.starts_with(w + "-")) {
          if (std::ranges::find(ids, c.id) == ids.end()) ids.push_back(c.id);
          found.insert(w);
        }
  for (const std::string& w : wanted)
    if (!found.contains(w))
      throw input_error("claim '" + w +
                        "': there is none; use all, a paper (S0 to S4) or an id as S0-11");
  return ids;
}

std::vector<experiment_file> read_experiments(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".toml" && at->path().filename() != readings_name)
      paths.push_back(at->path().string());
  if (error)
    throw input_error(
        fmt::format("experiments in '{}' cannot be read: {}", directory, error.message()));
  if (paths.empty())
    throw input_error(fmt::format("no experiment in '{}'; it must hold *.toml files", directory));
  std::sort(paths.begin(), paths.end());
  std::vector<experiment_file> files;
  std::map<std::string, std::string> where;
  for (const std::string& path : paths) {
    files.push_back(read_experiment(path));
    const auto once = [&](std::string_view what, const std::string& id) {
      if (const auto [at, first] = where.emplace(id, path); !first)
        throw input_error(
            fmt::format("{}: {} '{}' stands in {} already", path, what, id, at->second));
    };
    for (const claim& c : files.back().claims) once("claim", c.id);
    for (const figure& f : files.back().figures) once("figure", f.id);
  }
  return files;
}

std::vector<std::string> native_scenarios_behind(const experiment_file& f, const claim& c) {
  std::set<std::string> words;
  for (const planned_case& one : c.native)
    for (const auto* side : {&one.of.left, &one.of.right})
      for (const cell& looked_at : *side)
        words.insert(words_of(*std::ranges::find(f.natives, looked_at.run.at("scenario"),
                                                 &experiment_scenario::name)));
  return {words.begin(), words.end()};
}

}  // namespace kilter::lab
