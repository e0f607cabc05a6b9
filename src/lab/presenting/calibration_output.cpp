#include "lab/presenting/calibration_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/printable.hpp"
#include "lab/session/version.hpp"
#include "lab/words/join.hpp"
#include "lab/words/units.hpp"

namespace kilter::lab {

namespace {

/// How times and bytes of a kernel grow with its size: the exponents that the shipped platforms have too.
struct growth {
  int seconds, bytes;
};
growth growth_of(const std::string& kernel) {
  static const std::map<std::string, growth, std::less<>> all{{"matmul", {3, 2}}, {"copy", {2, 2}}, {"stencil", {2, 2}}, {"sort", {1, 1}}};
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

std::string quartiles(const sampled_value& f) { return fmt::format("{} to {} of {}", toml_float(f.low), toml_float(f.high), f.samples); }

std::string cluster_tables(const calibration& c) {
  const machine& m = *c.machine;
  std::string out;
  for (const core_kind& k : m.kinds())
    out += fmt::format("[[kind]]\nname = {}\n\n", quoted(k.name));
  for (const cluster& one : m.clusters()) {
    std::vector<int> cpus;
    for (core_id id = one.first; id < one.first + one.size; ++id) cpus.push_back(m.cores()[id].os_index);
    out += fmt::format("[[cluster]]\nkind = {}\ncpus = [{}]\nnuma_node = {}\nsource = \"as hwloc shows the machine to the process; one CPU a core\"\n\n",
                       quoted(m.kinds()[one.kind].name), joined(cpus, ", "), m.cores()[one.first].numa_node);
  }
  return out;
}

std::string bandwidth_table(const std::string& of, const std::string& kind, const sampled_value& f, const std::string& who, std::uint32_t repeats) {
  if (f.samples == 0) return "";
  return fmt::format("[[bandwidth]]\nof = \"{}\"\n{}bytes_per_s = {}\nsource = \"measured: {} copying 1024 x 1024 tiles in pinned loops, bytes read and written; median, "
                     "quartiles {} loops in {} repeats\"\n\n",
                     of, kind.empty() ? "" : fmt::format("kind = {}\n", quoted(kind)), toml_float(f.median), who, quartiles(f), repeats);
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
  return fmt::format("[moved_line]\n{}source = \"measured: two pinned threads that hand 256 KiB to and fro and "
                     "change every line, less the same once more; medians, quartiles in seconds{} turns\"\n\n",
                     keys, spreads);
}

std::string kernel_table(const calibration& c, const calibration::kernel& k) {
  std::vector<std::string> medians, spreads;
  for (std::size_t w = 0; w < k.seconds.size(); ++w) {
    medians.push_back(toml_float(k.seconds[w].median));
    spreads.push_back(fmt::format("width {}: {}", k.widths[w], quartiles(k.seconds[w])));
  }
  const growth g = growth_of(k.name);
  return fmt::format("[[kernel]]\nname = \"{}\"\nsize = {}\nkind = {}\nseconds = [{}]\nbytes = {:.0f}\nworking_set = {:.0f}\nseconds_power = {}\nbytes_power = {}\n"
                     "source = \"measured: chains of tasks through the runtime on the places around core {}, from the first member's start to the last one's end; medians "
                     "of {} repeats, quartiles in seconds: {}. Bytes: what a task reads and writes, once each; powers: by the algorithm\"\n\n",
                     k.name, k.size, quoted(c.machine->kinds()[k.kind].name), joined(medians, ", "), k.bytes, k.bytes, g.seconds, g.bytes, k.core, c.repeats,
                     joined(spreads, "; "));
}

}  // namespace

std::string platform_file_text(const calibration& c) {
  const machine& m = *c.machine;
  std::string out = fmt::format("# Measured by kilter {} (kilter calibrate). What the tables mean: docs/platform-files.md.\n"
                                "# Not measured, so the simulator's defaults count: the overheads, what a fluid co-runner leaves, caches, clocks, power.\n\n"
                                "schema = \"kilter.platform/1\"\nname = {}\ndescription = {}\n\n",
                                version_text(), quoted(m.name()), quoted(fmt::format("{} cores of a computer, measured", m.core_count())));
  out += cluster_tables(c);
  for (const core_kind& k : m.kinds()) {
    out += bandwidth_table("core", k.name, c.core_bytes_per_s[k.id], "one core", c.repeats);
    out += bandwidth_table("cluster", k.name, c.cluster_bytes_per_s[k.id], "all cores of one cluster at once", c.repeats);
  }
  out += bandwidth_table("chip", "", c.chip_bytes_per_s, "all cores at once", c.repeats);
  for (const calibration::kernel& k : c.kernels) out += kernel_table(c, k);
  out += moved_line_table(c);
  if (c.slice_s.samples > 0)
    out += fmt::format("[co_runner]\nslice_s = {}\nsource = \"measured: how long one of two busy threads on core 0 waits for the other; median, quartiles {} waits; "
                       "share: the default\"\n\n", toml_float(c.slice_s.median), quartiles(c.slice_s));
  out += fmt::format("[noise]\nsigma = {}\nsource = \"measured: from the quartiles of the times at width 1, ln(upper / lower) / 1.349; median of the kernels, quartiles {} "
                     "kernels and kinds\"\n", toml_float(std::min(c.sigma.median, 0.99)), quartiles(c.sigma));
  return out;
}

std::string calibration_text(const calibration& c) {
  std::string out = fmt::format("{}: medians of {} repeats, with quartiles\n\n", printable(c.machine->name()), c.repeats);
  for (const calibration::kernel& k : c.kernels)
    for (std::size_t w = 0; w < k.seconds.size(); ++w)
      out += fmt::format("  {:<8} {:>6} on {:<8} width {:<3} {:>9}  ({} .. {})\n", k.name, k.size, printable(c.machine->kinds()[k.kind].name), k.widths[w],
                         seconds_text(k.seconds[w].median), seconds_text(k.seconds[w].low), seconds_text(k.seconds[w].high));
  const auto bandwidth = [&](const std::string& of, const sampled_value& f) {
    if (f.samples > 0) out += fmt::format("  streams of {:<24} {:>6.1f} GB/s  ({:.1f} .. {:.1f})\n", of, f.median * 1e-9, f.low * 1e-9, f.high * 1e-9);
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
  line("in a cluster", c.in_cluster_line_s);
  line("between clusters", c.between_clusters_line_s);
  if (c.slice_s.samples > 0)
    out += fmt::format("  slice of one of two threads {:>9}  ({} .. {})\n", seconds_text(c.slice_s.median), seconds_text(c.slice_s.low), seconds_text(c.slice_s.high));
  return out + fmt::format("  noise, sigma {:.3f}\n", c.sigma.median);
}

}  // namespace kilter::lab
