#include "balance/preload/counted_run.hpp"

#include <unistd.h>

#include <cstdlib>

#include "child/program.hpp"
#include "child/temporary_file.hpp"
#include "guest/preloading.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::preload {

counted_run run_counted(const std::vector<std::string>& program) {
  const guest::environment preload = guest::preloading("libkilter_count.so");
  const prefix::temporary_file counts("counts");
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
  const std::string text = counts.content();
  if (run.exec_error != 0 || text.empty()) return run;
  try {
    run.threads = parse_counts(text);
  } catch (const input_error& e) {  // who wrote them was killed meanwhile, or the disk is full
    run.lost = counts.path() + ": " + e.what();
  }
  return run;
}

}  // namespace kilter::balance::preload
