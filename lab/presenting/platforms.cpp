#include "presenting/platforms.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "kilter/error.hpp"
#include "sim/platform_file.hpp"
#include "words/join.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

using json = nlohmann::ordered_json;
using sim::origin;
using sim::plain_number;
using sim::platform;

constexpr std::size_t columns = 100, indent = 6;

/// Three significant digits and a prefix of thousands: "1.15 GB/s", "134 MB".
std::string bytes_text(double bytes, std::string_view unit) {
  static constexpr std::array<std::string_view, 5> prefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; bytes >= 999.5 && prefix + 1 < prefixes.size(); ++prefix) bytes /= 1000;
  return fmt::format("{:.3g} {}{}", bytes, prefixes[prefix], unit);
}

/// Cache sizes are powers of two.
std::string cache_text(std::uint64_t bytes) {
  return bytes < (1u << 20) ? fmt::format("{:.4g} KiB", static_cast<double>(bytes) / 1024)
                            : fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
}

template <class Values, class Show>
std::string listed(const Values& values, Show show) {
  std::vector<std::string> words;
  for (const auto& v : values) words.push_back(show(v));
  return joined(words, ", ");
}

/// Words of a source, folded below the number that they belong to.
std::string folded(std::string_view text) {
  std::string out(indent, ' ');
  std::size_t at = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (at > indent && at + 1 + word.size() > columns) {
      out += '\n' + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out + '\n';
}

/// The page that grows line by line.
class page {
 public:
  page(const platform& p, bool colour) : p_(p), colour_(colour) {}

  void title(std::string_view text) { out_ += '\n' + paint("1", printable(text)) + '\n'; }
  void number(std::string_view label, std::string_view value, const origin* from) {
    out_ += fmt::format("  {:<26}{}\n", printable(label), printable(value));
    if (!from) return;
    out_ += paint("2", folded(printable(from->source)));
    if (!from->fitted_to.empty())
      out_ += paint("33", folded("FITTED to " + printable(joined(from->fitted_to, ", "))));
  }
  void number(std::string_view label, std::string_view value, const std::string& what) {
    number(label, value, p_.origin_of(what));
  }
  void plain(std::string_view text) { out_ += fmt::format("{}\n", printable(text)); }
  std::string text() && { return std::move(out_); }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return colour_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  }

  const platform& p_;
  bool colour_;
  std::string out_;
};

const std::string& kind_name(const platform& p, kind_id kind) {
  return p.cores->kinds()[kind].name;
}

void add_machine(page& out, const platform& p) {
  out.title("cores");
  for (const core_kind& k : p.cores->kinds())
    out.number(k.name,
               fmt::format("{} cores{}", k.cores,
                           k.relative_speed > 0 && p.cores->kinds().size() > 1
                               ? fmt::format(", nominal speed {:.3g}", k.relative_speed)
                               : ""),
               "kind " + k.name);
  for (const cluster& c : p.cores->clusters()) {
    const std::string name = fmt::format("cluster {}", c.id);
    const std::string widths = listed(c.widths, [](std::uint32_t w) { return std::to_string(w); });
    out.number(name,
               fmt::format("{}, cores {} to {}, widths {}", kind_name(p, c.kind), c.first,
                           c.first + c.size - 1, widths),
               name);
    if (p.cache_bytes[c.id] > 0)
      out.number("  shared cache", cache_text(p.cache_bytes[c.id]), "cache of " + name);
    if (p.core_cache_bytes[c.id] > 0)
      out.number("  cache of a core", cache_text(p.core_cache_bytes[c.id]),
                 "cache of a core of " + name);
  }
}

void add_limits(page& out, const platform& p) {
  const auto none = [](double limit) { return limit <= 0; };
  if (std::all_of(p.clocks.begin(), p.clocks.end(),
                  [](const sim::clock_steps& c) { return c.mhz.empty(); }) &&
      none(p.chip_bytes_per_s) &&
      std::all_of(p.core_bytes_per_s.begin(), p.core_bytes_per_s.end(), none) &&
      std::all_of(p.cluster_bytes_per_s.begin(), p.cluster_bytes_per_s.end(), none) && !p.network)
    return;
  out.title("clocks and bandwidth");
  for (const core_kind& k : p.cores->kinds()) {
    const sim::clock_steps& c = p.clocks[k.id];
    if (c.mhz.empty()) continue;
    const std::string steps =
        c.mhz.size() <= 4 ? listed(c.mhz, plain_number) + " MHz"
                          : fmt::format("{} to {} MHz in {} steps", plain_number(c.mhz.front()),
                                        plain_number(c.mhz.back()), c.mhz.size());
    out.number(k.name, fmt::format("{}; a change takes {}", steps, seconds_text(c.transition_s)),
               &c.from);
  }
  for (const core_kind& k : p.cores->kinds()) {
    if (p.core_bytes_per_s[k.id] > 0)
      out.number("a " + k.name + " core", bytes_text(p.core_bytes_per_s[k.id], "B/s"),
                 "bandwidth of a " + k.name + " core");
    if (p.cluster_bytes_per_s[k.id] > 0)
      out.number("a " + k.name + " cluster", bytes_text(p.cluster_bytes_per_s[k.id], "B/s"),
                 "bandwidth of a " + k.name + " cluster");
  }
  if (p.chip_bytes_per_s > 0)
    out.number(p.network ? "each node" : "chip", bytes_text(p.chip_bytes_per_s, "B/s"),
               "bandwidth of the chip");
  if (p.network)
    out.number(
        "network",
        fmt::format("{}, latency {}, {} clusters a node", bytes_text(p.network->bytes_per_s, "B/s"),
                    seconds_text(p.network->latency_s), p.network->clusters_per_node),
        &p.network->from);
}

void add_kernels(page& out, const platform& p) {
  if (p.kernels.empty()) return;
  out.title(
      "kernels: time by width; bytes to memory, working set, bytes if that does not fit; growth "
      "with size");
  for (const sim::kernel_cost& k : p.kernels) {
    const std::string at = k.mhz > 0 ? fmt::format(" at {} MHz", plain_number(k.mhz)) : "";
    out.number(fmt::format("{} {}, {}", k.name, plain_number(k.size), kind_name(p, k.kind)),
               fmt::format("{}{}", listed(k.seconds, seconds_text), at), nullptr);
    out.number("",
               fmt::format("{}, {}, {}; seconds ^{}, bytes ^{}", bytes_text(k.bytes, "B"),
                           bytes_text(k.working_set, "B"), bytes_text(k.bytes_beyond_cache, "B"),
                           k.seconds_power, k.bytes_power),
               &k.from);
  }
}

void add_power(page& out, const platform& p) {
  if (p.power.empty()) return;
  out.title("power: watts of a cluster by busy cores, and idle");
  for (const sim::power_figure& f : p.power)
    out.number(
        f.mhz > 0 ? fmt::format("{} at {} MHz", kind_name(p, f.kind), plain_number(f.mhz))
                  : kind_name(p, f.kind),
        fmt::format("{} W; idle {} W", listed(f.busy_w, plain_number), plain_number(f.idle_w)),
        &f.from);
}

void add_habits(page& out, const platform& p) {
  out.title("overheads, moved lines, co-runners, noise");
  const sim::overheads& o = p.costs;
  out.number("overheads",
             fmt::format("push {}, assembly {} a core, wake {} a child", seconds_text(o.push_s),
                         seconds_text(o.assembly_s), seconds_text(o.wake_s)),
             nullptr);
  out.number("",
             fmt::format("steal try {}, steal {}, search all {}, own {}",
                         seconds_text(o.steal_try_s), seconds_text(o.steal_s),
                         seconds_text(o.search_all_s), seconds_text(o.search_own_s)),
             &o.from);
  if (p.moved_line.told())
    out.number("moved line",
               fmt::format("{} more in a cluster, {} between clusters",
                           seconds_text(p.moved_line.in_cluster_s),
                           seconds_text(p.moved_line.between_clusters_s)),
               "moved line");
  const sim::co_runner_habits& c = p.co_runner;
  out.number("co-runner",
             fmt::format("slices of {}, or leaves {:.3g} % of the core", seconds_text(c.slice_s),
                         100 * c.share),
             &c.from);
  out.number("noise", fmt::format("{:.3g} % of a task's work", 100 * p.noise_sigma), "noise");
}

/// "1: 30 ns, 2: 60 ns"
std::string by_counts(const sim::by_count& f, const auto& text) {
  std::vector<std::string> each;
  for (std::size_t i = 0; i < f.counts.size(); ++i)
    each.push_back(fmt::format("{}: {}", f.counts[i], text(f.values[i])));
  return joined(each, ", ");
}

void add_contention(page& out, const platform& p) {
  const sim::contention& c = p.contention;
  const auto seconds = [](double s) { return seconds_text(s); };
  const auto times = [](double x) { return fmt::format("{:.3g}", x); };
  if (c.gather.empty() && c.busy.empty() && !c.look_s.told() && !c.queue_s.told() && !c.sleep &&
      c.decisions.empty())
    return;
  out.title("workers that meet, by how many");
  for (const sim::gather_figure& g : c.gather)
    out.number("gather on " + kind_name(p, g.kind),
               fmt::format("own core {}; others {}", by_counts(g.own_s, seconds),
                           by_counts(g.others_s, seconds)),
               "gather on " + kind_name(p, g.kind));
  for (const sim::busy_figure& b : c.busy)
    out.number("busy " + kind_name(p, b.kind), "times as long: " + by_counts(b.slower, times),
               "busy " + kind_name(p, b.kind));
  if (c.look_s.told())
    out.number("steal",
               fmt::format("look {}; steal {}", by_counts(c.look_s, seconds),
                           by_counts(c.steal_s, seconds)),
               "steal");
  if (c.queue_s.told()) out.number("shared queue", by_counts(c.queue_s, seconds), "shared queue");
  if (c.sleep)
    out.number("sleep",
               fmt::format("after {} or {}; waking costs {}, up {} later",
                           seconds_text(c.sleep->after_s), seconds_text(c.sleep->long_after_s),
                           seconds_text(c.sleep->call_s), seconds_text(c.sleep->up_s)),
               "sleep");
  if (c.lend)
    out.number(
        "lend",
        fmt::format("looks again after {}, takes {}; at home a co-runner keeps the core for {}",
                    seconds_text(c.lend->looks_s), seconds_text(c.lend->seconds),
                    seconds_text(c.lend->keeps_s)),
        "lend");
  for (const sim::decision_figure& d : c.decisions) {
    const std::string name =
        fmt::format("decisions of {} on tasks of {} s", d.policy, plain_number(d.task_s));
    out.number(fmt::format("{}, tasks of {}", d.policy, seconds_text(d.task_s)),
               fmt::format("ready {}, taken {}, next {}", seconds_text(d.ready_s),
                           seconds_text(d.take_s), seconds_text(d.next_s)),
               name);
  }
}

json with(json object, const origin* from) {
  object["source"] = from ? json(from->source) : json(nullptr);
  object["fitted_to"] = from ? json(from->fitted_to) : json::array();
  return object;
}

/// 0 stands for a number that is not there.
json or_null(double value) { return value > 0 ? json(value) : json(nullptr); }

json contention_json(const platform& p) {
  const sim::contention& c = p.contention;
  json gather = json::array(), busy = json::array(), decisions = json::array();
  for (const sim::gather_figure& g : c.gather)
    gather.push_back(with({{"kind", kind_name(p, g.kind)},
                           {"widths", g.own_s.counts},
                           {"own_s", g.own_s.values},
                           {"others_s", g.others_s.values}},
                          p.origin_of("gather on " + kind_name(p, g.kind))));
  for (const sim::busy_figure& b : c.busy)
    busy.push_back(with(
        {{"kind", kind_name(p, b.kind)}, {"cores", b.slower.counts}, {"slower", b.slower.values}},
        p.origin_of("busy " + kind_name(p, b.kind))));
  for (const sim::decision_figure& d : c.decisions)
    decisions.push_back(with({{"policy", d.policy},
                              {"task_s", d.task_s},
                              {"ready_s", d.ready_s},
                              {"take_s", d.take_s},
                              {"next_s", d.next_s}},
                             p.origin_of(fmt::format("decisions of {} on tasks of {} s", d.policy,
                                                     plain_number(d.task_s)))));
  const json steal = c.look_s.told() ? with({{"lookers", c.look_s.counts},
                                             {"look_s", c.look_s.values},
                                             {"steal_s", c.steal_s.values}},
                                            p.origin_of("steal"))
                                     : json(nullptr);
  const json queue = c.queue_s.told()
                         ? with({{"users", c.queue_s.counts}, {"seconds", c.queue_s.values}},
                                p.origin_of("shared queue"))
                         : json(nullptr);
  const json sleep = c.sleep ? with({{"after_s", c.sleep->after_s},
                                     {"long_after_s", c.sleep->long_after_s},
                                     {"call_s", c.sleep->call_s},
                                     {"up_s", c.sleep->up_s}},
                                    p.origin_of("sleep"))
                             : json(nullptr);
  const json lend = c.lend ? with({{"looks_s", c.lend->looks_s},
                                   {"seconds", c.lend->seconds},
                                   {"keeps_s", c.lend->keeps_s}},
                                  p.origin_of("lend"))
                           : json(nullptr);
  return {{"gather", gather}, {"busy", busy},          {"steal", steal},        {"sleep", sleep},
          {"lend", lend},     {"shared_queue", queue}, {"decisions", decisions}};
}

std::string dumped(const json& all) {
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string platform_text(const platform& p, bool colour) {
  page out(p, colour);
  out.plain(p.name + ": " + p.description);
  if (!p.file.empty()) out.plain(p.file);
  add_machine(out, p);
  add_limits(out, p);
  add_kernels(out, p);
  add_power(out, p);
  add_habits(out, p);
  add_contention(out, p);
  return std::move(out).text();
}

std::string platform_json(const platform& p) {
  json kinds = json::array(), clusters = json::array(), kernels = json::array(),
       power = json::array(), bandwidth = json::array();
  for (const core_kind& k : p.cores->kinds()) {
    const sim::clock_steps& c = p.clocks[k.id];
    const json clock = c.mhz.empty()
                           ? json(nullptr)
                           : with({{"mhz", c.mhz}, {"transition_s", c.transition_s}}, &c.from);
    kinds.push_back(with({{"name", k.name},
                          {"cores", k.cores},
                          {"relative_speed", k.relative_speed},
                          {"clock", clock}},
                         p.origin_of("kind " + k.name)));
    for (const auto& [of, value] :
         {std::pair{"core", p.core_bytes_per_s[k.id]}, {"cluster", p.cluster_bytes_per_s[k.id]}})
      bandwidth.push_back(with({{"of", of}, {"kind", k.name}, {"bytes_per_s", or_null(value)}},
                               p.origin_of(fmt::format("bandwidth of a {} {}", k.name, of))));
  }
  bandwidth.push_back(
      with({{"of", "chip"}, {"kind", nullptr}, {"bytes_per_s", or_null(p.chip_bytes_per_s)}},
           p.origin_of("bandwidth of the chip")));
  for (const cluster& c : p.cores->clusters()) {
    const std::string name = fmt::format("cluster {}", c.id);
    const std::uint64_t bytes = p.cache_bytes[c.id];
    const json cache =
        bytes == 0 ? json(nullptr) : with({{"bytes", bytes}}, p.origin_of("cache of " + name));
    const std::uint64_t own = p.core_cache_bytes[c.id];
    const json core_cache = own == 0
                                ? json(nullptr)
                                : with({{"bytes", own}}, p.origin_of("cache of a core of " + name));
    clusters.push_back(with({{"kind", kind_name(p, c.kind)},
                             {"first", c.first},
                             {"size", c.size},
                             {"widths", c.widths},
                             {"cache", cache},
                             {"core_cache", core_cache}},
                            p.origin_of(name)));
  }
  for (const sim::kernel_cost& k : p.kernels)
    kernels.push_back(with({{"name", k.name},
                            {"size", k.size},
                            {"kind", kind_name(p, k.kind)},
                            {"mhz", or_null(k.mhz)},
                            {"seconds", k.seconds},
                            {"bytes", k.bytes},
                            {"working_set", k.working_set},
                            {"bytes_beyond_cache", k.bytes_beyond_cache},
                            {"seconds_power", k.seconds_power},
                            {"bytes_power", k.bytes_power}},
                           &k.from));
  for (const sim::power_figure& f : p.power)
    power.push_back(with({{"kind", kind_name(p, f.kind)},
                          {"mhz", or_null(f.mhz)},
                          {"busy_w", f.busy_w},
                          {"idle_w", f.idle_w}},
                         &f.from));
  const sim::overheads& o = p.costs;
  const json overheads = with({{"push_s", o.push_s},
                               {"steal_try_s", o.steal_try_s},
                               {"steal_s", o.steal_s},
                               {"search_all_s", o.search_all_s},
                               {"search_own_s", o.search_own_s},
                               {"assembly_s", o.assembly_s},
                               {"wake_s", o.wake_s}},
                              &o.from);
  const json network = p.network ? with({{"clusters_per_node", p.network->clusters_per_node},
                                         {"bytes_per_s", p.network->bytes_per_s},
                                         {"latency_s", p.network->latency_s}},
                                        &p.network->from)
                                 : json(nullptr);
  const json moved_line = with({{"in_cluster_s", p.moved_line.in_cluster_s},
                                {"between_clusters_s", p.moved_line.between_clusters_s}},
                               p.origin_of("moved line"));
  return dumped(
      {{"name", p.name},
       {"description", p.description},
       {"file", p.file},
       {"kinds", kinds},
       {"clusters", clusters},
       {"bandwidth", bandwidth},
       {"kernels", kernels},
       {"power", power},
       {"overheads", overheads},
       {"moved_line", p.moved_line.told() ? moved_line : json(nullptr)},
       {"contention", contention_json(p)},
       {"co_runner",
        with({{"slice_s", p.co_runner.slice_s}, {"share", p.co_runner.share}}, &p.co_runner.from)},
       {"noise", with({{"sigma", p.noise_sigma}}, p.origin_of("noise"))},
       {"network", network}});
}

std::string platform_list_text(bool colour) {
  std::string out;
  for (const std::string& name : platform::names()) {
    std::string what;
    try {
      what = platform::load(name).description;
    } catch (const input_error& error) {
      what = fmt::format("cannot be used: {}", error.what());
    }
    const std::string padded = fmt::format("{:<18}", printable(name));
    out +=
        fmt::format("{} {}\n", colour ? "\033[1m" + padded + "\033[0m" : padded, printable(what));
  }
  return out + fmt::format("{:<18} C clusters of N equal cores, without limits of bandwidth\n",
                           "grid:CxN");
}

std::string platform_list_json() {
  json rows = json::array();
  for (const std::string& name : platform::names()) {
    try {
      const platform p = platform::load(name);
      rows.push_back({{"name", name}, {"description", p.description}, {"file", p.file}});
    } catch (const input_error& error) {
      rows.push_back({{"name", name}, {"error", error.what()}});
    }
  }
  return dumped({{"platforms", rows}});
}

}  // namespace kilter::lab
