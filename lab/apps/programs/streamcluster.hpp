#pragma once
// Clusters of a stream of points, of which only a block is looked at at a time: the algorithm
// STREAM of O'Callaghan, Mishra, Meyerson, Guha and Motwani (ICDE 2002). It is the application
// streamcluster of S1 (papers.md A2.2).
//
// Unlike in the public code: all points have their nearest centre; a search ends when nothing gains
// 0.01 %.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/points.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"
#include "apps/programs/streamcluster_search.hpp"

namespace kilter::apps {

struct streamcluster_options {
  std::size_t points = 200'000;       ///< in a block; the last one may have fewer
  std::size_t least = 10, most = 20;  ///< centres, of a block and at the end
  std::size_t divisions = 8;          ///< tasks of a loop over a block
  loop_cut cut = loop_cut::loop;
  std::uint64_t seed = 1;
};

/// Points that are drawn.
struct streamcluster_size {
  std::string_view name;
  std::size_t points, blocks, dimensions;
};
/// `native` is S1's input (Table 1), with the 128 dimensions that PARSEC has.
inline constexpr std::array<streamcluster_size, 4> streamcluster_sizes{
    {{"small", 1'000, 2, 16},
     {"medium", 3'000, 5, 64},
     {"large", 16'384, 4, 128},
     {"native", 200'000, 5, 128}}};

/// What is known after the end: searches of the blocks, what they kept, and the search among that.
struct streamclusters {
  std::vector<located> blocks;
  std::vector<std::uint32_t> kept;     ///< rows of the stream that were centres of blocks
  std::vector<std::uint32_t> weights;  ///< how many points each of these stands for
  std::vector<float> values;           ///< theirs, row by row
  located last;                        ///< among these
};
/// Each search as verify() of searches does it; each row stands for as many points as went to it,
/// and all of them together for all. Throws wrong_result.
void verify(const point_set&, const streamclusters&, const streamcluster_options&);

class streamcluster final : public program {
 public:
  /// input_error for bounds that no number of centres has, and for blocks that have no more points
  /// than centres are wanted.
  streamcluster(point_set, const streamcluster_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(points_, now_, options_); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// A line for each centre with its weight and values, then the centre of each row (CSV).
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  [[nodiscard]] const point_set& points() const noexcept { return points_; }
  [[nodiscard]] const streamclusters& now() const noexcept { return now_; }
  /// Of each row of the stream: which centre of the last search it went to, with the centre of its
  /// block. Empty before the end.
  [[nodiscard]] std::vector<std::uint32_t> clusters() const;

 private:
  bool step(step_loops&);
  void begin_search();
  void keep_centres(located);
  [[nodiscard]] std::size_t blocks() const noexcept {
    return (points_.count + options_.points - 1) / options_.points;
  }

  point_set points_;
  const streamcluster_options options_;
  std::vector<std::uint32_t> ones_;  ///< weights of points that stand for themselves
  std::optional<facility_search> search_;
  streamclusters now_;
  bool ended_ = false;
};

/// The block that begins with this row, of which each point stands for itself; `ones` has as many
/// as a block has points, or more.
[[nodiscard]] weighted_points block_of(const point_set&, std::size_t first, std::size_t points,
                                       std::span<const std::uint32_t> ones);

}  // namespace kilter::apps
