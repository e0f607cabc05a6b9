// The idea: a budget is spent on rounds of everything rather than on many rounds of one thing.
//
//   pass 0: round 0 of the cells of level 0, a few of every kind
//   pass 1: round 1 of these, round 0 of level 1
//   pass 2: round 2,          round 1
//   pass 3: round 3,          round 2,          round 0 of level 2 ...
//
// Within a pass: graphs, programs, regions, scaling; of each, what is new before what is repeated.
// Whatever does not fit is left out, and what is shorter and comes later may still fit.

#include "survey/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <tuple>

namespace kilter::bench {

namespace {

constexpr const char* kinds[] = {"graph", "program", "regions", "scaling"};
constexpr double run_s = 0.15, regions_s = 0.4;
/// The pass in which the cells of a level begin.
constexpr std::uint32_t begins[] = {0, 1, 3};

struct body {
  const char* name;
  const char* tile;  ///< fixed, so that all rounds do the same work; the time is nominal
};
constexpr body one_us{"1us", "24"}, short_task{"16us", "64"}, middle{"200us", "148"},
    longest{"1ms", "256"};

/// A cell: what each of its rounds is made from.
struct survey_cell {
  survey_step first;
  std::uint32_t level;
};

class cells {
 public:
  explicit cells(const survey_machine& m) : m_(m), scenes_(survey_scenes(m.cores())) {}

  /// A layered graph of so many tasks a layer; with `cores`, none beside it.
  void graph(std::uint32_t level, std::uint32_t width, const body& b, bool barriers = false,
             std::uint32_t cores = 0) {
    const std::string work = fmt::format("{}{}/{}", barriers ? "B" : "P", width, b.name);
    const std::size_t scenes = cores ? 1 : scenes_.size();
    const char* const systems =
        cores ? "auto,onetbb,openmp" : "auto,rws,dam-c,onetbb,onetbb-pinned,openmp,openmp-pinned";
    std::vector<std::string> words{
        "bench_graph", "--parallelism",          std::to_string(width), "--tile", b.tile,
        "--seconds",   fmt::format("{}", run_s), "--systems",           systems};
    if (barriers) words.emplace_back("--barriers");
    for (std::size_t s = 0; s < scenes; ++s) words.insert(words.end(), {"--disturb", scenes_[s]});
    const double expected_s = 0.5 + static_cast<double>(scenes) * (cores ? 3 : 7) * run_s * 1.3;
    add(level, {.kind = cores ? "scaling" : "graph",
                .work = work,
                .cores = cores,
                .expected_s = expected_s,
                .commands = {{.words = words, .how = reading::graph}}});
  }

  /// A program of `kilter lab app`; `kilter lab app` takes turns among the models itself.
  void program(std::uint32_t level, const std::string& name, const std::string& size,
               double expected_s, std::uint32_t cores = 0) {
    std::vector<std::string> words{"kilter",
                                   "lab",
                                   "app",
                                   name,
                                   "--size",
                                   size,
                                   "--repeat",
                                   "1",
                                   "--quiet",
                                   "--json",
                                   "-",
                                   "--model",
                                   cores ? "kilter,loop-dynamic,tbb-loop"
                                         : "kilter,loop-static,loop-dynamic,omp-task,tbb-loop"};
    if (!cores && scenes_.size() > 1) {
      std::string others = scenes_[1];
      for (std::size_t s = 2; s < scenes_.size(); ++s) others += "," + scenes_[s];
      words.insert(words.end(), {"--disturb", others});
    }
    add(level, {.kind = cores ? "scaling" : "program",
                .work = name + " " + size,
                .cores = cores,
                .expected_s = cores ? expected_s / 2 : expected_s,
                .commands = {{.words = words, .how = reading::app}}});
  }

  /// A program with OpenMP, as it is and under `kilter run`. A step takes as long on more cores.
  void regions(std::uint32_t level, const std::string& shape, std::uint32_t sweeps_a_core,
               bool libomp = false) {
    if (libomp && !m_.has_libomp) return;
    const std::vector<std::string> words{libomp ? "bench_regions_libomp" : "bench_regions", shape,
                                         std::to_string(sweeps_a_core * m_.cores()),
                                         fmt::format("{}", regions_s)};
    std::vector<std::string> under{"kilter", "run", "--"};
    under.insert(under.end(), words.begin(), words.end());
    survey_step s{.kind = "regions",
                  .work = fmt::format("{}/{}{}", shape, sweeps_a_core, libomp ? " libomp" : ""),
                  .commands = {}};
    for (std::size_t scene = 0; scene < scenes_.size(); ++scene) {
      std::vector<int> beside;
      if (scene > 0)
        beside.assign(m_.cpus.begin(), m_.cpus.begin() + (scene == 1 ? 1 : m_.cores() / 4));
      const auto run = [&](const std::vector<std::string>& what, const char* label,
                           auto variables) {
        s.commands.push_back({.words = what,
                              .how = reading::number,
                              .label = label,
                              .scene = scenes_[scene],
                              .neighbours = beside,
                              .variables = variables});
      };
      using variables = std::vector<std::pair<std::string, std::string>>;
      run(words, "plain", variables{});
      run(under, "kilter run", variables{});
      run(words, "passive", variables{{"OMP_WAIT_POLICY", "passive"}, {"KMP_BLOCKTIME", "0"}});
    }
    s.expected_s = static_cast<double>(s.commands.size()) * regions_s * 1.4;
    add(level, std::move(s));
  }

  [[nodiscard]] const std::vector<survey_cell>& all() const noexcept { return all_; }

 private:
  void add(std::uint32_t level, survey_step s) {
    const auto same = [&](const survey_cell& c) { return c.first.cell() == s.cell(); };
    if (std::ranges::none_of(all_, same)) all_.push_back({std::move(s), level});
  }

  const survey_machine& m_;
  std::vector<std::string> scenes_;
  std::vector<survey_cell> all_;
};

std::vector<std::uint32_t> core_counts(std::uint32_t cores) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t n = 1; n < cores; n *= 2) counts.push_back(n);
  counts.push_back(cores);
  return counts;
}

void add_graphs(cells& c, std::uint32_t cores) {
  c.graph(0, std::max(cores, 2u), short_task);
  c.graph(0, 4 * cores, short_task);
  c.graph(1, 2, short_task);
  c.graph(1, std::max(cores, 2u), middle);
  c.graph(1, 4 * cores, one_us);
  c.graph(2, 4 * cores, short_task, true);
  c.graph(2, 4 * cores, middle);
  c.graph(2, 2 * cores, short_task);
  c.graph(2, 4 * cores, middle, true);
  c.graph(2, 4 * cores, longest);
  c.graph(2, std::max(cores, 2u), one_us);
  c.graph(2, 1, short_task);
}

struct named_program {
  const char* name;
  double medium_s;  ///< of a round on two cores, with what prepares and verifies
};
constexpr named_program programs[] = {
    {"kmeans", 3}, {"fluidanimate", 4}, {"facesim", 4},   {"streamcluster", 4},
    {"heat", 4},   {"blackscholes", 4}, {"swaptions", 4}, {"dedup", 4},
    {"ferret", 5}, {"bodytrack", 3},    {"canneal", 3},   {"vgg16", 10}};
constexpr std::size_t in_the_first_pass = 3;

void add_programs(cells& c, std::uint32_t cores) {
  for (std::size_t p = 0; p < std::size(programs); ++p)
    c.program(p < in_the_first_pass ? 0 : 1, programs[p].name, "medium", programs[p].medium_s);
  if (cores < 8) return;
  // With so many cores a medium run is over soon.
  for (const char* const name : {"kmeans", "swaptions", "facesim", "streamcluster", "ferret"})
    c.program(2, name, "large", 30.0);
}

void add_regions(cells& c) {
  c.regions(0, "loop", 8);
  c.regions(1, "around", 8);
  c.regions(1, "dynamic", 8);
  c.regions(1, "loop", 1);
  c.regions(2, "loop", 8, true);
  c.regions(2, "loop", 100);
  c.regions(2, "reduction", 8);
  c.regions(2, "triangle", 8);
  c.regions(2, "sections", 8);
}

void add_scaling(cells& c, std::uint32_t cores) {
  if (cores < 2) return;
  for (const std::uint32_t n : core_counts(cores)) c.graph(0, 4 * cores, short_task, false, n);
  for (const std::uint32_t n : core_counts(cores)) c.program(1, "kmeans", "medium", 4.0, n);
  for (const std::uint32_t n : core_counts(cores)) c.graph(2, 4 * cores, one_us, false, n);
  for (const char* const name : {"swaptions", "fluidanimate", "heat"})
    for (const std::uint32_t n : core_counts(cores)) c.program(2, name, "medium", 6.0, n);
}

/// Who ran first in one round is not first in the next.
void take_turns(survey_step& s, std::uint32_t round) {
  for (survey_command& one : s.commands) {
    if (one.how == reading::graph)
      one.words.insert(one.words.end(), {"--round", std::to_string(round)});
    if (one.how == reading::app) {
      std::string& models = *(std::ranges::find(one.words, "--model") + 1);
      const auto commas = static_cast<std::uint32_t>(std::ranges::count(models, ','));
      for (std::uint32_t turn = 0; turn < round % (commas + 1); ++turn) {
        const std::size_t first = models.find(',');
        models = models.substr(first + 1) + "," + models.substr(0, first);
      }
    }
  }
  if (s.kind == "regions")
    for (auto part = s.commands.begin(); part != s.commands.end(); part += 3)
      std::rotate(part, part + round % 3, part + 3);
}

}  // namespace

std::string survey_step::cell() const {
  return kind + (work.empty() ? "" : " " + work) +
         (cores ? fmt::format(" on {} core{}", cores, cores == 1 ? "" : "s") : "");
}

std::string survey_step::id() const { return fmt::format("{}, round {}", cell(), round + 1); }

std::vector<std::string> survey_scenes(std::uint32_t cores) {
  std::vector<std::string> all{"none"};
  if (cores >= 2) all.emplace_back("cpu@0");
  if (cores >= 8) all.push_back(fmt::format("cpu@0-{}", cores / 4 - 1));
  return all;
}

std::vector<survey_step> survey_plan(const survey_machine& m, std::uint32_t rounds) {
  cells c(m);
  add_graphs(c, m.cores());
  add_programs(c, m.cores());
  add_regions(c);
  add_scaling(c, m.cores());
  std::vector<survey_step> plan;
  for (const survey_cell& cell : c.all())
    for (std::uint32_t round = 0; round < rounds; ++round) {
      survey_step s = cell.first;
      s.round = round;
      s.pass = begins[cell.level] + round;
      take_turns(s, round);
      plan.push_back(std::move(s));
    }
  const auto place = [](const survey_step& s) {
    const auto kind = std::find(std::begin(kinds), std::end(kinds), s.kind) - std::begin(kinds);
    return std::tuple(s.pass, kind, s.round);
  };
  std::ranges::stable_sort(
      plan, [&](const survey_step& a, const survey_step& b) { return place(a) < place(b); });
  const std::uint32_t last = plan.empty() ? 0 : plan.back().pass + 1;
  plan.push_back({.kind = "calibrate",
                  .work = "",
                  .pass = last,
                  .expected_s = 10.0 + 0.5 * m.cores(),
                  .commands = {{.words = {"kilter", "lab", "calibrate", "--repeats", "3", "--quiet",
                                          "--out", "PLATFORM"}}}});
  return plan;
}

std::string our_label(const std::string& kind) {
  return kind == "program" ? "kilter" : kind == "regions" ? "kilter run" : "auto";
}

bool is_other(const std::string& label) {
  const std::initializer_list<const char*> ours = {"auto", "rws", "dam-c", "kilter", "kilter run"};
  return std::find(ours.begin(), ours.end(), label) == ours.end();
}

double survey_done::expected_s(const survey_step& s) const {
  const auto known = seconds.find(s.cell());
  return known == seconds.end() ? s.expected_s : known->second;
}

std::size_t next_step(const std::vector<survey_step>& plan, const survey_done& done, double left_s,
                      double budget_s) {
  double kept_s = 0.0;
  for (const survey_step& s : plan)
    if (s.kind == "calibrate" && !done.ids.contains(s.id()) && s.expected_s <= budget_s / 5)
      kept_s = s.expected_s + budget_s / 20;  // what runs before it may take longer than expected
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const survey_step& s = plan[i];
    if (done.ids.contains(s.id()) || done.failed.contains(s.cell())) continue;
    if (done.expected_s(s) <= left_s - (s.kind == "calibrate" ? 0.0 : kept_s)) return i;
  }
  return plan.size();
}

}  // namespace kilter::bench
