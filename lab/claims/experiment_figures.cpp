// The [[figure]] tables of an experiment file. What is measured is written as in a claim; each
// thing that it ranges over is named as panel, group or series, so that every number has one place
// in the drawing.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

#include "claims/experiment_reader.hpp"
#include "claims/measures.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

struct kind_info {
  std::string_view name;
  bool group, series;  ///< what it needs; any kind may have a panel
  /// it may have a series; a kind that neither needs nor may have an axis refuses it
  bool free_series;
};
constexpr std::array<kind_info, 6> kinds = {{{"bars", true, false, true},
                                             {"shares", false, true, false},
                                             {"stacks", true, true, false},
                                             {"heat", true, true, false},
                                             {"lines", true, false, true},
                                             {"starts", false, false, false}}};

constexpr std::array<std::string_view, 22> axis_names = {
    "scenario",  "policy",        "disturb",   "parallelism", "tasks",  "tile",
    "weight",    "configuration", "workers",   "program",     "clocks", "quantum",
    "swap_size", "cool_down",     "benchmark", "slice",       "core",   "cores",
    "place",     "width",         "when",      "iteration"};

const std::string* value_of(const quantity& q, const std::string& name) {
  const cell& c = q.left.front();
  for (const selection* s : {&c.run, &c.what})
    if (const auto at = s->find(name); at != s->end()) return &at->second;
  return nullptr;
}

class figure_reader {
 public:
  figure_reader(const toml_table& t, const std::vector<experiment_scenario>& scenarios)
      : t_(t), scenarios_(scenarios) {}

  figure read(const std::vector<claim>& claims) {
    t_.only({"id", "title", "kind", "claims", "unit", "of", "per", "less", "panel", "group",
             "series", "colours", "learned", "published", "said"});
    read_head(claims);
    const auto quantities = read_quantities(t_, scenarios_);
    if (find_measure(quantities.front().left.front().measure)->property)
      t_.fail_at("of", "a figure is of runs; a property of the code has no drawing");
    if (f_.kind == figure_kind::shares && !quantities.front().share)
      t_.fail_at("of",
                 fmt::format("a figure of shares needs a measure that is a share, and {} is none",
                             quantities.front().left.front().measure));
    read_axes(quantities);
    for (const quantity& q : quantities) place(q);
    for (const toml_table& p : t_.tables("published")) read_published(p);
    return std::move(f_);
  }

 private:
  void read_head(const std::vector<claim>& claims) {
    f_.id = t_.text("id");
    static const std::regex form("S[0-9]+-(Fig|Table)\\.[0-9]+[a-z]?(-[a-z]+)?");
    if (!std::regex_match(f_.id, form))
      t_.fail_at(
          "id", fmt::format("'id' is '{}'; it must be written as S0-Fig.4, S0-Fig.9a or S4-Table.3",
                            f_.id));
    f_.title = t_.text("title");
    f_.unit = t_.text("unit");
    f_.said = t_.text("said");
    const std::string kind = t_.text("kind");
    const auto at = std::ranges::find(kinds, kind, &kind_info::name);
    if (at == kinds.end()) {
      std::vector<std::string_view> names;
      for (const kind_info& k : kinds) names.push_back(k.name);
      t_.fail_at("kind", unknown_name("kind", kind, names));
    }
    info_ = &*at;
    f_.kind = static_cast<figure_kind>(at - kinds.begin());
    std::vector<std::string_view> known;
    for (const claim& c : claims) known.push_back(c.id);
    f_.claims = t_.words("claims");
    for (const std::string& id : f_.claims)
      if (std::ranges::find(known, id) == known.end())
        t_.fail_at("claims", unknown_name("claim of this file", id, known));
    if (t_.has("colours")) {
      constexpr std::array<std::string_view, 2> scales = {"figure", "series"};
      const std::string scale = t_.text("colours");
      if (f_.kind != figure_kind::heat)
        t_.fail_at("colours", fmt::format("'colours' is for heat; {} have none to choose", kind));
      if (std::ranges::find(scales, scale) == scales.end())
        t_.fail_at("colours", unknown_name("scale of colours", scale, scales));
      f_.colours = scale == "series" ? colour_scale::series : colour_scale::figure;
    }
    if (t_.has("learned")) {
      static const std::regex place_form("[0-9]+,[0-9]+");
      f_.learned = t_.text("learned");
      if (f_.kind != figure_kind::starts)
        t_.fail_at("learned", fmt::format("'learned' is for starts; {} watch no place", kind));
      if (!std::regex_match(*f_.learned, place_form))
        t_.fail_at("learned",
                   fmt::format("'learned' is '{}'; it must be LEADER,WIDTH", *f_.learned));
    }
  }

  void read_axes(const std::vector<quantity>& quantities) {
    for (const auto& [key, into] :
         {std::pair{"panel", &f_.panel}, {"group", &f_.group}, {"series", &f_.series}}) {
      if (!t_.has(key)) continue;
      into->name = t_.text(key);
      if (std::ranges::find(axis_names, into->name) == axis_names.end())
        t_.fail_at(key, unknown_name("axis", into->name, axis_names));
      for (const axis* other : {&f_.panel, &f_.group, &f_.series})
        if (other != into && other->name == into->name)
          t_.fail_at(key, fmt::format("'{}' is drawn along another axis already", into->name));
      for (const quantity& q : quantities) {
        const std::string* value = value_of(q, into->name);
        if (!value) t_.fail_at(key, fmt::format("'{}' has no value in {}", into->name, name_of(q)));
        if (std::ranges::find(into->values, *value) == into->values.end())
          into->values.push_back(*value);
      }
    }
    const auto need = [&](const char* key, bool wanted, bool allowed) {
      if (wanted && !t_.has(key))
        t_.fail(fmt::format("a figure of {} needs '{}'", info_->name, key));
      if (!allowed && t_.has(key))
        t_.fail_at(key, fmt::format("a figure of {} has no '{}'", info_->name, key));
    };
    need("group", info_->group, info_->group);
    need("series", info_->series, info_->series || info_->free_series);
  }

  static std::size_t index_in(const axis& a, const std::string& value) {
    return static_cast<std::size_t>(std::ranges::find(a.values, value) - a.values.begin());
  }
  static std::size_t index_in(const axis& a, const quantity& q) {
    return a.name.empty() ? 0 : index_in(a, *value_of(q, a.name));
  }

  void place(const quantity& q) {
    figure_point p{index_in(f_.panel, q), index_in(f_.group, q), index_in(f_.series, q), q, {}, {}};
    for (const figure_point& other : f_.points)
      if (other.panel == p.panel && other.group == p.group && other.series == p.series)
        refuse_both(other.of, q);
    f_.points.push_back(std::move(p));
  }

  /// What ranges over several values must be drawn along an axis, unless another axis decides it.
  [[noreturn]] void refuse_both(const quantity& one, const quantity& other) const {
    for (const std::string_view name : axis_names) {
      const std::string *here = value_of(one, std::string(name)),
                        *there = value_of(other, std::string(name));
      if (here && there && *here != *there)
        t_.fail_at("of", fmt::format("'{}' ranges over several values ({}, {}); name one of them, "
                                     "or make it panel, group or series",
                                     name, *here, *there));
    }
    t_.fail(
        fmt::format("two numbers have the same place: {} and {}", name_of(one), name_of(other)));
  }

  void read_published(const toml_table& p) {
    std::vector<std::string_view> known{"value", "note"};
    for (const axis* a : {&f_.panel, &f_.group, &f_.series})
      if (!a->name.empty()) known.push_back(a->name);
    p.only(known);
    const auto index = [&](const axis& a) -> std::size_t {
      if (a.name.empty()) return 0;
      const auto words = p.words(a.name);
      if (words.size() != 1)
        p.fail_at(a.name, fmt::format("'{}' takes one value; write an entry for each", a.name));
      const std::size_t at = index_in(a, words.front());
      if (at == a.values.size())
        p.fail_at(a.name,
                  unknown_name(a.name + " of the figure", words.front(),
                               std::vector<std::string_view>(a.values.begin(), a.values.end())));
      return at;
    };
    const std::size_t panel = index(f_.panel), group = index(f_.group), series = index(f_.series);
    const auto at = std::ranges::find_if(f_.points, [&](const figure_point& one) {
      return one.panel == panel && one.group == group && one.series == series;
    });
    if (at == f_.points.end()) p.fail("the figure has no number at this place");
    if (at->published) p.fail("a second number for the same place");
    at->published = p.number("value");
    at->note = p.text_or("note", "");
  }

  const toml_table& t_;
  const std::vector<experiment_scenario>& scenarios_;
  const kind_info* info_ = nullptr;
  figure f_;
};

}  // namespace

figure read_figure(const toml_table& t, const std::vector<experiment_scenario>& scenarios,
                   const std::vector<claim>& claims) {
  return figure_reader(t, scenarios).read(claims);
}

}  // namespace kilter::lab
