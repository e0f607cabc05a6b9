#include "disturbing/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "kilter/error.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {
namespace {

struct kind_rule {
  disturbance_kind kind;
  std::string_view name;
  bool share;             // takes SHARE
  double default_share;   // 0: SHARE must be given
  bool half_period;       // takes HALFPERIOD
  double default_half_s;  // 0: constant unless given
  enum { co_runner, time_share, other } form;
  std::array<bool, 3> exists;  // by `disturbed_cores`
};

// S0 5.2 gives the wave's low level, 345 of 2035 MHz; the half period of 0.5 s is the project's own
// (papers.md A1.3 has 5 s).
constexpr double wave_share = 0.17;
constexpr double wave_half_period_s = 0.5;

constexpr std::array<bool, 3> everywhere{true, true, true}, real_only{true, false, false},
    simulated_only{false, true, false}, not_emulated{true, true, false},
    not_real{false, true, true};

constexpr kind_rule rules[] = {
    {disturbance_kind::cpu, "cpu", false, 0, false, 0, kind_rule::co_runner, everywhere},
    {disturbance_kind::mem, "mem", false, 0, false, 0, kind_rule::co_runner, everywhere},
    {disturbance_kind::session, "session", false, 0, false, 0, kind_rule::co_runner, real_only},
    {disturbance_kind::floating, "float", false, 0, false, 0, kind_rule::co_runner, real_only},
    {disturbance_kind::share, "share", true, 0, false, 0, kind_rule::time_share, everywhere},
    {disturbance_kind::wave, "wave", true, wave_share, true, wave_half_period_s,
     kind_rule::time_share, everywhere},
    {disturbance_kind::quota, "quota", true, 0, false, 0, kind_rule::other, not_emulated},
    {disturbance_kind::freq, "freq", true, 0, true, 0, kind_rule::other, not_real},
    {disturbance_kind::offline, "offline", false, 0, false, 0, kind_rule::other, simulated_only},
};
static_assert(
    [] {
      std::size_t at = 0;
      for (const kind_rule& rule : rules)
        if (rule.kind != disturbance_kind(at++)) return false;
      return at == std::size_t(disturbance_kind::offline) + 1;
    }(),
    "a rule for each kind, in their order, and offline is the last");

const kind_rule& rule_of(disturbance_kind kind) noexcept {
  return rules[static_cast<std::size_t>(kind)];
}

bool exists(disturbance_kind kind, disturbed_cores where) noexcept {
  return rule_of(kind).exists[static_cast<std::size_t>(where)];
}

constexpr double least_half_period_s = 0.02, most_half_period_s = 3600;

// Every complaint names the whole item, so that it is found among several joined ones.
[[noreturn]] void refuse(std::string_view item, std::string_view what, std::string_view right) {
  throw input_error(fmt::format("disturbance '{}': {}; write {}", item, what, right));
}

// No machine has so many; a longer range is not spelled out.
constexpr core_id absurd_core = 1'000'000;

// Reads one disturbance.
class item_reader {
 public:
  explicit item_reader(std::string_view item) : item_(item) {}

  asked_disturbance read() {
    std::string_view rest = item_;
    const std::size_t at = rest.find('@');
    const kind_rule& rule = read_kind(rest.substr(0, at));
    if (at == std::string_view::npos) fail("it names no core", fmt::format("{}@0", rule.name));
    rest.remove_prefix(at + 1);

    std::optional<std::string_view> window;
    if (const std::size_t second = rest.find('@'); second != std::string_view::npos) {
      window = rest.substr(second + 1);
      rest = rest.substr(0, second);
    }
    std::optional<std::string_view> strength;
    if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
      strength = rest.substr(colon + 1);
      rest = rest.substr(0, colon);
    }

    asked_disturbance result;
    result.written = item_;
    result.what.kind = rule.kind;
    read_cores(rest, result);
    read_strength(rule, strength, result.what);
    if (window) result.what.window = read_window(*window);
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view what, std::string_view right) const {
    refuse(item_, what, right);
  }

  const kind_rule& read_kind(std::string_view name) const {
    for (const kind_rule& rule : rules)
      if (rule.name == name) return rule;
    std::vector<std::string_view> names;
    for (const kind_rule& rule : rules) names.push_back(rule.name);
    if (const std::string_view near = nearest(name, names); !near.empty())
      throw input_error(fmt::format("disturbance '{}': unknown kind '{}': did you mean '{}'?",
                                    item_, name, near));
    fail(fmt::format("unknown kind '{}'", name),
         fmt::format("one of {}, or none alone", fmt::join(names, ", ")));
  }

  void read_cores(std::string_view text, asked_disturbance& result) const {
    if (text == "all") return;
    std::vector<core_id>& cores = result.what.cores;
    for (std::string_view rest = text;;) {
      const std::size_t comma = rest.find(',');
      const std::string_view range = rest.substr(0, comma);
      const std::size_t dash = range.find('-');
      const core_id first = read_core(range.substr(0, dash), text, result);
      const core_id last =
          dash == std::string_view::npos ? first : read_core(range.substr(dash + 1), text, result);
      if (last < first)
        fail(fmt::format("core range '{}' runs backwards", range),
             fmt::format("{}-{}", last, first));
      cores.push_back(first);
      for (core_id c = first; c < std::min(last, absurd_core);) cores.push_back(++c);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    std::sort(cores.begin(), cores.end());
    if (const auto twice = std::adjacent_find(cores.begin(), cores.end()); twice != cores.end())
      fail(fmt::format("core {} is named twice", *twice), "every core once");
  }

  core_id read_core(std::string_view text, std::string_view list, asked_disturbance& result) const {
    core_id core = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
    if (text.empty() || end != text.data() + text.size() ||
        (error != std::errc{} && error != std::errc::result_out_of_range))
      fail(fmt::format("'{}' is no list of cores", list), "core ids such as 0, 0-3 or 0,2, or all");
    if (error == std::errc::result_out_of_range) core = std::numeric_limits<core_id>::max();
    result.named.push_back({core, std::string(text)});
    return core;
  }

  void read_strength(const kind_rule& rule, std::optional<std::string_view> text,
                     disturbance& result) const {
    const std::string form = rule.half_period ? fmt::format("{}@0:17%,0.5", rule.name)
                                              : fmt::format("{}@0:50%", rule.name);
    if (!rule.share) {
      if (text)
        fail(fmt::format("{} takes no share, but ':{}' was given", rule.name, *text),
             fmt::format("{}@0", rule.name));
      return;
    }
    if (!text && rule.default_share == 0)
      fail(fmt::format("{} needs the share that is left", rule.name), form);
    result.share = rule.default_share;
    result.half_period_s = rule.default_half_s;
    if (!text) return;

    const std::size_t comma = text->find(',');
    const std::string_view share = text->substr(0, comma);
    if (!share.ends_with('%')) fail(fmt::format("share '{}' is not in percent", share), form);
    const double percent = read_number(share.substr(0, share.size() - 1), "share", form);
    if (percent < 1 || percent > 99)
      fail(fmt::format("share {} is out of range", share),
           "what is left to the program, 1% to 99%");
    result.share = percent / 100;

    if (comma == std::string_view::npos) return;
    const std::string_view half = text->substr(comma + 1);
    if (!rule.half_period)
      fail(fmt::format("{} has no half period, but ',{}' was given", rule.name, half),
           fmt::format("{}, or wave to alternate", form));
    result.half_period_s = read_number(half, "half period", form);
    if (result.half_period_s < least_half_period_s || result.half_period_s > most_half_period_s)
      fail(fmt::format("half period {} is out of range", half),
           fmt::format("seconds from {} to {}", least_half_period_s, most_half_period_s));
  }

  disturbance_window read_window(std::string_view text) const {
    const std::string form = "seconds as in @0.5..2 or fractions as in @25%..75%";
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) fail(fmt::format("'@{}' is no span of time", text), form);
    std::string_view from = text.substr(0, dots), to = text.substr(dots + 2);
    if (from.ends_with('%') != to.ends_with('%'))
      fail(fmt::format("'{}' mixes seconds and fractions", text), form);
    disturbance_window window;
    window.fractions = from.ends_with('%');
    if (window.fractions) {
      from.remove_suffix(1);
      to.remove_suffix(1);
    }
    const double unit = window.fractions ? 100 : 1;
    window.from = read_number(from, "start", form) / unit;
    window.to = read_number(to, "end", form) / unit;
    if (window.from < 0) fail(fmt::format("start {} is negative", from), form);
    if (window.fractions && window.to > 1)
      fail(fmt::format("end {}% is after the run", to), "fractions from 0% to 100%");
    if (window.to > 1e6) fail(fmt::format("end {} is absurd", to), "at most 1000000 seconds");
    if (window.from >= window.to)
      fail(fmt::format("'{}' ends before it starts", text), "FROM..TO with FROM below TO");
    return window;
  }

  double read_number(std::string_view text, std::string_view what, std::string_view right) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
        !std::isfinite(value))
      fail(fmt::format("{} '{}' is no number", what, text), right);
    return value;
  }

  std::string_view item_;
};

void refuse_contradictions(const std::vector<disturbance>& all, const machine& m) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!windows_meet(all[i], all[j])) continue;
      if (all[i].kind == disturbance_kind::quota && all[j].kind == disturbance_kind::quota)
        throw input_error(fmt::format(
            "disturbances '{}' and '{}' limit the same program at once; give one quota at a time",
            to_string(all[j]), to_string(all[i])));
      if (all[i].kind == disturbance_kind::freq && all[j].kind == disturbance_kind::freq)
        for (const core_id a : all[i].cores)
          for (const core_id b : all[j].cores)
            if (m.cores()[a].kind == m.cores()[b].kind)
              throw input_error(
                  fmt::format("disturbances '{}' and '{}' both set the clock of core {}'s kind at "
                              "once; give one",
                              to_string(all[j]), to_string(all[i]), a));
      if (!is_time_share(all[i].kind) || !is_time_share(all[j].kind)) continue;
      for (const core_id core : all[i].cores)
        if (std::binary_search(all[j].cores.begin(), all[j].cores.end(), core))
          throw input_error(fmt::format(
              "disturbances '{}' and '{}' both set the time share of core {} at once; give one",
              to_string(all[j]), to_string(all[i]), core));
    }
}

// The shortest text that reads back to the same number of percent.
std::string percent(double fraction) {
  const double exact = fraction * 100, rounded = std::round(exact * 1e9) / 1e9;
  return fmt::format("{}%", rounded / 100 == fraction ? rounded : exact);
}

}  // namespace

bool windows_meet(const disturbance& a, const disturbance& b) noexcept {
  if (!a.window || !b.window || a.window->fractions != b.window->fractions) return true;
  return a.window->from < b.window->to && b.window->from < a.window->to;
}

std::string_view name_of(disturbance_kind kind) noexcept { return rule_of(kind).name; }

std::vector<disturbance_kind> all_disturbances() {
  std::vector<disturbance_kind> all;
  for (const kind_rule& rule : rules) all.push_back(rule.kind);
  return all;
}

std::vector<disturbance_kind> disturbances_on(disturbed_cores where) {
  std::vector<disturbance_kind> all = all_disturbances();
  std::erase_if(all, [&](disturbance_kind kind) { return !exists(kind, where); });
  return all;
}

std::string names_of_disturbances_on(disturbed_cores where) {
  std::string names;
  const std::vector<disturbance_kind> all = disturbances_on(where);
  for (const disturbance_kind kind : all)
    names += fmt::format("{}{}",
                         names.empty()        ? ""
                         : kind == all.back() ? " and "
                                              : ", ",
                         name_of(kind));
  return names;
}

void check_exists(const disturbance& d, disturbed_cores where) {
  if (exists(d.kind, where)) return;
  const std::string there = names_of_disturbances_on(where), text = to_string(d);
  const std::string_view name = name_of(d.kind);
  switch (where) {
    case disturbed_cores::real:
      throw input_error(fmt::format(
          "disturbance '{}': {} exists on simulated machines only; here there are {}{}", text, name,
          there, d.kind == disturbance_kind::freq ? ": a time share is not a clock change" : ""));
    case disturbed_cores::simulated:
      throw input_error(fmt::format("disturbance '{}': {} is not simulated; the simulator has {}",
                                    text, name, there));
    case disturbed_cores::emulated:
      throw input_error(fmt::format("disturbance '{}': {} is not emulated; emulated cores have {}",
                                    text, name, there));
  }
}

bool is_co_runner(disturbance_kind kind) noexcept {
  return rule_of(kind).form == kind_rule::co_runner;
}
bool is_time_share(disturbance_kind kind) noexcept {
  return rule_of(kind).form == kind_rule::time_share;
}
bool has_share(disturbance_kind kind) noexcept { return rule_of(kind).share; }

asked_disturbance::asked_disturbance(disturbance d) : what(std::move(d)), written(to_string(what)) {
  for (const core_id c : what.cores) named.push_back({c, fmt::to_string(c)});
}

std::vector<asked_disturbance> read_disturbances(std::string_view text) {
  if (text == "none") return {};
  if (text.empty())
    throw input_error("disturbance '' is empty; write none, or KIND@CORES such as cpu@0");
  std::vector<asked_disturbance> all;
  while (true) {
    const std::size_t plus = text.find('+');
    const std::string_view item = text.substr(0, plus);
    if (item.empty())
      throw input_error(
          "a disturbance beside a '+' is empty; write KIND@CORES on both sides, as in cpu@0+mem@1");
    if (item == "none")
      throw input_error("disturbance 'none' is joined with others; write it alone");
    all.push_back(item_reader(item).read());
    if (plus == std::string_view::npos) return all;
    text.remove_prefix(plus + 1);
  }
}

std::string written(const std::vector<asked_disturbance>& asked) {
  std::string text;
  for (const asked_disturbance& one : asked) text += (text.empty() ? "" : "+") + one.written;
  return text.empty() ? "none" : text;
}

std::vector<disturbance> placed(const std::vector<asked_disturbance>& asked, const machine& m) {
  std::vector<disturbance> all;
  for (const asked_disturbance& one : asked) {
    for (const asked_disturbance::named_core& core : one.named)
      if (core.id >= m.core_count())
        refuse(one.written, fmt::format("core {} does not exist", core.text),
               m.core_count() == 1 ? std::string("0, the only core")
                                   : fmt::format("0 to {}", m.core_count() - 1));
    all.push_back(one.what);
    if (all.back().cores.empty())
      for (core_id c = 0; c < m.core_count(); ++c) all.back().cores.push_back(c);
  }
  refuse_contradictions(all, m);
  return all;
}

std::vector<disturbance> parse_disturbances(std::string_view text, const machine& m) {
  return placed(read_disturbances(text), m);
}

std::string to_string(const disturbance& d) {
  std::string text = fmt::format("{}@{}", name_of(d.kind), d.cores.empty() ? "all" : "");
  for (std::size_t i = 0; i < d.cores.size();) {
    std::size_t last = i;
    while (last + 1 < d.cores.size() && d.cores[last + 1] == d.cores[last] + 1) ++last;
    text += i == 0 ? "" : ",";
    text +=
        last == i ? fmt::format("{}", d.cores[i]) : fmt::format("{}-{}", d.cores[i], d.cores[last]);
    i = last + 1;
  }
  if (has_share(d.kind)) text += fmt::format(":{}", percent(d.share));
  if (d.half_period_s > 0) text += fmt::format(",{}", d.half_period_s);
  if (d.window && d.window->fractions)
    text += fmt::format("@{}..{}", percent(d.window->from), percent(d.window->to));
  else if (d.window)
    text += fmt::format("@{}..{}", d.window->from, d.window->to);
  return text;
}

std::string to_string(const std::vector<disturbance>& all) {
  std::string text;
  for (const disturbance& d : all)
    text += fmt::format("{}{}", text.empty() ? "" : "+", to_string(d));
  return text.empty() ? "none" : text;
}

}  // namespace kilter::lab
