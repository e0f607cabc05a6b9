#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "balance/os/session.hpp"
#include "balance/os/tell.hpp"
#include "balance/preload/library.hpp"
#include "base/file_text.hpp"
#include "cli/commands.hpp"
#include "cli/other_program.hpp"
#include "kilter/error.hpp"
#include "lab/session/outputs.hpp"
#include "regions/explained.hpp"

namespace kilter::cli {

namespace {

namespace os = balance::os;

struct run_options {
  std::vector<std::string> program;
  std::string json;
  bool explain = false;
};

/// A file of its own that goes away.
class told_file {
 public:
  told_file() : path_((std::filesystem::temp_directory_path() / "kilter-regions-XXXXXX").string()) {
    const int file = ::mkostemp(path_.data(), O_CLOEXEC);
    if (file < 0) throw input_error(fmt::format("no temporary file '{}': {}", path_, std::strerror(errno)));
    ::close(file);
  }
  ~told_file() { ::unlink(path_.c_str()); }
  told_file(const told_file&) = delete;
  told_file& operator=(const told_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void set(const std::string& name, const std::string& value) { ::setenv(name.c_str(), value.c_str(), 1); }

/// For all programs that this process starts from now on.
void take_over_regions() {
  for (const auto& [name, value] : balance::preload::preloading("libkilter_openmp.so")) set(name, value);
  if (!::getenv("KILTER_OPENMP")) set("KILTER_OPENMP", "1");
}

/// How the program ended. What is told is gone when this returns, since the end may be a signal for us.
ended run_and_tell(const run_options& o) {
  const told_file told;
  set("KILTER_EXPLAIN", told.path());
  const ended e = run_and_wait(o.program);
  if (e.exec_error != 0) return e;
  const auto processes = regions::parse_told(file_text(told.path(), "what was told", 64));
  if (o.explain) os::tell_user("kilter run: " + regions::told_text(processes, o.program.front()));
  if (o.json.empty()) return e;
  const os::no_sigpipe quiet;
  try {
    lab::write_output(o.json, regions::told_json(processes));
  } catch (const std::exception& error) {
    os::tell_user(fmt::format("kilter run: --json '{}': {}\n", o.json, error.what()));
  }
  return e;
}

int run(const run_options& o) {
  os::hold_standard_descriptors();
  try {
    if (o.program.empty()) throw input_error("nothing to run: give -- PROGRAM ARGS...");
    lab::check_output("--json", o.json);
    take_over_regions();
    if (o.explain || !o.json.empty()) {
      const ended e = run_and_tell(o);
      return e.exec_error != 0 ? not_run(o.program.front(), e.exec_error) : end_like(e.status);
    }
    return not_run(o.program.front(), os::run_alone(o.program));
  } catch (const std::exception& e) {
    std::string line = e.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    os::tell_user("kilter: " + line + "\n");
    return own_failure;
  }
}

}  // namespace

action add_run(CLI::App& app, const std::vector<std::string>& program) {
  auto o = std::make_shared<run_options>();
  o->program = program;
  CLI::App* command = app.add_subcommand("run", "Run a program as it is (kilter run [OPTIONS] -- PROGRAM ARGS...); its OpenMP loops no longer wait for a core that others use");
  command->add_flag("--explain", o->explain, "Say at the end, on standard error, what was done with each parallel region");
  command->add_option("--json", o->json, "Write that as JSON to this file; -: to standard output, as the last line")->type_name("FILE");
  command->footer("For programs that gcc compiled with -fopenmp, and what they load (docs/run.md). Others run as without Kilter.\n"
                  "Exit status: the program's; 125 if Kilter fails, 126 if the program cannot be run, 127 if it is not found.\n"
                  "Examples:\n"
                  "  kilter run -- ./stencil 1000\n"
                  "  kilter run --explain -- python3 train.py\n"
                  "  kilter run --json regions.json -- ./stencil 1000");
  return [o] { return run(*o); };
}

}  // namespace kilter::cli
