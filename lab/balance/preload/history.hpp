#pragma once
// How long the threads of a program took in earlier runs, by the order in which they were created
// (papers.md D20). A text file:
//
//   kilter.lengths/1
//   PROGRAM INDEX RUNS SECONDS        mean CPU seconds of the thread, one line each
//
// CPU seconds of a slow core count like those of a fast one, so near a tie the prediction leans
// towards who ran on a slow core last time.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kilter::balance::preload {

struct past_thread {
  unsigned long runs = 0;
  double mean_s = 0.0;
};

using history = std::map<std::pair<std::string, unsigned long>, past_thread>;

struct known_history {
  history lengths;
  std::string left_out;  ///< what could not be read, for a message; empty: everything could
};

/// An empty text is an empty history. Lines that are wrong, and one that is cut off, are left out.
/// input_error if the first line is not of a history.
[[nodiscard]] known_history parse_history(std::string_view text);
[[nodiscard]] std::string history_text(const history&);

/// Lengths of threads 0, 1, ... of a program, as far as all are known.
[[nodiscard]] std::vector<double> predicted_lengths(const history&, const std::string& program);

/// `seconds[index]`: of a thread that did not end, 0. The mean follows later runs: at most 8 runs
/// weigh.
void add_run(history&, const std::string& program, const std::vector<double>& seconds);

/// The file, empty if there is none yet; `left_out` names it. input_error if it cannot be read or
/// is no history.
[[nodiscard]] known_history load_history(const std::string& path);
/// Reads the file anew, adds the run and writes it, under a lock on the file; lines that cannot be
/// read go. input_error says what failed.
void save_run(const std::string& path, const std::string& program,
              const std::vector<double>& seconds);

}  // namespace kilter::balance::preload
