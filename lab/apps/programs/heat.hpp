#pragma once
// How heat spreads in an insulated plate: explicit steps of the 2D heat equation, each point by its
// four neighbours, on one computer or on several ranks. The application of S0, section 5.4
// (papers.md A1.3).
//
// Unlike in the public code: the exchange of borders runs beside inner blocks; `--exchange join` is
// the public code's.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/plate.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/ranks.hpp"

namespace kilter::apps {

/// How ranks divide the plate.
enum class rank_layout : std::uint8_t { rows, grid };
/// When borders are exchanged: `overlap`: as soon as the border blocks are done, while inner blocks
/// go on, as S0 says; `join`: when all blocks of a step are done, and before all of the next, as
/// the public code behind S0 does.
enum class exchange_order : std::uint8_t { overlap, join };
inline constexpr std::array<std::string_view, 2> layout_names{"rows", "grid"},
    exchange_names{"overlap", "join"};

struct heat_options {
  /// blocks of a rank's part, downwards and across
  std::size_t block_rows = 8, block_columns = 1;
  /// of the whole computation: a plate that has made some makes what is left
  std::uint64_t steps = 200;
  rank_layout layout = rank_layout::rows;
  exchange_order exchange = exchange_order::overlap;
  std::uint64_t checkpoint_every = 0;  ///< steps; 0: none
  /// Called at rank 0 with the plate after every so many steps. What it throws ends the run.
  std::function<void(const plate&)> checkpoint{};
  bool draws = false;  ///< the result is a picture, not the plate
};

struct heat_size {
  std::string_view name;
  std::size_t side;
  std::uint64_t steps;
  std::size_t block_rows, block_columns;
};
/// `large` is what the public code behind S0 runs; `native` has some 40 tasks a rank and step, as
/// S0's traces (papers.md A1.3).
inline constexpr std::array<heat_size, 4> heat_sizes{{{"small", 256, 200, 8, 1},
                                                      {"medium", 1024, 400, 8, 1},
                                                      {"large", 2048, 2000, 4, 2},
                                                      {"native", 16384, 100, 40, 1}}};

/// Memory must hold the tasks of all steps that are made at once, however many steps there are.
/// Some 25 MB; `large` has 16,000.
inline constexpr std::uint64_t most_tasks_in_a_graph = 50'000;

class heat final : public program {
 public:
  /// All ranks are given the same plate and options. input_error if a rank's part would have fewer
  /// rows or columns than blocks, or if no step is left to make.
  heat(plate, const heat_options&, std::shared_ptr<ranks>);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  /// Against the exact solution if the plate has one, otherwise against steps made one by one. The
  /// heat of the plate must be what it was. Collective.
  void verify() const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The plate as `plate_file` has it, or its picture (PNG). Collective; empty but at rank 0.
  [[nodiscard]] std::string result_file() const override;

  /// The whole plate as it is after the last run. Collective; without values but at rank 0.
  [[nodiscard]] plate now() const;

 private:
  struct span_of {
    std::size_t first, last;
    [[nodiscard]] std::size_t size() const noexcept { return last - first; }
  };
  /// A part of this rank's rows and columns, counted from its own first.
  struct block {
    span_of rows, columns;
  };
  enum side : std::uint8_t { up, down, left, right };

  // The parallel part.
  void add_steps(kilter::graph&, std::uint64_t count, const std::function<bool()>& stopped);
  [[nodiscard]] std::uint64_t steps_in_a_graph() const noexcept;
  bool steps_in_tasks(kilter::runtime&, std::uint64_t count, const std::function<bool()>& stopped);
  bool steps_in_loops(block_loop&, std::uint64_t count, const std::function<bool()>& stopped);
  // One block, and the borders.
  void sweep(std::uint64_t step, const block&, span_of rows) noexcept;
  void mirror(std::uint64_t step, std::ptrdiff_t row, std::ptrdiff_t first,
              std::ptrdiff_t last) noexcept;
  bool exchange(std::uint64_t step, const std::function<bool()>& stopped);
  [[nodiscard]] static span_of part(std::size_t length, std::size_t parts, std::size_t at) noexcept;
  [[nodiscard]] std::size_t blocks() const noexcept {
    return options_.block_rows * options_.block_columns;
  }
  [[nodiscard]] block block_at(std::size_t b) const noexcept;
  [[nodiscard]] std::vector<std::size_t> around(std::size_t b) const;
  [[nodiscard]] bool at_border(std::size_t b) const noexcept;
  // Before and after.
  void start();
  [[nodiscard]] double tolerance() const noexcept;
  [[nodiscard]] std::string what_is_wrong() const;
  [[nodiscard]] std::string what_differs_from_single_steps() const;

  /// The first value of a row; -1 and the number of rows are those that others fill.
  [[nodiscard]] double* row(std::uint64_t step, std::ptrdiff_t r) noexcept {
    return fields_[step % 2].data() + static_cast<std::size_t>(r + 1) * stride() + 1;
  }
  [[nodiscard]] const double* row(std::uint64_t step, std::ptrdiff_t r) const noexcept {
    return const_cast<heat*>(this)->row(step, r);
  }
  [[nodiscard]] std::size_t stride() const noexcept { return columns_.size() + 2; }

  const plate begin_;
  const heat_options options_;
  const std::shared_ptr<ranks> ranks_;
  std::uint32_t down_ = 1, across_ = 1;  // ranks
  span_of rows_{}, columns_{};           // of the plate, this rank's
  std::array<bool, 4> shared_{};         // by side: another rank is there
  // of even and odd steps, with a ring around that others fill
  std::array<std::vector<double>, 2> fields_;
  std::array<std::vector<double>, 4> sent_, heard_;  // columns have no row of their own in memory
  std::uint64_t step_ = 0;
  double heat_at_start_ = 0.0;  // of this rank's part
};

}  // namespace kilter::apps
