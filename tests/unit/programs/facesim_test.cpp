// A face under every model moves the same, bit for bit, and comes to rest where its energy says.

#include "apps/programs/facesim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

constexpr std::size_t few_tetrahedra = 605;  // the last cell is cut short

program_run run_face(facesim& f, execution_model m, std::uint32_t threads,
                     const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  const program_run r = f.run(how, [] { return false; });
  EXPECT_TRUE(r.complete);
  EXPECT_GT(r.tasks, 0u);
  return r;
}

std::vector<face_point> places_after(facesim& f, execution_model m, std::uint32_t threads,
                                     const std::string& policy = "auto") {
  run_face(f, m, threads, policy);
  return f.state().places;
}

TEST(facesim, is_the_same_under_every_model) {
  facesim f(make_face(few_tetrahedra), {.frames = 3, .partitions = 5});
  facesim in_tasks(make_face(few_tetrahedra),
                   {.frames = 3, .partitions = 5, .cut = loop_cut::tasks});
  const std::vector<face_point> alone = places_after(f, execution_model::serial, 1);
  f.verify();
  const std::uint64_t fingerprint = f.fingerprint();
  for (facesim* each : {&f, &in_tasks}) {
    for (const auto& [m, threads] : testing::teams())
      EXPECT_EQ(places_after(*each, m, threads), alone) << model_names[static_cast<std::size_t>(m)];
    for (const std::uint32_t threads : {1u, 4u, 8u})
      EXPECT_EQ(places_after(*each, execution_model::kilter, threads), alone) << threads;
    for (const char* policy : {"rws", "dam-c", "dam-p", "cats", "dheft"})
      EXPECT_EQ(places_after(*each, execution_model::kilter, 4, policy), alone) << policy;
    EXPECT_EQ(each->fingerprint(), fingerprint);
    each->verify();
  }
}

TEST(facesim, joins_twice_for_the_forces_and_three_times_for_an_iteration) {
  for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks})
    for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
      facesim f(make_face(few_tetrahedra), {.frames = 2, .partitions = 7, .cut = cut});
      const program_run r = run_face(f, m, 2);
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
  const std::vector<face_point> wanted = places_after(one, execution_model::serial, 1);
  for (const std::size_t partitions : {std::size_t{2}, std::size_t{3}, one.face().nodes.size()}) {
    facesim f(make_face(few_tetrahedra), {.frames = 3, .partitions = partitions});
    const std::vector<face_point> places = places_after(f, execution_model::serial, 1);
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
  EXPECT_EQ(places_after(f, execution_model::kilter, 2), face.nodes);
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
  run_face(f, execution_model::kilter, 2);
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
    run_face(f, execution_model::kilter, 2);
    f.verify();
    for (std::size_t n = 0; n < face.nodes.size(); ++n)
      for (std::size_t axis = 0; axis < 3; ++axis)
        moved[half - 1] += std::fabs(f.state().places[n][axis] - face.nodes[n][axis]);
  }
  EXPECT_NEAR(moved[1] / moved[0], 2, .4) << "less than twice, as flesh and muscle shorten";
}

std::string face_verdict(const face_mesh& face, const face_state& state) {
  try {
    verify(face, state);
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
}

TEST(facesim, is_verified_by_itself) {
  facesim f(make_face(few_tetrahedra), {.frames = 6});
  EXPECT_THROW(f.verify(), wrong_result);
  run_face(f, execution_model::kilter, 2);
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
    executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
    EXPECT_FALSE(f.run(how, [] { return true; }).complete);
    EXPECT_THROW(f.verify(), wrong_result);
  }
}

TEST(facesim, writes_a_closed_surface) {
  facesim f(make_face(few_tetrahedra), {.frames = 1});
  run_face(f, execution_model::serial, 1);
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

template <class Make>
std::string face_refusal(Make&& make) {
  try {
    make();
  } catch (const input_error& e) {
    return e.what();
  }
  return "taken";
}

TEST(facesim, says_what_it_does_not_take) {
  EXPECT_EQ(face_refusal([] { (void)make_face(119); }), "--tetrahedra 119: write 120 to 20000000");
  EXPECT_EQ(face_refusal([] { (void)make_face(std::size_t{1} << 60); }),
            "--tetrahedra 1152921504606846976: write 120 to 20000000");
  const face_mesh face = make_face(120);
  const std::string nodes = std::to_string(face.nodes.size());
  EXPECT_EQ(face_refusal([&] { (void)facesim(face, {.frames = 0}); }),
            "--frames 0: write 1 to 100000");
  EXPECT_EQ(face_refusal([&] { (void)facesim(face, {.partitions = 0}); }),
            "--partitions 0: write 1 to " + nodes);
  EXPECT_EQ(face_refusal([&] { (void)facesim(face, {.partitions = face.nodes.size() + 1}); }),
            "--partitions " + std::to_string(face.nodes.size() + 1) + ": write 1 to " + nodes);
}

}  // namespace
}  // namespace kilter::apps
