#pragma once
// K-means by Lloyd's iteration: each point goes to the nearest centre, each centre to the mean of its points. The application of S0, section 5.4
// (docs/papers.md A1.3).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/programs/picture.hpp"
#include "apps/programs/points.hpp"
#include "apps/programs/program.hpp"

namespace kilter::apps {

struct kmeans_options {
  std::size_t clusters = 5;
  std::size_t block = 250;              ///< points in a task; the first has a quarter more, and is the critical one
  std::uint64_t most_iterations = 20;
  double least_changed = 0.001;         ///< ends when no more than this part of the points changed its cluster
  std::uint64_t seed = 1;               ///< which points are the first centres
};

class kmeans final : public program {
 public:
  /// input_error if there are fewer points than clusters.
  kmeans(point_set, const kmeans_options&);
  /// Of the pixels of a picture, whose colours become those of the centres.
  kmeans(picture, const kmeans_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override;
  /// The picture in its new colours (PNG); of a table, the cluster of each row and a line for each centre (CSV).
  [[nodiscard]] std::string result_file() const override;

  [[nodiscard]] const point_set& points() const noexcept { return points_; }
  /// Centre by centre.
  [[nodiscard]] const std::vector<float>& centres() const noexcept { return centres_; }
  [[nodiscard]] const std::vector<std::uint32_t>& clusters() const noexcept { return cluster_; }

 private:
  /// What one thread has added up in an iteration.
  struct alignas(64) partial {
    std::vector<double> sums;
    std::vector<std::uint64_t> counts;
    std::uint64_t changed = 0;
  };
  struct range {
    std::size_t first, last;
  };

  void start(std::uint32_t threads);
  [[nodiscard]] std::size_t blocks() const noexcept;
  [[nodiscard]] range block(std::size_t) const noexcept;
  void assign(range, partial&) noexcept;
  bool move_centres();
  void iterate_in_loops(block_loop&, const std::function<bool()>& stopped);
  void iterate_in_tasks(kilter::task_context&);

  point_set points_;
  std::optional<picture> picture_;
  const kmeans_options options_;
  std::vector<float> centres_, centres_before_;
  std::vector<std::uint32_t> cluster_;
  std::vector<partial> partials_;
  std::uint64_t iterations_ = 0;
  bool ended_ = false;
  kilter::task_type assign_type_{};
};

}  // namespace kilter::apps
