// Water and a face compute the same under every model, bit for bit, whatever waits for whatever
// and however they are cut. Water falls as water does, and a face comes to rest where its energy
// says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "apps/programs/facesim.hpp"
#include "apps/programs/fluidanimate.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// ---- fluidanimate -------------------------------------------------------------------------------

std::uint64_t fluid_bits(const fluidanimate_options& o, const team& t) {
  fluidanimate f(o);
  run_and_verify(f, t);
  return f.fingerprint();
}

TEST(fluidanimate, is_the_same_under_every_model) {
  const std::uint64_t alone = fluid_bits({.particles = 800, .frames = 5, .divisions = 8}, {});
  for (const fluid_joins joins : {fluid_joins::frame, fluid_joins::phase})
    for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks}) {
      if (joins == fluid_joins::frame && cut == loop_cut::tasks) continue;  // it is of phases
      const fluidanimate_options o{
          .particles = 800, .frames = 5, .divisions = 8, .joins = joins, .cut = cut};
      for (const team& t : teams_and_policies()) {
        if (joins == fluid_joins::phase && t.policy != "auto")
          continue;  // run_in_steps sees to those
        EXPECT_EQ(fluid_bits(o, t), alone) << t;
      }
    }
}

TEST(fluidanimate, is_the_same_however_the_grid_is_cut) {
  fluidanimate_options o{.particles = 3000, .frames = 12, .divisions = 1};
  const std::uint64_t alone = fluid_bits(o, {});
  for (const std::size_t divisions : {2u, 4u, 16u, 128u}) {
    o.divisions = divisions;
    EXPECT_EQ(fluid_bits(o, on_kilter(2)), alone) << divisions;
  }
  o.seed = 2;
  EXPECT_NE(fluid_bits(o, {}), alone);
}

TEST(fluidanimate, has_as_many_tasks_a_frame_as_S1_counts) {
  fluidanimate joined_at_frames({.particles = 1500, .frames = 3, .divisions = 32});
  program_run r = run_and_verify(joined_at_frames, on_kilter(2));
  EXPECT_EQ(r.tasks, 3u * 257u);
  EXPECT_EQ(r.barriers, 3u);
  EXPECT_EQ(r.iterations, 3u);
  r = run_and_verify(joined_at_frames, {});
  EXPECT_EQ(r.tasks, 3u * 256u);
  EXPECT_EQ(r.barriers, 3u * 8u);
  fluidanimate joined_at_phases(
      {.particles = 1500, .frames = 3, .divisions = 32, .joins = fluid_joins::phase});
  r = run_and_verify(joined_at_phases, on_kilter(2));
  EXPECT_EQ(r.tasks, 3u * 256u);
  EXPECT_EQ(r.barriers, 3u * 8u);
  EXPECT_EQ(r.iterations, 3u);
  EXPECT_EQ(fluidanimate_sizes.back().frames * 257, 128'500u);
}

TEST(fluidanimate, is_the_same_if_its_frames_take_several_graphs) {
  fluidanimate_options o{.particles = 3000, .frames = 50, .divisions = 128};
  ASSERT_GT(o.frames * (8 * o.divisions + 1), 50'000u);
  const std::uint64_t in_graphs = fluid_bits(o, on_kilter(2));
  o.divisions = 1;
  EXPECT_EQ(in_graphs, fluid_bits(o, {}));
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
  run_and_verify(f, on_kilter(2));
  EXPECT_GT(most_candidates(f.rules(), f.before()), 256u);
}

TEST(fluidanimate, takes_any_number_of_particles) {
  for (const std::size_t particles : {100u, 101u, 999u})
    (void)fluid_bits({.particles = particles, .frames = 100, .divisions = 2}, on_kilter(2));
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
  run_and_verify(f, on_kilter(2));
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
  run_and_verify(f, {});
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
  return verdict_of([&] { verify(rules, before, after); });
}

TEST(fluidanimate, is_verified_by_itself) {
  fluidanimate f({.particles = 600, .frames = 40, .divisions = 4});
  EXPECT_THROW(f.verify(), wrong_result);
  run_and_verify(f, {});
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
      EXPECT_TRUE(ends_early(f, m));
    }
  }
}

TEST(fluidanimate, refuses_what_it_cannot_cut) {
  const auto answer = [](const fluidanimate_options& o) {
    return answer_to([&] { (void)fluidanimate(o); });
  };
  EXPECT_EQ(answer({.divisions = 12}),
            "--divisions 12: write a power of two, as 16 or 32, up to 16384");
  EXPECT_EQ(answer({.divisions = 0}),
            "--divisions 0: write a power of two, as 16 or 32, up to 16384");
  EXPECT_EQ(answer({.particles = 1500, .divisions = 64}),
            "--divisions 64: with 1500 particles the tank is 12 cells long and 6 deep, so write 32 "
            "or less");
  EXPECT_EQ(answer({.particles = 99}), "--particles 99: write a number from 100 to 20000000");
  EXPECT_EQ(answer({.frames = 0}), "--frames 0: write 1 or more");
  EXPECT_EQ(answer({.particles = 1500, .divisions = 32}), "accepted");
}

TEST(fluidanimate, writes_a_point_cloud) {
  fluidanimate f({.particles = 500, .frames = 2, .divisions = 2});
  run_and_verify(f, {});
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

// ---- facesim ------------------------------------------------------------------------------------

constexpr std::size_t few_tetrahedra = 605;  // the last cell is cut short

std::vector<face_point> places_after(facesim& f, const team& t) {
  run(f, t);
  return f.state().places;
}

TEST(facesim, is_the_same_under_every_model) {
  facesim f(make_face(few_tetrahedra), {.frames = 3, .partitions = 5});
  facesim in_tasks(make_face(few_tetrahedra),
                   {.frames = 3, .partitions = 5, .cut = loop_cut::tasks});
  const std::vector<face_point> alone = places_after(f, {});
  f.verify();
  const std::uint64_t fingerprint = f.fingerprint();
  for (facesim* each : {&f, &in_tasks}) {
    for (const team& t : teams_and_policies()) EXPECT_EQ(places_after(*each, t), alone) << t;
    EXPECT_EQ(each->fingerprint(), fingerprint);
    each->verify();
  }
}

TEST(facesim, joins_twice_for_the_forces_and_three_times_for_an_iteration) {
  for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks})
    for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
      facesim f(make_face(few_tetrahedra), {.frames = 2, .partitions = 7, .cut = cut});
      const program_run r = run(f, {m, 2});
      EXPECT_GE(f.newton_steps(), 4u) << "each frame begins and ends with one";
      EXPECT_GT(f.gradient_steps(), 10u);
      EXPECT_EQ(r.iterations, f.newton_steps() + f.gradient_steps());
      EXPECT_EQ(r.barriers, 2 * f.newton_steps() + 3 * f.gradient_steps());
      EXPECT_EQ(r.tasks, 7 * r.barriers);
    }
}

// How the nodes are divided only changes how sums are rounded.
TEST(facesim, moves_alike_in_any_number_of_partitions) {
  facesim one(make_face(few_tetrahedra), {.frames = 3, .partitions = 1});
  const std::vector<face_point> wanted = places_after(one, {});
  for (const std::size_t partitions : {std::size_t{2}, std::size_t{3}, one.face().nodes.size()}) {
    facesim f(make_face(few_tetrahedra), {.frames = 3, .partitions = partitions});
    const std::vector<face_point> places = places_after(f, {});
    for (std::size_t n = 0; n < places.size(); ++n)
      for (std::size_t axis = 0; axis < 3; ++axis)
        ASSERT_NEAR(places[n][axis], wanted[n][axis], 1e-9) << partitions;
  }
}

TEST(facesim, has_as_many_tetrahedra_as_it_is_told_all_of_one_volume) {
  for (const std::size_t count : {std::size_t{120}, std::size_t{121}, std::size_t{601},
                                  std::size_t{3000}, facesim_sizes[3].tetrahedra}) {
    const face_mesh face = make_face(count);
    ASSERT_EQ(face.tetrahedra.size(), count);
    std::set<std::uint8_t> muscles;
    for (std::size_t t = 0; t < count; ++t) {
      const auto& n = face.tetrahedra[t];
      ASSERT_NEAR(
          six_volumes(face.nodes[n[0]], face.nodes[n[1]], face.nodes[n[2]], face.nodes[n[3]]), 1,
          1e-9);
      if (face.muscles[t] == face_mesh::no_muscle) continue;
      muscles.insert(face.muscles[t]);
      ASSERT_NEAR(std::hypot(face.fibres[t][0], face.fibres[t][1], face.fibres[t][2]), 1, 1e-12);
    }
    if (count >= 3000) {
      EXPECT_EQ(muscles.size(), face_muscles.size());
    }
  }
}

TEST(facesim, stays_where_it_is_without_muscles) {
  face_mesh face = make_face(few_tetrahedra);
  std::ranges::fill(face.muscles, face_mesh::no_muscle);
  facesim f(face, {.frames = 3});
  EXPECT_EQ(places_after(f, on_kilter(2)), face.nodes);
  EXPECT_EQ(f.gradient_steps(), 0u);
  f.verify();
}

// One free node over a fixed triangle, its fibre upright. The flesh below is stretched by s in that
// direction alone, so its energy is mu (s-1)^2 + lambda/2 (s-1)^2 + pull/2 s^2, least at s = (2 mu
// + lambda) / (2 mu + lambda + pull).
TEST(facesim, shortens_a_muscle_as_far_as_the_energy_says) {
  const face_mesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.3, .2, 1}},
                      {{0, 1, 2, 3}},
                      {1, 1, 1, 0},
                      {0},
                      {{0, 0, 1}}};
  // the muscle needs 40 frames to contract and relax
  facesim f(one, {.frames = 20, .partitions = 2});
  run(f, on_kilter(2));
  f.verify();
  const double stiffness = 2 * flesh_mu + flesh_lambda;
  EXPECT_NEAR(f.state().places[3][2], stiffness / (stiffness + strongest_pull), 1e-3);
  EXPECT_NEAR(f.state().places[3][0], .3, 1e-3);
  EXPECT_NEAR(f.state().places[3][1], .2, 1e-3);
}

TEST(facesim, moves_twice_as_far_where_a_muscle_pulls_twice_as_strongly) {
  face_mesh face = make_face(3000);
  for (std::uint8_t& m : face.muscles)
    if (m == face_mesh::no_muscle || face_muscles[m].name != "zygomaticus left")
      m = face_mesh::no_muscle;
  std::array<double, 2> moved{};
  for (const std::size_t half : {1u, 2u}) {
    facesim f(face, {.frames = 8 * half});  // that muscle contracts in 16 frames
    run(f, on_kilter(2));
    f.verify();
    for (std::size_t n = 0; n < face.nodes.size(); ++n)
      for (std::size_t axis = 0; axis < 3; ++axis)
        moved[half - 1] += std::fabs(f.state().places[n][axis] - face.nodes[n][axis]);
  }
  EXPECT_NEAR(moved[1] / moved[0], 2, .4) << "less than twice, as flesh and muscle shorten";
}

std::string face_verdict(const face_mesh& face, const face_state& state) {
  return verdict_of([&] { verify(face, state); });
}

TEST(facesim, is_verified_by_itself) {
  facesim f(make_face(few_tetrahedra), {.frames = 6});
  EXPECT_THROW(f.verify(), wrong_result);
  run(f, on_kilter(2));
  EXPECT_EQ(face_verdict(f.face(), f.state()), "right");
  const std::size_t fixed =
      static_cast<std::size_t>(std::ranges::find(f.face().fixed, 1) - f.face().fixed.begin());
  const std::size_t loose = *std::ranges::find_if(
      f.face().tetrahedra[300], [&](std::uint32_t n) { return !f.face().fixed[n]; });
  const std::string place = "node " + std::to_string(loose);
  face_state wrong = f.state();
  wrong.places[fixed][2] += 1e-15;
  EXPECT_EQ(face_verdict(f.face(), wrong),
            "facesim: node " + std::to_string(fixed) + " is fixed to the skull and has moved");
  (wrong = f.state()).places[loose][0] += .01;
  EXPECT_NE(face_verdict(f.face(), wrong).find("is not at rest in the last frame"),
            std::string::npos);
  (wrong = f.state()).places[loose][2] -= 3;
  EXPECT_NE(face_verdict(f.face(), wrong).find("is turned inside out"), std::string::npos);
  (wrong = f.state()).places[loose][2] = std::nan("");
  EXPECT_NE(face_verdict(f.face(), wrong).find("is turned inside out"), std::string::npos);
  (wrong = f.state()).forces[loose][1] += 1e-4;
  EXPECT_NE(face_verdict(f.face(), wrong).find("the force on " + place + " along axis 1 is"),
            std::string::npos);
  (wrong = f.state()).forces[loose][1] += 5e-7;
  EXPECT_NE(face_verdict(f.face(), wrong).find("together, not zero"), std::string::npos);
  (wrong = f.state()).frames = 5;  // muscles pulled less then
  EXPECT_NE(face_verdict(f.face(), wrong), "right");
  EXPECT_EQ(face_verdict(f.face(), {}), "facesim: nothing has been computed");
}

TEST(facesim, ends_early_when_it_is_told_to) {
  facesim f(make_face(few_tetrahedra), {.frames = 100'000});
  for (const execution_model m :
       {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
    EXPECT_TRUE(ends_early(f, m));
    EXPECT_THROW(f.verify(), wrong_result);
  }
}

TEST(facesim, writes_a_closed_surface) {
  facesim f(make_face(few_tetrahedra), {.frames = 1});
  run(f, {});
  std::istringstream lines(f.result_file());
  std::vector<face_point> nodes;
  std::map<std::pair<std::size_t, std::size_t>, int> edges;
  double volume = 0, wanted = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "v") {
      face_point p;
      words >> p[0] >> p[1] >> p[2];
      nodes.push_back(p);
    } else if (word == "f") {
      std::array<std::size_t, 3> n;
      words >> n[0] >> n[1] >> n[2];
      for (std::size_t i = 0; i < 3; ++i) ++edges[{n[i], n[(i + 1) % 3]}];
      volume += six_volumes({0, 0, 0}, nodes.at(n[0] - 1), nodes.at(n[1] - 1), nodes.at(n[2] - 1));
    }
  }
  ASSERT_EQ(nodes.size(), f.face().nodes.size());
  for (const auto& [edge, count] : edges)
    ASSERT_EQ(count, (edges[{edge.second, edge.first}])) << "a hole";
  const auto& at = f.state().places;
  for (const auto& t : f.face().tetrahedra)
    wanted += six_volumes(at[t[0]], at[t[1]], at[t[2]], at[t[3]]);
  EXPECT_NEAR(volume, wanted, 1e-4) << "what the triangles enclose, seen from outside";
}

TEST(facesim, says_what_it_does_not_take) {
  EXPECT_EQ(refusal([] { (void)make_face(119); }), "--tetrahedra 119: write 120 to 20000000");
  EXPECT_EQ(refusal([] { (void)make_face(std::size_t{1} << 60); }),
            "--tetrahedra 1152921504606846976: write 120 to 20000000");
  const face_mesh face = make_face(120);
  const std::string nodes = std::to_string(face.nodes.size());
  EXPECT_EQ(refusal([&] { (void)facesim(face, {.frames = 0}); }), "--frames 0: write 1 to 100000");
  EXPECT_EQ(refusal([&] { (void)facesim(face, {.partitions = 0}); }),
            "--partitions 0: write 1 to " + nodes);
  EXPECT_EQ(refusal([&] { (void)facesim(face, {.partitions = face.nodes.size() + 1}); }),
            "--partitions " + std::to_string(face.nodes.size() + 1) + ": write 1 to " + nodes);
}

}  // namespace
}  // namespace kilter::apps
