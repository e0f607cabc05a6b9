#include "presenting/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "kilter/machine.hpp"
#include "session/version.hpp"

namespace kilter::lab {

namespace {

std::string load_average() {
  std::ifstream file("/proc/loadavg");
  std::string one, five, fifteen;
  file >> one >> five >> fifteen;
  return fmt::format("{} {} {}", one, five, fifteen);
}

/// Times of the platform but for the scale.
document emulation_of(const bench_result& r) {
  if (!r.emulation) return nullptr;
  const emulation_report& e = *r.emulation;
  return {{"scale", e.scale},        {"shortest_task_s", e.shortest_task_s},
          {"tasks", e.late.tasks},   {"modelled_s", e.late.modelled_s},
          {"late_s", e.late.late_s}, {"latest_s", e.late.most_s}};
}

document text_or_null(const std::string& text) {
  return text.empty() ? document(nullptr) : document(text);
}

}  // namespace

document environment_of(const bench_result& r, const invocation& how) {
  utsname os{};
  ::uname(&os);
  const auto quota = cgroup_quota_cores();
  return {{"kilter", version_text()},
          {"command_line", how.command_line},
          {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"tool_seconds", r.tool_seconds},
          {"complete", r.complete},
          {"host", os.nodename},
          {"system", fmt::format("{} {} {}", os.sysname, os.release, os.machine)},
          {"compiler", compiler_text()},
          {"cgroup_quota_cores", quota ? document(*quota) : document(nullptr)},
          {"load_average_at_end", load_average()},
          {"json", text_or_null(how.json_path)},
          {"html", text_or_null(how.html_path)},
          {"trace", text_or_null(how.trace_path)},
          {"emulation", emulation_of(r)},
          {"notes", r.notes}};
}

}  // namespace kilter::lab
