#pragma once
// A run drawn from a number: a machine, a graph, a policy with its modes, disturbances. It can be
// written as a platform file and a command line, and made simpler step by step.

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "kilter/policy.hpp"
#include "measuring/experiment.hpp"

namespace kilter::lab::test {

struct random_cluster {
  std::uint32_t kind = 0, cores = 1;
};

struct random_machine {
  std::uint32_t kinds = 1;
  std::vector<random_cluster> clusters;
  std::vector<double> kind_ms;     // of a matrix product on one core
  std::vector<double> efficiency;  // per kind: of each doubling of the width
  bool clocks = false, memory = false, small_cache = false, overheads = false, power = false,
       moved_lines = false;
  double slice_s = 0.004, fluid_share = 0.5;

  [[nodiscard]] std::uint32_t cores() const {
    std::uint32_t all = 0;
    for (const random_cluster& c : clusters) all += c.cores;
    return all;
  }
  [[nodiscard]] std::string text() const;
};

struct random_part {
  std::string kind, strength, window;
  std::uint32_t first = 0, last = 0;  // cores
  [[nodiscard]] std::string text() const {
    const std::string cores =
        first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    return fmt::format("{}@{}{}{}", kind, cores, strength, window);
  }
};

struct random_case {
  random_machine on;
  std::string workload = "layered", policy = "rws";
  // kmeans: iterations of `parallelism` tasks
  std::uint32_t tasks = 1, parallelism = 1, tile = 64, edge_percent = 100;
  bool mixed_kernels = false;
  std::string table = "paper", timing = "honest", criticality = "user", local = "containing",
              steal = "random", co_runner = "slice", root = "core";
  std::string data = "free";
  bool direct = false;
  std::vector<random_part> disturb;
  std::uint64_t seed = 1;

  [[nodiscard]] std::string disturb_text() const {
    std::string all;
    for (const random_part& p : disturb) all += (all.empty() ? "" : "+") + p.text();
    return all.empty() ? "none" : all;
  }
  [[nodiscard]] parameter_values parameters() const;
  [[nodiscard]] specification specified(const std::string& platform_file) const;
  /// What repeats the run; the platform is a file.
  [[nodiscard]] std::string command(const std::string& platform_file) const;
  /// Simpler cases, the boldest steps first.
  [[nodiscard]] std::vector<random_case> simpler() const;
};

[[nodiscard]] random_case draw_case(std::uint64_t number);

// ---- drawing ----

inline random_case draw_case(std::uint64_t number) {
  random_stream r(number, "random runs");
  const auto one_in = [&](std::uint32_t n) { return r.below(n) == 0; };
  const auto any_of = [&](std::initializer_list<const char*> all) {
    return std::string(*(all.begin() + r.below(static_cast<std::uint32_t>(all.size()))));
  };
  random_case c;
  random_machine& m = c.on;
  m.kinds = 1 + r.below(3);
  const std::uint32_t clusters = m.kinds + r.below(5 - m.kinds);
  for (std::uint32_t i = 0; i < clusters; ++i)
    m.clusters.push_back({std::min(i, m.kinds - 1), 1 + r.below(6)});
  for (std::uint32_t k = 0; k < m.kinds; ++k) {
    m.kind_ms.push_back(0.05 * (1 + r.below(40)) * (k + 1));
    m.efficiency.push_back(0.6 + 0.05 * r.below(10));
  }
  m.clocks = one_in(3);
  m.memory = one_in(3);
  m.small_cache = m.memory && one_in(2);
  m.overheads = !one_in(3);
  m.power = one_in(2);
  m.slice_s = one_in(2) ? 0.004 : 0.0007;
  m.fluid_share = one_in(2) ? 0.5 : 0.3;

  c.workload = any_of({"layered", "layered", "random", "random", "kmeans"});
  c.tasks = one_in(4) ? 1 + r.below(8) : 1 + r.below(120);
  c.parallelism = 1 + r.below(std::min(c.tasks, one_in(2) ? 4u : 24u));
  c.tile = one_in(2) ? 64 : 32 + 16 * r.below(6);
  c.edge_percent = one_in(2) ? 100 : r.below(101);
  c.mixed_kernels = one_in(2);
  const auto policies = policy_catalogue();
  c.policy = policies[r.below(static_cast<std::uint32_t>(policies.size()))].name;
  c.table = any_of({"paper", "robust"});
  c.timing = any_of({"honest", "honest", "leader"});
  c.criticality = any_of({"user", "chain", "diff1", "chain-closed"});
  c.local = any_of({"containing", "row"});
  c.steal = any_of({"random", "random", "richest", "cluster-first"});
  c.co_runner = any_of({"slice", "fluid"});
  c.root = any_of({"core", "outside"});
  c.direct = one_in(4);
  const std::uint32_t cores = m.cores();
  const auto kinds = disturbances_on(disturbed_cores::simulated);
  for (std::uint32_t parts = one_in(3) ? 0 : 1 + r.below(3); parts > 0; --parts) {
    random_part p;
    p.kind = name_of(kinds[r.below(static_cast<std::uint32_t>(kinds.size()))]);
    p.first = r.below(cores);
    p.last = p.first + r.below(cores - p.first);
    if (p.kind == "share" || p.kind == "quota" || p.kind == "freq")
      p.strength = fmt::format(":{}%", 10 + r.below(80));
    if (p.kind == "wave" || (p.kind == "freq" && one_in(2)))
      p.strength = fmt::format(":{}%,0.0{}", 10 + r.below(80), 2 + r.below(7));
    switch (r.below(3)) {
      case 0: p.window = fmt::format("@{}%..{}%", r.below(50), 51 + r.below(50)); break;
      case 1: p.window = fmt::format("@0.00{}..0.0{}", r.below(10), 1 + r.below(9)); break;
      default: break;
    }
    if (p.kind == "offline" && p.last - p.first + 1 == cores && p.window.empty())
      p.window = "@10%..60%";
    c.disturb.push_back(p);
  }
  c.seed = number;
  m.moved_lines = one_in(2);
  c.data = any_of({"free", "moved"});
  return c;
}

// ---- as text ----

inline std::string random_machine::text() const {
  std::string all = "schema = \"kilter.platform/1\"\nname = \"random\"\n";
  std::uint32_t cpu = 0;
  const auto source = [] { return "source = \"drawn\"\n"; };
  for (std::uint32_t k = 0; k < kinds; ++k) all += fmt::format("\n[[kind]]\nname = \"k{}\"\n", k);
  for (const random_cluster& c : clusters) {
    all += fmt::format("\n[[cluster]]\nkind = \"k{}\"\ncpus = [", c.kind);
    for (std::uint32_t i = 0; i < c.cores; ++i) all += fmt::format("{}{}", i ? ", " : "", cpu++);
    all += fmt::format("]\n{}", source());
    if (small_cache)
      all += fmt::format(
          "[[cluster.cache]]\nlevel = 2\ntype = \"unified\"\nbytes = 65536\nshared_by = "
          "\"cluster\"\n{}",
          source());
  }
  for (std::uint32_t k = 0; k < kinds; ++k) {
    if (clocks)
      all += fmt::format(
          "\n[[clock]]\nkind = \"k{}\"\nmhz = [500, 1000, 2000]\ntransition_s = 100e-6\n{}", k,
          source());
    if (memory) {
      all += fmt::format("\n[[bandwidth]]\nof = \"core\"\nkind = \"k{}\"\nbytes_per_s = 1e9\n{}", k,
                         source());
      all +=
          fmt::format("\n[[bandwidth]]\nof = \"cluster\"\nkind = \"k{}\"\nbytes_per_s = 1.5e9\n{}",
                      k, source());
    }
    std::vector<std::uint32_t> widths;
    for (std::uint32_t w = 1; w <= 6; ++w)
      for (const random_cluster& c : clusters)
        if (c.kind == k && c.cores % w == 0 && (widths.empty() || widths.back() != w))
          widths.push_back(w);
    for (const auto& [kernel, factor, growth] :
         {std::tuple{"matmul", 1.0, 3}, {"copy", 0.5, 2}, {"stencil", 0.7, 2}, {"sort", 0.3, 1}}) {
      std::string seconds;
      for (const std::uint32_t w : widths) {
        double one = kind_ms[k] * 1e-3 * factor;
        for (std::uint32_t half = w; half > 1; half /= 2) one /= 2 * efficiency[k];
        seconds += fmt::format("{}{:.9g}", seconds.empty() ? "" : ", ", one);
      }
      const double bytes = memory ? 400e3 * factor : 0.0, set = memory || moved_lines ? 40e3 : 0.0;
      all += fmt::format(
          "\n[[kernel]]\nname = \"{}\"\nsize = 64\nkind = \"k{}\"\nseconds = [{}]\nbytes = "
          "{}\nworking_set = {}\nbytes_beyond_cache = {}\n"
          "seconds_power = {}\nbytes_power = {}\n{}",
          kernel, k, seconds, bytes, set, bytes * 2, growth, std::min(growth, 2), source());
    }
    if (power) {
      std::string busy;
      for (const std::uint32_t w : widths)
        busy += fmt::format("{}{}", busy.empty() ? "" : ", ", 1.0 + w * (kinds - k));
      for (const char* mhz : {"500", "2000"})
        if (clocks || mhz == std::string("500"))
          all += fmt::format("\n[[power]]\nkind = \"k{}\"\n{}busy_w = [{}]\nidle_w = 0.5\n{}", k,
                             clocks ? fmt::format("mhz = {}\n", mhz) : "", busy, source());
    }
  }
  if (moved_lines)
    all +=
        fmt::format("\n[moved_line]\nin_cluster_s = 1e-6\nbetween_clusters_s = 5e-6\n{}", source());
  if (!overheads)
    all += fmt::format(
        "\n[overheads]\npush_s = 0\nsteal_try_s = 1e-9\nsteal_s = 0\nsearch_all_s = "
        "0\nsearch_own_s = 0\nassembly_s = 0\nwake_s = 0\n{}",
        source());
  return all +
         fmt::format("\n[co_runner]\nslice_s = {}\nshare = {}\n{}", slice_s, fluid_share, source());
}

inline parameter_values random_case::parameters() const {
  const std::string n = fmt::format("{}", tasks), p = fmt::format("{}", parallelism),
                    side = fmt::format("{}", tile);
  if (workload == "layered") return {{"tasks", n}, {"parallelism", p}, {"tile", side}};
  if (workload == "random")
    return {
        {"tasks", n},
        {"parallelism", p},
        {"edge_rate", fmt::format("{}%", edge_percent)},
        {"kernel", mixed_kernels ? "mix" : "matmul"},
        {"tile", mixed_kernels ? fmt::format("matmul={},sort={},copy=64", tile, tile * 4) : side}};
  return {{"points", "200000"},
          {"iterations", fmt::format("{}", 1 + tasks / parallelism)},
          {"tasks_per_iteration", p}};
}

inline specification random_case::specified(const std::string& platform_file) const {
  specification a;
  a.work = make_workload(workload, parameters());
  a.on = read_engine("--on", "sim:" + platform_file);
  a.policy_lists = read_policies({policy});
  a.disturb = {read_disturbances(disturb_text())};
  a.repeats = 1;
  a.seed = seed;
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const std::string*>>{
           {"table", &table},
           {"timing", &timing},
           {"criticality", &criticality},
           {"local", &local},
           {"steal", &steal},
           {"root", &root},
           {"co_runner", &co_runner},
           {"data", &data}})
    read_setting(a, name, *text);
  a.direct = direct;
  a.details = false;
  return a;
}

inline std::string random_case::command(const std::string& platform_file) const {
  const specification a = specified(platform_file), standard;
  std::string all = fmt::format("kilter compare {} --on sim:{} --policy {} --repeat 1 --seed {}",
                                workload, platform_file, policy, seed);
  for (const auto& [name, value] : parameters())
    all += fmt::format(" {} {}", parameter{name, "", "", ""}.option(), value);
  if (!disturb.empty()) all += fmt::format(" --disturb '{}'", disturb_text());
  for (const char* name :
       {"table", "timing", "criticality", "local", "steal", "co_runner", "root", "data"})
    if (const std::string text = text_of(a, name); text != text_of(standard, name))
      all += fmt::format(" {} {}", find_setting(name)->option(), text);
  return all + (direct ? " --direct" : "");
}

// ---- simpler ----

inline std::vector<random_case> random_case::simpler() const {
  std::vector<random_case> all;
  const auto add = [&](const std::function<void(random_case&)>& change) {
    random_case c = *this;
    change(c);
    const std::uint32_t cores = c.on.cores();
    for (random_part& p : c.disturb) {
      p.first = std::min(p.first, cores - 1);
      p.last = std::min(p.last, cores - 1);
    }
    c.parallelism = std::min(c.parallelism, c.tasks);
    all.push_back(std::move(c));
  };
  for (std::size_t i = 0; i < disturb.size(); ++i)
    add([i](random_case& c) {
      c.disturb.erase(c.disturb.begin() + static_cast<std::ptrdiff_t>(i));
    });
  for (const std::uint32_t fewer : {tasks / 2, tasks - tasks / 4, tasks - 1})
    if (fewer > 0 && fewer < tasks) add([fewer](random_case& c) { c.tasks = fewer; });
  for (const std::uint32_t fewer : {parallelism / 2, parallelism - 1})
    if (fewer > 0 && fewer < parallelism) add([fewer](random_case& c) { c.parallelism = fewer; });
  if (on.clusters.size() > 1)
    for (std::size_t i = 0; i < on.clusters.size(); ++i)
      add([i](random_case& c) {
        const std::uint32_t gone = c.on.clusters[i].kind;
        c.on.clusters.erase(c.on.clusters.begin() + static_cast<std::ptrdiff_t>(i));
        if (std::ranges::find(c.on.clusters, gone, &random_cluster::kind) != c.on.clusters.end())
          return;
        --c.on.kinds;
        c.on.kind_ms.erase(c.on.kind_ms.begin() + gone);
        c.on.efficiency.erase(c.on.efficiency.begin() + gone);
        for (random_cluster& each : c.on.clusters) each.kind -= each.kind > gone;
      });
  for (std::size_t i = 0; i < on.clusters.size(); ++i)
    if (on.clusters[i].cores > 1) add([i](random_case& c) { --c.on.clusters[i].cores; });
  for (bool random_machine::*feature :
       {&random_machine::clocks, &random_machine::memory, &random_machine::small_cache,
        &random_machine::overheads, &random_machine::power, &random_machine::moved_lines})
    if (on.*feature) add([feature](random_case& c) { c.on.*feature = false; });
  if (workload != "layered") add([](random_case& c) { c.workload = "layered"; });
  if (policy != "rws") add([](random_case& c) { c.policy = "rws"; });
  if (mixed_kernels && workload == "random") add([](random_case& c) { c.mixed_kernels = false; });
  const random_case plain;
  for (std::string random_case::*mode :
       {&random_case::table, &random_case::timing, &random_case::criticality, &random_case::local,
        &random_case::steal, &random_case::co_runner, &random_case::root})
    if (this->*mode != plain.*mode) add([&plain, mode](random_case& c) { c.*mode = plain.*mode; });
  if (direct) add([](random_case& c) { c.direct = false; });
  for (std::size_t i = 0; i < disturb.size(); ++i) {
    if (!disturb[i].window.empty()) add([i](random_case& c) { c.disturb[i].window.clear(); });
    if (disturb[i].first != disturb[i].last)
      add([i](random_case& c) { c.disturb[i].last = c.disturb[i].first; });
  }
  return all;
}

}  // namespace kilter::lab::test
