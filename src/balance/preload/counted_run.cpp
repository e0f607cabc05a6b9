#include "balance/preload/counted_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "balance/preload/library.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::preload {

namespace {

/// A file of its own that goes away.
class temporary {
 public:
  temporary() : path_((std::filesystem::temp_directory_path() / "kilter-counts-XXXXXX").string()) {
    const int fd = mkostemp(path_.data(), O_CLOEXEC);
    if (fd < 0) throw input_error("no temporary file '" + path_ + "': " + std::strerror(errno));
    close(fd);
  }
  ~temporary() { unlink(path_.c_str()); }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// In the child: never comes back.
[[noreturn]] void become(const std::vector<std::string>& program, const environment& preload, const std::string& counts, int failed) {
  for (const auto& [name, value] : preload) setenv(name.c_str(), value.c_str(), 1);
  setenv("KILTER_COUNTS", counts.c_str(), 1);
  setenv("KILTER_COUNTS_PID", std::to_string(getpid()).c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  static_cast<void>(!write(failed, &error, sizeof error));
  _exit(127);
}

}  // namespace

counted_run run_counted(const std::vector<std::string>& program) {
  const environment preload = preloading("libkilter_count.so");
  const temporary counts;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw input_error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw input_error(std::string("no process: ") + std::strerror(errno));
  if (child == 0) become(program, preload, counts.path(), ends[1]);
  close(ends[1]);
  counted_run run;
  if (read(ends[0], &run.exec_error, sizeof run.exec_error) != sizeof run.exec_error) run.exec_error = 0;
  close(ends[0]);

  struct sigaction ignore = {}, interrupt = {}, quit = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  while (waitpid(child, &run.status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &interrupt, nullptr);
  sigaction(SIGQUIT, &quit, nullptr);
  std::ifstream in(counts.path(), std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (run.exec_error != 0 || text.empty()) return run;
  try {
    run.threads = parse_counts(text);
  } catch (const input_error& e) {  // who wrote them was killed meanwhile, or the disk is full
    run.lost = counts.path() + ": " + e.what();
  }
  return run;
}

}  // namespace kilter::balance::preload
