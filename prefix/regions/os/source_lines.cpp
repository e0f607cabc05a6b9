#include "regions/os/source_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <sstream>

extern char** environ;

namespace kilter::regions::os {

namespace {

using clock = std::chrono::steady_clock;

/// What a command writes to its standard output; empty if it cannot be run or is not done in time.
std::string output_of(const std::vector<std::string>& words, std::chrono::milliseconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const bool begun =
      ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  bool whole = false;
  for (const auto end = clock::now() + limit; begun && clock::now() < end;) {
    pollfd ready{ends[0], POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    if (::poll(&ready, 1, static_cast<int>(left > 0 ? left : 0)) <= 0) continue;
    char some[4096];
    const ssize_t n = ::read(ends[0], some, sizeof some);
    if (n <= 0) {
      whole = n == 0;
      break;
    }
    text.append(some, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  if (begun) {
    if (!whole) ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return whole ? text : "";
}

}  // namespace

void find_sources(std::vector<process_account>& all, const std::string& program) {
  constexpr std::size_t most_at_once = 500;  // words of a command
  std::map<std::string, std::vector<region_account*>> by_module;
  for (process_account& p : all)
    for (region_account& r : p.regions)
      if (auto& there = by_module[r.module.empty() ? program : r.module];
          there.size() < most_at_once)
        there.push_back(&r);
  for (auto& [module, regions] : by_module) {
    std::vector<std::string> words{"addr2line", "-e", module};
    for (const region_account* const r : regions) words.push_back(fmt::format("{:#x}", r->offset));
    std::istringstream lines(output_of(words, std::chrono::seconds(5)));
    std::string line;
    for (region_account* const r : regions)
      if (!std::getline(lines, line))
        break;
      else if (!line.starts_with("??") && !line.ends_with(":?") && !line.ends_with(":0"))
        r->source = line.substr(0, line.find(" (discriminator"));
  }
}

}  // namespace kilter::regions::os
