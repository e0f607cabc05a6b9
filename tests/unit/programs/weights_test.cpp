// Weights come out of both formats as they were put in, and a file that is wrong anywhere is
// refused with what would be right.

#include "apps/programs/weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "unit/fuzz_corpus.hpp"
#include "unit/support.hpp"

namespace kilter::apps {
namespace {

using namespace test;

using nlohmann::json;

network tiny(std::size_t resolution = 32, std::size_t divide = 64) {
  return vgg16_network(resolution, divide);
}

network tiny_with_weights() {
  network n = tiny();
  draw_weights(n, 5);
  return n;
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& bytes, const std::vector<float>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::vector<float> turned(const layer& l) {
  std::vector<float> out;
  for (std::size_t i = 0; i < l.fan_in(); ++i)
    for (std::size_t o = 0; o < l.out.channels; ++o) out.push_back(l.weights[o * l.fan_in() + i]);
  return out;
}

std::string as_darknet(const network& n, std::int32_t major, std::int32_t minor) {
  std::string bytes;
  for (const std::int32_t part : {major, minor, 0}) append(bytes, part);
  const bool turn = minor > 1000;
  if (minor == 1 || turn)
    append(bytes, std::int32_t{7});
  else
    append(bytes, std::int64_t{7});
  for (const layer& l : n.layers) {
    if (!l.has_weights()) continue;
    append(bytes, l.bias);
    append(bytes, turn && l.kind == layer_kind::fully_connected ? turned(l) : l.weights);
  }
  return bytes;
}

struct safetensors {
  json header = json::object();
  std::string data{};

  void add(const std::string& name, const std::vector<std::size_t>& shape,
           const std::vector<float>& values) {
    const std::size_t begin = data.size();
    append(data, values);
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  [[nodiscard]] std::string bytes() const {
    std::string all;
    const std::string text = header.dump();
    append(all, std::uint64_t{text.size()});
    return all + text + data;
  }
};

/// As torchvision, or with timm's names and shapes of fully connected layers.
safetensors as_safetensors(const network& n, bool timm = false) {
  const std::vector<std::string> torchvision{
      "features.0",  "features.2",   "features.5",   "features.7",  "features.10", "features.12",
      "features.14", "features.17",  "features.19",  "features.21", "features.24", "features.26",
      "features.28", "classifier.0", "classifier.3", "classifier.6"};
  const std::vector<std::string> last{"pre_logits.fc1", "pre_logits.fc2", "head.fc"};
  safetensors s;
  std::size_t at = 0;
  for (const layer& l : n.layers) {
    if (!l.has_weights()) continue;
    const std::string name = timm && at >= 13 ? last[at - 13] : torchvision[at];
    std::vector<std::size_t> shape{l.out.channels, l.fan_in()};
    if (l.kind == layer_kind::convolution)
      shape = {l.out.channels, l.in.channels, 3, 3};
    else if (timm && at < 15)
      shape = {l.out.channels, l.in.channels, l.in.height, l.in.width};
    s.add(name + ".weight", shape, l.weights);
    s.add(name + ".bias", {l.out.channels}, l.bias);
    ++at;
  }
  s.header["__metadata__"] = {{"format", "pt"}};
  return s;
}

std::string weights_answer(const std::string& bytes, network n = tiny()) {
  std::istringstream in(bytes);
  return answer_to([&] { read_weights(in, bytes.size(), "f", n); });
}

void expect_same(const network& a, const network& b) {
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].weights, b.layers[i].weights) << a.layers[i].name;
    EXPECT_EQ(a.layers[i].bias, b.layers[i].bias) << a.layers[i].name;
  }
}

TEST(weights, come_out_as_they_were_put_in) {
  const network n = tiny_with_weights();
  for (const std::string& bytes :
       {as_darknet(n, 0, 1), as_darknet(n, 0, 2), as_darknet(n, 0, 2000)}) {
    network back = tiny();
    std::istringstream in(bytes);
    read_weights(in, bytes.size(), "f", back);
    expect_same(back, n);
    EXPECT_EQ(back.scale, pixel_scale::minus_one_to_one);
  }
  for (const bool timm : {false, true}) {
    const std::string bytes = as_safetensors(n, timm).bytes();
    network back = tiny();
    std::istringstream in(bytes);
    read_weights(in, bytes.size(), "f", back);
    expect_same(back, n);
    EXPECT_EQ(back.scale, pixel_scale::imagenet);
  }
}

TEST(weights, of_a_file_that_is_cut_anywhere_are_refused) {
  const network n = tiny_with_weights();
  for (const std::string& bytes : {as_darknet(n, 0, 2), as_safetensors(n).bytes()}) {
    for (std::size_t size = 0; size < bytes.size(); size += size < 6000 ? 1 : 997)
      ASSERT_NE(weights_answer(bytes.substr(0, size)), "accepted") << size;
    ASSERT_NE(weights_answer(bytes.substr(0, bytes.size() - 1)), "accepted");
    ASSERT_NE(weights_answer(bytes + "x"), "accepted");
  }
}

TEST(weights, that_end_while_they_are_read_are_refused) {
  const std::string bytes = as_darknet(tiny_with_weights(), 0, 2);
  std::istringstream in(bytes.substr(0, bytes.size() - 4));
  network n = tiny();
  EXPECT_EQ(refusal([&] { read_weights(in, bytes.size(), "f", n); }),
            "weights 'f': fc8's weights cannot be read whole: 255996 of 256000 bytes are there");
}

TEST(weights, of_darknet_say_what_would_be_right) {
  network n = tiny_with_weights();
  const std::string bytes = as_darknet(n, 0, 2);
  const std::string other =
      "; the network at --resolution 32 --divide 64 has 293700 in Darknet's format, and "
      "safetensors begins otherwise";
  EXPECT_EQ(weights_answer("short"),
            "weights 'f': it has 5 bytes; Darknet's format and safetensors begin with more");
  EXPECT_EQ(weights_answer(bytes.substr(0, 30)),
            "weights 'f': it has 30 bytes and ends in conv1_1's weights" + other);
  EXPECT_EQ(weights_answer(bytes.substr(0, 293000)),
            "weights 'f': it has 293000 bytes and ends in fc8's weights" + other);
  EXPECT_EQ(weights_answer(bytes + "1234"),
            "weights 'f': it has 293704 bytes, 4 of them after fc8's weights" + other);
  EXPECT_EQ(weights_answer(bytes, tiny(64)),
            "weights 'f': it has 293700 bytes and ends in fc8's weights; the network at "
            "--resolution 64 --divide 64 has 299844 in Darknet's format, "
            "and safetensors begins otherwise");
  n.layers[1].weights[3] = std::nanf("");
  EXPECT_EQ(weights_answer(as_darknet(n, 0, 2)),
            "weights 'f': conv1_2's weights: number 3 is nan; only finite ones are read");
  n.layers[1].weights[3] = 0;
  n.layers[0].bias[0] = -INFINITY;
  EXPECT_EQ(weights_answer(as_darknet(n, 0, 2)),
            "weights 'f': conv1_1's biases: number 0 is -inf; only finite ones are read");
}

TEST(weights, of_safetensors_say_what_would_be_right) {
  const safetensors right = as_safetensors(tiny_with_weights());
  const std::string first = "features.0.weight",
                    of_first = "weights 'f': conv1_1, tensor 'features.0.weight' ";
  const std::size_t bytes = right.data.size();
  const struct {
    const char* what;
    std::function<void(safetensors&)> change;
    std::string message;
  } wrong[] = {
      {"type", [&](auto& s) { s.header[first]["dtype"] = "F16"; },
       of_first + "is of type F16; only F32 is read"},
      {"no type", [&](auto& s) { s.header[first].erase("dtype"); }, of_first + "has no dtype"},
      {"type that is no text", [&](auto& s) { s.header[first]["dtype"] = 5; },
       of_first + "has no dtype"},
      {"shape",
       [&](auto& s) {
         s.header[first]["shape"] = {1, 3, 5, 5};
       },
       of_first + "is 1 x 3 x 5 x 5; 1 x 3 x 3 x 3 would be right"},
      {"empty shape", [&](auto& s) { s.header[first]["shape"] = json::array(); },
       of_first + "is no dimensions; 1 x 3 x 3 x 3 would be right"},
      {"channels",
       [&](auto& s) {
         s.header[first]["shape"] = {8, 3, 3, 3};
       },
       of_first + "is 8 x 3 x 3 x 3; 1 x 3 x 3 x 3 would be right; it is of --divide 8"},
      {"negative",
       [&](auto& s) {
         s.header[first]["shape"] = {1, 3, -3, -3};
       },
       of_first + "has no shape"},
      {"shape of words", [&](auto& s) { s.header[first]["shape"] = "1x3"; },
       of_first + "has no shape"},
      {"huge shape",
       [&](auto& s) {
         s.header["classifier.0.weight"]["shape"] = {64, ~0ull, ~0ull};
       },
       "weights 'f': fc6, tensor 'classifier.0.weight' is 64 x 18446744073709551615 x "
       "18446744073709551615; 64 x 8 would be right"},
      {"resolution",
       [&](auto& s) {
         s.header["classifier.0.weight"]["shape"] = {64, 392};
       },
       "weights 'f': fc6, tensor 'classifier.0.weight' is 64 x 392; 64 x 8 would be right; it is "
       "of --resolution 224"},
      {"offsets",
       [&](auto& s) {
         s.header[first]["data_offsets"] = {0, 104};
       },
       of_first + "lies from 0 to 104; 1 x 3 x 3 x 3 numbers have 108 bytes"},
      {"offsets backwards",
       [&](auto& s) {
         s.header[first]["data_offsets"] = {108, 0};
       },
       of_first + "lies from 108 to 0; 1 x 3 x 3 x 3 numbers have 108 bytes"},
      {"offsets beyond",
       [&](auto& s) {
         s.header[first]["data_offsets"] = {bytes - 4, bytes + 104};
       },
       of_first + "ends at byte " + std::to_string(bytes + 104) + " of the data; the file has " +
           std::to_string(bytes)},
      {"one offset", [&](auto& s) { s.header[first]["data_offsets"] = {0}; },
       of_first + "has no data_offsets, which are two numbers"},
      {"overlap",
       [&](auto& s) {
         s.header[first]["data_offsets"] = {4, 112};
       },
       "weights 'f': tensors do not follow one another: one ends at byte 0 of the data, the next "
       "begins at 4"},
      {"longer data", [&](auto& s) { s.data += "1234"; },
       "weights 'f': 4 bytes follow the last tensor"},
      {"no object", [&](auto& s) { s.header[first] = 5; },
       of_first + "has no dtype, shape and data_offsets"},
      {"missing", [&](auto& s) { s.header.erase("features.17.bias"); },
       "weights 'f': conv4_1: there is no tensor 'features.17.bias'"},
      {"missing fc", [&](auto& s) { s.header.erase("classifier.3.bias"); },
       "weights 'f': fc7: there is no tensor 'classifier.3.bias' or 'pre_logits.fc2.bias'"},
      {"stranger", [&](auto& s) { s.add("features.1\n.weight", {1}, {1.0f}); },
       "weights 'f': tensor 'features.1?.weight' belongs to no layer of VGG-16"},
  };
  for (const auto& w : wrong) {
    safetensors s = right;
    w.change(s);
    EXPECT_EQ(weights_answer(s.bytes()), w.message) << w.what;
  }
  network n = tiny_with_weights();
  n.layers.back().bias[999] = std::nanf("");
  EXPECT_EQ(
      weights_answer(as_safetensors(n).bytes()),
      "weights 'f': fc8, tensor 'classifier.6.bias': number 999 is nan; only finite ones are read");
}

TEST(weights, of_a_broken_header_are_refused) {
  const auto with_header = [](std::uint64_t length, const std::string& text) {
    std::string bytes;
    append(bytes, length);
    return bytes + text + std::string(400'000, '\0');
  };
  EXPECT_EQ(weights_answer(with_header(2, "{}")),
            "weights 'f': conv1_1: there is no tensor 'features.0.weight'");
  EXPECT_EQ(weights_answer(with_header(2, "{x")), "weights 'f': the header is no JSON object");
  EXPECT_EQ(weights_answer(with_header(400'000, std::string(200'000, '{'))),
            "weights 'f': the header is no JSON object");
  EXPECT_EQ(weights_answer(with_header(~0ull, "{}")),
            "weights 'f': a header of 18446744073709551615 bytes is announced; the file has "
            "400010, and a header at most 1048576");
  EXPECT_EQ(weights_answer(with_header(2'000'000, "{}")),
            "weights 'f': a header of 2000000 bytes is announced; the file has 400010, and a "
            "header at most 1048576");
}

TEST(weights, corpus_is_read_or_refused_in_one_line) {
  replay_corpus("weights", [](const std::string&, const std::string& bytes) {
    network n = tiny();
    n.layers.erase(n.layers.begin() + 3, n.layers.end());  // as the fuzzer has it
    std::istringstream in(bytes);
    read_weights(in, bytes.size(), "f", n);
  });
}

}  // namespace
}  // namespace kilter::apps
