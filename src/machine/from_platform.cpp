// Machines from platform files. The format is documented in docs/platform-files.md.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <toml++/toml.h>

#include "kilter/error.hpp"
#include "kilter/machine.hpp"
#include "machine/layout.hpp"

namespace kilter {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view schema = "kilter.platform/1";

std::string in_one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// A table of a platform file whose keys are all known to us, with errors that point at lines.
class owned_table {
 public:
  owned_table(const std::string& file, std::string title, const toml::table& table)
      : file_(file), title_(std::move(title)), table_(table) {}

  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    throw input_error(file_ + ":" + std::to_string(where.begin.line) + ": " + what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(table_.source(), what); }

  /// Refuses every other key. At the top of a file, tables of others may stand beside ours.
  void only(std::initializer_list<std::string_view> keys, bool foreign_tables = false) const {
    for (const auto& [key, value] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      if (foreign_tables && (value.is_table() || value.is_array_of_tables())) continue;
      std::string known;
      for (const std::string_view k : keys) known += (known.empty() ? "" : ", ") + std::string(k);
      fail(key.source(), title_ + " has no key '" + std::string(key.str()) + "'; it has " + known);
    }
  }

  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) fail(node->source(), "'" + std::string(key) + "' must be a text in quotes, not empty");
    return *value;
  }
  [[nodiscard]] std::string required_text(std::string_view key) const {
    const auto value = text(key);
    if (!value) fail(title_ + " lacks '" + std::string(key) + "'");
    return *value;
  }

  [[nodiscard]] std::int64_t integer(const toml::node& node, std::string_view key, std::int64_t lowest,
                                     std::int64_t highest) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < lowest || *value > highest)
      fail(node.source(), "'" + std::string(key) + "' must be a whole number from " + std::to_string(lowest) + " to " +
                              std::to_string(highest));
    return *value;
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t lowest, std::int64_t highest) const {
    const toml::node* node = table_.get(key);
    return node ? std::optional(integer(*node, key, lowest, highest)) : std::nullopt;
  }
  void required_integer(std::string_view key, std::int64_t lowest, std::int64_t highest) const {
    if (!integer(key, lowest, highest)) fail(title_ + " lacks '" + std::string(key) + "'");
  }

  /// The tables of an array of tables; none if it is absent.
  [[nodiscard]] std::vector<owned_table> tables(std::string_view key) const {
    std::vector<owned_table> found;
    const toml::node* node = table_.get(key);
    if (!node) return found;
    if (!node->is_array_of_tables())
      fail(node->source(), "'" + std::string(key) + "' must be written as [[" + std::string(key) + "]] tables");
    for (const toml::node& element : *node->as_array())
      found.emplace_back(file_, "[[" + std::string(key) + "]]", *element.as_table());
    return found;
  }

  [[nodiscard]] const toml::table& raw() const noexcept { return table_; }

 private:
  const std::string& file_;
  std::string title_;
  const toml::table& table_;
};

class platform_reader {
 public:
  platform_reader(const std::string& file, const toml::table& root, const machine_options& options)
      : top_(file, "a platform file", root), options_(options) {}

  machine read() {
    top_.only({"schema", "name", "description", "kind", "cluster"}, true);
    if (const auto given = top_.required_text("schema"); given != schema)
      top_.fail(top_.raw().get("schema")->source(),
                "schema '" + given + "' is not known; this version reads '" + std::string(schema) + "'");
    std::string name = top_.required_text("name");
    (void)top_.text("description");
    for (const owned_table& t : top_.tables("kind")) read_kind(t);
    const auto clusters = top_.tables("cluster");
    if (clusters.empty()) top_.fail("a platform file needs at least one [[cluster]]");
    for (std::size_t domain = 0; domain < clusters.size(); ++domain) read_cluster(clusters[domain], domain);
    check_kinds_used();
    detail::rescale_speeds(kinds_);
    return {std::move(name), std::move(kinds_), detail::number_cores(std::move(cpus_)), options_.powers_of_two};
  }

 private:
  void read_kind(const owned_table& t) {
    t.only({"name", "relative_speed", "source"});
    core_kind kind{static_cast<kind_id>(kinds_.size()), t.required_text("name"), 0, 0.0};
    for (const core_kind& other : kinds_)
      if (other.name == kind.name) t.fail(t.raw().get("name")->source(), "kind '" + kind.name + "' is described twice");
    (void)t.text("source");
    if (const toml::node* node = t.raw().get("relative_speed")) {
      const auto speed = node->value<double>();
      if (!node->is_number() || !speed || !(*speed > 0) || *speed > 1e6)
        t.fail(node->source(), "'relative_speed' must be a number above 0, against the slowest kind");
      kind.relative_speed = *speed;
      (void)t.required_text("source");
      if (!kinds_.empty() && kinds_.back().relative_speed > 0 && *speed > kinds_.back().relative_speed)
        t.fail(node->source(), "kind '" + kind.name + "' is faster than the one before; write kinds fastest first");
    }
    kind_tables_.push_back(t);
    kinds_.push_back(std::move(kind));
  }

  void read_cluster(const owned_table& t, std::size_t domain) {
    t.only({"kind", "cpus", "numa_node", "cache", "source"});
    const std::string kind_name = t.required_text("kind");
    const auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const core_kind& k) { return k.name == kind_name; });
    if (kind == kinds_.end())
      t.fail(t.raw().get("kind")->source(), "no [[kind]] is named '" + kind_name + "'; describe it, or name one that is");
    (void)t.required_text("source");
    const auto numa = static_cast<int>(t.integer("numa_node", 0, 65535).value_or(0));
    for (const owned_table& cache : t.tables("cache")) check_cache(cache);

    const toml::node* cpus = t.raw().get("cpus");
    if (!cpus) t.fail("[[cluster]] lacks 'cpus', the operating system's numbers of its logical CPUs");
    const toml::array* list = cpus->as_array();
    if (!list || list->empty()) t.fail(cpus->source(), "'cpus' must be a list such as [1, 2], not empty");
    for (const toml::node& entry : *list) {
      const toml::array* siblings = entry.as_array();
      if (!siblings) {
        add(t, entry, kind->id, domain, numa, true);
      } else {
        if (siblings->empty()) t.fail(entry.source(), "a core in 'cpus' has no logical CPU; write [0] or [0, 4]");
        for (std::size_t i = 0; i < siblings->size(); ++i) add(t, (*siblings)[i], kind->id, domain, numa, i == 0);
      }
    }
  }

  void add(const owned_table& t, const toml::node& node, kind_id kind, std::size_t domain, int numa, bool first_of_core) {
    const auto os_index = static_cast<int>(t.integer(node, "cpus", 0, static_cast<std::int64_t>(detail::most_cores) - 1));
    if (!seen_.insert(os_index).second)
      t.fail(node.source(), "CPU " + std::to_string(os_index) + " is listed twice; each belongs to one core");
    if (first_of_core || options_.smt) cpus_.push_back({os_index, kind, domain, numa});
    has_cores_.insert(kind);
  }

  /// Caches do not shape a machine, whose clusters are given; they are checked here so that a file means the same to all.
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

  static void one_of(const owned_table& t, std::string_view key, std::initializer_list<std::string_view> values) {
    const std::string value = t.required_text(key);
    if (std::find(values.begin(), values.end(), value) != values.end()) return;
    std::string known;
    for (const std::string_view v : values) known += (known.empty() ? "" : ", ") + std::string(v);
    t.fail(t.raw().get(key)->source(), "'" + std::string(key) + "' is '" + value + "'; it must be one of " + known);
  }

  void check_kinds_used() const {
    for (const core_kind& k : kinds_)
      if (!has_cores_.count(k.id))
        kind_tables_[k.id].fail("kind '" + k.name + "' has no [[cluster]]; add one or remove the kind");
  }

  owned_table top_;
  const machine_options& options_;
  std::vector<core_kind> kinds_;
  std::vector<owned_table> kind_tables_;
  std::vector<detail::logical_cpu> cpus_;
  std::set<int> seen_;
  std::set<kind_id> has_cores_;
};

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".toml";
}

std::string known_platforms() {
  std::set<std::string> names;
  for (const std::string& directory : platform_directories()) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".toml") names.insert(at->path().stem().string());
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none is installed" : list;
}

std::string find_platform(const std::string& name_or_path) {
  std::error_code error;
  if (is_path(name_or_path)) {
    const auto status = fs::status(name_or_path, error);
    if (!fs::exists(status))
      throw input_error("platform file '" + name_or_path + "' does not exist; name a file, or one of " + known_platforms());
    if (fs::is_directory(status)) throw input_error("platform file '" + name_or_path + "' is a directory; name a file in it");
    return name_or_path;
  }
  if (!name_or_path.empty())
    for (const std::string& directory : platform_directories())
      if (fs::path file = fs::path(directory) / (name_or_path + ".toml"); fs::is_regular_file(file, error)) return file.string();
  throw input_error("platform '" + name_or_path + "' is not known; name a file (./NAME.toml), or one of " + known_platforms());
}

}  // namespace

std::vector<std::string> platform_directories() {
  std::vector<std::string> directories;
  if (const char* given = std::getenv("KILTER_PLATFORMS")) {
    std::string_view rest = given;
    for (bool more = true; more;) {
      const auto colon = rest.find(':');
      more = colon != std::string_view::npos;
      if (const auto part = rest.substr(0, colon); !part.empty()) directories.emplace_back(part);
      if (more) rest.remove_prefix(colon + 1);
    }
  }
  directories.emplace_back(KILTER_SOURCE_PLATFORMS);
  directories.emplace_back(KILTER_INSTALLED_PLATFORMS);
  return directories;
}

machine machine::from_platform(const std::string& name_or_path, const machine_options& options) {
  const std::string file = find_platform(name_or_path);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw input_error("platform file '" + file + "' cannot be read: " + std::strerror(errno));
  const std::string contents{std::istreambuf_iterator<char>(in), {}};
  toml::table root;
  try {
    root = toml::parse(contents, file);
  } catch (const toml::parse_error& error) {
    throw input_error(file + ":" + std::to_string(error.source().begin.line) + ": " + in_one_line(error.description()));
  }
  return platform_reader(file, root, options).read();
}

}  // namespace kilter
