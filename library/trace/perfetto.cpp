#include "trace/perfetto.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <string_view>

#include "base/printable.hpp"

namespace kilter::trace {
namespace {

/// Nanoseconds as microseconds with exactly three decimals, without going through floating point.
std::string microseconds(std::int64_t ns) {
  const bool negative = ns < 0;
  const auto magnitude =
      negative ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  std::array<char, 40> buffer;
  const int n = std::snprintf(buffer.data(), buffer.size(), "%s%llu.%03llu", negative ? "-" : "",
                              static_cast<unsigned long long>(magnitude / 1000),
                              static_cast<unsigned long long>(magnitude % 1000));
  return {buffer.data(), static_cast<std::size_t>(n)};
}

/// JSON has no infinities: what is not a number is null. to_chars knows no locale.
std::string number(float v) {
  if (!std::isfinite(v)) return "null";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  return {buffer.data(), end};
}

std::string place_text(const event& e) {
  return "(" + std::to_string(e.leader) + "," + std::to_string(e.width) + ")";
}

std::string named(const std::vector<std::string>& names, std::uint16_t index,
                  const char* fallback) {
  return index < names.size() ? names[index] : fallback + std::to_string(index);
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c < 0x20 || c == 0x7f) {
      std::array<char, 8> buffer;
      std::snprintf(buffer.data(), buffer.size(), "\\u%04x", static_cast<unsigned>(c));
      out += buffer.data();
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out + '"';
}

perfetto_writer::perfetto_writer(std::ostream& out) : out_(out) {
  out_ << R"({"displayTimeUnit":"ns","traceEvents":[)";
}

perfetto_writer::~perfetto_writer() {
  try {
    finish();
  } catch (...) {  // a stream that throws on failure: there is nobody left to tell
  }
}

void perfetto_writer::finish() {
  if (finished_) return;
  finished_ = true;
  out_ << "\n]}\n";
}

/// Perfetto looks threads up by tid alone in places, and takes tid == pid for a main thread: so
/// both are unique.
std::uint32_t perfetto_writer::thread_of(core_id core) const noexcept {
  return process_ * 10'000 + core;
}

void perfetto_writer::open(char phase, const std::string& name, const char* category,
                           std::int64_t time_ns, std::uint32_t thread) {
  text_ = first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  first_ = false;
  text_ += phase;
  text_ += "\",\"pid\":" + std::to_string(process_) + ",\"tid\":" + std::to_string(thread) +
           ",\"ts\":" + microseconds(time_ns + offset_ns_);
  text_ += ",\"cat\":\"" + std::string(category) + "\",\"name\":" + json_string(name);
}

void perfetto_writer::close() {
  text_ += '}';
  out_ << text_;
}

void perfetto_writer::metadata(const char* what, std::uint32_t thread, const std::string& text) {
  text_ = first_ ? "\n" : ",\n";
  first_ = false;
  text_ += "{\"ph\":\"M\",\"pid\":" + std::to_string(process_) +
           ",\"tid\":" + std::to_string(thread) + ",\"name\":\"" + what + "\",\"args\":{" + text +
           "}";
  close();
}

void perfetto_writer::begin_run(const run_description& run, std::int64_t offset_ns) {
  ++process_;
  offset_ns_ = offset_ns;
  types_ = run.types;
  labels_ = run.labels;
  std::string name = run.name;
  if (run.dropped != 0)
    name += " (" + std::to_string(run.dropped) + " events dropped: the limit was reached)";
  metadata("process_name", process_, "\"name\":" + json_string(name));
  metadata("process_sort_index", process_, "\"sort_index\":" + std::to_string(process_));
  for (const core_label& core : run.cores) {
    std::string label = "core " + std::to_string(core.core);
    std::string detail = core.kind;
    if (core.os_index >= 0)
      detail += (detail.empty() ? "cpu " : ", cpu ") + std::to_string(core.os_index);
    if (!detail.empty()) label += " (" + detail + ")";
    metadata("thread_name", thread_of(core.core), "\"name\":" + json_string(label));
    metadata("thread_sort_index", thread_of(core.core),
             "\"sort_index\":" + std::to_string(core.core));
  }
}

void perfetto_writer::write(const event& e) {
  switch (e.kind) {
    case event_kind::task: return write_task(e);
    case event_kind::table: return write_table(e);
    case event_kind::disturbance: return write_disturbance(e);
    case event_kind::park: span(e, "park", "idle"); return close();
    case event_kind::steal:
      span(e, "steal", "steal");
      text_ += ",\"args\":{\"from_core\":" + std::to_string(e.leader) +
               ",\"graph\":" + std::to_string(e.graph) + ",\"task\":" + std::to_string(e.task) +
               "}";
      return close();
    case event_kind::decision:
      span(e, "place " + type_name(e) + " on " + place_text(e), "decision");
      text_ += ",\"args\":{\"graph\":" + std::to_string(e.graph) +
               ",\"task\":" + std::to_string(e.task) + ",\"place\":\"" + place_text(e) +
               "\",\"predicted_s\":" + number(e.value) +
               ",\"explored\":" + (e.has(event_flag::explored) ? "true" : "false") + "}";
      return close();
    case event_kind::marker: span(e, label_name(e), "marker"); return close();
  }
}

/// A complete event if it lasted, else an instant on its core.
void perfetto_writer::span(const event& e, const std::string& name, const char* category) {
  const bool lasted = e.end_ns > e.start_ns;
  open(lasted ? 'X' : 'i', name, category, e.start_ns, thread_of(e.core));
  text_ += lasted ? ",\"dur\":" + microseconds(e.end_ns - e.start_ns) : ",\"s\":\"t\"";
}

/// Viewers colour by name, so critical tasks have names of their own.
void perfetto_writer::write_task(const event& e) {
  const bool critical = e.has(event_flag::critical);
  open('X', type_name(e) + (critical ? " (critical)" : ""), critical ? "task,critical" : "task",
       e.start_ns, thread_of(e.core));
  const auto flag = [&](const char* name, std::uint8_t bit) {
    text_ += std::string(",\"") + name + "\":" + (e.has(bit) ? "true" : "false");
  };
  text_ += ",\"dur\":" + microseconds(e.end_ns - e.start_ns) +
           ",\"args\":{\"graph\":" + std::to_string(e.graph) +
           ",\"task\":" + std::to_string(e.task) + ",\"place\":\"" + place_text(e) +
           "\",\"member\":" + std::to_string(e.member);
  flag("critical", event_flag::critical);
  flag("explored", event_flag::explored);
  flag("stolen", event_flag::stolen);
  text_ += '}';
  close();
}

void perfetto_writer::write_table(const event& e) {
  if (std::isfinite(e.value)) {
    open('C', "table " + type_name(e) + " " + place_text(e), "table", e.start_ns, process_);
    text_ += ",\"args\":{\"us\":" + number(e.value * 1e6F) + "}";
    close();
  }
  if (e.aux > 0 && std::isfinite(e.aux)) {
    open('C', "slowdown core " + std::to_string(e.core), "table", e.start_ns, process_);
    text_ += ",\"args\":{\"times\":" + number(e.aux) + "}";
    close();
  }
}

/// Disturbances may overlap one another and the tasks of their core, so they get tracks of their
/// own: asynchronous spans.
void perfetto_writer::write_disturbance(const event& e) {
  const std::string name = label_name(e) + " on core " + std::to_string(e.core);
  const std::string id = ",\"id\":\"" + std::to_string(next_id_++) + "\"";
  open('b', name, "disturbance", e.start_ns, process_);
  text_ += id + ",\"args\":{\"share_left\":" + number(e.value) + "}";
  close();
  open('e', name, "disturbance", e.end_ns, process_);
  text_ += id;
  close();
}

std::string perfetto_writer::type_name(const event& e) const {
  return named(types_, e.type, "type ");
}
std::string perfetto_writer::label_name(const event& e) const {
  return named(labels_, e.type, "label ");
}

void write_perfetto(std::ostream& out, const run_description& run, std::span<const event> events) {
  perfetto_writer writer(out);
  writer.begin_run(run);
  for (const event& e : events) writer.write(e);
  writer.finish();
}

}  // namespace kilter::trace
