// The [[scenario]] tables of an experiment file: words of the command line, and lists where it is
// run with several values.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <regex>

#include "balance/catalogue.hpp"
#include "claims/experiment_reader.hpp"
#include "claims/model_measures.hpp"
#include "disturbing/disturbance.hpp"
#include "kilter/error.hpp"
#include "kilter/policy.hpp"
#include "measuring/specification.hpp"
#include "threads/thread_platforms.hpp"
#include "threads/thread_programs.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {

namespace {

struct word {
  std::string_view key;
  bool axis;  ///< may be a list
  bool required;
  wording looks;
};

struct described_workload {
  std::string_view name;
  std::vector<word> words;
};

const std::vector<described_workload>& workloads() {
  static const std::vector<described_workload> all = {
      {"layered",
       {{"kernel", false, true, wording::word},
        {"tile", true, true, wording::count},
        {"sweeps", false, false, wording::count},
        {"tasks", true, true, wording::count},
        {"parallelism", true, true, wording::count},
        {"undisturbed", false, false, wording::word}}},
      {"random",
       {{"kernel", false, true, wording::word},
        {"tile", false, true, wording::text},
        {"tasks", true, true, wording::count},
        {"parallelism", true, true, wording::count},
        {"edge_rate", false, true, wording::text}}},
      {"kmeans",
       {{"points", false, true, wording::count},
        {"features", false, true, wording::count},
        {"clusters", false, true, wording::count},
        {"iterations", false, true, wording::count},
        {"tasks_per_iteration", false, true, wording::count},
        {"critical_factor", false, true, wording::text}}},
      {"heat",
       {{"rows", false, true, wording::count},
        {"columns", false, true, wording::count},
        {"ranks", false, true, wording::count},
        {"tasks_per_rank", false, true, wording::count},
        {"iterations", false, true, wording::count},
        {"nodes", false, true, wording::word}}},
      {"vgg",
       {{"input", false, true, wording::count},
        {"block_length", false, true, wording::count},
        {"tasks_of_block", false, false, wording::word}}},
      {threads_workload, {{"program", true, true, wording::text},
                          {"clocks", true, true, wording::word},
                          {"quantum", true, false, wording::count},
                          {"swap_size", true, false, wording::count},
                          {"cool_down", true, false, wording::count},
                          {"memory", false, false, wording::word},
                          {"sides", false, false, wording::word},
                          {"pairs", false, false, wording::word},
                          {"errors", false, false, wording::word},
                          {"window", false, false, wording::count},
                          {"swap_unit", false, false, wording::word},
                          {"more_than_half", false, false, wording::word},
                          {"gate", false, false, wording::word},
                          {"rates", false, false, wording::word},
                          {"beside", false, false, wording::word},
                          {"sections", false, false, wording::word},
                          {"code", false, false, wording::word},
                          {"ghz", false, false, wording::word},
                          {"copies", false, false, wording::word},
                          {"smt", false, false, wording::count},
                          {"work", false, false, wording::count},
                          {"memory_demand", false, false, wording::count},
                          {"remote", false, false, wording::count},
                          {"scatter", false, false, wording::count},
                          {"refill", false, false, wording::count},
                          {"lines_in_flight", false, false, wording::count}}},
      {models_workload,
       {{"program", true, true, wording::text},
        {"configuration", true, true, wording::text},
        {"begin", false, false, wording::word},
        {"paths", false, false, wording::word},
        {"little_watts", false, false, wording::count}}},
  };
  return all;
}

/// What [[native]] scenarios run, in the words of `kilter lab app`.
const std::vector<described_workload>& program_words() {
  static const std::vector<described_workload> all = {
      {"kmeans",
       {{"size", false, true, wording::word},
        {"clusters", false, false, wording::count},
        {"block", false, false, wording::count},
        {"iterations", false, true, wording::count}}},
      {"vgg16",
       {{"size", false, true, wording::word},
        {"pictures", false, true, wording::count},
        {"block_length", false, false, wording::count}}},
      {"graph", {{"graph", false, true, wording::text}}},
  };
  return all;
}

const described_workload& described(const toml_table& t, std::string_view key,
                                    const std::vector<described_workload>& all) {
  const std::string name = t.text(key);
  const auto found = std::ranges::find(all, name, &described_workload::name);
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const described_workload& one : all) names.push_back(one.name);
  t.fail_at(key, unknown_name(key, name, names));
}

std::uint32_t whole(const toml_table& t, std::string_view key, std::uint32_t least,
                    std::uint32_t fallback) {
  if (!t.has(key)) return fallback;
  const double value = t.number(key);
  if (value != static_cast<double>(static_cast<std::uint32_t>(std::clamp(value, 0.0, 1e6))) ||
      value < least)
    t.fail_at(key, fmt::format("'{}' is {}; it must be a whole number from {} to 1000000", key,
                               value, least));
  return static_cast<std::uint32_t>(value);
}

/// What every workload of tasks may have: settings of a specification. Policies and disturbances
/// are read apart.
const std::vector<word>& common() {
  static const std::vector<word> all = [] {
    std::vector<word> words;
    for (const setting& s : settings())
      if (s.files != in_files::no)
        words.push_back(
            {s.name, s.files == in_files::axis, false, s.words.empty() ? s.looks : wording::word});
    return words;
  }();
  return all;
}

/// Those of them that mean something to the runtime.
const std::vector<word>& runtime_words() {
  static const std::vector<word> all = [] {
    std::vector<word> words;
    constexpr std::array<std::string_view, 5> simulated{"co_runner", "thieves", "blocks", "data",
                                                        "fast"};
    for (const word& w : common())
      if (std::ranges::find(simulated, w.key) == simulated.end()) words.push_back(w);
    return words;
  }();
  return all;
}

struct choice {
  std::string_view key;
  std::vector<std::string_view> values;
};

/// Of parameters; those of settings are in their table.
const std::vector<choice>& choices() {
  static const std::vector<choice> all = {
      {"kernel", {"matmul", "copy", "stencil", "sort", "mix"}},
      {"clocks", {"all-fast", "half-half", "one-fast", "all-slow"}},
      {"memory", {"fast", "slow"}},
      {"sides", {"dynamic", "fast", "near"}},
      {"pairs", {"strict", "turns", "letter"}},
      {"errors", {"quanta", "sums"}},
      {"swap_unit", {"threads", "pairs"}},
      {"more_than_half", {"no", "yes"}},
      {"gate", {"programs", "threads"}},
      {"rates", {"time", "cycle"}},
      {"beside", {"kmeans", "nothing"}},
      {"sections", {"thread", "program"}},
      {"begin", {"big", "little"}},
      {"paths", {"own", "alike"}},
      {"code", {"paper", "public"}},
      {"tasks_of_block", {"one", "chain"}},
      {"undisturbed", {"no", "yes"}},
      {"ghz", {"paper", "script"}},
      {"copies", {"slowest", "mean"}},
      {"nodes", {"shared", "apart"}},
      {"size", {"small", "medium", "large", "native"}}};
  return all;
}

std::span<const std::string_view> values_of(std::string_view key) {
  if (const setting* s = find_setting(key)) return s->words;
  const auto at = std::ranges::find(choices(), key, &choice::key);
  return at == choices().end() ? std::span<const std::string_view>() : at->values;
}

/// What is wrong with a value; empty if nothing is.
std::string fault_of(const word& w, const std::string& value) {
  if (w.looks == wording::count) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (error != std::errc{} || end != value.data() + value.size() || count == 0)
      return fmt::format("'{}' is '{}'; it must be a whole number of at least 1", w.key, value);
  }
  static const std::regex part("1|[1-9][0-9]*/[1-9][0-9]*");
  if (w.key == "weight" && !std::regex_match(value, part))
    return fmt::format(
        "'weight' is '{}'; it must be the part of a new sample, such as \"1/5\" or \"1\"", value);
  if (w.looks == wording::word)
    if (const auto values = values_of(w.key); std::ranges::find(values, value) == values.end())
      return unknown_name(w.key, value, values);
  return {};
}

void read_word(const toml_table& t, const word& w, experiment_scenario& s) {
  if (!t.has(w.key) && !w.required) return;
  auto values = t.words(w.key);
  for (const std::string& value : values)
    if (const std::string fault = fault_of(w, value); !fault.empty()) t.fail_at(w.key, fault);
  if (w.axis) {
    s.axes.push_back({std::string(w.key), std::move(values)});
  } else {
    if (values.size() != 1)
      t.fail_at(w.key, fmt::format("'{}' takes one value; write a [[scenario]] for each", w.key));
    s.parameters.emplace(w.key, values.front());
  }
}

/// The words only: whether the platform has those cores is known when it is run.
std::vector<std::string> disturbances_of(const toml_table& t) {
  static const machine large = machine::uniform(4096);
  if (!t.has("disturb")) return {"none"};
  auto texts = t.words("disturb");
  try {
    for (const std::string& text : texts) (void)placed(read_disturbances(text), large);
  } catch (const input_error& error) {
    t.fail_at("disturb", error.what());
  }
  return texts;
}

/// Its name only: it is made when it is run.
void check_graph(const toml_table& t, const std::string& graph) {
  try {
    check_named(graph);
  } catch (const input_error& error) {
    t.fail_at("graph", error.what());
  }
}

std::vector<std::string> policies_of(const toml_table& t, run_kind of) {
  std::vector<std::string_view> known;
  if (of == run_kind::models) known.assign(execution_models().begin(), execution_models().end());
  if (of == run_kind::threads)
    for (const balance::scheduler_info& info : balance::schedulers()) known.push_back(info.name);
  else
    for (const policy_info& info : policy_catalogue()) known.push_back(info.name);
  auto names = t.words("policies");
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      t.fail_at("policies", unknown_name("policy", name, known));
  return names;
}

/// Where it runs, always in virtual time: a verdict has to be the same everywhere.
engine_choice engine_of(const toml_table& t) {
  if (!t.has("on") && t.has("platform"))
    t.fail_at("platform",
              fmt::format("'platform' is now 'on': write on = \"sim:{}\"", t.text("platform")));
  const std::string text = t.text("on");
  engine_choice on;
  try {
    on = read_engine("on", text);
  } catch (const input_error& error) {
    t.fail_at("on", error.what());
  }
  if (on.platform.empty() || on.emulated)
    t.fail_at(
        "on",
        fmt::format(
            "on '{}': claims are judged in virtual time; write sim:PLATFORM, as sim:jetson-tx2",
            text));
  return on;
}

/// That the machine and the programs are there.
void check_thread_scenario(const toml_table& t, const experiment_scenario& s) {
  const auto checked = [&](const char* key, const auto& make) {
    try {
      make();
    } catch (const input_error& error) {
      t.fail_at(key, error.what());
    }
  };
  const bool known =
      std::ranges::find(thread_platforms, s.on.platform) != std::end(thread_platforms);
  for (const std::string& clocks : s.find_axis("clocks")->values)
    checked(known ? "clocks" : "on", [&] { (void)thread_platform_of(s.on.platform, clocks); });
  for (const std::string& program : s.find_axis("program")->values)
    for (const std::string& one : members_of(program))
      checked("program", [&] { (void)thread_programs_of(one); });
}

/// That the machine is S1's, with such cores. Programs are looked up when they are run.
void check_model_scenario(const toml_table& t, const experiment_scenario& s) {
  if (s.on.platform != "odroid-xu3")
    t.fail_at("on", fmt::format("on 'sim:{}': execution models are run on sim:odroid-xu3",
                                s.on.platform));
  for (const std::string& cores : s.find_axis("configuration")->values) try {
      (void)read_configuration(cores);
    } catch (const input_error& error) {
      t.fail_at("configuration", error.what());
    }
}

}  // namespace

const axis* experiment_scenario::find_axis(std::string_view axis_name) const noexcept {
  const auto found =
      std::find_if(axes.begin(), axes.end(), [&](const axis& a) { return a.name == axis_name; });
  return found == axes.end() ? nullptr : &*found;
}

experiment_scenario read_scenario(const toml_table& t) {
  experiment_scenario s;
  s.name = t.text("name");
  s.on = engine_of(t);
  s.workload = t.text("workload");
  const described_workload* w = &described(t, "workload", workloads());
  std::vector<std::string_view> known{"name",  "on",    "workload", "policies",
                                      "seeds", "draws", "open"};
  const bool of_tasks = s.runs() == run_kind::tasks;
  if (of_tasks) known.push_back("disturb");
  for (const word& one : w->words) known.push_back(one.key);
  if (of_tasks)
    for (const word& one : common()) known.push_back(one.key);
  t.only(known);

  s.axes.push_back({"policy", policies_of(t, s.runs())});
  for (const word& one : w->words) read_word(t, one, s);
  if (of_tasks) {
    s.axes.insert(s.axes.begin() + 1, {"disturb", disturbances_of(t)});
    for (const word& one : common()) read_word(t, one, s);
  } else if (s.runs() == run_kind::threads) {
    check_thread_scenario(t, s);
  } else {
    check_model_scenario(t, s);
  }
  if (t.has("open")) s.open = t.words("open");
  s.seeds = whole(t, "seeds", 10, s.seeds);
  s.draws = whole(t, "draws", 1, s.draws);
  return s;
}

experiment_scenario read_native(const toml_table& t) {
  experiment_scenario s;
  s.name = t.text("name");
  const described_workload& w = described(t, "program", program_words());
  s.workload = w.name;
  std::vector<std::string_view> known{"name", "program", "policies", "disturb", "repeats", "open"};
  for (const auto* words : {&w.words, &runtime_words()})
    for (const word& one : *words) known.push_back(one.key);
  t.only(known);
  s.axes = {{"policy", policies_of(t, run_kind::tasks)}, {"disturb", disturbances_of(t)}};
  for (const auto* words : {&w.words, &runtime_words()})
    for (const word& one : *words) read_word(t, one, s);
  if (const auto graph = s.parameters.find("graph"); graph != s.parameters.end())
    check_graph(t, graph->second);
  if (t.has("open")) s.open = t.words("open");
  s.seeds = whole(t, "repeats", 3, s.seeds);
  return s;
}

std::string words_of(const experiment_scenario& s) {
  std::string words = fmt::format("{}: {}", s.name, s.workload);
  for (const auto& [key, value] : s.parameters) words += fmt::format(" {}={}", key, value);
  return words;
}

namespace {

/// What another reading may give: one value, and not which cores there are.
bool may_be_set(const word& w, bool of_workload) {
  return of_workload ? !w.axis : w.key != "workers" && w.key != "cores" && w.key != "fast";
}

const word* word_of(const experiment_scenario& s, std::string_view key) {
  const auto& own = std::ranges::find(workloads(), s.workload, &described_workload::name)->words;
  if (const auto at = std::ranges::find(own, key, &word::key); at != own.end())
    return may_be_set(*at, true) ? &*at : nullptr;
  if (s.runs() != run_kind::tasks) return nullptr;
  const auto at = std::ranges::find(common(), key, &word::key);
  return at != common().end() && may_be_set(*at, false) ? &*at : nullptr;
}

}  // namespace

std::vector<std::string_view> words_of_readings() {
  std::vector<std::string_view> keys;
  for (const word& w : common())
    if (may_be_set(w, false)) keys.push_back(w.key);
  for (const described_workload& d : workloads())
    for (const word& w : d.words)
      if (may_be_set(w, true) && std::ranges::find(keys, w.key) == keys.end())
        keys.push_back(w.key);
  return keys;
}

bool set_word(experiment_scenario& s, const std::string& key, const std::string& value) {
  const word* w = word_of(s, key);
  if (!w) return false;
  if (const std::string fault = fault_of(*w, value); !fault.empty()) throw input_error(fault);
  s.parameters[key] = value;
  return true;
}

}  // namespace kilter::lab
