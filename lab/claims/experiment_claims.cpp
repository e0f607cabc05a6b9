// The [[claim]] tables of an experiment file. A quantity is written as a selection of runs; what it
// leaves out ranges over everything the scenario has, so one table may stand for hundreds of cases.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "claims/experiment_reader.hpp"
#include "claims/measures.hpp"
#include "claims/verdict.hpp"
#include "kilter/error.hpp"
#include "words/join.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

constexpr std::array<std::string_view, 4> where_keys = {"core", "cores", "place", "width"};
constexpr std::array<std::string_view, 8> detail_keys = {"core", "cores",     "place",     "width",
                                                         "when", "iteration", "benchmark", "slice"};
constexpr std::array<std::string_view, 13> axis_keys = {
    "policy",  "disturb", "parallelism", "tasks",     "tile",      "weight",       "workers",
    "program", "clocks",  "quantum",     "swap_size", "cool_down", "configuration"};
/// The keys of all of them, after `first`.
template <std::size_t N>
constexpr auto with_axes_and_details(const std::array<std::string_view, N>& first) {
  std::array<std::string_view, N + axis_keys.size() + detail_keys.size()> all{};
  std::copy(detail_keys.begin(), detail_keys.end(),
            std::copy(axis_keys.begin(), axis_keys.end(),
                      std::copy(first.begin(), first.end(), all.begin())));
  return all;
}
constexpr auto side_keys = with_axes_and_details(std::array<std::string_view, 0>{});
constexpr auto except_keys = with_axes_and_details(std::array<std::string_view, 1>{"scenario"});
constexpr auto of_keys =
    with_axes_and_details(std::array<std::string_view, 4>{"measure", "scenario", "fold", "over"});
constexpr std::array<std::string_view, 4> times = {"before", "during", "after", "outside"};
constexpr std::array<std::string_view, 7> folds = {"mean",   "max",    "min",  "cv",
                                                   "spread", "growth", "gmean"};

bool among(std::span<const std::string_view> all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

constexpr double most_cells = 100'000;

double count_of(const std::vector<axis>& axes) {
  double count = 1.0;
  for (const axis& a : axes) count *= static_cast<double>(a.values.size());
  return count;
}

/// Every combination of one value for each key, the last key fastest.
std::vector<selection> combinations(const std::vector<axis>& axes) {
  std::vector<selection> all{{}};
  for (const axis& a : axes) {
    std::vector<selection> longer;
    for (const selection& s : all)
      for (const std::string& value : a.values) {
        longer.push_back(s);
        longer.back()[a.name] = value;
      }
    all = std::move(longer);
  }
  return all;
}

std::string_view form_of(std::string_view key) {
  if (key == "slice") return "a whole number of at least 1";
  return key == "benchmark" ? "a name"
         : key == "place"   ? "LEADER,WIDTH, several joined by '+'"
         : key == "cores"   ? "core ids such as 0-3,8"
                            : "a whole number";
}

bool well_formed(std::string_view key, const std::string& value) {
  static const std::regex number("[0-9]+"), cores("[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*");
  static const std::regex places("[0-9]+,[0-9]+(\\+[0-9]+,[0-9]+)*");
  static const std::regex slice("[1-9][0-9]{0,5}");
  if (key == "benchmark") return !value.empty();
  if (key == "slice") return std::regex_match(value, slice);
  return std::regex_match(value, key == "place" ? places : key == "cores" ? cores : number);
}

/// The iterations that `iteration` names, counted from 1; "1-60" is all from the first to the
/// sixtieth.
std::vector<std::string> iterations_of(const toml_table& t, const experiment_scenario& s) {
  const auto there = s.parameters.find("iterations");
  if (there == s.parameters.end())
    t.fail_at("iteration", fmt::format("scenario '{}' has no iterations", s.name));
  const std::uint64_t last = std::stoull(there->second);
  static const std::regex form("([0-9]{1,9})(-([0-9]{1,9}))?");
  std::vector<std::string> all;
  for (const std::string& text : t.words("iteration")) {
    std::smatch parts;
    const bool formed = std::regex_match(text, parts, form);
    const std::uint64_t from = formed ? std::stoull(parts[1]) : 0,
                        to = formed && parts[3].matched ? std::stoull(parts[3]) : from;
    if (from < 1 || to < from || to > last)
      t.fail_at(
          "iteration",
          fmt::format(
              "'iteration' is '{}'; it must be one of 1 to {}, or a range of them such as 1-{}",
              text, last, last));
    for (std::uint64_t i = from; i <= to; ++i) all.push_back(std::to_string(i));
  }
  return all;
}

class quantity_reader {
 public:
  quantity_reader(const toml_table& owner, const std::vector<experiment_scenario>& scenarios)
      : owner_(owner), of_(owner.table("of")), scenarios_(scenarios) {}

  std::vector<quantity> read() {
    const std::string name = of_.text("measure");
    measure_ = find_measure(name);
    if (!measure_) {
      std::vector<std::string_view> names;
      for (const measure_info& m : measures()) names.push_back(m.name);
      of_.fail_at("measure", unknown_name("measure", name, names));
    }
    std::vector<quantity> all;
    if (measure_->property) {
      const std::vector<axis> given = arguments();
      if (count_of(given) > most_cells)
        of_.fail(fmt::format("it ranges over {:.0f} values; at most {:.0f}, so name some of them",
                             count_of(given), most_cells));
      for (const selection& s : combinations(given))
        all.push_back(
            {{{name, s, {}}}, {}, fold_kind::none, against_kind::nothing, measure_->share});
      return all;
    }
    of_.only(of_keys);
    read_fold();
    read_against();
    exceptions_ = owner_.tables("except");
    used_.assign(exceptions_.size(), false);
    for (const toml_table& t : exceptions_) t.only(except_keys);
    for (const experiment_scenario* s : chosen_scenarios()) read_scenario_cases(*s, all);
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (!used_[i])
        exceptions_[i].fail("this exception takes nothing away; no case has these values");
    if (all.empty()) of_.fail("nothing is left to look at; 'except' takes everything away");
    return all;
  }

 private:
  /// A property's arguments, all of them needed; a list for several cases.
  std::vector<axis> arguments() const {
    for (const char* key : {"per", "less", "except"})
      if (owner_.has(key))
        owner_.fail_at(key, fmt::format("{} is a property of the code; it takes no '{}'",
                                        measure_->name, key));
    std::vector<std::string_view> known{"measure"};
    if (!measure_->arguments.empty())
      for (const std::string_view key : split_list(measure_->arguments)) known.push_back(key);
    of_.only(known);
    std::vector<axis> axes;
    for (std::size_t i = 1; i < known.size(); ++i)
      axes.push_back({std::string(known[i]), of_.words(known[i])});
    return axes;
  }

  void read_fold() {
    if (of_.has("fold") != of_.has("over"))
      of_.fail("'fold' and 'over' go together: how, and the axis over which");
    if (!of_.has("fold")) return;
    const std::string name = of_.text("fold");
    const auto at = std::find(folds.begin(), folds.end(), name);
    if (at == folds.end()) of_.fail_at("fold", unknown_name("fold", name, folds));
    fold_ = static_cast<fold_kind>(1 + (at - folds.begin()));
    over_ = of_.text("over");
    if (!among(axis_keys, over_)) of_.fail_at("over", unknown_name("axis", over_, axis_keys));
  }

  void read_against() {
    if (owner_.has("per") && owner_.has("less")) owner_.fail("give 'per' or 'less', not both");
    against_ = owner_.has("per")    ? against_kind::per
               : owner_.has("less") ? against_kind::less
                                    : against_kind::nothing;
    if (against_ == against_kind::nothing) return;
    const std::string key = against_ == against_kind::per ? "per" : "less";
    const toml_table t = owner_.table(key);
    t.only(side_keys);
    for (const std::string& name : t.keys()) {
      if (name == over_)
        t.fail_at(name,
                  fmt::format("'{}' is the axis that is folded; it cannot differ between the sides",
                              name));
      changes_.push_back({name, t.words(name)});
    }
    if (changes_.empty())
      owner_.fail_at(key, fmt::format("'{}' must say in what the other side differs", key));
    if (against_ == against_kind::less && !measure_->share)
      owner_.fail_at(key,
                     fmt::format("'less' is for shares; compare {} with 'per'", measure_->name));
  }

  std::vector<const experiment_scenario*> chosen_scenarios() const {
    std::vector<const experiment_scenario*> chosen;
    std::vector<std::string_view> known;
    for (const experiment_scenario& s : scenarios_) known.push_back(s.name);
    if (!of_.has("scenario")) {
      for (const experiment_scenario& s : scenarios_) chosen.push_back(&s);
    } else {
      for (const std::string& name : of_.words("scenario")) {
        const auto at = std::find(known.begin(), known.end(), name);
        if (at == known.end()) of_.fail_at("scenario", unknown_name("scenario", name, known));
        chosen.push_back(&scenarios_[static_cast<std::size_t>(at - known.begin())]);
      }
    }
    if (chosen.empty()) of_.fail("there is no [[scenario]] that this could be measured in");
    return chosen;
  }

  void read_scenario_cases(const experiment_scenario& s, std::vector<quantity>& all) {
    std::vector<axis> axes, details;
    axis folded;
    if (measure_->of != s.runs())
      of_.fail_at("measure",
                  fmt::format("{} is of runs of {}, and scenario '{}' is of {}", measure_->name,
                              name_of(measure_->of), s.name, name_of(s.runs())));
    for (const axis& a : s.axes) {
      axis chosen{a.name, of_.has(a.name) ? of_.words(a.name) : a.values};
      for (const std::string& value : chosen.values) check_axis(of_, s, a.name, value);
      if (a.name == over_)
        folded = std::move(chosen);
      else
        axes.push_back(std::move(chosen));
    }
    for (const std::string_view key : axis_keys)
      if (of_.has(key) && !s.find_axis(key))
        of_.fail_at(key, fmt::format("scenario '{}' has no axis '{}'", s.name, key));
    if (fold_ != fold_kind::none && folded.values.size() < 2)
      of_.fail_at(
          "over",
          fmt::format("'{}' has fewer than two values in scenario '{}'; there is nothing to fold",
                      over_, s.name));
    for (const std::string_view key : detail_keys)
      if (of_.has(key))
        details.push_back(
            {std::string(key), key == "iteration" ? iterations_of(of_, s) : of_.words(key)});

    const double cells = count_of(axes) * count_of(details) * count_of(changes_) *
                         static_cast<double>(std::max<std::size_t>(folded.values.size(), 1));
    if (cells > most_cells)
      of_.fail(fmt::format(
          "it ranges over {:.0f} values of scenario '{}'; at most {:.0f}, so name some of them",
          cells, s.name, most_cells));
    for (const selection& run : combinations(axes))
      for (const selection& what : combinations(details))
        for (const selection& change : combinations(changes_)) {
          quantity q{{},
                     {},
                     fold_,
                     against_,
                     measure_->share && against_ != against_kind::per && !of_sides()};
          const std::vector<std::string> along =
              folded.values.empty() ? std::vector<std::string>{""} : folded.values;
          for (const std::string& value : along) {
            cell left{std::string(measure_->name), run, what};
            left.run["scenario"] = s.name;
            if (!value.empty()) left.run[over_] = value;
            check_details(of_, left.what);
            if (against_ != against_kind::nothing) q.right.push_back(changed(left, change, s));
            q.left.push_back(std::move(left));
          }
          if (!excepted(q.left.front())) all.push_back(std::move(q));
        }
  }

  bool of_sides() const {
    return fold_ == fold_kind::cv || fold_ == fold_kind::spread || fold_ == fold_kind::growth;
  }

  cell changed(cell c, const selection& change, const experiment_scenario& s) const {
    const toml_table t = owner_.table(against_ == against_kind::per ? "per" : "less");
    const cell before = c;
    for (const auto& [key, value] : change) {
      if (among(detail_keys, key)) {
        if (among(where_keys, key))
          for (const std::string_view other : where_keys) c.what.erase(std::string(other));
        c.what[key] = value;
      } else {
        check_axis(t, s, key, value);
        c.run[key] = value;
      }
    }
    check_details(t, c.what);
    if (c == before)
      t.fail(
          fmt::format("both sides are the same: {}",
                      name_of(quantity{{c}, {}, fold_kind::none, against_kind::nothing, false})));
    return c;
  }

  void check_axis(const toml_table& t, const experiment_scenario& s, const std::string& key,
                  const std::string& value) const {
    const axis* a = s.find_axis(key);
    if (!a) t.fail_at(key, fmt::format("scenario '{}' has no axis '{}'", s.name, key));
    std::vector<std::string_view> known(a->values.begin(), a->values.end());
    if (!among(known, value))
      t.fail_at(key, unknown_name(fmt::format("{} of scenario '{}'", key, s.name), value, known));
  }

  void check_details(const toml_table& t, const selection& what) const {
    using kind = detail_need;
    const bool when = what.count("when") > 0, iteration = what.count("iteration") > 0;
    const bool benchmark = what.count("benchmark") > 0, slice = what.count("slice") > 0;
    const std::size_t places =
        what.size() - (when ? 1 : 0) - (iteration ? 1 : 0) - (benchmark ? 1 : 0) - (slice ? 1 : 0);
    const detail_need need = measure_->details;
    for (const auto& [key, value] : what)
      if (key != "when" && !well_formed(key, value))
        t.fail_at(key,
                  fmt::format("'{}' is '{}'; it must be written as {}", key, value, form_of(key)));
    if (when && need != kind::when && need != kind::when_or_iteration &&
        need != kind::where_and_when)
      t.fail(fmt::format("{} is of the whole run; it takes no 'when'", measure_->name));
    if (iteration && need != kind::when_or_iteration && need != kind::where_and_iteration)
      t.fail(fmt::format("{} is not kept for single iterations; it takes no 'iteration'",
                         measure_->name));
    if (benchmark != (measure_->details == kind::benchmark))
      t.fail(fmt::format(
          "{} {}", measure_->name,
          benchmark ? "is of all benchmarks; it takes no 'benchmark'" : "needs 'benchmark'"));
    if (slice != (measure_->details == kind::slice))
      t.fail(fmt::format("{} {}", measure_->name,
                         slice ? "is of the whole run; it takes no 'slice'"
                               : "needs 'slice', ten seconds of the run counted from 1"));
    if (when && iteration) t.fail("give 'when' or 'iteration', not both");
    if (when && !among(times, what.at("when")))
      t.fail_at("when", unknown_name("time", what.at("when"), times));
    if (need == kind::core ? places != 1 || !what.count("core") : false)
      t.fail(fmt::format("{} needs 'core', and nothing else of where", measure_->name));
    if ((need == kind::where || need == kind::where_and_when ||
         need == kind::where_and_iteration) &&
        places != 1)
      t.fail(fmt::format("{} needs one of core, cores, place and width", measure_->name));
    if ((need == kind::none || need == kind::benchmark || need == kind::slice ||
         need == kind::when || need == kind::when_or_iteration) &&
        places != 0)
      t.fail(fmt::format("{} is of all cores; it takes no core, cores, place or width",
                         measure_->name));
  }

  bool excepted(const cell& c) {
    bool any = false;
    for (std::size_t i = 0; i < exceptions_.size(); ++i) {
      const std::vector<std::string> keys = exceptions_[i].keys();
      const bool all = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
        const auto values = exceptions_[i].words(key);
        const selection& in = c.run.count(key) ? c.run : c.what;
        const auto at = in.find(key);
        return at != in.end() &&
               std::find(values.begin(), values.end(), at->second) != values.end();
      });
      used_[i] = used_[i] || all;
      any = any || all;
    }
    return any;
  }

  const toml_table& owner_;
  const toml_table of_;
  const std::vector<experiment_scenario>& scenarios_;
  const measure_info* measure_ = nullptr;
  fold_kind fold_ = fold_kind::none;
  std::string over_;
  against_kind against_ = against_kind::nothing;
  std::vector<axis> changes_;
  std::vector<toml_table> exceptions_;
  std::vector<bool> used_;
};

relation relation_of(const toml_table& t) {
  constexpr std::array<std::string_view, 3> names = {"gt", "lt", "eq"};
  const std::string name = t.text("relation");
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) t.fail_at("relation", unknown_name("relation", name, names));
  return static_cast<relation>(at - names.begin());
}

std::vector<planned_case> read_case(const toml_table& t,
                                    const std::vector<experiment_scenario>& scenarios,
                                    const claim& c) {
  t.only({"of", "per", "less", "except", "relation", "reference", "margin", "reason"});
  const relation must_be = relation_of(t);
  const double reference = t.number("reference"), margin = t.number("margin");
  if (must_be != relation::eq && margin < smallest_order_margin)
    t.fail_at("margin", fmt::format("'margin' is {}; an order must hold by at least {}", margin,
                                    smallest_order_margin));
  if (must_be == relation::eq && (margin < 0 || margin > largest_equal_margin))
    t.fail_at("margin", fmt::format("'margin' is {}; what is equal must be so within 0 to {}",
                                    margin, largest_equal_margin));
  if (t.has("except") && c.exceptions.empty())
    t.fail_at("except",
              "the claim does not say which exceptions were published; give it 'exceptions'");
  const std::string reason = t.text("reason");
  std::vector<planned_case> cases;
  for (quantity& q : read_quantities(t, scenarios)) {
    if (!q.share && reference == 0)
      t.fail_at("reference",
                "'reference' is 0, and a margin would be a part of it; compare with 'per'");
    const double absolute = q.share ? margin : margin * std::abs(reference);
    cases.push_back({std::move(q), must_be, reference, absolute, reason});
  }
  return cases;
}

void read_native_case(const toml_table& t, const std::vector<experiment_scenario>& natives,
                      claim& c) {
  const std::string measure = t.table("of").text("measure");
  if (const measure_info* known = find_measure(measure); known && !measured_natively(measure))
    t.table("of").fail_at("measure", fmt::format("{} is not measured natively; there are {}",
                                                 measure, joined(native_measures(), ", ")));
  for (planned_case& one : read_case(t, natives, c)) c.native.push_back(std::move(one));
}

void read_value(const toml_table& t, const std::vector<experiment_scenario>& scenarios, claim& c) {
  t.only({"what", "published", "of", "per", "less", "gain", "band", "reason"});
  auto quantities = read_quantities(t, scenarios);
  if (quantities.size() != 1)
    t.fail(fmt::format(
        "a published value is one number, and this selects {}; name every axis, or fold",
        quantities.size()));
  planned_value v;
  v.what = t.text("what");
  v.published = t.number("published");
  v.of = std::move(quantities.front());
  v.gain = t.flag("gain");
  if (v.gain && v.of.share) t.fail_at("gain", "a share is no gain; its band is 5 points");
  v.within = rule_band(v.published, v.of.share, v.gain);
  if (t.has("band")) {
    const auto ends = t.numbers("band");
    if (ends.size() != 2 || !(ends[0] <= v.published && v.published <= ends[1]))
      t.fail_at("band", "'band' must be [lowest, highest] around the published value");
    v.within.low = ends[0];
    v.within.high = ends[1];
    v.within.reason = t.text("reason");
  } else if (t.has("reason")) {
    t.fail_at("reason", "a 'reason' is for a 'band' that is not the rule's");
  }
  c.values.push_back(std::move(v));
}

decided_by decider_of(const toml_table& t) {
  constexpr std::array<std::string_view, 4> names = {"runs", "property", "hardware", "input"};
  const std::string name = t.text_or("decided_by", "runs");
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) t.fail_at("decided_by", unknown_name("decider", name, names));
  return static_cast<decided_by>(at - names.begin());
}

void check_decider(const toml_table& t, const claim& c) {
  const bool undecided = c.by == decided_by::hardware || c.by == decided_by::input;
  if (undecided && (!c.cases.empty() || !c.values.empty()))
    t.fail(fmt::format("claim {}: what is not decided here has no cases and no values", c.id));
  if (undecided && c.remark.empty())
    t.fail(fmt::format("claim {} lacks 'remark': why nothing here decides it", c.id));
  if (!c.native.empty() && c.by != decided_by::runs)
    t.fail(fmt::format("claim {}: only what runs decide has native cases", c.id));
  if (!undecided && c.cases.empty())
    t.fail(fmt::format("claim {} needs at least one [[claim.case]]", c.id));
  if (!undecided && c.published)
    t.fail_at("published", "write [[claim.value]], which says what is measured against it");
  for (const planned_case& one : c.cases)
    if (find_measure(one.of.left.front().measure)->property != (c.by == decided_by::property))
      t.fail(fmt::format("claim {}: '{}' does not go with what decides the claim", c.id,
                         one.of.left.front().measure));
}

}  // namespace

std::vector<quantity> read_quantities(const toml_table& t,
                                      const std::vector<experiment_scenario>& scenarios) {
  return quantity_reader(t, scenarios).read();
}

claim read_claim(const toml_table& t, const std::vector<experiment_scenario>& scenarios,
                 const std::vector<experiment_scenario>& natives) {
  t.only({"id", "source", "statement", "exceptions", "remark", "cause", "impossible", "decided_by",
          "published", "value", "case", "native"});
  claim c;
  c.id = t.text("id");
  c.source = t.text("source");
  c.statement = t.text("statement");
  c.exceptions = t.text_or("exceptions", "");
  c.remark = t.text_or("remark", "");
  c.cause = t.text_or("cause", "");
  c.impossible = t.text_or("impossible", "");
  c.by = decider_of(t);
  if (t.has("published")) c.published = t.number("published");
  for (const toml_table& v : t.tables("value")) read_value(v, scenarios, c);
  for (const toml_table& one : t.tables("case"))
    for (planned_case& planned : read_case(one, scenarios, c))
      c.cases.push_back(std::move(planned));
  for (const toml_table& one : t.tables("native")) read_native_case(one, natives, c);
  check_decider(t, c);
  return c;
}

}  // namespace kilter::lab
