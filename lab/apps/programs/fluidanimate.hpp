#pragma once
// Water behind a dam that breaks, by smoothed particle hydrodynamics (Müller, Charypar and Gross
// 2003), in many short phases over blocks of a grid. An application of S1, Table 1 (papers.md
// A2.2).
//
// Unlike in the public code: each pair is computed from both sides, so there are no locks; a frame
// is as short as the radius needs.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/fluid.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"

namespace kilter::apps {

/// What a phase waits for on Kilter's runtime: `frame`: each task for the phase before in its own
/// block and those around; all wait for all at the end of a frame only, as in the public code that
/// S1's number of tasks is from. `phase`: all for all after each phase, as it is under the other
/// models.
enum class fluid_joins : std::uint8_t { frame, phase };
/// As on a command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> fluid_joins_names{"frame", "phase"};

struct fluidanimate_options {
  std::size_t particles = 4000;
  std::uint64_t frames = 20;
  /// blocks: a power of two, cut along the tank's length and depth, 32 as 8 x 4
  std::size_t divisions = 32;
  fluid_joins joins = fluid_joins::frame;
  loop_cut cut = loop_cut::loop;  ///< of a phase, if all wait after each
  std::uint64_t seed = 1;         ///< of the lattice that the water begins as
};

struct fluidanimate_size {
  std::string_view name;
  std::size_t particles;
  std::uint64_t frames;
};
/// `native` is PARSEC's, and S1's (Table 1).
inline constexpr std::array<fluidanimate_size, 4> fluidanimate_sizes{{{"small", 4'000, 20},
                                                                      {"medium", 20'000, 40},
                                                                      {"large", 100'000, 70},
                                                                      {"native", 500'000, 500}}};
inline constexpr std::uint64_t fluid_phases = 8;  ///< of a frame; each has a task for each block
/// With the one that ends it.
[[nodiscard]] constexpr std::uint64_t fluid_tasks_in_a_frame(std::size_t divisions) noexcept {
  return fluid_phases * divisions + 1;
}
/// More particles would take more than 3 GB, fewer make no water; more blocks than that make more
/// tasks a frame than a graph should hold.
inline constexpr std::size_t least_fluid_particles = 100, most_fluid_particles = 20'000'000,
                             most_fluid_divisions = 16'384;

class fluidanimate final : public program {
 public:
  /// input_error if an option is out of range, or if a block would be narrower than a cell.
  explicit fluidanimate(const fluidanimate_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  /// The last frame, from the state before it.
  void verify() const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// PLY.
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  [[nodiscard]] const fluid_rules& rules() const noexcept { return rules_; }
  /// What the last run began with, what its last frame found, and what it left.
  [[nodiscard]] const fluid_state& at_start() const noexcept { return start_; }
  [[nodiscard]] fluid_state before() const;
  [[nodiscard]] fluid_state now() const;

 private:
  struct span_of {
    std::size_t first, last;
    [[nodiscard]] std::size_t size() const noexcept { return last - first; }
  };
  /// What is known of each particle: what others ask for comes first.
  enum quantity : std::uint8_t { x, y, z, vx, vy, vz, density, pressure, ax, ay, az, quantities };
  /// The particles of a block in one frame, cell by cell, and by number in each cell: so every sum
  /// has one order, however the grid is cut. Cells lie column by column, upwards in each, so those
  /// that touch a cell are three in a row in nine columns.
  struct alignas(64) block {
    std::array<std::vector<float>, quantities> of;
    std::vector<std::uint32_t> number;  // of each particle
    std::vector<std::uint32_t> first;   // of each cell, and the end of the last
    [[nodiscard]] std::size_t size() const noexcept { return number.size(); }
    void resize(std::size_t particles);
  };
  struct arrival {
    std::uint32_t cell, number, from, at;  // `at`: in the block that it comes from
  };
  /// Where a block lies, in cells, and what it keeps from one phase for the next.
  struct alignas(64) place {
    span_of along, deep;
    // particles of the frame before, by which of the blocks around they are in now
    std::array<std::vector<std::uint32_t>, 9> leaving;
    std::vector<arrival> arriving, order;  // as they come, and as they are sorted
    std::vector<std::uint32_t> filled;     // up to where each cell is, meanwhile
  };
  template <std::size_t Quantities>
  struct candidates;

  // The parallel part.
  void add_frames(kilter::graph&, std::uint64_t after, std::uint64_t count);
  [[nodiscard]] std::uint64_t tasks_in_a_frame() const noexcept;
  program_run run_joined_at_frames(kilter::runtime&, const std::function<bool()>& stopped);
  program_run run_joined_at_phases(executor&, const std::function<bool()>& stopped);
  // One block's work.
  void work(std::size_t phase, std::uint64_t frame, std::size_t b);
  void clear(std::uint64_t frame, std::size_t b);
  void insert(std::uint64_t frame, std::size_t b);
  void initialise(std::uint64_t frame, std::size_t b);
  void add_pairs(std::size_t phase, std::uint64_t frame, std::size_t b, span_of columns);
  void add_densities(std::uint64_t frame, std::size_t b, span_of columns);
  void normalise(std::uint64_t frame, std::size_t b);
  void add_accelerations(std::uint64_t frame, std::size_t b, span_of columns);
  void collide(std::uint64_t frame, std::size_t b);
  void advance(std::uint64_t frame, std::size_t b);
  template <std::size_t Quantities, class F>
  void each_cell(std::uint64_t frame, std::size_t b, span_of columns, const F& add);
  // The grid.
  [[nodiscard]] std::size_t blocks() const noexcept { return options_.divisions; }
  [[nodiscard]] std::size_t columns(std::size_t b) const noexcept {
    return places_[b].along.size() * places_[b].deep.size();
  }
  [[nodiscard]] bool has_neighbour(std::size_t b, std::size_t direction) const noexcept;
  [[nodiscard]] std::size_t neighbour(std::size_t b, std::size_t direction) const noexcept;
  [[nodiscard]] std::vector<std::size_t> around(std::size_t b) const;
  [[nodiscard]] std::size_t cell_along(std::size_t axis, float at) const noexcept;
  [[nodiscard]] std::size_t block_of(std::size_t along, std::size_t deep) const noexcept {
    return block_of_deep_[deep] * blocks_along_ + block_of_along_[along];
  }
  /// The first cell of a column, among those of its block.
  [[nodiscard]] std::size_t column_of(const place& p, std::size_t along,
                                      std::size_t deep) const noexcept {
    return ((deep - p.deep.first) * p.along.size() + along - p.along.first) * rules_.cells[1];
  }
  /// As a frame leaves them. The first frame is 1; 0 is what it finds.
  [[nodiscard]] std::vector<block>& after_frame(std::uint64_t frame) noexcept {
    return blocks_[frame % 2];
  }
  // Before and after.
  void start();
  [[nodiscard]] fluid_state state_after(std::uint64_t frame) const;

  const fluidanimate_options options_;
  const fluid_rules rules_;
  const fluid_state start_;
  std::size_t blocks_along_ = 1, blocks_deep_ = 1;
  std::vector<std::size_t> block_of_along_, block_of_deep_;  // by cell
  std::vector<place> places_;
  std::array<std::vector<block>, 2> blocks_;  // of even and odd frames
  std::uint64_t made_ = 0;                    // frames
};

}  // namespace kilter::apps
