#pragma once
// Files, or other data, that tasks of a recording read and write: what an edge hands over is what
// its one task writes and its other reads.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/dag.hpp"

namespace kilter::dags {

/// Numbers of files.
struct task_files {
  std::vector<std::uint32_t> reads, writes;
  /// In order, each once.
  void tidy();
};

class file_table {
 public:
  /// The number of the file with this name, new ones of no bytes.
  [[nodiscard]] std::uint32_t number(std::string_view name);
  void set_bytes(std::uint32_t file, double bytes) { bytes_[file] = bytes; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  /// Joins edges that are there twice (both ends may tell of one) and sets the bytes of all.
  /// `of_task` is by task, and is tidied.
  void set_bytes_of(std::vector<dag::edge>&, std::vector<task_files>& of_task) const;

 private:
  [[nodiscard]] double between(const task_files& from, const task_files& to) const;

  std::unordered_map<std::string, std::uint32_t> number_of_;
  std::vector<double> bytes_;
};

}  // namespace kilter::dags
