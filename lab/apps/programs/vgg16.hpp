#pragma once
// Inference of VGG-16, each layer a matrix product cut in blocks of output channels. The
// application of S2, section 4.3 (papers.md A3.3).
//
// Unlike in the public code: block lengths are tuned at run time; OpenBLAS instead of a loop; one
// task a block instead of two; a row of the table for each shape.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/network.hpp"
#include "apps/programs/program.hpp"
#include "kilter/task.hpp"

namespace kilter::apps {

struct openblas;

struct vgg16_options {
  std::size_t pictures = 8;  ///< how often the network is run on the picture
  /// output channels in a task; 0: each layer's is chosen while it runs
  std::size_t block_length = 0;
  std::vector<std::string> labels{};  ///< of the classes; empty: their numbers
  std::uint64_t seed = 1;             ///< where results are looked at if there are too many
};

struct vgg16_size {
  std::string_view name;
  std::size_t resolution, divide;
};
/// `large` is the usual network, `native` what S2 ran it on (papers.md A3.3).
inline constexpr std::array<vgg16_size, 4> vgg16_sizes{
    {{"small", 64, 8}, {"medium", 128, 4}, {"large", 224, 1}, {"native", 512, 1}}};

/// Which block length a layer is cut in: each candidate is tried on one picture, then the fastest
/// is kept. S2, 4.3 tunes it at run time and leaves open how.
class block_length_choice {
 public:
  /// Candidates that make the same blocks of the channels count once. `fixed`: the only one, unless
  /// it is 0.
  block_length_choice(std::size_t channels, std::size_t fixed);
  /// Which one the next picture takes.
  [[nodiscard]] std::size_t next() const noexcept;
  /// What that one took.
  void learn(double seconds);

 private:
  std::vector<std::size_t> candidates_;
  std::vector<double> seconds_;  ///< of those that were tried
};

/// What a run of the network leaves.
struct activations {
  std::vector<float> input;
  std::vector<std::vector<float>> outputs;  ///< of each layer
  std::vector<float> probabilities;         ///< softmax of the last
};

/// Computes the convolutions as they are defined, with sums in double, and holds every output
/// against that: within 1e-4 of the layer's largest. A network of more than a billion operations is
/// computed layer by layer from the inputs that each had: pooling and fully connected layers whole,
/// of each convolution 2,048 outputs that `seed` draws, borders more often. Throws wrong_result.
void verify(const network&, const activations&, std::uint64_t seed);

class vgg16 final : public program {
 public:
  /// `input`: 3 x resolution x resolution, in the network's scale. Loads OpenBLAS; input_error if
  /// it cannot be used.
  vgg16(network, std::vector<float> input, vgg16_options);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(network_, now_, options_.seed); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The five likeliest classes, and the block length that each layer would be cut in next.
  [[nodiscard]] std::vector<std::string> found() const override;
  /// The probability of each class (CSV).
  [[nodiscard]] std::string result_file() const override;

  [[nodiscard]] const activations& result() const noexcept { return now_; }

 private:
  enum stage_kind : std::uint8_t { im2col, convolution, fully_connected, max_pooling };
  static constexpr std::array<std::string_view, 4> stage_names{"im2col", "convolution",
                                                               "fully connected", "max pooling"};
  /// Work of one layer that is cut into tasks, each in pieces that the members of its team share
  /// out.
  struct stage {
    stage_kind kind;
    std::uint32_t size_class;
    std::size_t tasks, pieces;
    std::function<void(std::size_t task, std::size_t piece)> compute;
  };
  /// Runs all tasks of a stage and returns when they are done; false if it was told to stop.
  using stage_runner = std::function<bool(const stage&)>;

  void start();
  void forward_in_tasks(kilter::task_context&);
  void forward_in_loops(block_loop&, const std::function<bool()>& stopped);
  [[nodiscard]] bool forward(const stage_runner&);
  [[nodiscard]] bool product(std::size_t at, const stage_runner&);
  [[nodiscard]] stage unfold(std::size_t at);
  [[nodiscard]] stage convolve(std::size_t at, std::size_t block_length);
  [[nodiscard]] stage connect(std::size_t at, std::size_t block_length);
  [[nodiscard]] stage pool(std::size_t at);
  [[nodiscard]] const float* input_of(std::size_t at) const noexcept {
    return at == 0 ? now_.input.data() : now_.outputs[at - 1].data();
  }
  [[nodiscard]] std::uint32_t size_class(std::size_t at, std::size_t block_length) const noexcept;

  const openblas& blas_;
  const network network_;
  const vgg16_options options_;
  activations now_;
  /// a convolution's input, unfolded: 9 rows for each channel, a column for each pixel
  std::vector<float> columns_;
  std::vector<block_length_choice> choices_;  ///< of each layer
  std::array<kilter::task_type, 4> types_{};  ///< by stage_kind
  kilter::task_type network_type_{};
  std::uint64_t pictures_ = 0, tasks_ = 0;
};

/// A name for each class, one a line. input_error naming `file` if there are fewer or more.
[[nodiscard]] std::vector<std::string> read_labels(std::string_view text, const std::string& file);

}  // namespace kilter::apps
