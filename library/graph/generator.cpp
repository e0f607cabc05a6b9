#include "graph/generator.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

constexpr generator all[] = {
    {"layered", "layers of one critical and p - 1 other tasks (S0, section 4.2.2)",
     "tasks=10000, p=4, seed=1, kernel=, size=", make_layered},
    {"random", "levels of random width with random edges (S2, section 5.1)",
     "tasks=4000, width=16, rate=1, types=3, seed=1", make_random},
    {"topcuoglu", "random graphs with their own processors and costs (Topcuoglu 2002)",
     "tasks=100, alpha=1, out=3, ccr=1, beta=0.5, processors=4, seed=1", make_topcuoglu},
    {"cholesky", "tiled Cholesky factorisation of n x n tiles; seconds is a gemm's",
     "n=20 or tasks=", make_cholesky},
    {"lu", "tiled LU factorisation without pivoting of n x n tiles; seconds is a gemm's",
     "n=14 or tasks=", make_lu},
    {"qr", "tiled QR factorisation of n x n tiles; seconds is a tsmqr's",
     "n=14 or tasks=", make_qr},
    {"fft", "recursive FFT of 2^log2 points: a tree of calls, then rows of butterflies",
     "log2=9 or tasks=", make_fft},
    {"gauss", "Gaussian elimination of an n x n matrix by columns", "n=140 or tasks=", make_gauss},
    {"wavefront", "n x n cells, each after those above and to the left",
     "n=100 or tasks=", make_wavefront},
    {"fork-join", "stages of width tasks between joins",
     "width=16, stages=100 or tasks=", make_fork_join},
    {"pipeline", "items through stages, the first and last of them serial",
     "stages=5, items=1000 or tasks=", make_pipeline},
    {"tree", "a full tree, way=out, in or both",
     "way=out, degree=2, depth=12 or tasks=", make_tree},
};

template <class Names>
std::string listed(const Names& names) {
  std::string out;
  for (const auto& n : names) out.append(out.empty() ? "" : ", ").append(n);
  return out;
}

/// Reads all of `text`; false if it is not a number of that kind.
template <class Number>
bool read(std::string_view text, Number& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

}  // namespace

generator_options::generator_options(std::string_view text)
    : text_(text), name_(text.substr(0, text.find(':'))) {
  if (name_.size() == text.size()) return;
  for (std::string_view rest = text.substr(name_.size() + 1); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      refuse("'" + shown(one) + "' is not KEY=VALUE");
    const std::string key(one.substr(0, equals));
    if (find(key)) refuse("parameter '" + shown(key) + "' is given twice");
    given_.push_back({key, std::string(one.substr(equals + 1))});
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  known_.clear();
}

void generator_options::refuse(const std::string& what) const {
  throw input_error("generator " + shown(name_) + ": " + what);
}

const std::string* generator_options::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  const auto at = std::ranges::find(given_, key, &parameter::key);
  return at == given_.end() ? nullptr : &at->value;
}

bool generator_options::has(std::string_view key) { return find(key) != nullptr; }

std::uint64_t generator_options::count(std::string_view key, std::uint64_t if_absent,
                                       std::uint64_t least, std::uint64_t most) {
  const std::string* text = find(key);
  std::uint64_t value = if_absent;
  if (text && (!read(*text, value) || value < least || value > most))
    refuse(std::string(key) + " must be a whole number from " + std::to_string(least) + " to " +
           std::to_string(most) + ", got '" + shown(*text) + "'");
  return value;
}

double generator_options::number(std::string_view key, double if_absent, double least,
                                 double most) {
  const std::string* text = find(key);
  double value = if_absent;
  if (text && (!read(*text, value) || !(value >= least && value <= most)))
    refuse(std::string(key) + " must be a number from " + number_text(least) + " to " +
           number_text(most) + ", got '" + shown(*text) + "'");
  return value;
}

std::string_view generator_options::word(std::string_view key,
                                         std::span<const std::string_view> choices) {
  const std::string* text = find(key);
  if (!text) return choices.front();
  const auto at = std::ranges::find(choices, *text);
  if (at == choices.end())
    refuse("unknown " + std::string(key) + " '" + shown(*text) + "'; there are " + listed(choices));
  return *at;
}

std::string generator_options::name_of(std::string_view key) {
  const std::string* text = find(key);
  return text ? *text : std::string();
}

double generator_options::wanted_tasks(std::string_view instead_of) {
  const std::uint64_t wanted = count("tasks", 0, 1, most_tasks);
  if (wanted > 0 && has(instead_of))
    refuse("give " + std::string(instead_of) + " or tasks, not both");
  return static_cast<double>(wanted);
}

void generator_options::check_tasks(double tasks) const {
  if (!(tasks <= static_cast<double>(most_tasks)))
    refuse("that would be " + number_text(tasks) + " tasks; " + tasks_limit_text());
}

void generator_options::finish() const {
  for (const parameter& p : given_)
    if (std::ranges::find(known_, p.key) == known_.end())
      refuse("unknown parameter '" + shown(p.key) + "'; there are " + listed(known_));
}

dag_maker::dag_maker(generator_options& options, double default_seconds)
    : seconds_(options.number("seconds", default_seconds, 0.0, 1e9)),
      cost_s_(options.number("cost", 0.0, 0.0, 1e9)) {
  options.finish();
  graph_.name = options.text();
}

std::uint32_t dag_maker::type(std::string name, std::string kernel, double size) {
  graph_.types.push_back({.name = std::move(name), .kernel = std::move(kernel), .size = size});
  return static_cast<std::uint32_t>(graph_.types.size() - 1);
}

std::uint32_t dag_maker::task(std::uint32_t type, std::string id, double relative, priority p) {
  graph_.tasks.push_back(
      {.id = std::move(id), .type = type, .priority = p, .seconds = relative * seconds_});
  return static_cast<std::uint32_t>(graph_.tasks.size() - 1);
}

void dag_maker::edge(std::uint32_t from, std::uint32_t to) { edge(from, to, cost_s_); }

dag dag_maker::finish() {
  settle(graph_);
  return std::move(graph_);
}

std::span<const generator> generators() noexcept { return all; }

dag generate(std::string_view call) {
  generator_options options(call);
  const std::string_view name = call.substr(0, call.find(':'));
  const auto at = std::ranges::find(all, name, &generator::name);
  if (at == std::end(all)) {
    std::vector<std::string_view> names;
    for (const generator& g : all) names.push_back(g.name);
    throw input_error("unknown generator '" + shown(name) + "'; there are " + listed(names));
  }
  return at->make(options);
}

std::string task_id(std::string_view name, std::initializer_list<std::uint64_t> indices) {
  std::string id(name);
  for (const std::uint64_t i : indices) id.append("_").append(std::to_string(i));
  return id;
}

}  // namespace kilter::dags
