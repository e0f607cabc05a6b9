#include "study/plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "kilter/error.hpp"
#include "words/numbers.hpp"

namespace kilter::bench {

namespace {

/// Later graphs of one runtime are as many samples, so a short run has five.
constexpr std::uint32_t short_graphs = 5;

struct named {
  const char* name;
  double seconds;
};
constexpr named bodies[] = {{"16us", 16e-6}, {"200us", 200e-6}, {"1ms", 1e-3}};
constexpr named short_lengths[] = {{"100ms", 0.1}, {"20ms", 0.02}};

struct named_disturbance {
  const char* name;
  const char* text;
};
constexpr named_disturbance disturbances[] = {{"none", "none"},
                                              {"cpu", "cpu@0"},
                                              {"wave", "wave@0:17%,0.5"},
                                              {"session", "session@0"},
                                              {"float", "float@all"}};

/// A co-runner, and beside it a real-time load that comes and goes every 20 ms.
constexpr named_disturbance irregular{"irregular", "cpu@0+wave@0:50%,0.02"};

cell make_cell(const machine& m, std::uint32_t parallelism, const named& body,
               const named_disturbance& d, const named& length, std::uint32_t graphs) {
  return {parallelism, false,
          body.name,   body.seconds,
          d.name,      lab::parse_disturbances(d.text, m),
          length.name, length.seconds,
          graphs,      0};
}

runtime_options kilter_options(const std::shared_ptr<const machine>& m, const char* policy,
                               std::uint64_t seed) {
  runtime_options o;
  o.machine = m;
  o.policy = policy;
  o.seed = seed;
  return o;
}

/// All cores but core 0, or core 0 alone: the right and the wrong guess when core 0 is the
/// disturbed one.
std::vector<core_id> guess(const machine& m, bool right) {
  if (!right) return {0};
  std::vector<core_id> others;
  for (core_id c = 1; c < m.core_count(); ++c) others.push_back(c);
  return others;
}

system fixed(const char* name, const char* heading, bool right) {
  return {name, heading, true, [right](const auto& m, core_id, std::uint64_t seed) {
            runtime_options o = kilter_options(m, "fa", seed);
            o.policy_settings.fast = guess(*m, right);
            return make_kilter(o);
          }};
}

system learned(const char* name, const char* heading, const char* policy, bool paper, bool pinned) {
  return {name, heading, true, [=](const auto& m, core_id, std::uint64_t seed) {
            runtime_options o = kilter_options(m, policy, seed);
            o.table = paper ? table_options::paper() : table_options::robust();
            o.pinned = pinned;
            return make_kilter(o);
          }};
}

/// The calling thread is a peer's first thread, so it stands on the core that the run starts on.
threads peer_threads(const machine& m, core_id root, bool pinned) {
  threads t{.cpus = {}, .pinned = pinned};
  const core_id first = root == no_core ? 0 : root;
  for (core_id c = 0; c < m.core_count(); ++c)
    t.cpus.push_back(m.cores()[(first + c) % m.core_count()].os_index);
  return t;
}

system onetbb(const char* name, const char* heading, bool pinned, bool priorities, bool in_quick) {
  return {name, heading, in_quick, [=](const auto& m, core_id root, std::uint64_t) {
            return make_onetbb(peer_threads(*m, root, pinned), priorities);
          }};
}

system openmp(const char* name, const char* heading, bool pinned) {
  return {name, heading, true, [=](const auto& m, core_id root, std::uint64_t) {
            return make_openmp(peer_threads(*m, root, pinned));
          }};
}

bool matches(const std::string& id, const std::string& patterns) {
  if (patterns.empty()) return true;
  const auto list = lab::split_list(patterns);
  return std::any_of(list.begin(), list.end(), [&](std::string_view p) {
    return ::fnmatch(std::string(p).c_str(), id.c_str(), 0) == 0;
  });
}

/// Ten minutes' worth: short bodies in runs of a second, and the short runs where starting on the
/// wrong core costs most. Above P = 2 the other co-runners show what `cpu` shows.
bool in_quick(const cell& c) {
  if (c.barriers) return c.body == "200us" && c.parallelism == 8 && c.disturb == "cpu";
  if (c.body != "16us") return false;
  if (c.disturb == "session" || c.disturb == "float") return c.length == "1s" && c.parallelism <= 2;
  return c.length == "1s" || (c.graphs > 1 && c.disturb == "cpu" && c.parallelism <= 2);
}

}  // namespace

std::string cell::id() const {
  return (barriers ? "B" : "P") + std::to_string(parallelism) + "/" + body + "/" + disturb + "/" +
         length;
}

std::uint64_t cell::longest_path(std::uint32_t tasks) const noexcept {
  return barriers ? std::max(tasks / parallelism, 1u)
                  : kilter::longest_path({.tasks = tasks, .parallelism = parallelism});
}

bool is_peer(const std::string& name) {
  return name.starts_with("onetbb") || name.starts_with("openmp");
}
bool is_unpinned_peer(const std::string& name) {
  return is_peer(name) && !name.ends_with("-pinned");
}

const std::vector<system>& all_systems() {
  static const std::vector<system> all{
      learned("auto", "auto", "auto", false, true),
      learned("rws", "rws", "rws", false, true),
      fixed("fa-right", "fa|right", true),
      fixed("fa-wrong", "fa|wrong", false),
      learned("da-paper", "da|paper", "da", true, true),
      learned("da", "da", "da", false, true),
      learned("dam-c-paper", "dam-c|paper", "dam-c", true, true),
      learned("dam-c", "dam-c", "dam-c", false, true),
      learned("rws-unpinned", "rws|unpin", "rws", false, false),
      learned("dam-c-unpinned", "dam-c|unpin", "dam-c", false, false),
      onetbb("onetbb", "tbb", false, false, true),
      onetbb("onetbb-priority", "tbb|prio", false, true, false),
      onetbb("onetbb-pinned", "tbb|pinned", true, false, true),
      openmp("openmp", "openmp", false),
      openmp("openmp-pinned", "openmp|pinned", true),
  };
  return all;
}

std::vector<cell> all_cells(const machine& m) {
  std::vector<cell> all;
  const auto every = [&](const named& length, std::uint32_t graphs) {
    for (const named& body : bodies)
      for (const named_disturbance& d : disturbances) {
        // A wave's first half is full speed, so a short run would see nothing of it.
        if (graphs > 1 && std::string_view(d.name) == "wave") continue;
        for (std::uint32_t p = 1; p <= 4; ++p)
          all.push_back(make_cell(m, p, body, d, length, graphs));
      }
  };
  every({"1s", 1.0}, 1);
  for (const named& length : short_lengths) every(length, short_graphs);
  for (const named* body : {&bodies[1], &bodies[2]})
    for (const named_disturbance& d : {disturbances[0], disturbances[1], irregular})
      for (const std::uint32_t width : {4u, 8u, 16u, 64u}) {
        all.push_back(make_cell(m, width, *body, d, {"1s", 1.0}, 1));
        all.back().barriers = true;
      }
  all.push_back(make_cell(m, 2, bodies[0], {"wave5", "wave@0:17%,5"}, {"20s", 20.0}, 1));
  return all;
}

std::vector<cell> cells_of(const study_options& o, const machine& m) {
  std::vector<cell> chosen;
  for (cell& c : all_cells(m)) {
    // A cell that is asked for by name is run, quick or not.
    if (!matches(c.id(), o.cells) || (o.quick && o.cells.empty() && !in_quick(c))) continue;
    c.repeats = c.length_s > 2.0 ? (o.repeats + 3) / 4 : o.repeats;
    chosen.push_back(std::move(c));
  }
  if (chosen.empty())
    throw input_error("--cells '" + o.cells +
                      "' matches no cell; cells are called P2/16us/cpu/1s, and patterns are the "
                      "shell's, as in 'P2/*/cpu/*'");
  return chosen;
}

std::vector<const system*> systems_of(const study_options& o) {
  std::vector<std::string_view> names;
  for (const system& s : all_systems()) names.push_back(s.name);
  std::vector<const system*> chosen;
  if (!o.systems.empty())
    for (const std::string_view name : lab::split_list(o.systems))
      chosen.push_back(&all_systems()[lab::parse_choice("system", name, names)]);
  else
    for (const system& s : all_systems())
      if (!o.quick || s.in_quick) chosen.push_back(&s);
  return chosen;
}

std::uint32_t tile_for(const cell& c, double product_64_s) {
  if (c.body == bodies[0].name) return 64;
  const double side = 64.0 * std::cbrt(c.body_s / product_64_s);
  return std::clamp(static_cast<std::uint32_t>(std::lround(side / 4.0)) * 4, 64u, 1024u);
}

}  // namespace kilter::bench
