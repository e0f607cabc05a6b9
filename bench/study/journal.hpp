#pragma once
// What has been measured so far: a file of JSON lines that only grows, so that a study can be
// stopped at any time and go on later.

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measuring/results.hpp"

namespace kilter::bench {

/// Fixed when a cell is first met, so that later runs are the same work.
struct cell_setup {
  std::uint32_t tile = 0;
  std::uint32_t tasks = 0;
};

/// Pinned loops under one set of the cell's disturbances, before the runs of one repeat and so
/// after those of the repeat before.
struct rates_record {
  std::string cell;
  lab::active_set set = 0;
  std::uint32_t repeat = 0;
  lab::rate_sample sample;
};

/// One graph run.
struct run_record {
  std::string cell, system, build;
  std::uint32_t repeat = 0, graph = 0;
  /// core it started on; without meaning for graphs submitted from outside
  std::uint32_t root = 0;
  double seconds = 0.0;  ///< submission to the end of the last task
  std::optional<double> critical_on_core_0{};
  std::vector<double> lost_ms{};  ///< one for each change of a wave that the run met
};

class journal {
 public:
  /// Opens or makes DIR/runs.jsonl. input_error if it cannot be written or is of another machine
  /// (`machine_id`).
  journal(const std::string& directory, const std::string& machine_id);
  /// Reads only; input_error if there is nothing that this program can read.
  explicit journal(const std::string& directory);
  ~journal();
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  // Each is on disk when the call returns; std::runtime_error if that failed.
  void add(const std::string& cell, const cell_setup&);
  void add(const rates_record&);
  /// All graphs of one run of a system; a run counts as done when it has any.
  void add(const std::vector<run_record>&);
  void set_product_64(double seconds);

  [[nodiscard]] bool has(const std::string& cell, const std::string& system,
                         std::uint32_t repeat) const;
  [[nodiscard]] std::optional<cell_setup> setup(const std::string& cell) const;
  [[nodiscard]] std::optional<double> product_64_s() const noexcept { return product_64_s_; }
  [[nodiscard]] const std::vector<rates_record>& rates() const noexcept { return rates_; }
  [[nodiscard]] const std::vector<run_record>& runs() const noexcept { return runs_; }

 private:
  void read(const std::string& machine_id);
  void write(const std::string& line);

  std::string path_;
  std::FILE* file_ = nullptr;
  std::map<std::string, cell_setup> setups_;
  std::optional<double> product_64_s_;
  std::vector<rates_record> rates_;
  std::vector<run_record> runs_;
  std::set<std::string> done_;
};

}  // namespace kilter::bench
