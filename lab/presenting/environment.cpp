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

document text_or_null(const std::string& text) {
  return text.empty() ? document(nullptr) : document(text);
}

}  // namespace

document environment_of(const circumstances& c, const invocation& how) {
  utsname os{};
  ::uname(&os);
  const auto quota = cgroup_quota_cores();
  return {{"kilter", version_text()},
          {"command_line", how.command_line},
          {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"tool_seconds", c.tool_seconds},
          {"complete", c.complete},
          {"host", os.nodename},
          {"system", fmt::format("{} {} {}", os.sysname, os.release, os.machine)},
          {"compiler", compiler_text()},
          {"cgroup_quota_cores", quota ? document(*quota) : document(nullptr)},
          {"load_average_at_end", load_average()},
          {"json", text_or_null(how.json_path)},
          {"html", text_or_null(how.html_path)},
          {"trace", text_or_null(how.trace_path)},
          {"notes", c.notes}};
}

}  // namespace kilter::lab
