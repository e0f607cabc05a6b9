// Machines from platform files. The format is documented in lab/docs/platform-files.md.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>

#include "kilter/machine.hpp"
#include "machine/layout.hpp"
#include "machine/platform_table.hpp"

namespace kilter {

namespace {

using detail::owned_table;

constexpr std::string_view schema = "kilter.platform/1";

class platform_reader {
 public:
  platform_reader(const std::string& file, const toml::table& root, const machine_options& options)
      : top_(file, "a platform file", root), options_(options) {}

  machine read() {
    top_.only({"schema", "name", "description", "kind", "cluster"}, true);
    if (const auto given = top_.required_text("schema"); given != schema)
      top_.fail(
          top_.raw().get("schema")->source(),
          "schema '" + given + "' is not known; this version reads '" + std::string(schema) + "'");
    std::string name = top_.required_text("name");
    (void)top_.text("description");
    for (const owned_table& t : top_.tables("kind")) read_kind(t);
    const auto clusters = top_.tables("cluster");
    if (clusters.empty()) top_.fail("a platform file needs at least one [[cluster]]");
    for (std::size_t domain = 0; domain < clusters.size(); ++domain)
      read_cluster(clusters[domain], domain);
    check_kinds_used();
    detail::rescale_speeds(kinds_);
    return {std::move(name), std::move(kinds_), detail::number_cores(std::move(cpus_)),
            options_.powers_of_two};
  }

 private:
  void read_kind(const owned_table& t) {
    t.only({"name", "relative_speed", "source"});
    core_kind kind{static_cast<kind_id>(kinds_.size()), t.required_text("name"), 0, 0.0};
    for (const core_kind& other : kinds_)
      if (other.name == kind.name)
        t.fail(t.raw().get("name")->source(), "kind '" + kind.name + "' is described twice");
    (void)t.text("source");
    if (const toml::node* node = t.raw().get("relative_speed")) {
      const double speed = t.number(*node, "relative_speed", detail::quantities::speed);
      kind.relative_speed = speed;
      (void)t.required_text("source");
      if (!kinds_.empty() && kinds_.back().relative_speed > 0 &&
          speed > kinds_.back().relative_speed)
        t.fail(node->source(),
               "kind '" + kind.name + "' is faster than the one before; write kinds fastest first");
    }
    kind_tables_.push_back(t);
    kinds_.push_back(std::move(kind));
  }

  void read_cluster(const owned_table& t, std::size_t domain) {
    t.only({"kind", "cpus", "numa_node", "cache", "source"});
    const std::string kind_name = t.required_text("kind");
    const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                   [&](const core_kind& k) { return k.name == kind_name; });
    if (kind == kinds_.end())
      t.fail(t.raw().get("kind")->source(),
             "no [[kind]] is named '" + kind_name + "'; describe it, or name one that is");
    (void)t.required_text("source");
    const auto numa = static_cast<int>(t.integer("numa_node", 0, 65535).value_or(0));
    for (const owned_table& cache : t.tables("cache")) check_cache(cache);

    const toml::node* cpus = t.raw().get("cpus");
    if (!cpus)
      t.fail("[[cluster]] lacks 'cpus', the operating system's numbers of its logical CPUs");
    const toml::array* list = cpus->as_array();
    if (!list || list->empty())
      t.fail(cpus->source(), "'cpus' must be a list such as [1, 2], not empty");
    for (const toml::node& entry : *list) {
      const toml::array* siblings = entry.as_array();
      if (!siblings) {
        add(t, entry, kind->id, domain, numa);
      } else {
        if (siblings->empty())
          t.fail(entry.source(), "a core in 'cpus' has no logical CPU; write [0] or [0, 4]");
        std::optional<int> first;
        for (const toml::node& sibling : *siblings) {
          const int os_index = add(t, sibling, kind->id, domain, numa, first);
          if (!first) first = os_index;
        }
      }
    }
  }

  int add(const owned_table& t, const toml::node& node, kind_id kind, std::size_t domain, int numa,
          std::optional<int> first_of_core = {}) {
    const auto os_index = static_cast<int>(
        t.integer(node, "cpus", 0, static_cast<std::int64_t>(detail::most_cores) - 1));
    if (!seen_.insert(os_index).second)
      t.fail(node.source(),
             "CPU " + std::to_string(os_index) + " is listed twice; each belongs to one core");
    if (!first_of_core || options_.smt)
      cpus_.push_back({os_index, kind, domain, numa, first_of_core.value_or(os_index)});
    has_cores_.insert(kind);
    return os_index;
  }

  /// Caches do not shape a machine, whose clusters are given; they are checked here so that a file
  /// means the same to all.
  static void check_cache(const owned_table& t) {
    t.only({"level", "type", "bytes", "ways", "line_bytes", "shared_by", "source"});
    t.required_integer("level", 1, 5);
    t.required_integer("bytes", 1, std::int64_t{1} << 40);
    (void)t.integer("ways", 1, 65536);
    (void)t.integer("line_bytes", 1, 65536);
    one_of(t, "type", {"data", "instruction", "unified"});
    one_of(t, "shared_by", {"core", "cluster"});
    (void)t.required_text("source");
  }

  static void one_of(const owned_table& t, std::string_view key,
                     std::initializer_list<std::string_view> values) {
    const std::string value = t.required_text(key);
    if (std::find(values.begin(), values.end(), value) != values.end()) return;
    std::string known;
    for (const std::string_view v : values) known += (known.empty() ? "" : ", ") + std::string(v);
    t.fail(t.raw().get(key)->source(),
           "'" + std::string(key) + "' is '" + value + "'; it must be one of " + known);
  }

  void check_kinds_used() const {
    for (const core_kind& k : kinds_)
      if (!has_cores_.count(k.id))
        kind_tables_[k.id].fail("kind '" + k.name +
                                "' has no [[cluster]]; add one or remove the kind");
  }

  owned_table top_;
  const machine_options& options_;
  std::vector<core_kind> kinds_;
  std::vector<owned_table> kind_tables_;
  std::vector<detail::logical_cpu> cpus_;
  std::set<int> seen_;
  std::set<kind_id> has_cores_;
};

}  // namespace

machine detail::machine_of(const std::string& file, const toml::table& root,
                           const machine_options& options) {
  return platform_reader(file, root, options).read();
}

machine machine::from_platform(const std::string& name_or_path, const machine_options& options) {
  const std::string file = detail::find_platform_file(name_or_path);
  return detail::machine_of(file, detail::parse_platform_file(file), options);
}

}  // namespace kilter
