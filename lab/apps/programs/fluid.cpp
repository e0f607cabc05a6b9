#include "apps/programs/fluid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "apps/programs/program.hpp"

namespace kilter::apps {

namespace {

/// From -1 to 1, by splitmix64: a number for each place in a sequence, whoever asks in whatever
/// order.
double shaken(std::uint64_t seed, std::uint64_t at) noexcept {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + at + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1.0;
}

double volume(const std::array<double, 3>& of) noexcept { return of[0] * of[1] * of[2]; }

}  // namespace

fluid_rules rules_of_fluid(std::size_t particles) {
  const auto count = static_cast<double>(particles);
  const double sound = 7.0, fastest = 3.0;  // what falls from the dam's height has 2.8 m/s
  fluid_rules r{.particles = particles,
                .mass = water_density * volume(dam_size) / count,
                .spacing = std::cbrt(volume(dam_size) / count)};
  r.radius = 1.9 * r.spacing;  // Müller's sum over a cubic lattice then gives .998 of its density
  r.frame = 0.4 * r.radius / (sound + fastest);
  r.stiffness = sound * sound;
  r.viscosity = 0.05 * water_density * sound * r.radius;
  r.wall_reach = r.spacing / 2;
  r.wall_damping = sound / r.spacing;
  r.wall_stiffness = r.wall_damping * r.wall_damping;
  r.most_speed = 0.5 * r.radius / r.frame;
  for (std::size_t axis = 0; axis < 3; ++axis)
    r.cells[axis] = std::max<std::size_t>(1, static_cast<std::size_t>(tank_size[axis] / r.radius));
  return r;
}

double fluid_rules::poly6() const noexcept {
  return 315.0 / (64.0 * std::numbers::pi * std::pow(radius, 9));
}
double fluid_rules::spiky() const noexcept {
  return 45.0 / (std::numbers::pi * std::pow(radius, 6));
}

fluid_state dam_of_water(std::size_t particles, std::uint64_t seed) {
  const fluid_rules rules = rules_of_fluid(particles);
  const auto along =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(dam_size[0] / rules.spacing)));
  const auto deep =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(dam_size[2] / rules.spacing)));
  const std::size_t layer = along * deep;
  // A layer is as high as what it holds, so that the top, which may not be full, changes no density
  // below.
  const std::array<double, 3> step{
      dam_size[0] / static_cast<double>(along),
      dam_size[1] * static_cast<double>(layer) / static_cast<double>(particles),
      dam_size[2] / static_cast<double>(deep)};
  fluid_state s;
  s.at.resize(particles);
  s.speed.assign(particles, {});
  for (std::size_t p = 0; p < particles; ++p) {
    const std::array<std::size_t, 3> place{p % along, p / layer, p % layer / along};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double moved =
          (static_cast<double>(place[axis]) + 0.5 + 0.05 * shaken(seed, 3 * p + axis)) * step[axis];
      s.at[p][axis] = static_cast<float>(std::min(moved, tank_size[axis]));
    }
  }
  return s;
}

// ---- verified by itself -------------------------------------------------------------------------

namespace {

using triple = std::array<double, 3>;

triple as_doubles(const std::array<float, 3>& of) noexcept { return {of[0], of[1], of[2]}; }

std::string words(const triple& of) {
  return "(" + std::to_string(of[0]) + ", " + std::to_string(of[1]) + ", " + std::to_string(of[2]) +
         ")";
}

[[noreturn]] void wrong_particle(std::size_t particle, const std::string& what) {
  throw wrong_result("fluidanimate: particle " + std::to_string(particle) + " " + what);
}

/// Of one frame, particle by particle. Who is near somebody is found in the order of their places
/// along the tank.
class exact_frame {
 public:
  exact_frame(const fluid_rules& rules, const fluid_state& before)
      : rules_(rules),
        before_(before),
        order_(before.at.size()),
        densities_(before.at.size(), 0.0) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, {}, [&](std::size_t p) { return before.at[p][0]; });
  }

  [[nodiscard]] double density(std::size_t p) {
    if (densities_[p] == 0.0) {
      double sum = 0;
      each_near(p, [&](std::size_t, const triple&, double distance) {
        sum += std::pow(rules_.radius * rules_.radius - distance * distance, 3);
      });
      densities_[p] = rules_.mass * rules_.poly6() * sum;
    }
    return densities_[p];
  }

  /// `sizes`: of all its terms, without their signs.
  [[nodiscard]] triple acceleration(std::size_t p, double& sizes) {
    const double factor = rules_.mass * rules_.spiky() / density(p), own = pressure(p);
    triple sum = walls_and_gravity(p);
    sizes = std::fabs(sum[0]) + std::fabs(sum[1]) + std::fabs(sum[2]);
    each_near(p, [&](std::size_t other, const triple& towards, double distance) {
      if (distance == 0) return;
      const double left = rules_.radius - distance,
                   push = -(own + pressure(other)) / (2 * density(other)) * left * left / distance;
      const double drag = rules_.viscosity / density(other) * left;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double term =
            factor *
            (push * towards[axis] +
             drag * (static_cast<double>(before_.speed[other][axis]) - before_.speed[p][axis]));
        sum[axis] += term;
        sizes += std::fabs(term);
      }
      // A density is known to a few parts in a million, which is much of a pressure near none.
      sizes += factor * rules_.stiffness * left * left / 10;
    });
    return sum;
  }

  [[nodiscard]] triple walls_and_gravity(std::size_t p) const noexcept {
    triple sum{0, -earth_gravity, 0};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double at = before_.at[p][axis], speed = before_.speed[p][axis];
      for (const auto& [inside, away] : {std::pair{rules_.wall_reach - at, 1.0},
                                         {rules_.wall_reach - (tank_size[axis] - at), -1.0}})
        if (inside > 0)
          sum[axis] += away * rules_.wall_stiffness * inside - rules_.wall_damping * speed;
    }
    return sum;
  }

 private:
  [[nodiscard]] double pressure(std::size_t p) {
    return std::max(0.0, rules_.stiffness * (density(p) - water_density));
  }

  template <class F>
  void each_near(std::size_t p, const F& f) const {
    const triple here = as_doubles(before_.at[p]);
    auto first = std::ranges::lower_bound(order_, here[0] - rules_.radius, {}, [&](std::size_t o) {
      return static_cast<double>(before_.at[o][0]);
    });
    for (; first != order_.end() && before_.at[*first][0] <= here[0] + rules_.radius; ++first) {
      const triple there = as_doubles(before_.at[*first]),
                   towards{there[0] - here[0], there[1] - here[1], there[2] - here[2]};
      const double squared =
          towards[0] * towards[0] + towards[1] * towards[1] + towards[2] * towards[2];
      if (squared < rules_.radius * rules_.radius) f(*first, towards, std::sqrt(squared));
    }
  }

  const fluid_rules& rules_;
  const fluid_state& before_;
  std::vector<std::size_t> order_;
  std::vector<double> densities_;
};

void check_places(const fluid_rules& rules, const fluid_state& s) {
  for (std::size_t p = 0; p < s.at.size(); ++p)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!(s.at[p][axis] >= 0 && static_cast<double>(s.at[p][axis]) <= tank_size[axis]))
        wrong_particle(p, "is not in the tank, but at " + words(as_doubles(s.at[p])));
      if (!(std::fabs(static_cast<double>(s.speed[p][axis])) <= rules.most_speed * (1 + 1e-6)))
        wrong_particle(p, "has a speed of " + words(as_doubles(s.speed[p])));
      if (!std::isfinite(s.acceleration[p][axis]))
        wrong_particle(p, "has an acceleration of " + words(as_doubles(s.acceleration[p])));
    }
}

void check_momentum(const exact_frame& exact, const fluid_state& after) {
  triple sum{}, sizes{};
  for (std::size_t p = 0; p < after.at.size(); ++p) {
    const triple others = exact.walls_and_gravity(p);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double pairs = static_cast<double>(after.acceleration[p][axis]) - others[axis];
      sum[axis] += pairs;
      sizes[axis] += std::fabs(pairs) + std::fabs(others[axis]);
    }
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(std::fabs(sum[axis]) <=
          1e-5 * sizes[axis] +
              1e-4 * earth_gravity * std::sqrt(static_cast<double>(after.at.size()))))
      throw wrong_result(
          "fluidanimate: pressure and viscosity moved the water as a whole: their accelerations "
          "add up to " +
          words(sum));
}

/// What the frame made of its place and speed.
void check_step(const fluid_rules& rules, const fluid_state& before, const fluid_state& after,
                std::size_t p) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double speed = std::clamp(before.speed[p][axis] + rules.frame * after.acceleration[p][axis],
                              -rules.most_speed, rules.most_speed);
    double at = before.at[p][axis] + rules.frame * speed;
    const double most_off = 1e-6 * tank_size[axis];
    const bool maybe_at_a_wall = at <= most_off || at >= tank_size[axis] - most_off;
    if (maybe_at_a_wall && after.speed[p][axis] * speed < 0) speed = -speed;
    at = std::clamp(at, 0.0, tank_size[axis]);
    if (!(std::fabs(after.speed[p][axis] - speed) <= 1e-5 * rules.most_speed &&
          std::fabs(after.at[p][axis] - at) <= most_off))
      wrong_particle(p, "is at " + words(as_doubles(after.at[p])) + " with a speed of " +
                            words(as_doubles(after.speed[p])) +
                            ", which is not what its acceleration makes of it");
  }
}

}  // namespace

void verify(const fluid_rules& rules, const fluid_state& before, const fluid_state& after) {
  const std::size_t count = rules.particles;
  if (before.at.size() != count || after.at.size() != count || after.density.size() != count ||
      after.acceleration.size() != count)
    throw wrong_result("fluidanimate: nothing has been computed");
  check_places(rules, after);
  exact_frame exact(rules, before);
  check_momentum(exact, after);
  // odd: not always the same place of a lattice
  const std::size_t some = 500, every = count <= 4 * some ? 1 : (count / some) | 1;
  for (std::size_t p = 0; p < count; p += every) {
    if (!(std::fabs(after.density[p] - exact.density(p)) <= 1e-5 * exact.density(p)))
      wrong_particle(p, "has a density of " + std::to_string(after.density[p]) + " instead of " +
                            std::to_string(exact.density(p)));
    double sizes = 0;
    const triple wanted = exact.acceleration(p, sizes);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!(std::fabs(after.acceleration[p][axis] - wanted[axis]) <= 3e-5 * sizes))
        wrong_particle(p, "has an acceleration of " + words(as_doubles(after.acceleration[p])) +
                              " instead of " + words(wanted));
    check_step(rules, before, after, p);
  }
}

// ---- for people ---------------------------------------------------------------------------------

std::string as_ply(const fluid_state& s) {
  constexpr bool little = std::endian::native == std::endian::little;
  std::string file =
      "ply\nformat binary_" + std::string(little ? "little" : "big") +
      "_endian 1.0\ncomment metres, metres a second, kilogrammes a cubic metre\nelement vertex " +
      std::to_string(s.at.size()) + "\n";
  for (const char* name : {"x", "y", "z", "vx", "vy", "vz", "density"})
    file += "property float " + std::string(name) + "\n";
  file += "end_header\n";
  const auto add = [&](float value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(float)>>(value);
    file.append(bytes.data(), bytes.size());
  };
  for (std::size_t p = 0; p < s.at.size(); ++p) {
    std::ranges::for_each(s.at[p], add);
    std::ranges::for_each(s.speed[p], add);
    add(s.density[p]);
  }
  return file;
}

}  // namespace kilter::apps
