#pragma once
// What a trace table knows, as data: what is written to a file and read back
// (library/runtime/saved_table.hpp). Times and how well they are founded, not the present state of
// the cores: how slow a core is today is for today's tasks to find out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kilter/ids.hpp"

namespace kilter::model {

struct saved_cell {
  place where{};
  std::uint64_t samples = 0;
  /// what a search reads; in robust mode the place's own undisturbed time
  double seconds = 0.0;
  // Robust mode only.
  double reference_s = 0.0;  ///< undisturbed time that its peers share; width 1
  bool settled = false, given = false;
  std::vector<float> recent{};  ///< its last samples, oldest first, 16 at most
};

struct saved_row {
  std::string type;
  std::uint32_t size_class = 0;
  std::optional<place> in_use{};  ///< where its critical tasks were
  std::vector<saved_cell> cells{};
};

struct saved_table {
  bool robust = false;  ///< intrinsic times and references; otherwise moving averages
  std::vector<saved_row> rows{};
};

}  // namespace kilter::model
