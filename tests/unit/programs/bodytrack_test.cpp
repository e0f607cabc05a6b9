// A body is followed under every model alike, bit for bit, and is found where it was drawn.

#include "apps/programs/bodytrack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

/// The least that tells whether the same is found; too few particles to follow anybody.
constexpr bodytrack_options few_particles{
    .frames = 4, .particles = 21, .layers = 2, .tasks = 5, .width = 64};

program_run run_tracker(bodytrack& b, execution_model m, std::uint32_t threads,
                        const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  const program_run r = b.run(how, [] { return false; });
  EXPECT_TRUE(r.complete);
  EXPECT_GT(r.tasks, 0u);
  return r;
}

struct poses_and_last {
  std::vector<body_pose> poses;
  std::vector<double> errors, weights;

  bool operator==(const poses_and_last&) const = default;
};

poses_and_last poses_after(bodytrack& b, execution_model m, std::uint32_t threads,
                           const std::string& policy = "auto") {
  run_tracker(b, m, threads, policy);
  return {b.result().poses, b.result().last.errors, b.result().last.weights};
}

TEST(bodytrack, is_the_same_under_every_model) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent}) {
    bodytrack_options o = few_particles;
    o.order = order;
    bodytrack b(o);
    const poses_and_last alone = poses_after(b, execution_model::serial, 1);
    const std::uint64_t fingerprint = b.fingerprint();
    for (const auto& [m, threads] : testing::teams())
      EXPECT_TRUE(poses_after(b, m, threads) == alone) << model_names[static_cast<std::size_t>(m)];
    for (const std::uint32_t threads : {1u, 4u, 8u})
      EXPECT_TRUE(poses_after(b, execution_model::kilter, threads) == alone) << threads;
    for (const char* policy : {"rws", "dam-c", "dam-p", "cats", "dheft"})
      EXPECT_TRUE(poses_after(b, execution_model::kilter, 4, policy) == alone) << policy;
    EXPECT_EQ(b.fingerprint(), fingerprint);
    o.tasks = 21;  // and so other strips of the pictures
    bodytrack cut_smaller(o);
    EXPECT_TRUE(poses_after(cut_smaller, execution_model::kilter, 2) == alone);
  }
}

// In order and with 5 tasks: two strips of each of four pictures. Independent frames have one image
// task for each camera. Both: a task that draws, and in each layer one that resamples, 5 that
// generate and 5 that weigh; then one that estimates.
TEST(bodytrack, has_as_many_tasks_as_its_structure_says) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent}) {
    bodytrack_options o = few_particles;
    o.order = order;
    bodytrack b(o);
    const std::size_t images = order == frames_order::independent ? 4 : 8;
    const program_run tasks = run_tracker(b, execution_model::kilter, 2),
                      loops = run_tracker(b, execution_model::static_threads, 2);
    EXPECT_EQ(tasks.tasks, 4 * (1 + images + 2 * (1 + 5 + 5) + 1));
    EXPECT_EQ(tasks.barriers, 0u);
    EXPECT_EQ(loops.tasks, order == frames_order::independent ? 4 : 4 * (8 + 2 * 5));
    EXPECT_EQ(loops.barriers, order == frames_order::independent ? 1 : 4 * (1 + 2));
    EXPECT_EQ(tasks.iterations, 4u);
  }
}

TEST(bodytrack, finds_the_body_where_it_was_drawn) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      bodytrack b({.order = order, .seed = seed});
      EXPECT_THROW(b.verify(), wrong_result);
      run_tracker(b, execution_model::kilter, 2);
      b.verify();
      EXPECT_EQ(b.found().size(), 1u);
    }
}

std::string body_verdict(const bodytrack_options& o, const tracked_body& found) {
  try {
    verify(o, found);
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
}

TEST(bodytrack, is_verified_by_itself) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent}) {
    const bodytrack_options o{.order = order};
    bodytrack b(o);
    run_tracker(b, execution_model::kilter, 2);
    EXPECT_EQ(body_verdict(o, b.result()), "right");
    const auto says = [&](const tracked_body& of, const std::string& what) {
      EXPECT_NE(body_verdict(o, of).find(what), std::string::npos) << what;
    };
    // What no likelihood, or one that says nothing, would give: everybody stays about where the
    // frame began.
    tracked_body wrong = b.result();
    for (std::size_t f = 0; f < o.frames; ++f)
      wrong.poses[f] = known_pose(order, order == frames_order::independent ? f : 0);
    says(wrong, "from the right one");
    (wrong = b.result()).last.errors[0] += 1e-6;
    says(wrong, "bodytrack: particle 0 of the last frame has error");
    (wrong = b.result()).last.weights[0] += 1e-6;
    says(wrong, "together, not 1");
    wrong = b.result();
    std::ranges::reverse(wrong.last.weights);
    says(wrong, "of the last frame");
    (wrong = b.result()).poses.back()[30] += 1e-6;
    says(wrong, "not the weighted mean of its particles: right knee bend");
    (wrong = b.result()).poses[2][1] = std::nan("");
    says(wrong, "in frame 2 the pose is");
    says({}, "not all frames");
  }
}

TEST(bodytrack, loses_the_body_with_too_few_particles_and_says_so) {
  const bodytrack_options o{.frames = 12, .particles = 1, .layers = 1, .tasks = 1, .width = 64};
  bodytrack b(o);
  run_tracker(b, execution_model::serial, 1);
  EXPECT_NE(body_verdict(o, b.result()).find("from the right one"), std::string::npos);
}

void expect_near(const body_point& p, const body_point& wanted) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(p[i], wanted[i], 1e-12) << i;
}

TEST(bodytrack, puts_limbs_where_their_joints_say) {
  body_pose p{};
  auto limbs = limbs_at(p);
  expect_near(limbs[0].last, {0, .55, 0});
  expect_near(limbs[1].last, {0, .85, 0});
  expect_near(limbs[2].first, {.22, .5, 0});
  expect_near(limbs[3].last, {.22, -.07, 0});
  expect_near(limbs[5].last, {-.22, -.07, 0});
  expect_near(limbs[9].last, {-.1, -.9, 0});
  p[14] = -std::numbers::pi / 2;  // the left elbow, bent to the front
  p[30] = std::numbers::pi / 2;   // the right knee, bent to the back
  p[9] = std::numbers::pi / 6;    // the left shoulder is lifted
  limbs = limbs_at(p);
  expect_near(limbs[2].first, {.22 * std::cos(std::numbers::pi / 6), .61, 0});
  expect_near(limbs[3].last, {.22 * std::cos(std::numbers::pi / 6), .31, .27});
  expect_near(limbs[9].last, {-.1, -.47, -.43});
  body_pose turned = p;
  turned[0] = 2;
  turned[3] = std::numbers::pi / 2;  // what was in front is to the left
  expect_near(limbs_at(turned)[3].last, {2.27, .31, -.22 * std::cos(std::numbers::pi / 6)});
  body_pose moved = p;
  moved[1] += .3;
  EXPECT_NEAR(body_distance(p, moved), .3, 1e-12);
}

TEST(bodytrack, sees_points_as_a_pinhole_does) {
  for (std::size_t c = 0; c < body_cameras; ++c) {
    const double height = cameras_of_bodies[c].height, angle = cameras_of_bodies[c].angle;
    const seen_point middle = see({0, height, 0}, c, 640, 480),
                     above = see({0, height + .5, 0}, c, 640, 480);
    EXPECT_NEAR(middle.x, 320, 1e-9);
    EXPECT_NEAR(middle.y, 240, 1e-9);
    EXPECT_NEAR(middle.scale, .95 * 640 / 4.5, 1e-9);
    EXPECT_NEAR(above.y, 240 - .5 * .95 * 640 / 4.5, 1e-9);
    EXPECT_NEAR(see({1.5 * std::cos(angle), height, 1.5 * std::sin(angle)}, c, 640, 480).scale,
                .95 * 640 / 3, 1e-9)
        << "nearer, so larger";
  }
}

TEST(bodytrack, finds_edges_and_what_is_not_the_room) {
  const picture_shape shape{64, 48};
  body_pictures room, pictures;
  for (auto& r : room) r.assign(64 * 48, 50);
  pictures = room;
  for (std::size_t y = 0; y < 48; ++y)
    for (std::size_t x = 32; x < 64; ++x) pictures[1][y * 64 + x] = 150;
  body_maps maps{room, room}, strips = maps;
  for (std::size_t c = 0; c < body_cameras; ++c) {
    find_rows(pictures, room, shape, c, 0, 48, maps);
    for (const auto& [first, last] : {std::pair{0, 7}, {7, 8}, {8, 48}})
      find_rows(pictures, room, shape, c, first, last, strips);
  }
  EXPECT_EQ(maps.inside, strips.inside);
  EXPECT_EQ(maps.edges, strips.edges);
  EXPECT_EQ(std::ranges::count(maps.edges[0], 0), 64 * 48) << "nothing is to be seen there";
  const std::uint8_t *inside = maps.inside[1].data() + 20 * 64,
                     *edges = maps.edges[1].data() + 20 * 64;
  EXPECT_EQ(std::vector<int>(inside + 30, inside + 34), (std::vector<int>{0, 0, 255, 255}));
  // The edge is two pixels wide, and the weights are 1, 2, 1: a third of it beside them, and
  // nothing further away.
  EXPECT_EQ(std::vector<int>(edges + 29, edges + 35), (std::vector<int>{0, 85, 255, 255, 85, 0}));
}

TEST(bodytrack, counts_what_a_pose_lacks) {
  const picture_shape shape{64, 48};
  body_maps all, none;
  for (std::size_t c = 0; c < body_cameras; ++c) {
    all.inside[c] = all.edges[c] = std::vector<std::uint8_t>(64 * 48, 255);
    none.inside[c] = none.edges[c] = std::vector<std::uint8_t>(64 * 48, 0);
  }
  EXPECT_NEAR(body_error(walking_pose(9), all, shape), 0, 1e-15);
  EXPECT_NEAR(body_error(walking_pose(9), none, shape), 1, 1e-15);
  EXPECT_NEAR(body_error(walking_pose(9), {all.inside, none.edges}, shape), .5, 1e-15);
  body_pose away = walking_pose(9);
  away[1] += 100;
  EXPECT_NEAR(body_error(away, all, shape), 1, 1e-15) << "outside of all pictures";
}

TEST(bodytrack, prefers_the_right_pose) {
  const picture_shape shape{160, 120};
  const body_pictures room = room_pictures(shape, 1);
  body_pictures pictures = room;
  body_maps maps{room, room};
  draw_body(walking_pose(20), 0, room, shape, 1, pictures);
  for (std::size_t c = 0; c < body_cameras; ++c)
    find_rows(pictures, room, shape, c, 0, shape.height, maps);
  const double right = body_error(walking_pose(20), maps, shape);
  EXPECT_LT(right, .2);
  for (const std::size_t d : {0u, 1u, 2u, 3u, 11u, 18u, 23u, 27u, 30u})
    for (const double move : {-.25, .25}) {
      body_pose moved = walking_pose(20);
      moved[d] += move;
      EXPECT_LT(right, body_error(moved, maps, shape)) << body_degrees[d].name;
    }
}

TEST(bodytrack, ends_early_when_it_is_told_to) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent}) {
    bodytrack b({.frames = 300, .particles = 50, .layers = 2, .width = 64, .order = order});
    for (const execution_model m :
         {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
      executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
      EXPECT_FALSE(b.run(how, [] { return true; }).complete);
      EXPECT_THROW(b.verify(), wrong_result);
      EXPECT_TRUE(b.found().empty());
    }
  }
}

TEST(bodytrack, writes_a_line_for_each_frame) {
  bodytrack b(few_particles);
  run_tracker(b, execution_model::serial, 1);
  const std::string text = b.result_file();
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  EXPECT_EQ(std::ranges::count(text, ','), 5 * 31);
  EXPECT_TRUE(text.starts_with("frame,x,y,z,heading,"));
}

std::string body_refusal(const bodytrack_options& o) {
  try {
    bodytrack b(o);
  } catch (const input_error& e) {
    return e.what();
  }
  return "taken";
}

TEST(bodytrack, says_what_it_does_not_take) {
  EXPECT_EQ(body_refusal({.frames = 0}), "--frames 0: write 1 to 100000");
  EXPECT_EQ(body_refusal({.particles = 0}), "--particles 0: write 1 to 1000000");
  EXPECT_EQ(body_refusal({.layers = 101}), "--layers 101: write 1 to 100");
  EXPECT_EQ(body_refusal({.particles = 5, .tasks = 6}), "--tasks 6: write 1 to 5");
  EXPECT_EQ(body_refusal({.width = 10}), "--width 10: write 64 to 4096");
}

}  // namespace
}  // namespace kilter::apps
