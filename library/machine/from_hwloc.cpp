// Machines from hwloc: this computer, a recorded XML, a synthetic description.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>
extern "C" {  // hwloc's plug-in header does not say so itself
#include <hwloc/plugins.h>
}

#include "base/file_text.hpp"
#include "kilter/error.hpp"
#include "kilter/machine.hpp"
#include "machine/hwloc_kinds.hpp"
#include "machine/hwloc_xml.hpp"
#include "machine/layout.hpp"

namespace kilter {

namespace {

/// hwloc writes several lines to standard error about a file it cannot use, where we owe the user
/// exactly one. It takes the choice from the environment once and keeps it; so that choice is made
/// before there are threads, and the variable is gone again before there are children. Whoever sets
/// the variable keeps hwloc's messages.
[[maybe_unused]] const bool hwloc_is_quiet = [] {
  constexpr const char* variable = "HWLOC_HIDE_ERRORS";
  if (std::getenv(variable) != nullptr) return false;
  ::setenv(variable, "2", 0);
  const bool quiet = hwloc_hide_errors() == 2;
  ::unsetenv(variable);
  return quiet;
}();

class topology {
 public:
  topology() {
    if (hwloc_topology_init(&handle_) != 0)
      throw input_error("hwloc cannot be initialised: " + std::string(std::strerror(errno)));
  }
  ~topology() { hwloc_topology_destroy(handle_); }
  topology(const topology&) = delete;
  topology& operator=(const topology&) = delete;
  [[nodiscard]] hwloc_topology_t get() const noexcept { return handle_; }

 private:
  hwloc_topology_t handle_ = nullptr;
};

using cpu_filter = std::set<int>;

constexpr std::size_t most_xml_mib = 64, longest_description = 4096;
constexpr double most_steps = 2.5e9;  // two or three seconds

/// The CPUs of the process's affinity mask: the main thread's, since other threads may have been
/// pinned by someone.
cpu_filter affinity_mask() {
  cpu_filter cpus;
  for (std::size_t bits = 1024; bits <= (std::size_t{1} << 20); bits *= 2) {
    cpu_set_t* set = CPU_ALLOC(bits);
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    CPU_ZERO_S(bytes, set);
    const bool ok = sched_getaffinity(getpid(), bytes, set) == 0;
    if (ok)
      for (std::size_t cpu = 0; cpu < bits; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set)) cpus.insert(static_cast<int>(cpu));
    CPU_FREE(set);
    if (ok) break;
  }
  return cpus;
}

/// Stands for a physical core: its Core object, or the logical CPU itself where the source knows no
/// cores.
hwloc_obj_t physical_core(hwloc_topology_t t, hwloc_obj_t pu) {
  const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
  return core ? core : pu;
}

/// The last-level cache if cores share it. One that belongs to a single physical core, offline and
/// forbidden CPUs counted, is shared by nobody.
hwloc_obj_t shared_cache(hwloc_topology_t t, hwloc_obj_t pu) {
  hwloc_obj_t last = nullptr;
  for (hwloc_obj_t o = pu->parent; o; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type)) last = o;
  if (last && hwloc_bitmap_isequal(last->complete_cpuset, physical_core(t, pu)->complete_cpuset))
    return nullptr;
  return last;
}

/// The closest memory of a CPU. Where several kinds of memory are equally close (HBM beside DRAM),
/// the one with the lowest OS index.
hwloc_obj_t numa_node(hwloc_topology_t t, hwloc_obj_t pu) {
  hwloc_obj_t best = nullptr;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (!hwloc_bitmap_isset(node->cpuset, pu->os_index)) continue;
    const auto closeness = [](hwloc_obj_t n) {
      return std::pair(hwloc_bitmap_weight(n->cpuset), n->os_index);
    };
    if (!best || closeness(node) < closeness(best)) best = node;
  }
  return best;
}

/// What a cluster's cores have in common besides their kind. A NUMA node that spans packages, as
/// the only one of a machine without NUMA does, says nothing about which cores are close: then it
/// is the package.
hwloc_obj_t cluster_domain(hwloc_topology_t t, hwloc_obj_t pu) {
  if (const hwloc_obj_t cache = shared_cache(t, pu)) return cache;
  const hwloc_obj_t node = numa_node(t, pu);
  const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, pu);
  const bool node_spans_packages = node && package &&
                                   hwloc_bitmap_isincluded(package->cpuset, node->cpuset) &&
                                   !hwloc_bitmap_isequal(package->cpuset, node->cpuset);
  return node && !node_spans_packages ? node : package;
}

std::vector<hwloc_obj_t> usable_cpus(hwloc_topology_t t, const machine_options& options,
                                     const cpu_filter* only, const std::string& source) {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(t);
  std::map<unsigned, hwloc_obj_t> by_os_index;
  for (hwloc_obj_t pu = nullptr;
       (pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu)) != nullptr;) {
    if (pu->os_index > static_cast<unsigned>(std::numeric_limits<int>::max()) ||
        !by_os_index.emplace(pu->os_index, pu).second)
      throw input_error(
          source + ": logical CPUs must have distinct OS indices; not a topology that hwloc wrote");
  }
  std::vector<hwloc_obj_t> usable;
  std::set<hwloc_obj_t> taken;
  for (const auto& [os_index, pu] : by_os_index) {
    if (!hwloc_bitmap_isset(allowed, os_index)) continue;
    if (only && !only->count(static_cast<int>(os_index))) continue;
    if (options.smt || taken.insert(physical_core(t, pu)).second) usable.push_back(pu);
  }
  if (usable.empty())
    throw input_error(source + ": no logical CPU that may be used; at least one is needed");
  return usable;
}

machine build(const topology& top, std::string name, const machine_options& options,
              const cpu_filter* only, const std::string& source) {
  const hwloc_topology_t t = top.get();
  const std::vector<hwloc_obj_t> pus = usable_cpus(t, options, only, source);
  std::vector<int> os_indices;
  for (const hwloc_obj_t pu : pus) os_indices.push_back(static_cast<int>(pu->os_index));
  const detail::kind_table kinds(t, os_indices);

  std::map<hwloc_obj_t, std::size_t> domains;
  std::map<hwloc_obj_t, int> first_of;
  std::vector<detail::logical_cpu> cpus;
  for (const hwloc_obj_t pu : pus) {
    const auto os_index = static_cast<int>(pu->os_index);
    const std::size_t domain =
        domains.try_emplace(cluster_domain(t, pu), domains.size()).first->second;
    const hwloc_obj_t node = numa_node(t, pu);
    cpus.push_back({os_index, kinds.of(os_index), domain,
                    node ? static_cast<int>(node->os_index) : 0,
                    first_of.try_emplace(physical_core(t, pu), os_index).first->second});
  }
  return {std::move(name), kinds.kinds(), detail::number_cores(std::move(cpus)),
          options.powers_of_two};
}

std::string processor_name(const topology& top) {
  const hwloc_obj_t package = hwloc_get_obj_by_type(top.get(), HWLOC_OBJ_PACKAGE, 0);
  const char* model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  std::string name = model ? model : "";
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name.empty() ? "this machine" : name;
}

/// What a synthetic description asks hwloc to build, as far as it can be read. hwloc itself would
/// try to build anything.
struct synthetic_size {
  double cpus = 1;
  /// hwloc compares every new object with those beside it on the way down from the root, CPU by CPU
  /// in words of 64: a nanosecond each.
  double steps = 0;
};

synthetic_size size_of(const std::string& description) {
  const char* const end = description.data() + description.size();
  synthetic_size size;
  double beside = 0, compared = 0;
  int depth = 0;
  for (std::size_t i = 0; i < description.size(); ++i) {
    // memory of each object of the level above
    if (description[i] == '[' && depth == 0) compared += size.cpus * beside;
    depth += description[i] == '(' || description[i] == '[';
    depth -= description[i] == ')' || description[i] == ']';
    const bool starts = i == 0 || description[i - 1] == ':' || description[i - 1] == ' ';
    double count = 0;
    if (depth == 0 && starts &&
        std::from_chars(description.data() + i, end, count).ec == std::errc{}) {
      size.cpus *= count;
      beside += count;
      compared += size.cpus * beside;
    }
  }
  size.steps = compared * std::ceil(size.cpus / 64);
  return size;
}

}  // namespace

machine machine::local(const machine_options& options) {
  topology top;
  if (hwloc_topology_load(top.get()) != 0)
    throw input_error("hwloc cannot read this machine's topology: " +
                      std::string(std::strerror(errno)));
  const cpu_filter mask = options.all_cpus ? cpu_filter{} : affinity_mask();
  return build(top, processor_name(top), options, mask.empty() ? nullptr : &mask, "this machine");
}

machine machine::from_xml(const std::string& path, const machine_options& options) {
  const std::string xml = file_text(path, "topology file", most_xml_mib);
  const std::string source = "topology file '" + path + "'";
  const auto first = xml.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string::npos)
    throw input_error(source + " is empty; name an hwloc XML export (lstopo FILE.xml)");
  const auto root = xml.find("<topology");
  if (xml[first] != '<' || root == std::string::npos)
    throw input_error(source +
                      " is not an hwloc XML export: it has no <topology> element; write one with "
                      "lstopo FILE.xml");
  if (xml.find("</topology>", root) == std::string::npos)
    throw input_error(source +
                      " is truncated: its <topology> element is never closed; export it anew with "
                      "lstopo FILE.xml");

  const std::string part = detail::machine_part(xml, source);
  topology top;
  if (hwloc_topology_set_xmlbuffer(top.get(), part.c_str(), static_cast<int>(part.size() + 1)) !=
          0 ||
      hwloc_topology_load(top.get()) != 0)
    throw input_error(
        source + " is not a topology that hwloc can read; export it in format 2 (lstopo FILE.xml)");
  return build(top, std::filesystem::path(path).stem().string(), options, nullptr, source);
}

machine machine::from_synthetic(const std::string& description, const machine_options& options) {
  const std::string source = "synthetic topology '" + one_line(description, 200) + "'";
  if (description.size() > longest_description)
    throw input_error("a synthetic topology of " + std::to_string(description.size()) +
                      " characters; at most " + std::to_string(longest_description) + " are read");
  const synthetic_size size = size_of(description);
  if (size.cpus > static_cast<double>(detail::most_cores))
    throw input_error(source + " has too many CPUs; at most " + std::to_string(detail::most_cores) +
                      " are supported");
  if (size.steps > most_steps)
    throw input_error(source + " has " + std::to_string(static_cast<std::uint64_t>(size.cpus)) +
                      " CPUs with too many side by side: hwloc would take longer than some "
                      "seconds. Put levels between, as in 'pack:32 l3:8 core:32 pu:1', "
                      "or write a platform file, as lab/docs/platform-files.md tells");
  topology top;
  if (hwloc_topology_set_synthetic(top.get(), description.c_str()) != 0 ||
      hwloc_topology_load(top.get()) != 0)
    throw input_error(source +
                      " is not an hwloc description; write one like 'pack:2 l3:1 core:4 pu:1'");
  return build(top, description, options, nullptr, source);
}

}  // namespace kilter
