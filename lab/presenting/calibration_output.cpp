#include "presenting/calibration_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/printable.hpp"
#include "session/version.hpp"
#include "words/join.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

/// How times and bytes of a kernel grow with its size: the exponents that the shipped platforms
/// have too.
struct growth {
  int seconds, bytes;
};
growth growth_of(const std::string& kernel) {
  static const std::map<std::string, growth, std::less<>> all{
      {"matmul", {3, 2}}, {"copy", {2, 2}}, {"stencil", {2, 2}}, {"sort", {1, 1}}};
  return all.at(kernel);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= ' ') {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  return out + "\"";
}

/// A TOML float, of five digits.
std::string toml_float(double x) { return fmt::format("{:.4e}", x); }

std::string quartiles(const sampled_value& f) {
  return fmt::format("{} to {} of {}", toml_float(f.low), toml_float(f.high), f.samples);
}

std::string cluster_tables(const calibration& c) {
  const machine& m = *c.machine;
  std::string out;
  for (const core_kind& k : m.kinds())
    out += fmt::format("[[kind]]\nname = {}\n\n", quoted(k.name));
  for (const cluster& one : m.clusters()) {
    std::vector<int> cpus;
    for (core_id id = one.first; id < one.first + one.size; ++id)
      cpus.push_back(m.cores()[id].os_index);
    out += fmt::format(
        "[[cluster]]\nkind = {}\ncpus = [{}]\nnuma_node = {}\nsource = \"as hwloc shows the "
        "machine to the process; one CPU a core\"\n\n",
        quoted(m.kinds()[one.kind].name), joined(cpus, ", "), m.cores()[one.first].numa_node);
  }
  return out;
}

std::string bandwidth_table(const std::string& of, const std::string& kind, const sampled_value& f,
                            const std::string& who, std::uint32_t repeats) {
  if (f.samples == 0) return "";
  return fmt::format(
      "[[bandwidth]]\nof = \"{}\"\n{}bytes_per_s = {}\nsource = \"measured: {} copying 1024 x 1024 "
      "tiles in pinned loops, bytes read and written; median, "
      "quartiles {} loops in {} repeats\"\n\n",
      of, kind.empty() ? "" : fmt::format("kind = {}\n", quoted(kind)), toml_float(f.median), who,
      quartiles(f), repeats);
}

std::string moved_line_table(const calibration& c) {
  std::string keys, spreads;
  for (const auto& [key, f] : {std::pair{"in_cluster_s", &c.in_cluster_line_s},
                               {"between_clusters_s", &c.between_clusters_line_s}}) {
    if (f->samples == 0) continue;
    keys += fmt::format("{} = {}\n", key, toml_float(f->median < 1e-12 ? 0.0 : f->median));
    spreads += fmt::format("; {}: {}", key, quartiles(*f));
  }
  if (keys.empty()) return "";
  return fmt::format(
      "[moved_line]\n{}source = \"measured: two pinned threads that hand 256 KiB to and fro and "
      "change every line, less the same once more; medians, quartiles in seconds{} turns\"\n\n",
      keys, spreads);
}

/// Medians of those counts as lists, and their spreads as words.
std::string counted_lists(
    const char* by,
    const std::vector<std::pair<const char*, const calibration::counted*>>& figures) {
  std::string lists = fmt::format("{} = [{}]\n", by, joined(figures.front().second->counts, ", "));
  for (const auto& [key, f] : figures) {
    std::vector<std::string> medians;
    for (const sampled_value& v : f->values) medians.push_back(toml_float(v.median));
    lists += fmt::format("{} = [{}]\n", key, joined(medians, ", "));
  }
  return lists;
}
std::string counted_spreads(const calibration::counted& f) {
  std::vector<std::string> spreads;
  for (std::size_t i = 0; i < f.counts.size(); ++i)
    spreads.push_back(fmt::format("{}: {}", f.counts[i], quartiles(f.values[i])));
  return joined(spreads, "; ");
}

std::string contention_tables(const calibration& c) {
  const machine& m = *c.machine;
  std::string out;
  for (const calibration::gathering& g : c.gather)
    out += fmt::format(
        "[[gather]]\nkind = {}\n{}source = \"measured: chains of wide tasks through the runtime, "
        "from the last member's end to the next task's "
        "first step on that core (own_s) and on the last of the others; medians, quartiles in "
        "seconds by width: own_s {}; others_s {}\"\n\n",
        quoted(m.kinds()[g.kind].name),
        counted_lists("widths", {{"own_s", &g.own_s}, {"others_s", &g.others_s}}),
        counted_spreads(g.own_s), counted_spreads(g.others_s));
  for (kind_id k = 0; k < c.slower.size(); ++k)
    if (!c.slower[k].counts.empty())
      out += fmt::format(
          "[[busy]]\nkind = {}\n{}source = \"measured: 64 x 64 products in pinned loops on so many "
          "cores of a cluster at once, against one; medians, "
          "quartiles by cores: {}\"\n\n",
          quoted(m.kinds()[k].name), counted_lists("cores", {{"slower", &c.slower[k]}}),
          counted_spreads(c.slower[k]));
  if (!c.look_s.counts.empty() && c.look_s.counts == c.steal_s.counts)
    out += fmt::format(
        "[steal]\n{}source = \"measured: pinned threads on the runtime's deques, empty ones and "
        "one that is kept full; medians, quartiles in seconds by "
        "lookers: look_s {}; steal_s {}\"\n\n",
        counted_lists("lookers", {{"look_s", &c.look_s}, {"steal_s", &c.steal_s}}),
        counted_spreads(c.look_s), counted_spreads(c.steal_s));
  if (c.call_s.samples > 0)
    out += fmt::format(
        "[sleep]\nafter_s = {}\nlong_after_s = {}\ncall_s = {}\nup_s = {}\n"
        "source = \"after: the runtime's; measured: a worker's sleep of .3 ms, ended by a thread "
        "on "
        "another core; medians, quartiles in seconds: call_s {}; up_s {}\"\n\n",
        toml_float(c.sleeps_after_s), toml_float(c.sleeps_long_after_s),
        toml_float(c.call_s.median), toml_float(c.up_s.median), quartiles(c.call_s),
        quartiles(c.up_s));
  if (c.keeps_s.samples > 0)
    out += fmt::format(
        "[lend]\nlooks_s = {}\nseconds = {}\nkeeps_s = {}\n"
        "source = \"looks: the runtime's; measured: core 1 takes in a thread that waits for core "
        "0, "
        "where cpu@0 is, and that goes home 31 us later; medians, quartiles in seconds: seconds "
        "{}; keeps_s {}\"\n\n",
        toml_float(c.looks_after_s), toml_float(c.lend_s.median), toml_float(c.keeps_s.median),
        quartiles(c.lend_s), quartiles(c.keeps_s));
  if (!c.queue_s.counts.empty())
    out += fmt::format(
        "[shared_queue]\n{}source = \"measured: pinned threads that push into one queue by key and "
        "pop from it, from one operation to the next of whomever; "
        "medians, quartiles in seconds by users: {}\"\n\n",
        counted_lists("users", {{"seconds", &c.queue_s}}), counted_spreads(c.queue_s));
  for (const calibration::deciding& d : c.decisions)
    if (d.ready_s.all.samples + d.take_s.all.samples + d.next_s.all.samples > 0)
      out += fmt::format(
          "[[decision]]\npolicy = \"{}\"\ntask_s = {}\nready_s = {}\ntake_s = {}\nnext_s = "
          "{}\nsource = \"measured: in layered graphs of {} x {} products on "
          "all cores, two tasks a core; means without the slowest hundredth, quartiles in seconds: "
          "ready_s {}; take_s {}; next_s {}\"\n\n",
          d.policy, toml_float(d.task_s), toml_float(d.ready_s.mean), toml_float(d.take_s.mean),
          toml_float(d.next_s.mean), d.tile, d.tile, quartiles(d.ready_s.all),
          quartiles(d.take_s.all), quartiles(d.next_s.all));
  return out;
}

std::string kernel_table(const calibration& c, const calibration::kernel& k) {
  std::vector<std::string> medians, spreads;
  for (std::size_t w = 0; w < k.seconds.size(); ++w) {
    medians.push_back(toml_float(k.seconds[w].median));
    spreads.push_back(fmt::format("width {}: {}", k.widths[w], quartiles(k.seconds[w])));
  }
  const growth g = growth_of(k.name);
  return fmt::format(
      "[[kernel]]\nname = \"{}\"\nsize = {}\nkind = {}\nseconds = [{}]\nbytes = "
      "{:.0f}\nworking_set = {:.0f}\nseconds_power = {}\nbytes_power = {}\n"
      "source = \"measured: chains of tasks through the runtime on the places around core {}, what "
      "the members worked, divided by the width; medians "
      "of {} repeats, quartiles in seconds: {}. Bytes: what a task reads and writes, once each; "
      "powers: by the algorithm\"\n\n",
      k.name, k.size, quoted(c.machine->kinds()[k.kind].name), joined(medians, ", "), k.bytes,
      k.bytes, g.seconds, g.bytes, k.core, c.repeats, joined(spreads, "; "));
}

}  // namespace

std::string platform_file_text(const calibration& c) {
  const machine& m = *c.machine;
  std::string out = fmt::format(
      "# Measured by kilter {} (kilter lab calibrate). What the tables mean: "
      "lab/docs/platform-files.md.\n"
      "# Not measured, so the simulator's defaults count: other overheads, what a fluid co-runner "
      "leaves, caches, clocks, power.\n\n"
      "schema = \"kilter.platform/1\"\nname = {}\ndescription = {}\n\n",
      version_text(), quoted(m.name()),
      quoted(fmt::format("{} cores of a computer, measured", m.core_count())));
  out += cluster_tables(c);
  for (const core_kind& k : m.kinds()) {
    out += bandwidth_table("core", k.name, c.core_bytes_per_s[k.id], "one core", c.repeats);
    out += bandwidth_table("cluster", k.name, c.cluster_bytes_per_s[k.id],
                           "all cores of one cluster at once", c.repeats);
  }
  out += bandwidth_table("chip", "", c.chip_bytes_per_s, "all cores at once", c.repeats);
  for (const calibration::kernel& k : c.kernels) out += kernel_table(c, k);
  out += contention_tables(c);
  out += moved_line_table(c);
  if (c.slice_s.samples > 0)
    out += fmt::format(
        "[co_runner]\nslice_s = {}\nsource = \"measured: how long one of two busy threads on core "
        "0 waits for the other; median, quartiles {} waits; "
        "share: the default\"\n\n",
        toml_float(c.slice_s.median), quartiles(c.slice_s));
  out += fmt::format(
      "[noise]\nsigma = {}\nsource = \"measured: from the quartiles of the times at width 1, "
      "ln(upper / lower) / 1.349; median of the kernels, quartiles {} "
      "kernels and kinds\"\n",
      toml_float(std::min(c.sigma.median, 0.99)), quartiles(c.sigma));
  return out;
}

std::string calibration_text(const calibration& c) {
  std::string out = fmt::format("{}: medians of {} repeats, with quartiles\n\n",
                                printable(c.machine->name()), c.repeats);
  for (const calibration::kernel& k : c.kernels)
    for (std::size_t w = 0; w < k.seconds.size(); ++w)
      out += fmt::format("  {:<8} {:>6} on {:<8} width {:<3} {:>9}  ({} .. {})\n", k.name, k.size,
                         printable(c.machine->kinds()[k.kind].name), k.widths[w],
                         seconds_text(k.seconds[w].median), seconds_text(k.seconds[w].low),
                         seconds_text(k.seconds[w].high));
  const auto bandwidth = [&](const std::string& of, const sampled_value& f) {
    if (f.samples > 0)
      out += fmt::format("  streams of {:<24} {:>6.1f} GB/s  ({:.1f} .. {:.1f})\n", of,
                         f.median * 1e-9, f.low * 1e-9, f.high * 1e-9);
  };
  for (const core_kind& k : c.machine->kinds()) {
    bandwidth("a " + printable(k.name), c.core_bytes_per_s[k.id]);
    bandwidth("a cluster of " + printable(k.name), c.cluster_bytes_per_s[k.id]);
  }
  bandwidth("all cores", c.chip_bytes_per_s);
  const auto line = [&](const char* where, const sampled_value& f) {
    if (f.samples > 0)
      out += fmt::format("  moved line {:<17} {:>9}  ({} .. {})\n", where, seconds_text(f.median),
                         seconds_text(f.low), seconds_text(f.high));
  };
  const auto counted = [&](const std::string& what, const calibration::counted& f,
                           const auto& text) {
    for (std::size_t i = 0; i < f.counts.size(); ++i)
      out += fmt::format("  {:<25} {:<3} {:>7}  ({} .. {})\n", what, f.counts[i],
                         text(f.values[i].median), text(f.values[i].low), text(f.values[i].high));
  };
  const auto times = [](double x) { return fmt::format("{:.3f}", x); };
  for (const calibration::gathering& g : c.gather) {
    counted("gather, own core, width", g.own_s, seconds_text);
    counted("gather, others, width", g.others_s, seconds_text);
  }
  for (const calibration::counted& f : c.slower) counted("slower, busy cores", f, times);
  counted("look, lookers", c.look_s, seconds_text);
  counted("steal, thieves", c.steal_s, seconds_text);
  counted("shared queue, users", c.queue_s, seconds_text);
  const auto single = [&](const std::string& what, const sampled_value& f) {
    if (f.samples > 0)
      out += fmt::format("  {:<28} {:>8}  ({} .. {})\n", what, seconds_text(f.median),
                         seconds_text(f.low), seconds_text(f.high));
  };
  single("waking a sleeper", c.call_s);
  single("until it is up", c.up_s);
  const auto decides = [&](const calibration::deciding& d, const char* what, const mean_value& v) {
    if (v.all.samples > 0)
      out += fmt::format("  {:<28} {:>8}  ({} .. {}), tasks of {}\n",
                         fmt::format("{}, {}", d.policy, what), seconds_text(v.mean),
                         seconds_text(v.all.low), seconds_text(v.all.high), seconds_text(d.task_s));
  };
  for (const calibration::deciding& d : c.decisions) {
    decides(d, "ready", d.ready_s);
    decides(d, "taken", d.take_s);
    decides(d, "next", d.next_s);
  }
  line("in a cluster", c.in_cluster_line_s);
  line("between clusters", c.between_clusters_line_s);
  if (c.slice_s.samples > 0)
    out += fmt::format("  slice of one of two threads {:>9}  ({} .. {})\n",
                       seconds_text(c.slice_s.median), seconds_text(c.slice_s.low),
                       seconds_text(c.slice_s.high));
  return out + fmt::format("  noise, sigma {:.3f}\n", c.sigma.median);
}

}  // namespace kilter::lab
