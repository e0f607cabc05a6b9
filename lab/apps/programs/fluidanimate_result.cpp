// What the last run of fluidanimate left.

#include <algorithm>
#include <string>

#include "apps/programs/fluidanimate.hpp"
#include "apps/programs/mixed_bits.hpp"

namespace kilter::apps {

fluid_state fluidanimate::state_after(std::uint64_t frame) const {
  fluid_state s;
  s.at.resize(options_.particles);
  s.speed.resize(options_.particles);
  s.density.resize(options_.particles);
  s.acceleration.resize(options_.particles);
  std::vector<bool> there(options_.particles);
  for (const block& b : blocks_[frame % 2])
    for (std::size_t i = 0; i < b.size(); ++i) {
      const std::uint32_t p = b.number[i];
      if (there[p])
        throw wrong_result("fluidanimate: particle " + std::to_string(p) + " is there twice");
      there[p] = true;
      s.density[p] = b.of[density][i];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        s.at[p][axis] = b.of[x + axis][i];
        s.speed[p][axis] = b.of[vx + axis][i];
        s.acceleration[p][axis] = b.of[ax + axis][i];
      }
    }
  if (const auto lost = std::ranges::find(there, false); lost != there.end())
    throw wrong_result("fluidanimate: particle " + std::to_string(lost - there.begin()) +
                       " is lost");
  return s;
}

fluid_state fluidanimate::now() const {
  if (made_ == 0) throw wrong_result("fluidanimate: nothing has been computed");
  return state_after(made_);
}

fluid_state fluidanimate::before() const {
  if (made_ == 0) throw wrong_result("fluidanimate: nothing has been computed");
  return state_after(made_ - 1);
}

void fluidanimate::verify() const { apps::verify(rules_, before(), now()); }

std::uint64_t fluidanimate::fingerprint() const {
  mixed_bits mixed;
  const fluid_state s = now();
  for (std::size_t p = 0; p < s.at.size(); ++p) {
    for (const float value : s.at[p]) mixed.add(value);
    for (const float value : s.speed[p]) mixed.add(value);
    mixed.add(s.density[p]);
  }
  return mixed.value();
}

std::string fluidanimate::result_file() const { return as_ply(now()); }

std::vector<std::string> fluidanimate::found() const {
  const fluid_state s = now();
  double density_sum = 0, energy = 0, front = 0;
  for (std::size_t p = 0; p < s.at.size(); ++p) {
    density_sum += s.density[p];
    front = std::max(front, static_cast<double>(s.at[p][0]));
    for (const float v : s.speed[p]) energy += 0.5 * rules_.mass * v * v;
  }
  const auto shown = [](double value) {
    const std::string digits = std::to_string(value);
    return digits.substr(0, digits.find('.') + 4);
  };
  return {"after " + shown(1e3 * rules_.frame * static_cast<double>(made_)) +
              " ms the water has come to " + shown(front) + " m of " + shown(tank_size[0]) +
              " m; the dam was at " + shown(dam_size[0]) + " m",
          "mean density " + shown(density_sum / static_cast<double>(s.at.size())) +
              " kg/m3, kinetic energy " + shown(energy) + " J"};
}

}  // namespace kilter::apps
