#pragma once
// VGG-16 as data: configuration D of K. Simonyan and A. Zisserman, "Very deep convolutional
// networks for large-scale image recognition" (ICLR 2015).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kilter::apps {

enum class layer_kind : std::uint8_t {
  convolution,      ///< 3 x 3, with a border of one zero, then ReLU
  max_pooling,      ///< the largest of each 2 x 2
  fully_connected,  ///< ReLU after all but the last
};

/// Numbers are stored channel by channel, each row by row from the top.
struct tensor_shape {
  std::size_t channels = 0, height = 0, width = 0;

  [[nodiscard]] std::size_t pixels() const noexcept { return height * width; }
  [[nodiscard]] std::size_t count() const noexcept { return channels * pixels(); }
  bool operator==(const tensor_shape&) const = default;
};

struct layer {
  std::string name;  ///< "conv1_1", "pool1", "fc6"
  layer_kind kind;
  tensor_shape in, out;
  bool relu = false;
  /// A row for each output channel. In a convolution's row input channels follow one another, each
  /// with its 3 x 3 from the top left.
  std::vector<float> weights{};
  std::vector<float> bias{};  ///< of each output channel

  [[nodiscard]] bool has_weights() const noexcept { return kind != layer_kind::max_pooling; }
  /// How many inputs an output is the weighted sum of.
  [[nodiscard]] std::size_t fan_in() const noexcept {
    return kind == layer_kind::convolution ? 9 * in.channels : in.count();
  }
  [[nodiscard]] std::size_t weight_count() const noexcept { return out.channels * fan_in(); }
  /// Multiplications with an addition.
  [[nodiscard]] std::size_t operations() const noexcept {
    return has_weights() ? out.count() * fan_in() : 0;
  }
};

/// What the network was trained to see in place of the bytes of a picture.
enum class pixel_scale : std::uint8_t {
  /// as torchvision: 0..1, less ImageNet's mean of the channel, over its standard deviation
  imagenet,
  /// as Darknet's vgg-16.cfg, whose crop layer makes -1..1 of 0..1 because it does not say
  /// `noadjust`
  minus_one_to_one,
};

struct network {
  std::size_t resolution = 224, divide = 1;
  /// the softmax at its end has no shape or weights of its own
  std::vector<layer> layers{};
  pixel_scale scale = pixel_scale::imagenet;

  [[nodiscard]] std::size_t weight_count() const noexcept;
  [[nodiscard]] std::size_t operations() const noexcept;
};

inline constexpr std::size_t classes = 1000, most_resolution = 1024;

/// Without weights. `resolution`: height and width of the picture, a multiple of 32 up to 1024;
/// `divide`: all layers but the last have so many times fewer channels, a power of two up to 64.
/// The first fully connected layer has an input for each number that the last pooling leaves, so
/// its size follows the resolution. input_error for other numbers.
[[nodiscard]] network vgg16_network(std::size_t resolution, std::size_t divide);

/// K. He et al., "Delving deep into rectifiers" (ICCV 2015): evenly spread weights of variance 2 /
/// fan-in, with which the outputs of ReLU layers keep the size of their inputs. Biases lie within a
/// tenth of 0.
void draw_weights(network&, std::uint64_t seed);

}  // namespace kilter::apps
