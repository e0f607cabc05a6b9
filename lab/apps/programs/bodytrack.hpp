#pragma once
// Follows a body through the pictures of four cameras: Deutscher, Blake, Reid, "Articulated body
// motion capture by annealed particle filtering" (CVPR 2000). PARSEC's bodytrack, one of the
// programs of S1 (papers.md A2.2).
//
// Unlike in the public code: pictures are drawn, so right poses are known; frames overlap by
// `depend`.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/body_model.hpp"
#include "apps/programs/body_pictures.hpp"
#include "apps/programs/program.hpp"

namespace kilter::apps {

/// Whether a frame begins where the one before ended, or, as in the public code behind S1, no frame
/// waits for another.
enum class frames_order : std::uint8_t { in_order, independent };
/// As on a command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> frames_order_names{"in-order", "independent"};

struct bodytrack_options {
  std::size_t frames = 6, particles = 100, layers = 4;
  std::size_t tasks = 8;  ///< into which the particles are divided
  /// of a picture, in pixels; its height is three quarters of it
  std::size_t width = 160;
  frames_order order = frames_order::in_order;
  std::uint64_t seed = 1;
};

struct bodytrack_size {
  std::string_view name;
  std::size_t frames, particles, layers, width;
};
/// `native` is PARSEC's.
inline constexpr std::array<bodytrack_size, 4> bodytrack_sizes{{{"small", 6, 100, 4, 160},
                                                                {"medium", 10, 400, 5, 320},
                                                                {"large", 30, 800, 5, 640},
                                                                {"native", 261, 4'000, 5, 640}}};
inline constexpr std::size_t most_bodytrack_frames = 100'000, most_bodytrack_particles = 1'000'000,
                             most_bodytrack_layers = 100, most_bodytrack_tasks = 4096;
inline constexpr std::size_t least_picture_width = 64, most_picture_width = 4096;

/// A pose that is found must be so near to the one that was drawn: means over the ends of all
/// limbs, in metres. Who stays where a frame began is 10 cm from it if frames are independent; in
/// order it takes four frames to be 13 cm behind.
inline constexpr double most_body_distance = .12, most_mean_body_distance = .08;

/// The pose in which a frame was filmed.
[[nodiscard]] inline body_pose filmed_pose(std::size_t frame) noexcept {
  return walking_pose(frame + 3);
}
/// The pose that is known before a frame: the one of the frame before the first; if frames are
/// independent, the one three frames before each, as if those between had been lost.
[[nodiscard]] inline body_pose known_pose(frames_order order, std::size_t frame) noexcept {
  return walking_pose(order == frames_order::independent ? frame : frame + 2);
}

/// Of a weighted set: how likely each pose is.
struct particle_set {
  std::vector<body_pose> poses;
  /// of each: what share of the points that it should show is not in the pictures, over all
  /// cameras; 0: it fits
  std::vector<double> errors;
  std::vector<double> weights;  ///< of each; together 1
};

/// What a run found.
struct tracked_body {
  std::vector<body_pose> poses;  ///< of each frame
  particle_set last;             ///< of the last frame
};
/// What a pose should show and does not, as PARSEC's program has it: on the sides of each limb
/// edges, between them a body. The mean of the squares over the points of each camera, of both
/// kinds together.
[[nodiscard]] double body_error(const body_pose&, const body_maps&, picture_shape) noexcept;

/// Each pose is near the one that was drawn. The last frame's errors are computed again for some of
/// its particles, in pictures drawn and searched anew, with the projection as matrices; its pose is
/// the weighted mean. Throws wrong_result.
void verify(const bodytrack_options&, const tracked_body&);

class bodytrack final : public program {
 public:
  /// input_error for numbers that are zero or too large, and if there are fewer particles than
  /// tasks.
  explicit bodytrack(const bodytrack_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(options_, found_); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The pose of each frame (CSV).
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  [[nodiscard]] const tracked_body& result() const noexcept { return found_; }

 private:
  /// What belongs to a frame that is under way. Other frames use it later.
  struct frame_slot {
    body_pictures pictures;
    body_maps maps;
    std::array<std::vector<body_pose>, 2> poses;  ///< layers take turns
    std::vector<double> errors, weights;
    std::vector<std::uint32_t> parents;
  };
  struct addresses;

  void start(std::size_t slots);
  bool frames_in_tasks(kilter::runtime&, const std::function<bool()>& stopped);
  bool frames_in_loops(block_loop&, std::uint32_t threads, program_run&,
                       const std::function<bool()>& stopped);
  void add_frame(kilter::graph&, std::size_t frame, std::vector<addresses>&);
  void whole_frame(std::size_t frame, frame_slot&);
  [[nodiscard]] frame_slot& slot_of(std::size_t frame) noexcept {
    return slots_[frame % slots_.size()];
  }
  /// Of the frame before, or null if there is none or it is not waited for.
  [[nodiscard]] const frame_slot* before(std::size_t frame) const noexcept;
  [[nodiscard]] std::size_t strips() const noexcept;
  [[nodiscard]] std::size_t image_tasks() const noexcept { return body_cameras * strips(); }
  [[nodiscard]] std::size_t tasks_of_a_frame() const noexcept;
  void draw(std::size_t frame, frame_slot&) const;
  void find(std::size_t image_task, frame_slot&) const;
  void resample(std::size_t frame, std::size_t layer, frame_slot&, const frame_slot* before) const;
  void generate(std::size_t frame, std::size_t layer, std::size_t task, frame_slot&,
                const frame_slot* before) const;
  void weigh(std::size_t layer, std::size_t task, frame_slot&) const;
  void estimate(std::size_t frame, frame_slot&);
  void make_weights(frame_slot&) const;

  const bodytrack_options options_;
  const picture_shape shape_;
  const body_pictures room_;
  std::vector<frame_slot> slots_;
  tracked_body found_;
  std::vector<std::uint8_t> estimated_;  ///< of each frame
};

}  // namespace kilter::apps
