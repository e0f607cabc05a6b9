// Ferret finds the same pictures under every model, and those that anybody would find.

#include "apps/programs/ferret.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

bool ferret_never() { return false; }

std::unique_ptr<ferret> ferret_of_drawn(std::size_t database, std::size_t queries,
                                        const ferret_options& o) {
  using use = drawn_pictures::use;
  return std::make_unique<ferret>(
      std::make_unique<drawn_pictures>(use::database, database, database, 1),
      std::make_unique<drawn_pictures>(use::queries, queries, database, 1), o);
}

program_run ferret_run(ferret& f, execution_model m, std::uint32_t threads = 1,
                       const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  return f.run(how, ferret_never);
}

std::string ferret_verdict(const ferret& f) {
  try {
    f.verify();
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
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
  EXPECT_TRUE(ferret_run(*pipeline, execution_model::serial).complete);
  EXPECT_EQ(ferret_verdict(*pipeline), "right");
  const auto alone = pipeline->matches();
  const std::uint64_t mark = pipeline->fingerprint();
  const std::string file = pipeline->result_file();
  for (ferret* f : {pipeline.get(), tasks.get(), narrow.get()}) {
    for (const auto& [m, threads] : testing::teams()) {
      EXPECT_TRUE(ferret_run(*f, m, threads).complete);
      EXPECT_EQ(f->matches(), alone) << model_names[static_cast<std::size_t>(m)];
    }
    for (const std::uint32_t threads : {1u, 4u, 8u}) {
      EXPECT_TRUE(ferret_run(*f, execution_model::kilter, threads, threads == 4 ? "dam-c" : "rws")
                      .complete);
      EXPECT_EQ(f->matches(), alone) << threads;
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
      const program_run r = ferret_run(*f, m, 2);
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
  ferret_run(*f, execution_model::kilter, 2);
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
  ferret_run(*f, execution_model::serial);
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
      executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
      EXPECT_FALSE(f->run(how, [] { return true; }).complete);
      // else every 50 ms
      const bool asks_at_once = form == ferret_form::pipeline || m != execution_model::kilter;
      EXPECT_TRUE(!asks_at_once || f->matches().empty());
    }
  }
}

TEST(ferret, reads_folders) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "kilter-ferret";
  fs::remove_all(folder);
  fs::create_directories(folder / "none");
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  write("b, blue.PNG", as_png(ferret_halves({0, 0, 250}, {0, 0, 200})));
  write("a red.png", as_png(ferret_halves({250, 0, 0}, {200, 0, 0})));
  write("notes.txt", "no picture");
  const auto open = [&] { return std::make_unique<folder_pictures>(folder.string(), "--input"); };
  ferret f(open(), open(), {.top = 1});
  ferret_run(f, execution_model::kilter, 2);
  f.verify();
  EXPECT_EQ(f.result_file(),
            "query,rank,picture,distance\na red.png,1,a red.png,0\n\"b, blue.PNG\",1,\"b, "
            "blue.PNG\",0\n");
  const auto said = [](auto&& does) -> std::string {
    try {
      does();
    } catch (const input_error& e) {
      return e.what();
    }
    return "nothing";
  };
  EXPECT_EQ(said([&] { folder_pictures((folder / "none").string(), "--input"); }),
            "--input '" + (folder / "none").string() +
                "': no picture is in this folder; PNG and PPM files are read");
  EXPECT_NE(said([&] {
              folder_pictures((folder / "missing").string(), "--database");
            }).find("the folder cannot be read: No such file"),
            std::string::npos);
  write("c.ppm", "P6\n2 2\n255\nabc");
  for (const execution_model m : {execution_model::static_threads, execution_model::kilter})
    for (const ferret_form form : {ferret_form::pipeline, ferret_form::tasks}) {
      ferret g(std::make_unique<drawn_pictures>(drawn_pictures::use::database, 20, 20, 1), open(),
               {.form = form});
      EXPECT_NE(said([&] { ferret_run(g, m, 2); }).find("c.ppm' ends early"), std::string::npos);
    }
  EXPECT_NE(said([&] { ferret(open(), open(), {}); }).find("c.ppm' ends early"), std::string::npos);
  fs::remove_all(folder);
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
