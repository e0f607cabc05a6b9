// Water computes the same under every model, bit for bit, whatever waits for whatever and however
// the grid is cut; and it falls as water does.

#include "apps/programs/fluidanimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

program_run run_fluid(fluidanimate& f, execution_model m, std::uint32_t threads,
                      const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  const program_run r = f.run(how, [] { return false; });
  EXPECT_TRUE(r.complete);
  f.verify();
  return r;
}

std::uint64_t fluid_bits(const fluidanimate_options& o, execution_model m, std::uint32_t threads,
                         const std::string& policy = "auto") {
  fluidanimate f(o);
  (void)run_fluid(f, m, threads, policy);
  return f.fingerprint();
}

TEST(fluidanimate, is_the_same_under_every_model) {
  const std::uint64_t alone =
      fluid_bits({.particles = 800, .frames = 5, .divisions = 8}, execution_model::serial, 1);
  for (const fluid_joins joins : {fluid_joins::frame, fluid_joins::phase})
    for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks}) {
      if (joins == fluid_joins::frame && cut == loop_cut::tasks) continue;  // it is of phases
      const fluidanimate_options o{
          .particles = 800, .frames = 5, .divisions = 8, .joins = joins, .cut = cut};
      for (const auto& [m, threads] : testing::teams())
        EXPECT_EQ(fluid_bits(o, m, threads), alone) << model_names[static_cast<std::size_t>(m)];
      for (const std::uint32_t threads : {1u, 4u, 8u})
        EXPECT_EQ(fluid_bits(o, execution_model::kilter, threads), alone) << threads;
      if (joins == fluid_joins::phase) continue;  // which run_in_steps looks after
      for (const char* policy : {"rws", "dam-c", "dam-p", "cats", "dheft"})
        EXPECT_EQ(fluid_bits(o, execution_model::kilter, 4, policy), alone) << policy;
    }
}

TEST(fluidanimate, is_the_same_however_the_grid_is_cut) {
  fluidanimate_options o{.particles = 3000, .frames = 12, .divisions = 1};
  const std::uint64_t alone = fluid_bits(o, execution_model::serial, 1);
  for (const std::size_t divisions : {2u, 4u, 16u, 128u}) {
    o.divisions = divisions;
    EXPECT_EQ(fluid_bits(o, execution_model::kilter, 2), alone) << divisions;
  }
  o.seed = 2;
  EXPECT_NE(fluid_bits(o, execution_model::serial, 1), alone);
}

TEST(fluidanimate, has_as_many_tasks_a_frame_as_S1_counts) {
  fluidanimate joined_at_frames({.particles = 1500, .frames = 3, .divisions = 32});
  program_run r = run_fluid(joined_at_frames, execution_model::kilter, 2);
  EXPECT_EQ(r.tasks, 3u * 257u);
  EXPECT_EQ(r.barriers, 3u);
  EXPECT_EQ(r.iterations, 3u);
  r = run_fluid(joined_at_frames, execution_model::serial, 1);
  EXPECT_EQ(r.tasks, 3u * 256u);
  EXPECT_EQ(r.barriers, 3u * 8u);
  fluidanimate joined_at_phases(
      {.particles = 1500, .frames = 3, .divisions = 32, .joins = fluid_joins::phase});
  r = run_fluid(joined_at_phases, execution_model::kilter, 2);
  EXPECT_EQ(r.tasks, 3u * 256u);
  EXPECT_EQ(r.barriers, 3u * 8u);
  EXPECT_EQ(r.iterations, 3u);
  EXPECT_EQ(fluidanimate_sizes.back().frames * 257, 128'500u);
}

TEST(fluidanimate, is_the_same_if_its_frames_take_several_graphs) {
  fluidanimate_options o{.particles = 3000, .frames = 50, .divisions = 128};
  ASSERT_GT(o.frames * (8 * o.divisions + 1), 50'000u);
  const std::uint64_t in_graphs = fluid_bits(o, execution_model::kilter, 2);
  o.divisions = 1;
  EXPECT_EQ(in_graphs, fluid_bits(o, execution_model::serial, 1));
}

/// The most particles that there are in any 27 cells around one of them.
std::size_t most_candidates(const fluid_rules& rules, const fluid_state& s) {
  const auto cell = [&](std::size_t p, std::size_t axis) {
    return static_cast<int>(s.at[p][axis] / tank_size[axis] *
                            static_cast<double>(rules.cells[axis]));
  };
  std::size_t most = 0;
  for (std::size_t p = 0; p < s.at.size(); ++p) {
    std::size_t near = 0;
    for (std::size_t o = 0; o < s.at.size(); ++o)
      near += std::abs(cell(p, 0) - cell(o, 0)) <= 1 && std::abs(cell(p, 1) - cell(o, 1)) <= 1 &&
              std::abs(cell(p, 2) - cell(o, 2)) <= 1;
    most = std::max(most, near);
  }
  return most;
}

TEST(fluidanimate, adds_up_in_parts_where_many_are_near) {
  fluidanimate f({.particles = 1500, .frames = 60, .divisions = 8});
  (void)run_fluid(f, execution_model::kilter, 2);
  EXPECT_GT(most_candidates(f.rules(), f.before()), 256u);
}

TEST(fluidanimate, takes_any_number_of_particles) {
  for (const std::size_t particles : {100u, 101u, 999u})
    (void)fluid_bits({.particles = particles, .frames = 100, .divisions = 2},
                     execution_model::kilter, 2);
}

/// How far the water has come, in heights of the dam.
double front_of(const fluidanimate& f) {
  double most = 0;
  for (const auto& at : f.now().at) most = std::max(most, static_cast<double>(at[0]));
  return (most + f.rules().spacing / 2 - dam_size[0]) / dam_size[1];
}

double energy_of(const fluid_rules& rules, const fluid_state& s) {
  double sum = 0;
  for (std::size_t p = 0; p < s.at.size(); ++p) {
    sum += earth_gravity * s.at[p][1];
    for (const float v : s.speed[p]) sum += 0.5 * v * v;
  }
  return rules.mass * sum;
}

TEST(fluidanimate, breaks_its_dam_as_measured) {
  // Martin and Moyce 1952, Fig. 3, a column of 2.25 inches that is twice as high as long. As long
  // as no wave is back from the wall behind the water, only the height counts: after 1.14 of
  // sqrt(height / g) its front was .84 heights on. Ritter 1892: no front is faster than twice
  // sqrt(g height).
  const fluid_rules rules = rules_of_fluid(3000);
  const double unit = std::sqrt(dam_size[1] / earth_gravity);
  const auto frames = static_cast<std::uint64_t>(1.14 * unit / rules.frame);
  fluidanimate f({.particles = 3000, .frames = frames, .divisions = 16});
  (void)run_fluid(f, execution_model::kilter, 2);
  EXPECT_NEAR(front_of(f), 0.84, 0.15);
  EXPECT_LT(front_of(f), 2 * rules.frame * static_cast<double>(frames) / unit);
  // Friction takes from the energy, nothing gives.
  const double before = energy_of(rules, f.at_start()), after = energy_of(rules, f.now());
  EXPECT_LT(after, before);
  EXPECT_GT(after, 0.7 * before);
}

TEST(fluidanimate, has_the_density_of_water_inside) {
  // In a lattice without shaking: Müller's (3) and (20) by hand. Neighbours are 6 at 1 spacing, 12
  // at the root of 2, 8 at the root of 3.
  const double h = 1.9, sum = std::pow(h * h, 3) + 6 * std::pow(h * h - 1, 3) +
                              12 * std::pow(h * h - 2, 3) + 8 * std::pow(h * h - 3, 3);
  const double wanted = water_density * sum * 315 / (64 * M_PI * std::pow(h, 9));
  EXPECT_NEAR(wanted, water_density, 0.003 * water_density);
  fluidanimate f({.particles = 4000, .frames = 1});
  (void)run_fluid(f, execution_model::serial, 1);
  EXPECT_DOUBLE_EQ(f.rules().radius, h * f.rules().spacing);
  const fluid_state now = f.now();
  double all = 0;
  std::size_t inside = 0;
  for (std::size_t p = 0; p < now.at.size(); ++p) {
    bool deep = true;
    for (std::size_t axis = 0; axis < 3; ++axis)
      deep = deep && now.at[p][axis] > 1.1 * f.rules().radius &&
             now.at[p][axis] < dam_size[axis] - 1.1 * f.rules().radius;
    if (!deep) continue;
    ++inside;
    all += now.density[p];
    ASSERT_NEAR(now.density[p], wanted, 0.15 * wanted) << p;
  }
  ASSERT_GT(inside, 500u);
  EXPECT_NEAR(all / static_cast<double>(inside), wanted, 0.01 * wanted);
}

std::string fluid_verdict(const fluid_rules& rules, const fluid_state& before,
                          const fluid_state& after) {
  try {
    verify(rules, before, after);
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
}

TEST(fluidanimate, is_verified_by_itself) {
  fluidanimate f({.particles = 600, .frames = 40, .divisions = 4});
  EXPECT_THROW(f.verify(), wrong_result);
  (void)run_fluid(f, execution_model::serial, 1);
  const fluid_state before = f.before(), right = f.now();
  EXPECT_EQ(fluid_verdict(f.rules(), before, right), "right");
  EXPECT_EQ(fluid_verdict(f.rules(), before, {}), "fluidanimate: nothing has been computed");
  const auto says = [&](const fluid_state& wrong, const std::string& what) {
    const std::string said = fluid_verdict(f.rules(), before, wrong);
    EXPECT_TRUE(said.find(what) != std::string::npos) << said << " instead of " << what;
  };
  fluid_state wrong = right;
  wrong.at[7][1] = -0.001f;
  says(wrong, "fluidanimate: particle 7 is not in the tank, but at (");
  (wrong = right).speed[8][2] = std::numeric_limits<float>::quiet_NaN();
  says(wrong, "fluidanimate: particle 8 has a speed of (");
  (wrong = right).density[9] *= 1.0001f;
  says(wrong, "fluidanimate: particle 9 has a density of");
  (wrong = right).acceleration[10][0] = std::numeric_limits<float>::infinity();
  says(wrong, "fluidanimate: particle 10 has an acceleration of");
  (wrong = right).acceleration[11][0] += 500;
  says(wrong, "fluidanimate: pressure and viscosity moved the water as a whole");
  wrong.acceleration[12][0] -= 500;  // but together they do not
  says(wrong, "fluidanimate: particle 11 has an acceleration of");
  (wrong = right).at[13][0] =
      right.at[13][0] < 0.5f ? right.at[13][0] + 1e-4f : right.at[13][0] - 1e-4f;
  says(wrong, "fluidanimate: particle 13 is at (");
  // A neighbour that was overlooked is what a task sees that does not wait.
  fluid_state overlooked = before;
  overlooked.at[14][0] = overlooked.at[14][0] < 0.5f
                             ? overlooked.at[14][0] + static_cast<float>(f.rules().radius)
                             : overlooked.at[14][0] - static_cast<float>(f.rules().radius);
  EXPECT_NE(fluid_verdict(f.rules(), overlooked, right), "right");
}

TEST(fluidanimate, ends_early_when_it_is_told_to) {
  for (const fluid_joins joins : {fluid_joins::frame, fluid_joins::phase}) {
    fluidanimate f({.particles = 2000, .frames = 1'000'000, .divisions = 16, .joins = joins});
    for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
      executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
      EXPECT_FALSE(f.run(how, [] { return true; }).complete);
    }
  }
}

TEST(fluidanimate, refuses_what_it_cannot_cut) {
  const auto refusal = [](const fluidanimate_options& o) -> std::string {
    try {
      (void)fluidanimate(o);
    } catch (const input_error& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_EQ(refusal({.divisions = 12}),
            "--divisions 12: write a power of two, as 16 or 32, up to 16384");
  EXPECT_EQ(refusal({.divisions = 0}),
            "--divisions 0: write a power of two, as 16 or 32, up to 16384");
  EXPECT_EQ(refusal({.particles = 1500, .divisions = 64}),
            "--divisions 64: with 1500 particles the tank is 12 cells long and 6 deep, so write 32 "
            "or less");
  EXPECT_EQ(refusal({.particles = 99}), "--particles 99: write a number from 100 to 20000000");
  EXPECT_EQ(refusal({.frames = 0}), "--frames 0: write 1 or more");
  EXPECT_EQ(refusal({.particles = 1500, .divisions = 32}), "taken");
}

TEST(fluidanimate, writes_a_point_cloud) {
  fluidanimate f({.particles = 500, .frames = 2, .divisions = 2});
  (void)run_fluid(f, execution_model::serial, 1);
  const std::string file = f.result_file();
  const std::size_t begin = file.find("end_header\n") + 11;
  EXPECT_TRUE(file.starts_with("ply\nformat binary_"));
  EXPECT_NE(file.find("element vertex 500\n"), std::string::npos);
  ASSERT_EQ(file.size(), begin + 500 * 7 * sizeof(float));
  std::array<float, 7> last{};
  std::memcpy(last.data(), file.data() + begin + 499 * 7 * sizeof(float), sizeof last);
  const fluid_state now = f.now();
  EXPECT_EQ((std::array{last[0], last[1], last[2]}), now.at[499]);
  EXPECT_EQ((std::array{last[3], last[4], last[5]}), now.speed[499]);
  EXPECT_EQ(last[6], now.density[499]);
}

}  // namespace
}  // namespace kilter::apps
