#include "balance/preload/counted_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "balance/preload/library.hpp"
#include "kilter/error.hpp"
#include "prefix/program.hpp"

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

}  // namespace

counted_run run_counted(const std::vector<std::string>& program) {
  const environment preload = preloading("libkilter_count.so");
  const temporary counts;
  const prefix::ended_program ended = [&] {
    const prefix::held_signals signals;
    return prefix::run_to_end(program, signals, [&] {
      for (const auto& [name, value] : preload) setenv(name.c_str(), value.c_str(), 1);
      setenv("KILTER_COUNTS", counts.path().c_str(), 1);
      setenv("KILTER_COUNTS_PID", std::to_string(getpid()).c_str(), 1);
    });
  }();
  counted_run run;
  run.exec_error = ended.exec_error;
  run.status = ended.status;
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
