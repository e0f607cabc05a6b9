#include "presenting/result_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "trace/perfetto.hpp"

namespace kilter::lab {

namespace {

using trace::event;
using trace::event_kind;

double seconds_since(const detail& d, std::int64_t ns) {
  return to_tenth_ns(static_cast<double>(ns - d.start_ns) * 1e-9);
}

std::vector<const event*> of_kind(const detail& d, event_kind kind) {
  std::vector<const event*> found;
  for (const event& e : d.events)
    if (e.kind == kind) found.push_back(&e);
  std::sort(found.begin(), found.end(),
            [](const event* a, const event* b) { return a->start_ns < b->start_ns; });
  return found;
}

/// Half of the room goes to the start of the run, where most is learned; the rest to pieces at
/// equal distances.
std::vector<std::pair<std::size_t, std::size_t>> kept_ranges(std::size_t count) {
  if (count <= most_spans) return {{0, count}};
  constexpr std::size_t pieces = 5, head = most_spans / 2, piece = (most_spans - head) / pieces;
  std::vector<std::pair<std::size_t, std::size_t>> ranges{{0, head}};
  const std::size_t stride = (count - head) / pieces;
  for (std::size_t i = 1; i <= pieces; ++i) {
    const std::size_t end = i == pieces ? count : head + i * stride;
    ranges.emplace_back(std::max(end - piece, ranges.back().second), end);
  }
  return ranges;
}

std::string type_name(const detail& d, std::uint16_t type) {
  return type < d.types.size() ? d.types[type] : fmt::format("type {}", type);
}

document span_of(const detail& d, const event& e) {
  return {{"core", e.core},
          {"start_s", seconds_since(d, e.start_ns)},
          {"end_s", seconds_since(d, e.end_ns)},
          {"type", type_name(d, e.type)},
          {"leader", e.leader},
          {"width", e.width},
          {"critical", e.has(trace::event_flag::critical)},
          {"member", e.member},
          {"task", e.task}};
}

struct stretch {
  std::int64_t from_ns, to_ns;
};

/// A core's stretches in order, without overlaps.
void append_joined(std::vector<stretch>& all, stretch next) {
  if (next.to_ns <= next.from_ns) return;
  if (!all.empty() && next.from_ns <= all.back().to_ns)
    all.back().to_ns = std::max(all.back().to_ns, next.to_ns);
  else
    all.push_back(next);
}

/// Between two kept ranges a core's record ends with the last kept span that began before, and
/// begins again when the last span that was left out is over. `ranges` are of `tasks`, which are by
/// start.
std::vector<std::vector<stretch>> unrecorded_of(
    const detail& d, std::uint32_t cores, const std::vector<const event*>& tasks,
    const std::vector<std::pair<std::size_t, std::size_t>>& ranges) {
  std::vector<std::vector<stretch>> by_core(cores);
  std::vector<std::int64_t> kept_until(cores, 0);
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    for (std::size_t i = ranges[r].first; i < ranges[r].second; ++i)
      if (tasks[i]->core < cores)
        kept_until[tasks[i]->core] = std::max(kept_until[tasks[i]->core], tasks[i]->end_ns);
    if (r + 1 == ranges.size() || ranges[r].second == ranges[r + 1].first) continue;
    std::vector<std::int64_t> left_out_until(cores, tasks[ranges[r + 1].first]->start_ns);
    for (std::size_t i = ranges[r].second; i < ranges[r + 1].first; ++i)
      if (tasks[i]->core < cores)
        left_out_until[tasks[i]->core] = std::max(left_out_until[tasks[i]->core], tasks[i]->end_ns);
    for (core_id c = 0; c < cores; ++c)
      append_joined(by_core[c], {std::max(tasks[ranges[r].second]->start_ns, kept_until[c]),
                                 left_out_until[c]});
  }
  const std::int64_t end_ns = d.start_ns + std::llround(d.seconds * 1e9);
  for (core_id c = 0; c < std::min<std::size_t>(cores, d.dropped_from_ns.size()); ++c)
    if (d.dropped_from_ns[c] < end_ns)
      append_joined(by_core[c], {std::max(d.dropped_from_ns[c], d.start_ns), end_ns});
  return by_core;
}

document unrecorded_document(const detail& d, const std::vector<std::vector<stretch>>& by_core) {
  document all = document::array();
  for (core_id c = 0; c < by_core.size(); ++c)
    for (const stretch& s : by_core[c])
      all.push_back({{"core", c},
                     {"from_s", seconds_since(d, s.from_ns)},
                     {"to_s", seconds_since(d, s.to_ns)}});
  return all;
}

document table_of(const detail& d) {
  std::map<std::tuple<std::uint16_t, core_id, std::uint16_t>, std::vector<const event*>> by_place;
  const auto updates = of_kind(d, event_kind::table);
  for (const event* e : updates) by_place[{e->type, e->leader, e->width}].push_back(e);
  const std::size_t stride = updates.size() / most_table_rows + 1;
  document rows = document::array();
  for (const auto& [place, list] : by_place)
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % stride != 0 && i + 1 != list.size()) continue;
      const event& e = *list[i];
      document row{{"t_s", seconds_since(d, e.end_ns)},
                   {"type", type_name(d, e.type)},
                   {"leader", e.leader},
                   {"width", e.width},
                   {"seconds", to_tenth_ns(e.value)}};
      row["slowdown"] = e.aux > 0 ? document(std::round(e.aux * 1e4) / 1e4) : document(nullptr);
      row["core"] = e.core;
      rows.push_back(std::move(row));
    }
  return rows;
}

}  // namespace

double to_tenth_ns(double seconds) { return std::round(seconds * 1e10) / 1e10; }

document detail_document(const detail& d, std::uint32_t cores) {
  const auto tasks = of_kind(d, event_kind::task);
  const auto ranges = kept_ranges(tasks.size());
  document spans = document::array(), windows = document::array();
  for (const auto& [begin, end] : ranges) {
    if (begin >= end) continue;
    windows.push_back(
        {seconds_since(d, tasks[begin]->start_ns), seconds_since(d, tasks[end - 1]->end_ns)});
    for (std::size_t i = begin; i < end; ++i) spans.push_back(span_of(d, *tasks[i]));
  }
  return {{"policy", d.policy},
          {"disturb", d.disturb},
          {"repeat", d.repeat},
          {"seconds", d.seconds},
          {"table", table_of(d)},
          {"spans", spans},
          {"span_windows", windows},
          {"unrecorded", unrecorded_document(d, unrecorded_of(d, cores, tasks, ranges))},
          {"spans_total", tasks.size()},
          {"events_dropped", d.dropped}};
}

void write_trace(std::ostream& out, const machine& m, const std::vector<detail>& details) {
  trace::perfetto_writer writer(out);
  std::int64_t offset_ns = 0;
  for (const detail& d : details) {
    trace::run_description run{
        .name = fmt::format("{}, {}", d.policy, d.disturb == "none" ? "undisturbed" : d.disturb),
        .cores = {},
        .types = d.types,
        .labels = d.labels,
        .dropped = d.dropped};
    for (const core& c : m.cores()) run.cores.push_back({c.id, m.kinds()[c.kind].name, c.os_index});
    writer.begin_run(run, offset_ns - d.start_ns);
    std::int64_t end_ns = d.start_ns;
    for (const event& e : d.events) {
      writer.write(e);
      end_ns = std::max(end_ns, e.end_ns);
    }
    offset_ns += end_ns - d.start_ns + 10'000'000;
  }
  writer.finish();
}

}  // namespace kilter::lab
