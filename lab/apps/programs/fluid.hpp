#pragma once
// Water in a tank as particles: smoothed particle hydrodynamics after Müller, Charypar and Gross,
// "Particle-Based Fluid Simulation for Interactive Applications", Symposium on Computer Animation
// 2003, section 3. SI units throughout.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kilter::apps {

/// The tank's inside, from 0 to these: length, height, depth. Up is the second.
inline constexpr std::array<double, 3> tank_size{1.0, 0.6, 0.5};
/// The block of water behind the dam, which is gone when the first frame begins. It fills the
/// tank's depth.
inline constexpr std::array<double, 3> dam_size{0.5, 0.4, 0.5};
inline constexpr double water_density = 1000.0, earth_gravity = 9.81;

/// What follows from the number of particles: the more there are the smaller they are, and the
/// shorter a frame is, so that it stays stable.
struct fluid_rules {
  std::size_t particles = 0;
  double mass = 0.0;     ///< of a particle
  double spacing = 0.0;  ///< of particles at rest
  /// beyond which a particle does not see others (Müller's h): some 29 are in sight
  double radius = 0.0;
  double frame = 0.0;  ///< seconds
  /// pressure by density beyond that at rest (Müller's k): the square of the speed of sound
  double stiffness = 0.0;
  double viscosity = 0.0;  ///< Müller's mu
  /// nearer to a wall than this a particle is pushed away, by a damped spring
  double wall_reach = 0.0;
  double wall_stiffness = 0.0;  ///< acceleration by distance
  double wall_damping = 0.0;    ///< acceleration by speed
  /// along any axis: half a radius a frame, so that nobody skips a cell
  double most_speed = 0.0;
  std::array<std::size_t, 3> cells{};  ///< along each axis; none is narrower than the radius

  /// factor of (h^2 - r^2)^3 in the kernel of densities; Müller (20)
  [[nodiscard]] double poly6() const noexcept;
  /// factor of (h - r)^2 in the gradient for pressure and of h - r in the Laplacian for viscosity;
  /// (21), (22)
  [[nodiscard]] double spiky() const noexcept;
};
/// At least one particle.
[[nodiscard]] fluid_rules rules_of_fluid(std::size_t particles);

/// Particle by particle, always in the same order.
struct fluid_state {
  std::vector<std::array<float, 3>> at, speed;
  std::vector<float> density;  ///< where the particles were a frame before
  /// in that frame: of pressure, viscosity, gravity and walls
  std::vector<std::array<float, 3>> acceleration;
};

/// Water at rest, a lattice that `seed` has shaken by up to a twentieth of the spacing. Without
/// densities and accelerations.
[[nodiscard]] fluid_state dam_of_water(std::size_t particles, std::uint64_t seed);

/// With doubles, from the definitions, without cells: that `after` is a frame after `before`. Pairs
/// alone move nothing: pressure and viscosity of all together have no momentum. Densities,
/// accelerations and steps are computed for all particles if there are few, else for some 500, each
/// from all others. Throws wrong_result.
void verify(const fluid_rules&, const fluid_state& before, const fluid_state& after);

/// A point cloud for viewers (PLY, binary): position, speed and density of each particle.
[[nodiscard]] std::string as_ply(const fluid_state&);

}  // namespace kilter::apps
