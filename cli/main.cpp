// `kilter`: does `kilter run` itself, within the few milliseconds that whoever starts a program
// should not notice, and tells its version to scripts that ask each time. All else takes libraries
// (oneTBB, yaml-cpp, ...) whose loading alone takes longer, so it is in a program of its own.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/installation.hpp"
#include "cli/command_line.hpp"
#include "session/outputs.hpp"

namespace {

using namespace kilter;

constexpr const char* others = "kilter-commands";

int become_others(char** argv) {
  int error = ENOENT;
  const std::vector<std::string> places = detail::command_directories(KILTER_BUILT_COMMANDS);
  for (const std::string& directory : places) {
    ::execv((directory + "/" + others).c_str(), argv);
    if (errno != ENOENT) error = errno;
  }
  lab::tell(
      fmt::format("kilter: {} is neither in {} nor where it was built or installed ({}); install "
                  "Kilter again\n",
                  others, places.front(), std::strerror(error)));
  return cli::went_wrong;
}

bool does_itself(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  return first == "run" || (argc == 2 && (first == "-V" || first == "--version"));
}

std::map<std::string, cli::action> add_run_alone(CLI::App& app, std::string_view named,
                                                 const std::string&,
                                                 const std::vector<std::string>& program) {
  return {{std::string(named), cli::add_run(app, program)}};
}

}  // namespace

int main(int argc, char** argv) {
  return does_itself(argc, argv) ? cli::do_command(argc, argv, add_run_alone) : become_others(argv);
}
