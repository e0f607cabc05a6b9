// VGG-16 under every model gives the same, bit for bit where its tasks are cut alike, and what it
// gives is verified by itself.

#include "apps/programs/vgg16.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "apps/programs/network_input.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

vgg16 sample_network(const vgg16_options& o, std::size_t resolution = 32, std::size_t divide = 16) {
  network n = vgg16_network(resolution, divide);
  draw_weights(n, 1);
  std::vector<float> input = network_input(drawn_picture(resolution, 1), resolution, n.scale);
  return {std::move(n), std::move(input), o};
}

std::vector<float> probabilities_of(vgg16& v, const team& t) {
  run_and_verify(v, t);
  return v.result().probabilities;
}

TEST(vgg16, is_the_same_under_every_model) {
  vgg16 v = sample_network({.pictures = 2, .block_length = 8});
  const std::vector<float> alone = probabilities_of(v, {});
  for (const team& t : teams_and_policies()) EXPECT_EQ(probabilities_of(v, t), alone) << t;
}

// Each member of a team is one core, so BLAS must not bring more.
TEST(vgg16, has_no_threads_but_those_of_its_model) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  vgg16 v = sample_network({.pictures = 1, .block_length = 64}, 256, 4);
  for (const execution_model m : {execution_model::static_threads, execution_model::kilter}) {
    executor how = executor_of({m, 2});
    const auto before = threads();
    (void)v.run(how, [] { return false; });
    EXPECT_LE(threads(), before) << model_names[static_cast<std::size_t>(m)];
  }
}

TEST(vgg16, takes_blocks_of_any_length) {
  vgg16 all_at_once = sample_network({.pictures = 1, .block_length = 4096});
  const std::vector<float> one = probabilities_of(all_at_once, {});
  const float largest = *std::ranges::max_element(one);
  for (const std::size_t length : {1u, 3u, 16u, 31u, 64u}) {
    vgg16 v = sample_network({.pictures = 1, .block_length = length});
    const std::vector<float> now = probabilities_of(v, on_kilter(2));
    for (std::size_t c = 0; c < classes; ++c)
      ASSERT_NEAR(now[c], one[c], 1e-4f * largest) << length;
  }
}

TEST(vgg16, runs_networks_of_other_sizes) {
  for (const auto& [resolution, divide] : {std::pair{32u, 64u}, {96u, 32u}}) {
    vgg16 v = sample_network({.pictures = 1}, resolution, divide);
    probabilities_of(v, on_kilter(2));
  }
}

TEST(vgg16, counts_its_tasks) {
  vgg16 v = sample_network({.pictures = 3, .block_length = 16}, 32, 64);
  const program_run r = run(v, {});
  EXPECT_EQ(r.iterations, 3u);
  // For each picture: im2col, product, and pooling are one task each; fc6 and fc7 have 64 channels,
  // fc8 1,000.
  EXPECT_EQ(r.tasks, 3 * (13 * 2 + 5 + 4 + 4 + 63));
}

TEST(vgg16, tries_each_block_length_and_keeps_the_fastest) {
  block_length_choice c(512, 0);
  for (const auto& [length, seconds] :
       {std::pair{8u, 4.0}, {16u, 2.0}, {32u, 3.0}, {64u, 5.0}, {16u, 9.0}}) {
    EXPECT_EQ(c.next(), length);
    c.learn(seconds);
  }
  EXPECT_EQ(c.next(), 16u) << "what follows is not compared";
}

TEST(vgg16, does_not_try_block_lengths_that_cut_alike) {
  const auto tried = [](std::size_t channels, std::size_t fixed) {
    block_length_choice c(channels, fixed);
    std::vector<std::size_t> all{c.next()};
    for (double seconds = 1;; seconds /= 2) {
      c.learn(seconds);
      if (c.next() == all.back()) return all;
      all.push_back(c.next());
    }
  };
  EXPECT_EQ(tried(8, 0), (std::vector<std::size_t>{8}));
  EXPECT_EQ(tried(9, 0), (std::vector<std::size_t>{8, 16}));
  EXPECT_EQ(tried(32, 0), (std::vector<std::size_t>{8, 16, 32}));
  EXPECT_EQ(tried(1000, 0), (std::vector<std::size_t>{8, 16, 32, 64}));
  EXPECT_EQ(tried(1000, 24), (std::vector<std::size_t>{24}));
}

/// A network and what a run of it left.
struct computed {
  network n;
  activations a;

  explicit computed(std::size_t divide, std::size_t resolution = 32)
      : n(vgg16_network(resolution, divide)) {
    draw_weights(n, 3);
    a.input = network_input(drawn_picture(resolution, 3), resolution, n.scale);
    vgg16 v(n, a.input, {.pictures = 1, .block_length = 8});
    run(v, {});
    a = v.result();
  }
  [[nodiscard]] std::string verdict() const {
    return verdict_of([&] { verify(n, a, 1); });
  }
};

TEST(vgg16, is_verified_by_itself) {
  const computed right(64);
  EXPECT_EQ(right.verdict(), "right");
  for (std::size_t at = 0; at < right.n.layers.size(); ++at) {
    computed wrong = right;
    std::vector<float>& out = wrong.a.outputs[at];
    const float largest =
        std::fabs(*std::ranges::max_element(out, {}, [](float v) { return std::fabs(v); }));
    out.back() += 3e-4f * largest;
    EXPECT_TRUE(wrong.verdict().starts_with("vgg16: " + right.n.layers[at].name + ", channel "))
        << wrong.verdict();
    out.back() = NAN;
    EXPECT_TRUE(wrong.verdict().ends_with(" was not computed")) << wrong.verdict();
  }
  computed wrong = right;
  wrong.a.probabilities[7] += 1e-3f;
  EXPECT_TRUE(wrong.verdict().starts_with("vgg16: softmax, channel 7")) << wrong.verdict();
  EXPECT_THROW(sample_network({}).verify(), wrong_result) << "nothing has been computed";
}

#ifndef __SANITIZE_THREAD__  // which sees one thread here, for half a minute
TEST(vgg16, is_verified_where_it_is_too_large_to_be_computed_again) {
  computed c(4, 256);
  ASSERT_GT(c.n.operations(), 1'000'000'000u);
  ASSERT_EQ(c.verdict(), "right");
  for (std::size_t at = 0; at < c.n.layers.size(); ++at) {  // one row is wrong
    const layer& l = c.n.layers[at];
    std::vector<float>& out = c.a.outputs[at];
    const std::vector<float> right = out;
    for (std::size_t channel = 0; channel < l.out.channels; ++channel)
      for (std::size_t x = 0; x < l.out.width; ++x)
        out[channel * l.out.pixels() + (l.out.height - 1) * l.out.width + x] += 0.5f;
    EXPECT_TRUE(c.verdict().starts_with("vgg16: " + l.name + ", channel ")) << c.verdict();
    out = right;
    out[out.size() / 2] = NAN;
    EXPECT_TRUE(c.verdict().ends_with(" was not computed")) << c.verdict();
    out = right;
  }
}
#endif

TEST(vgg16, ends_early_when_it_is_told_to) {
  vgg16 v = sample_network({.pictures = 100'000});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    EXPECT_TRUE(ends_early(v, m));
  }
}

TEST(vgg16, refuses_sizes_that_it_cannot_have) {
  for (const std::size_t resolution : {0u, 16u, 33u, 1056u})
    EXPECT_THROW((void)vgg16_network(resolution, 1), input_error) << resolution;
  for (const std::size_t divide : {0u, 3u, 128u})
    EXPECT_THROW((void)vgg16_network(224, divide), input_error) << divide;
  EXPECT_EQ(vgg16_network(224, 1).weight_count(), 138'357'544u) << "as torchvision says of vgg16";
}

TEST(vgg16, names_the_five_likeliest_classes) {
  std::vector<std::string> labels;
  for (std::size_t c = 0; c < classes; ++c) labels.push_back("label " + std::to_string(c));
  vgg16 v = sample_network({.pictures = 1, .labels = labels});
  const std::vector<float> p = probabilities_of(v, {});
  const std::size_t likeliest = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
  ASSERT_EQ(v.found().size(), 6u);
  EXPECT_TRUE(v.found()[0].ends_with("  label " + std::to_string(likeliest))) << v.found()[0];
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-5);
  EXPECT_TRUE(v.result_file().starts_with("class,probability\n0,"));
  EXPECT_EQ(std::ranges::count(v.result_file(), '\n'), 1001);
}

TEST(labels, are_a_name_for_each_class) {
  std::string text;
  for (std::size_t c = 0; c < classes; ++c) text += "name, with a comma\r\n";
  EXPECT_EQ(read_labels(text, "l"), std::vector<std::string>(classes, "name, with a comma"));
  EXPECT_THROW((void)read_labels(text + "x", "l"), input_error);
  EXPECT_THROW((void)read_labels(text.substr(20), "l"), input_error);
  EXPECT_THROW((void)read_labels("", "l"), input_error);
}

TEST(network_input, is_the_picture_in_the_networks_scale) {
  picture p{32, 32, std::vector<std::uint8_t>(32 * 32 * 3, 0)};
  p.rgb[0] = 255;                    // red, at the top left
  p.rgb[(5 * 32 + 7) * 3 + 2] = 51;  // a fifth of blue, row 5, column 7
  const std::vector<float> plain = network_input(p, 32, pixel_scale::minus_one_to_one),
                           scaled = network_input(p, 32, pixel_scale::imagenet);
  EXPECT_FLOAT_EQ(plain[0], 1);
  EXPECT_FLOAT_EQ(plain[1], -1);
  EXPECT_FLOAT_EQ(plain[2 * 1024 + 5 * 32 + 7], -0.6f);
  EXPECT_FLOAT_EQ(scaled[0], (1 - 0.485f) / 0.229f);
  EXPECT_FLOAT_EQ(scaled[1024], -0.456f / 0.224f);
  EXPECT_FLOAT_EQ(scaled[2 * 1024 + 5 * 32 + 7], (0.2f - 0.406f) / 0.225f);
}

TEST(network_input, is_the_middle_square_resized) {
  // brightness grows to the right, by one each pixel
  picture wide{200, 64, std::vector<std::uint8_t>(200 * 64 * 3)};
  for (std::size_t i = 0; i < 200 * 64; ++i)
    for (std::size_t c = 0; c < 3; ++c) wide.rgb[i * 3 + c] = static_cast<std::uint8_t>(i % 200);
  const auto byte = [](float v) { return (v + 1) / 2 * 255; };
  const std::vector<float> half = network_input(wide, 32, pixel_scale::minus_one_to_one),
                           twice = network_input(wide, 128, pixel_scale::minus_one_to_one);
  for (std::size_t x = 0; x < 32; ++x)
    EXPECT_NEAR(byte(half[9 * 32 + x]), 68 + 2 * static_cast<double>(x) + 0.5, 1e-3) << x;
  for (std::size_t x = 0; x < 128; ++x)
    EXPECT_NEAR(byte(twice[9 * 128 + x]), 68 + 0.5 * static_cast<double>(x) - 0.25, 1e-3) << x;
  // each third column is white, and none is in the middle of what becomes one pixel
  picture stripes{96, 96, std::vector<std::uint8_t>(96 * 96 * 3)};
  for (std::size_t i = 0; i < 96 * 96; i += 3)
    std::fill_n(stripes.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, std::uint8_t{255});
  for (const float v : network_input(stripes, 32, pixel_scale::minus_one_to_one))
    ASSERT_NEAR(byte(v), 85, 22);
  picture high{64, 200, {}};
  for (std::size_t i = 0; i < 200 * 64; ++i)
    high.rgb.insert(high.rgb.end(), 3, static_cast<std::uint8_t>(i / 64));
  const std::vector<float> down = network_input(high, 32, pixel_scale::minus_one_to_one);
  for (std::size_t y = 0; y < 32; ++y)
    EXPECT_NEAR(byte(down[y * 32 + 9]), 68 + 2 * static_cast<double>(y) + 0.5, 1e-3) << y;
  const std::vector<float> one =
      network_input({1, 1, {10, 20, 30}}, 32, pixel_scale::minus_one_to_one);
  EXPECT_NEAR(byte(one.front()), 10, 1e-3);
  EXPECT_NEAR(byte(one.back()), 30, 1e-3);
}

}  // namespace
}  // namespace kilter::apps
