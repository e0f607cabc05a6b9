#include "peers/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <iterator>

#include "base/random.hpp"
#include "kilter/machine.hpp"
#include "peers/peer.hpp"
#include "session/version.hpp"

namespace kilter::bench {

nlohmann::ordered_json environment_of_bench(bool complete) {
  utsname os{};
  ::uname(&os);
  std::ifstream file("/proc/loadavg");
  std::string load;
  std::getline(file, load);
  return {{"kilter", lab::version_text()},
          {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"complete", complete},
          {"machine", machine::local().name()},
          {"host", os.nodename},
          {"system", fmt::format("{} {} {}", os.sysname, os.release, os.machine)},
          {"compiler", lab::compiler_text()},
          {"onetbb", onetbb_version()},
          {"openmp", openmp_version()},
          {"load_average_at_end", load}};
}

std::string build_identity() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(self), {}};
  return fmt::format("{:016x}", random_stream(1, bytes).next());
}

}  // namespace kilter::bench
