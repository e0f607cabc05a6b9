#pragma once
// K-means by Lloyd's iteration: each point goes to the nearest centre, each centre to the mean of
// its points. The application of S0, section 5.4 (papers.md A1.3).
//
// Unlike in the public code: a task an iteration, so that each begins on the best core; sums are
// exact.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/picture.hpp"
#include "apps/programs/points.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"

namespace kilter::apps {

struct kmeans_options {
  std::size_t clusters = 5;
  loop_cut cut = loop_cut::loop;  ///< of an iteration; S0 has tasks
  /// points in a task; the first has a quarter more, and is the critical one
  std::size_t block = 250;
  std::uint64_t most_iterations = 20;
  /// ends when no more than this part of the points changed its cluster
  double least_changed = 0.001;
  std::uint64_t seed = 1;  ///< which points are the first centres
};

/// Points that are drawn, and how many make a task.
struct kmeans_size {
  std::string_view name;
  std::size_t points, dimensions, block;
};
/// `large` has the shape of Rodinia's input and some 1,950 tasks an iteration, as S0, Fig. 9 shows;
/// `native` is what the public code behind S0 generates.
inline constexpr std::array<kmeans_size, 4> kmeans_sizes{{{"small", 20'000, 8, 250},
                                                          {"medium", 100'000, 34, 250},
                                                          {"large", 494'020, 34, 254},
                                                          {"native", 1'000'000, 34, 100}}};

/// What an iteration made of its points.
struct clustering {
  std::vector<float> before;            ///< the centres that it began with, centre by centre
  std::vector<float> centres;           ///< those that it ended with
  std::vector<std::uint32_t> clusters;  ///< of each point
};
/// With doubles, in the order of the points: each is with the nearest of `before`, and each centre
/// is the mean of its points, or where it was if it has none. Throws wrong_result.
void verify(const point_set&, const clustering&);

class kmeans final : public program {
 public:
  /// input_error if there are fewer points than clusters.
  kmeans(point_set, const kmeans_options&);
  /// Of the pixels of a picture, whose colours become those of the centres.
  kmeans(picture, const kmeans_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(points_, now_); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The picture in its new colours (PNG); of a table, the cluster of each row and a line for each
  /// centre (CSV).
  [[nodiscard]] std::string result_file() const override;

  [[nodiscard]] const point_set& points() const noexcept { return points_; }
  /// Centre by centre.
  [[nodiscard]] const std::vector<float>& centres() const noexcept { return now_.centres; }
  [[nodiscard]] const std::vector<std::uint32_t>& clusters() const noexcept {
    return now_.clusters;
  }

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
  void iterate(kilter::task_context&);
  void assign_in_a_loop(kilter::task_context&);
  void assign_in_tasks(kilter::task_context&);

  point_set points_;
  std::optional<picture> picture_;
  const kmeans_options options_;
  clustering now_;
  std::vector<partial> partials_;
  std::mutex mutex_;
  std::vector<partial*> free_partials_;  // under the lock
  std::uint64_t iterations_ = 0;
  bool ended_ = false;
  kilter::task_type assign_type_{}, iterate_type_{};
};

/// Of a picture, or of a table of numbers. input_error naming `file` if the bytes are neither.
[[nodiscard]] std::unique_ptr<kmeans> read_kmeans(std::string_view bytes, const std::string& file,
                                                  const kmeans_options&);

}  // namespace kilter::apps
