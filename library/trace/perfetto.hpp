#pragma once
// Writes events in the Chrome trace format (JSON object form), which ui.perfetto.dev and
// chrome://tracing open.

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "trace/event.hpp"

namespace kilter::trace {

struct core_label {
  core_id core = 0;
  std::string kind;   ///< "P-core"; empty if the machine names none
  int os_index = -1;  ///< the operating system's number; negative: do not print
};

/// What one run is called in the viewer: a run becomes a process, a core a thread of it.
struct run_description {
  std::string name = "kilter";  ///< "dam-c, cpu@0, repeat 2"
  std::vector<core_label> cores;
  std::vector<std::string> types;   ///< recorder::type_names()
  std::vector<std::string> labels;  ///< recorder::labels()
  std::uint64_t dropped = 0;        ///< events that found no room; told in the viewer if not 0
};

/// A streaming writer: begin_run, write as often as wanted, then perhaps another run, then finish.
/// Holds one event's text. Task parts and parking are spans of their core; steals, decisions and
/// markers are instants; table values are counters "table TYPE (leader,width)" in microseconds and
/// "slowdown core N" in multiples of undisturbed time.
class perfetto_writer {
 public:
  explicit perfetto_writer(std::ostream& out);
  /// Finishes the file if `finish` was not called, so that an exception leaves valid JSON.
  ~perfetto_writer();
  perfetto_writer(const perfetto_writer&) = delete;
  perfetto_writer& operator=(const perfetto_writer&) = delete;

  /// Times of the run's events are shifted by `offset_ns`.
  void begin_run(const run_description& run, std::int64_t offset_ns = 0);
  /// Events may come in any order. Needs a run begun.
  void write(const event& e);
  void finish();

 private:
  void open(char phase, const std::string& name, const char* category, std::int64_t time_ns,
            std::uint32_t thread);
  void close();
  void span(const event& e, const std::string& name, const char* category);
  void metadata(const char* what, std::uint32_t thread, const std::string& text);
  void write_task(const event& e);
  void write_table(const event& e);
  void write_disturbance(const event& e);
  [[nodiscard]] std::uint32_t thread_of(core_id core) const noexcept;
  [[nodiscard]] std::string type_name(const event& e) const;
  [[nodiscard]] std::string label_name(const event& e) const;

  std::ostream& out_;
  std::string text_;
  std::uint32_t process_ = 0;
  std::uint64_t next_id_ = 1;
  std::int64_t offset_ns_ = 0;
  std::vector<std::string> types_, labels_;
  bool first_ = true;
  bool finished_ = false;
};

/// One run in one call.
void write_perfetto(std::ostream& out, const run_description& run, std::span<const event> events);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace kilter::trace
