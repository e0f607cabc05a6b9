// What is seen in pictures is the same under every model. A body is found where it was drawn;
// pictures are found that anybody would find alike.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "apps/programs/bodytrack.hpp"
#include "apps/programs/ferret.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// ---- bodytrack ----------------------------------------------------------------------------------

/// The least that tells whether the same is found; too few particles to follow anybody.
constexpr bodytrack_options few_particles{
    .frames = 4, .particles = 21, .layers = 2, .tasks = 5, .width = 64};

struct poses_and_last {
  std::vector<body_pose> poses;
  std::vector<double> errors, weights;

  bool operator==(const poses_and_last&) const = default;
};

poses_and_last poses_after(bodytrack& b, const team& t) {
  run(b, t);
  return {b.result().poses, b.result().last.errors, b.result().last.weights};
}

TEST(bodytrack, is_the_same_under_every_model) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent}) {
    bodytrack_options o = few_particles;
    o.order = order;
    bodytrack b(o);
    const poses_and_last alone = poses_after(b, {});
    const std::uint64_t fingerprint = b.fingerprint();
    for (const team& t : teams_and_policies()) EXPECT_TRUE(poses_after(b, t) == alone) << t;
    EXPECT_EQ(b.fingerprint(), fingerprint);
    o.tasks = 21;  // and so other strips of the pictures
    bodytrack cut_smaller(o);
    EXPECT_TRUE(poses_after(cut_smaller, on_kilter(2)) == alone);
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
    const program_run tasks = run(b, on_kilter(2)),
                      loops = run(b, {execution_model::static_threads, 2});
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
      run(b, on_kilter(2));
      b.verify();
      EXPECT_EQ(b.found().size(), 1u);
    }
}

std::string body_verdict(const bodytrack_options& o, const tracked_body& found) {
  return verdict_of([&] { verify(o, found); });
}

TEST(bodytrack, is_verified_by_itself) {
  for (const frames_order order : {frames_order::in_order, frames_order::independent}) {
    const bodytrack_options o{.order = order};
    bodytrack b(o);
    run(b, on_kilter(2));
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
  run(b, {});
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
      EXPECT_TRUE(ends_early(b, m));
      EXPECT_THROW(b.verify(), wrong_result);
      EXPECT_TRUE(b.found().empty());
    }
  }
}

TEST(bodytrack, writes_a_line_for_each_frame) {
  bodytrack b(few_particles);
  run(b, {});
  const std::string text = b.result_file();
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  EXPECT_EQ(std::ranges::count(text, ','), 5 * 31);
  EXPECT_TRUE(text.starts_with("frame,x,y,z,heading,"));
}

std::string body_refusal(const bodytrack_options& o) {
  return refusal([&] { bodytrack b(o); });
}

TEST(bodytrack, says_what_it_does_not_take) {
  EXPECT_EQ(body_refusal({.frames = 0}), "--frames 0: write 1 to 100000");
  EXPECT_EQ(body_refusal({.particles = 0}), "--particles 0: write 1 to 1000000");
  EXPECT_EQ(body_refusal({.layers = 101}), "--layers 101: write 1 to 100");
  EXPECT_EQ(body_refusal({.particles = 5, .tasks = 6}), "--tasks 6: write 1 to 5");
  EXPECT_EQ(body_refusal({.width = 10}), "--width 10: write 64 to 4096");
}

// ---- ferret -------------------------------------------------------------------------------------

std::unique_ptr<ferret> ferret_of_drawn(std::size_t database, std::size_t queries,
                                        const ferret_options& o) {
  using use = drawn_pictures::use;
  return std::make_unique<ferret>(
      std::make_unique<drawn_pictures>(use::database, database, database, 1),
      std::make_unique<drawn_pictures>(use::queries, queries, database, 1), o);
}

std::string ferret_verdict(const ferret& f) {
  return verdict_of([&] { f.verify(); });
}

TEST(ferret, is_the_same_under_every_model) {
  const auto pipeline = ferret_of_drawn(80, 14, {.top = 5, .index = {.candidates = 20}}),
             tasks = ferret_of_drawn(
                 80, 14, {.top = 5, .form = ferret_form::tasks, .index = {.candidates = 20}}),
             narrow = ferret_of_drawn(80, 14,
                                      {.top = 5,
                                       .form = ferret_form::tasks,
                                       .reads = 1,
                                       .slots = 1,
                                       .index = {.candidates = 20}});
  run(*pipeline, {});
  EXPECT_EQ(ferret_verdict(*pipeline), "right");
  const auto alone = pipeline->matches();
  const std::uint64_t mark = pipeline->fingerprint();
  const std::string file = pipeline->result_file();
  std::vector<team> all = teams();
  all.insert(all.end(), {on_kilter(1, "rws"), on_kilter(4, "dam-c"), on_kilter(8, "rws")});
  for (ferret* f : {pipeline.get(), tasks.get(), narrow.get()}) {
    for (const team& t : all) {
      run(*f, t);
      EXPECT_EQ(f->matches(), alone) << t;
    }
    EXPECT_EQ(f->fingerprint(), mark);
    EXPECT_EQ(f->result_file(), file);
  }
}

TEST(ferret, counts_six_tasks_a_query) {
  for (const ferret_form form : {ferret_form::pipeline, ferret_form::tasks}) {
    const auto f = ferret_of_drawn(40, 11, {.form = form, .index = {.candidates = 5}});
    for (const execution_model m :
         {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
      const program_run r = run(*f, {m, 2});
      EXPECT_EQ(r.iterations, 11u);
      EXPECT_EQ(r.tasks, 66u);
      EXPECT_EQ(r.barriers, m == execution_model::kilter && form == ferret_form::tasks ? 1u : 0u)
          << "all wait at the end of a graph";
    }
  }
  EXPECT_EQ(ferret_sizes[3].queries * 6, 21'000u) << "as the public task version counts them";
}

TEST(ferret, finds_pictures_of_the_same_theme) {
  // Pictures n and n + 5 are of one theme, of which there are five.
  const auto f = ferret_of_drawn(100, 12, {.top = 8, .index = {.candidates = 40}});
  run(*f, on_kilter(2));
  for (std::size_t q = 0; q < 12; ++q) {
    const std::size_t drawn = q % 4 == 0 ? q * 7919 % 100 : 100 + q;
    ASSERT_EQ(f->matches()[q].size(), 8u);
    for (const ferret_match& m : f->matches()[q]) EXPECT_EQ(m.picture % 5, drawn % 5) << q;
    if (q % 4 == 0)
      EXPECT_EQ(f->matches()[q][0], (ferret_match{static_cast<std::uint32_t>(drawn), 0.0}));
    else
      EXPECT_GT(f->matches()[q][0].distance, 0);
  }
}

picture ferret_halves(std::array<std::uint8_t, 3> left, std::array<std::uint8_t, 3> right) {
  picture p{64, 64, {}};
  for (std::size_t i = 0; i < p.width * p.height; ++i)
    p.rgb.insert(p.rgb.end(), (i % 64 < 32 ? left : right).begin(),
                 (i % 64 < 32 ? left : right).end());
  return p;
}

picture_signature ferret_signature(const picture& p) {
  segmented_picture s;
  picture_signature regions;
  segment(p, s);
  extract(s, regions);
  return regions;
}

TEST(ferret, sees_two_halves_as_two_regions) {
  const picture_signature two = ferret_signature(ferret_halves({255, 0, 0}, {0, 0, 255})),
                          one = ferret_signature(ferret_halves({9, 9, 9}, {9, 9, 9}));
  ASSERT_EQ(two.size(), 2u);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].cells, 1024);
  EXPECT_EQ(two[0].cells, 512);
  EXPECT_EQ(two[0].features[0], 1.0f);
  EXPECT_EQ(two[0].features[2], 0.0f);
  EXPECT_EQ(two[1].features[2], 1.0f);
  EXPECT_FLOAT_EQ(two[1].features[6] - two[0].features[6], 0.2f)
      << "half the width, which counts .4";
  EXPECT_FLOAT_EQ(two[0].features[10], static_cast<float>(0.3 * std::sqrt(0.5)));
  // Another blue, by a fifth: half of the picture changes by that, and so does the step beside the
  // red, which one pixel in 32 of that half makes, in one of three colours.
  EXPECT_NEAR(picture_distance(two, ferret_signature(ferret_halves({255, 0, 0}, {0, 0, 204}))),
              0.5 * (0.2 + 0.2 / (3 * 32)), 1e-7);
  EXPECT_EQ(picture_distance(two, two), 0.0);
  for (const auto& [width, height] :
       {std::pair(1u, 1u), std::pair(3u, 100u), std::pair(33u, 31u)}) {
    const picture_signature s = ferret_signature(
        {width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height, 128)});
    ASSERT_EQ(s.size(), 1u);
    EXPECT_FLOAT_EQ(s[0].features[1], 128.0f / 255);
  }
}

TEST(ferret, measures_the_least_work) {
  // Along one line the least work is known: the area between the sums of both.
  const auto on_a_line = [](const std::vector<int>& cells) {
    picture_signature s;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (cells[i] > 0) s.push_back({{static_cast<float>(i)}, cells[i]});
    return s;
  };
  std::uint64_t random = 12345;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((random >> 33) % below);
  };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int> a(10), b(10);
    for (int left = 1024; left > 0;) {
      const int some = std::min<int>(left, 1 + static_cast<int>(next(300)));
      a[next(10)] += some;
      left -= some;
    }
    for (int left = 1024; left > 0;) {
      const int some = std::min<int>(left, 1 + static_cast<int>(next(300)));
      b[next(10)] += some;
      left -= some;
    }
    long area = 0, ahead = 0;
    for (std::size_t i = 0; i < 10; ++i) area += std::labs(ahead += a[i] - b[i]);
    EXPECT_NEAR(picture_distance(on_a_line(a), on_a_line(b)), static_cast<double>(area) / 1024,
                1e-12);
    EXPECT_NEAR(distance_by_rounds(on_a_line(a), on_a_line(b)), static_cast<double>(area) / 1024,
                1e-12);
  }
  const drawn_pictures all(drawn_pictures::use::database, 30, 30, 3);
  for (std::size_t i = 0; i + 1 < 30; ++i) {
    const picture_signature a = ferret_signature(all.load(i)),
                            b = ferret_signature(all.load(i + 1));
    EXPECT_NEAR(picture_distance(a, b), distance_by_rounds(a, b), 1e-9);
    EXPECT_NEAR(picture_distance(a, b), picture_distance(b, a), 1e-9);
  }
}

TEST(ferret, is_verified_by_itself) {
  const auto f = ferret_of_drawn(60, 6, {.top = 4, .index = {.candidates = 10}});
  EXPECT_EQ(ferret_verdict(*f), "ferret: 0 queries of 6 have been answered");
  run(*f, {});
  const auto right = f->matches();
  ASSERT_EQ(ferret_verdict(*f), "right");
  const auto verdict = [&](auto&& change) {
    auto wrong = right;
    change(wrong);
    f->replace_matches(wrong);
    return ferret_verdict(*f);
  };
  EXPECT_EQ(verdict([](auto& m) { m[1][0].distance += 1e-6; }),
            "ferret: query 1: picture " + std::to_string(right[1][0].picture) +
                " is not as far as was said");
  EXPECT_EQ(verdict([](auto& m) { std::swap(m[2][1], m[2][2]); }),
            "ferret: query 2: picture " + std::to_string(right[2][2].picture) + " is not number 2");
  EXPECT_EQ(verdict([](auto& m) { m[3].pop_back(); }),
            "ferret: query 3: 3 pictures were found, of 10 that share most keys with it");
  EXPECT_EQ(verdict([](auto& m) { m[5][1] = m[5][0]; }),
            "ferret: query 5: picture " + std::to_string(right[5][0].picture) +
                " is none of those that share most keys with it, or was found twice");
  EXPECT_EQ(verdict([](auto& m) { m.pop_back(); }), "ferret: 5 queries of 6 have been answered");
}

TEST(ferret, ends_early_when_it_is_told_to) {
  for (const ferret_form form : {ferret_form::pipeline, ferret_form::tasks}) {
    const auto f = ferret_of_drawn(40, 40, {.form = form});
    for (const execution_model m :
         {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
      EXPECT_TRUE(ends_early(*f, m));
      // else every 50 ms
      const bool asks_at_once = form == ferret_form::pipeline || m != execution_model::kilter;
      EXPECT_TRUE(!asks_at_once || f->matches().empty());
    }
  }
}

TEST(ferret, reads_folders) {
  const scratch here;
  const std::filesystem::path& folder = here.path();
  std::filesystem::create_directory(folder / "none");
  here.write("b, blue.PNG", as_png(ferret_halves({0, 0, 250}, {0, 0, 200})));
  here.write("a red.png", as_png(ferret_halves({250, 0, 0}, {200, 0, 0})));
  here.write("notes.txt", "no picture");
  const auto open = [&] { return std::make_unique<folder_pictures>(folder.string(), "--input"); };
  ferret f(open(), open(), {.top = 1});
  run_and_verify(f, on_kilter(2));
  EXPECT_EQ(f.result_file(),
            "query,rank,picture,distance\na red.png,1,a red.png,0\n\"b, blue.PNG\",1,\"b, "
            "blue.PNG\",0\n");
  EXPECT_EQ(refusal([&] { folder_pictures((folder / "none").string(), "--input"); }),
            "--input '" + (folder / "none").string() +
                "': no picture is in this folder; PNG and PPM files are read");
  expect_names(refusal([&] { folder_pictures((folder / "missing").string(), "--database"); }),
               {"the folder cannot be read: No such file"});
  here.write("c.ppm", "P6\n2 2\n255\nabc");
  for (const execution_model m : {execution_model::static_threads, execution_model::kilter})
    for (const ferret_form form : {ferret_form::pipeline, ferret_form::tasks}) {
      ferret g(std::make_unique<drawn_pictures>(drawn_pictures::use::database, 20, 20, 1), open(),
               {.form = form});
      expect_names(refusal([&] { run(g, {m, 2}); }), {"c.ppm' ends early"});
    }
  expect_names(refusal([&] { ferret(open(), open(), {}); }), {"c.ppm' ends early"});
}

TEST(ferret, refuses_what_it_cannot_do) {
  for (const ferret_options& o :
       {ferret_options{.top = 0}, ferret_options{.top = 10'001}, ferret_options{.reads = 0},
        ferret_options{.slots = 5000}, ferret_options{.index = {.tables = 0}},
        ferret_options{.index = {.bits = 25}}, ferret_options{.index = {.candidates = 0}}})
    EXPECT_THROW(ferret_of_drawn(10, 1, o), input_error);
}

}  // namespace
}  // namespace kilter::apps
