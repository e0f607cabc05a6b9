#pragma once
// A face that muscles move: Sifakis, Neverov, Fedkiw, "Automatic determination of facial muscle
// activations from sparse motion capture marker data" (SIGGRAPH 2005), and Teran, Sifakis, Irving,
// Fedkiw, "Robust quasistatic finite elements and flesh simulation" (SCA 2005). PARSEC's facesim,
// one of the programs of S1 (papers.md A2.2).
//
// Unlike in the public code: a face that Kilter meshes, corotated linear elasticity, nine muscles;
// nothing collides.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/face_mesh.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"

namespace kilter::apps {

struct facesim_options {
  std::size_t frames = 8;
  std::size_t partitions = 8;  ///< of the nodes, and of the tetrahedra: tasks of a loop
  loop_cut cut = loop_cut::loop;
};

struct facesim_size {
  std::string_view name;
  std::size_t tetrahedra, frames;
};
/// `native` is PARSEC's.
inline constexpr std::array<facesim_size, 4> facesim_sizes{
    {{"small", 3'000, 8}, {"medium", 20'000, 12}, {"large", 60'000, 24}, {"native", 372'126, 100}}};

/// What flesh resists with, and muscles pull with, in the unit of Young's modulus. The flesh is
/// isotropic, its energy that of corotated linear elasticity: per volume  mu sum (s - 1)^2 +
/// lambda/2 (sum (s - 1))^2  over the three principal stretches s. A muscle adds  pull/2 |F f|^2
/// along its fibres f.
inline constexpr double flesh_poisson = .4;
inline constexpr double flesh_mu = 1 / (2 * (1 + flesh_poisson)),
                        flesh_lambda =
                            flesh_poisson / ((1 + flesh_poisson) * (1 - 2 * flesh_poisson));
inline constexpr double strongest_pull = .3;
/// A frame ends when no free node is pulled more strongly along any axis. A muscle pulls a cell
/// with up to `strongest_pull`.
inline constexpr double facesim_tolerance = 1e-3 * strongest_pull;
inline constexpr std::size_t most_facesim_partitions = 4096, most_facesim_frames = 100'000;

/// Of a muscle in frame 0, 1, ...: it contracts and relaxes again and again.
[[nodiscard]] double pull_of(const face_muscle&, std::size_t frame) noexcept;

/// Where a run left the face.
struct face_state {
  std::vector<face_point> places;  ///< of the nodes
  /// of flesh and muscles on the nodes; the skull holds against it where they are fixed
  std::vector<face_point> forces;
  std::size_t frames = 0;  ///< that were computed
};
/// From the energy alone, as its central difference, node by node: the last frame is at rest, and
/// its forces are those of the state. Fixed nodes have not moved, no tetrahedron is turned inside
/// out, and all forces together are zero. Throws wrong_result.
void verify(const face_mesh&, const face_state&);

class facesim final : public program {
 public:
  /// input_error if there are fewer nodes than partitions, or no frames or no partitions or too
  /// many.
  facesim(face_mesh, const facesim_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The surface in the last frame (OBJ).
  [[nodiscard]] std::string result_file() const override { return as_obj(face_, now_.places); }
  [[nodiscard]] std::vector<std::string> found() const override;

  [[nodiscard]] const face_mesh& face() const noexcept { return face_; }
  [[nodiscard]] const face_state& state() const noexcept { return now_; }
  /// Of the last run: how often the forces were computed anew, and how often they were followed by
  /// an iteration of conjugate gradients.
  [[nodiscard]] std::uint64_t newton_steps() const noexcept { return newton_steps_; }
  [[nodiscard]] std::uint64_t gradient_steps() const noexcept { return gradient_steps_; }

 private:
  /// A tetrahedron as the inner loop reads it: two cache lines.
  struct alignas(64) element {
    std::array<std::uint32_t, 4> nodes;
    double volume;
    double pull;  ///< of its muscle in this frame, times the volume
    /// of nodes 1, 2, 3: how much of a move stretches the fibre
    face_point along;
    /// of the shape functions of nodes 1, 2, 3, turned as the flesh is turned now
    std::array<face_point, 3> gradients;
  };
  using stress = std::array<double, 6>;  ///< xx, yy, zz, xy, xz, yz
  struct alignas(64) partial {
    double strongest = 0, preconditioned = 0, curvature = 0;
  };
  struct range {
    std::size_t first, last;
  };

  void start();
  bool step(step_loops&);
  bool newton_step(step_loops&);
  void gradient_step(step_loops&);
  void begin_frame();
  void turn(std::size_t partition) noexcept;
  void add_forces(std::size_t partition) noexcept;
  void multiply(std::size_t partition) noexcept;
  void advance(std::size_t partition) noexcept;
  void choose_direction(std::size_t partition) noexcept;
  template <class Use>
  void add_to_own_nodes(std::size_t partition, Use&&) noexcept;
  [[nodiscard]] double sum(double partial::*) const noexcept;
  [[nodiscard]] range part(std::size_t length, std::size_t partition) const noexcept;

  const face_mesh face_;
  const facesim_options options_;
  std::vector<std::array<face_point, 3>> rest_gradients_;
  /// of each partition: the tetrahedra with a node in it, ascending
  std::vector<std::vector<std::uint32_t>> touching_;
  std::vector<element> elements_;
  std::vector<stress> stresses_;
  face_state now_;
  // Of conjugate gradients, for each node. The residual begins as the forces.
  std::vector<face_point> residual_, direction_, product_, inverse_diagonal_;
  std::vector<partial> partials_;
  double preconditioned_ = 0, preconditioned_before_ = 0, first_preconditioned_ = 0, length_ = 0,
         keep_ = 0;
  bool solving_ = false;
  std::size_t newton_in_frame_ = 0, gradients_in_solve_ = 0;
  std::uint64_t newton_steps_ = 0, gradient_steps_ = 0;
};

}  // namespace kilter::apps
