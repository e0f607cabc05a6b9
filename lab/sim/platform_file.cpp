// Reads the simulator's tables of a platform file. lab/docs/platform-files.md lists their keys.

#include "sim/platform_file.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "machine/layout.hpp"
#include "machine/platform_table.hpp"

namespace kilter::sim {

namespace {

using detail::owned_table;

using detail::quantity;
namespace quantities = detail::quantities;

class reader {
 public:
  reader(const std::string& file, const toml::table& root)
      : file_(file), root_(root), top_(file, "a platform file", root) {}

  platform read() {
    p_.cores = std::make_shared<const machine>(detail::machine_of(file_, root_));
    top_.only({"schema",       "name",       "description", "kind",      "cluster",   "clock",
               "bandwidth",    "kernel",     "power",       "overheads", "co_runner", "noise",
               "network",      "moved_line", "gather",      "steal",     "sleep",     "lend",
               "shared_queue", "busy",       "decision"});
    p_.name = p_.cores->name();
    p_.description = top_.text("description").value_or("");
    p_.file = file_;
    const std::size_t kinds = p_.cores->kinds().size();
    p_.clocks.resize(kinds);
    p_.core_bytes_per_s.resize(kinds);
    p_.cluster_bytes_per_s.resize(kinds);

    read_machine();
    for (const owned_table& t : top_.tables("clock")) read_clock(t);
    for (const owned_table& t : top_.tables("bandwidth")) read_bandwidth(t);
    for (const owned_table& t : top_.tables("kernel")) read_kernel(t);
    for (const owned_table& t : top_.tables("power")) read_power(t);
    if (const auto t = top_.one_table("overheads")) read_overheads(*t);
    if (const auto t = top_.one_table("co_runner")) read_co_runner(*t);
    if (const auto t = top_.one_table("noise")) read_noise(*t);
    if (const auto t = top_.one_table("network")) read_network(*t);
    if (const auto t = top_.one_table("moved_line")) read_moved_line(*t);
    read_contention();
    return std::move(p_);
  }

 private:
  origin origin_in(const owned_table& t) const {
    origin from{t.required_text("source")};
    if (const toml::node* fitted = t.raw().get("fitted_to")) {
      const toml::array* list = fitted->as_array();
      if (!list) t.fail(fitted->source(), "'fitted_to' must be a list of texts such as [\"S0-7\"]");
      for (const toml::node& entry : *list) {
        const auto text = entry.value_exact<std::string>();
        if (!text || text->empty())
          t.fail(entry.source(), "'fitted_to' must be a list of texts such as [\"S0-7\"]");
        from.fitted_to.push_back(*text);
      }
    }
    return from;
  }

  /// Each thing is described once; `what` is its name in platform::origins.
  void record(const owned_table& t, const std::string& what, const origin& from) {
    if (p_.origin_of(what)) t.fail("'" + what + "' is described twice; remove one");
    p_.origins.emplace_back(what, from);
  }

  const std::string& kind_name(kind_id kind) const { return p_.cores->kinds()[kind].name; }

  kind_id kind_in(const owned_table& t) const {
    const std::string name = t.required_text("kind");
    std::string known;
    for (const core_kind& k : p_.cores->kinds()) {
      if (k.name == name) return k.id;
      known += (known.empty() ? "" : ", ") + k.name;
    }
    t.fail(t.raw().get("kind")->source(), "no [[kind]] is named '" + name + "'; there is " + known);
  }

  std::vector<double> numbers(const owned_table& t, std::string_view key, const quantity& q) const {
    const toml::node& node = t.required(key);
    const toml::array* list = node.as_array();
    if (!list || list->empty())
      t.fail(node.source(), "'" + std::string(key) + "' must be a list of numbers, not empty");
    std::vector<double> values;
    for (const toml::node& entry : *list) values.push_back(t.number(entry, key, q));
    return values;
  }

  /// One number for each width of the kind's clusters.
  std::vector<double> by_width(const owned_table& t, std::string_view key, kind_id kind,
                               const quantity& q) const {
    auto values = numbers(t, key, q);
    const auto widths = p_.widths(kind);
    if (values.size() == widths.size()) return values;
    std::string list;
    for (const std::uint32_t w : widths) list += (list.empty() ? "" : ", ") + std::to_string(w);
    t.fail(t.raw().get(key)->source(),
           "'" + std::string(key) + "' has " + std::to_string(values.size()) +
               " entries; clusters of '" + kind_name(kind) + "' have the widths " + list +
               ", so it needs " + std::to_string(widths.size()));
  }

  /// The clock that a figure is for; the kind's own if the file does not say, 0 if the kind has
  /// none.
  double clock_in(const owned_table& t, kind_id kind) const {
    const auto given = t.number("mhz", quantities::clock);
    const std::vector<double>& steps = p_.clocks[kind].mhz;
    if (given && steps.empty())
      t.fail(t.raw().get("mhz")->source(),
             "kind '" + kind_name(kind) +
                 "' has no [[clock]], so a figure has no 'mhz'; add one or leave it out");
    return given.value_or(steps.empty() ? 0.0 : steps.back());
  }

  /// The highest level of those that a cluster's cores share, or that each has for itself; 0
  /// without. Its source is recorded as `what`.
  std::uint64_t cache_in(const owned_table& cluster, std::string_view shared_by,
                         const std::string& what) {
    std::int64_t level = 0;
    std::uint64_t bytes = 0;
    origin from;
    for (const owned_table& cache : cluster.tables("cache")) {
      if (cache.required_text("shared_by") != shared_by) continue;
      if (cache.required_text("type") == "instruction") continue;
      if (const auto here = cache.integer("level", 1, 5).value_or(0); here > level) {
        constexpr std::int64_t most = std::int64_t{1} << 40;
        level = here;
        bytes = static_cast<std::uint64_t>(cache.integer("bytes", 1, most).value_or(0));
        from.source = cache.required_text("source");
      }
    }
    if (level > 0) record(cluster, what, from);
    return bytes;
  }

  /// Origins of the tables that shape the machine, and the caches of each cluster and of its cores.
  void read_machine() {
    for (const owned_table& t : top_.tables("kind"))
      if (t.raw().get("relative_speed"))
        record(t, "kind " + t.required_text("name"), origin{t.required_text("source")});
    std::map<int, cluster_id> cluster_of;
    for (const core& c : p_.cores->cores()) cluster_of[c.os_index] = c.cluster;
    p_.cache_bytes.assign(p_.cores->clusters().size(), 0);
    p_.core_cache_bytes = p_.cache_bytes;
    for (const owned_table& t : top_.tables("cluster")) {
      const toml::node& entry = *t.raw().get("cpus")->as_array()->get(0);
      const toml::array* siblings = entry.as_array();
      const auto cpu = (siblings ? *siblings->get(0) : entry).value<int>().value();
      const cluster_id id = cluster_of.at(cpu);
      const std::string name = "cluster " + std::to_string(id);
      record(t, name, origin{t.required_text("source")});
      p_.cache_bytes[id] = cache_in(t, "cluster", "cache of " + name);
      p_.core_cache_bytes[id] = cache_in(t, "core", "cache of a core of " + name);
    }
  }

  void read_clock(const owned_table& t) {
    t.only({"kind", "mhz", "transition_s", "source", "fitted_to"});
    const kind_id kind = kind_in(t);
    clock_steps c{numbers(t, "mhz", quantities::clock),
                  t.required_number("transition_s", quantities::cost_seconds), origin_in(t)};
    if (std::adjacent_find(c.mhz.begin(), c.mhz.end(), std::greater_equal<>()) != c.mhz.end())
      t.fail(t.raw().get("mhz")->source(),
             "'mhz' must be ascending; the last one is what the kind runs at");
    record(t, "clock of " + kind_name(kind), c.from);
    p_.clocks[kind] = std::move(c);
  }

  void read_bandwidth(const owned_table& t) {
    t.only({"of", "kind", "bytes_per_s", "source", "fitted_to"});
    const std::string of = t.required_text("of");
    const double limit = t.required_number("bytes_per_s", quantities::bandwidth);
    if (of == "chip") {
      if (const toml::node* kind = t.raw().get("kind"))
        t.fail(kind->source(), "the bandwidth of the chip has no 'kind'; remove it");
      record(t, "bandwidth of the chip", origin_in(t));
      p_.chip_bytes_per_s = limit;
    } else if (of == "core" || of == "cluster") {
      const kind_id kind = kind_in(t);
      record(t, "bandwidth of a " + kind_name(kind) + " " + of, origin_in(t));
      (of == "core" ? p_.core_bytes_per_s : p_.cluster_bytes_per_s)[kind] = limit;
    } else {
      t.fail(t.raw().get("of")->source(),
             "'of' is '" + of + "'; it must be one of core, cluster, chip");
    }
  }

  int growth(const owned_table& t, std::string_view key) const {
    return static_cast<int>(t.integer(t.required(key), key, 1, 3));
  }

  void read_kernel(const owned_table& t) {
    t.only({"name", "size", "kind", "mhz", "seconds", "bytes", "working_set", "bytes_beyond_cache",
            "seconds_power", "bytes_power", "source", "fitted_to"});
    kernel_cost k;
    k.name = t.required_text("name");
    k.size = t.required_number("size", quantities::size);
    k.kind = kind_in(t);
    k.mhz = clock_in(t, k.kind);
    k.seconds = by_width(t, "seconds", k.kind, quantities::task_seconds);
    k.bytes = t.required_number("bytes", quantities::bytes);
    k.working_set = t.required_number("working_set", quantities::bytes);
    const auto at_least_bytes = [&k](double v) {
      return v >= k.bytes && quantities::bytes.holds(v);
    };
    k.bytes_beyond_cache =
        t.number("bytes_beyond_cache", at_least_bytes,
                 "at least 'bytes', which is the traffic if everything fits, and at most 1e+18")
            .value_or(k.bytes);
    k.seconds_power = growth(t, "seconds_power");
    k.bytes_power = growth(t, "bytes_power");
    k.from = origin_in(t);
    record(t, kernel_label(k, kind_name(k.kind)), k.from);
    p_.kernels.push_back(std::move(k));
  }

  void read_power(const owned_table& t) {
    t.only({"kind", "mhz", "busy_w", "idle_w", "source", "fitted_to"});
    const kind_id kind = kind_in(t);
    power_figure f{kind, clock_in(t, kind), by_width(t, "busy_w", kind, quantities::busy_watts),
                   t.required_number("idle_w", quantities::idle_watts), origin_in(t)};
    record(t,
           "power of " + kind_name(kind) + (f.mhz > 0 ? " at " + plain_number(f.mhz) + " MHz" : ""),
           f.from);
    p_.power.push_back(std::move(f));
  }

  void read_overheads(const owned_table& t) {
    t.only({"push_s", "steal_try_s", "steal_s", "search_all_s", "search_own_s", "assembly_s",
            "wake_s", "source", "fitted_to"});
    overheads& o = p_.costs;
    for (const auto& [key, value] : {std::pair{"push_s", &o.push_s},
                                     {"steal_s", &o.steal_s},
                                     {"search_all_s", &o.search_all_s},
                                     {"search_own_s", &o.search_own_s},
                                     {"assembly_s", &o.assembly_s},
                                     {"wake_s", &o.wake_s}})
      *value = t.number(key, quantities::cost_seconds).value_or(*value);
    o.steal_try_s = t.number("steal_try_s", quantities::period_seconds).value_or(o.steal_try_s);
    o.from = origin_in(t);
    record(t, "overheads", o.from);
  }

  void read_co_runner(const owned_table& t) {
    t.only({"slice_s", "share", "source", "fitted_to"});
    co_runner_habits& c = p_.co_runner;
    c.slice_s = t.number("slice_s", quantities::period_seconds).value_or(c.slice_s);
    const auto fraction = [](double v) { return v > 0 && v <= 1; };
    c.share = t.number("share", fraction, "above 0 and at most 1, what is left of the core")
                  .value_or(c.share);
    c.from = origin_in(t);
    record(t, "co-runner", c.from);
  }

  void read_noise(const owned_table& t) {
    t.only({"sigma", "source", "fitted_to"});
    p_.noise_sigma = t.required_number(
        "sigma", [](double v) { return v >= 0 && v < 1; }, "from 0 to below 1");
    record(t, "noise", origin_in(t));
  }

  void read_network(const owned_table& t) {
    t.only({"clusters_per_node", "bytes_per_s", "latency_s", "source", "fitted_to"});
    const auto clusters = static_cast<std::int64_t>(p_.cores->clusters().size());
    const toml::node& node = t.required("clusters_per_node");
    const auto each = t.integer(node, "clusters_per_node", 1, clusters);
    if (clusters % each != 0)
      t.fail(node.source(), "'clusters_per_node' is " + std::to_string(each) +
                                "; it must divide the " + std::to_string(clusters) + " clusters");
    p_.network = network_figure{
        static_cast<std::uint32_t>(each), t.required_number("bytes_per_s", quantities::bandwidth),
        t.required_number("latency_s", quantities::cost_seconds), origin_in(t)};
    record(t, "network", p_.network->from);
  }

  void read_moved_line(const owned_table& t) {
    t.only({"in_cluster_s", "between_clusters_s", "source", "fitted_to"});
    const auto figure = [&](std::string_view key) {
      return t.number(key, quantities::cost_seconds).value_or(0.0);
    };
    p_.moved_line = {figure("in_cluster_s"), figure("between_clusters_s")};
    record(t, "moved line", origin_in(t));
  }

  void read_contention() {
    for (const owned_table& t : top_.tables("gather")) read_gather(t);
    for (const owned_table& t : top_.tables("busy")) read_busy(t);
    for (const owned_table& t : top_.tables("decision")) read_decision(t);
    if (const auto t = top_.one_table("steal")) read_steal(*t);
    if (const auto t = top_.one_table("sleep")) read_sleep(*t);
    if (const auto t = top_.one_table("lend")) read_lend(*t);
    if (const auto t = top_.one_table("shared_queue")) read_shared_queue(*t);
  }

  /// The list `key`, an entry for each of the list `by`: numbers of cores, ascending.
  template <class Accepts>
  by_count counted(const owned_table& t, std::string_view by, std::string_view key, Accepts right,
                   std::string_view rule) const {
    by_count figure;
    const toml::node& node = t.required(by);
    const toml::array* counts = node.as_array();
    if (!counts || counts->empty())
      t.fail(node.source(), "'" + std::string(by) + "' must be a list of whole numbers, not empty");
    for (const toml::node& entry : *counts)
      figure.counts.push_back(
          static_cast<std::uint32_t>(t.integer(entry, by, 1, detail::most_cores)));
    if (std::ranges::adjacent_find(figure.counts, std::ranges::greater_equal()) !=
        figure.counts.end())
      t.fail(node.source(), "'" + std::string(by) + "' must be ascending");
    const toml::node& values = t.required(key);
    if (const toml::array* list = values.as_array())
      for (const toml::node& entry : *list)
        figure.values.push_back(t.number(entry, key, right, rule));
    if (figure.values.size() != figure.counts.size())
      t.fail(values.source(), "'" + std::string(key) + "' must be a list of " +
                                  std::to_string(figure.counts.size()) +
                                  " numbers, one for each of '" + std::string(by) + "'");
    return figure;
  }
  by_count counted(const owned_table& t, std::string_view by, std::string_view key,
                   const quantity& q) const {
    return counted(
        t, by, key, [&q](double v) { return q.holds(v); }, detail::rule_of(q));
  }

  void read_gather(const owned_table& t) {
    t.only({"kind", "widths", "own_s", "others_s", "source", "fitted_to"});
    const kind_id kind = kind_in(t);
    p_.contention.gather.push_back({kind, counted(t, "widths", "own_s", quantities::cost_seconds),
                                    counted(t, "widths", "others_s", quantities::cost_seconds)});
    record(t, "gather on " + kind_name(kind), origin_in(t));
  }

  void read_busy(const owned_table& t) {
    t.only({"kind", "cores", "slower", "source", "fitted_to"});
    const kind_id kind = kind_in(t);
    const auto longer = [](double v) { return v >= 1 && v <= 1000; };
    p_.contention.busy.push_back(
        {kind, counted(t, "cores", "slower", longer,
                       "from 1 to 1000, how many times as long a body takes")});
    record(t, "busy " + kind_name(kind), origin_in(t));
  }

  void read_decision(const owned_table& t) {
    t.only({"policy", "task_s", "ready_s", "take_s", "next_s", "source", "fitted_to"});
    decision_figure d{t.required_text("policy"),
                      t.required_number("task_s", quantities::task_seconds),
                      t.required_number("ready_s", quantities::cost_seconds),
                      t.required_number("take_s", quantities::cost_seconds),
                      t.required_number("next_s", quantities::cost_seconds)};
    record(t, "decisions of " + d.policy + " on tasks of " + plain_number(d.task_s) + " s",
           origin_in(t));
    p_.contention.decisions.push_back(std::move(d));
  }

  void read_steal(const owned_table& t) {
    t.only({"lookers", "look_s", "steal_s", "source", "fitted_to"});
    p_.contention.look_s = counted(t, "lookers", "look_s", quantities::period_seconds);
    p_.contention.steal_s = counted(t, "lookers", "steal_s", quantities::cost_seconds);
    record(t, "steal", origin_in(t));
  }

  void read_sleep(const owned_table& t) {
    t.only({"after_s", "long_after_s", "call_s", "up_s", "source", "fitted_to"});
    const double after_s = t.required_number("after_s", quantities::cost_seconds);
    p_.contention.sleep = sleep_figure{
        .after_s = after_s,
        .long_after_s = t.number("long_after_s", quantities::cost_seconds).value_or(after_s),
        .call_s = t.required_number("call_s", quantities::cost_seconds),
        .up_s = t.required_number("up_s", quantities::cost_seconds)};
    if (p_.contention.sleep->long_after_s < after_s) t.fail("'long_after_s' is below 'after_s'");
    record(t, "sleep", origin_in(t));
  }

  void read_lend(const owned_table& t) {
    t.only({"looks_s", "seconds", "keeps_s", "source", "fitted_to"});
    if (!p_.contention.sleep) t.fail("who does not sleep lends no core: [lend] needs [sleep]");
    p_.contention.lend =
        lend_figure{.looks_s = t.required_number("looks_s", quantities::period_seconds),
                    .seconds = t.required_number("seconds", quantities::cost_seconds),
                    .keeps_s = t.required_number("keeps_s", quantities::period_seconds)};
    record(t, "lend", origin_in(t));
  }

  void read_shared_queue(const owned_table& t) {
    t.only({"users", "seconds", "source", "fitted_to"});
    p_.contention.queue_s = counted(t, "users", "seconds", quantities::cost_seconds);
    record(t, "shared queue", origin_in(t));
  }

  const std::string& file_;
  const toml::table& root_;
  owned_table top_;
  platform p_;
};

}  // namespace

std::string plain_number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string kernel_label(const kernel_cost& k, const std::string& kind) {
  return "kernel " + k.name + " " + plain_number(k.size) + " on " + kind;
}

platform read_platform(const std::string& file) {
  const toml::table root = detail::parse_platform_file(file);
  return reader(file, root).read();
}

platform parse_platform(const std::string& name, std::string_view text) {
  const toml::table root = detail::parse_toml(text, name);
  return reader(name, root).read();
}

}  // namespace kilter::sim
