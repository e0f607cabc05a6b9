#include "apps/programs/vgg16.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "apps/programs/openblas.hpp"
#include "kilter/graph.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// A stage is a batch of tasks, made when the one before is done. A task may run on several cores,
// which share its pieces out. No task of a stage is critical: all are alike. The task that makes
// them is, and each picture has one of its own, so that it begins on the best core: one for all
// pictures would stay where it began.
void vgg16::forward_in_tasks(kilter::task_context& here) {
  const auto in_tasks = [&](const stage& s) {
    kilter::batch added(here);
    const kilter::width_list widths = s.pieces == 1 ? kilter::width_list(1) : kilter::width_list();
    const kilter::task_options options{
        .type = types_[s.kind], .size_class = s.size_class, .widths = widths};
    for (std::size_t t = 0; t < s.tasks; ++t)
      added.add(options, [&s, t](kilter::team_member& me) {
        while (const kilter::chunk part = me.next_chunk(s.pieces))
          for (std::size_t piece = part.begin; piece < part.end; ++piece) s.compute(t, piece);
      });
    added.wait();
    tasks_ += s.tasks;
    return !here.cancelled();
  };
  if (!forward(in_tasks) || ++pictures_ == options_.pictures) return;
  kilter::batch next(here);
  next.add({.type = network_type_, .priority = kilter::priority::high},
           [this](kilter::task_context& there) { forward_in_tasks(there); });
  next.detach();
}

void vgg16::forward_in_loops(block_loop& loop, const std::function<bool()>& stopped) {
  const auto in_loops = [&](const stage& s) {
    loop.run(s.tasks, [&s](std::size_t t, std::uint32_t) {
      for (std::size_t piece = 0; piece < s.pieces; ++piece) s.compute(t, piece);
    });
    tasks_ += s.tasks;
    return !stopped();
  };
  while (pictures_ < options_.pictures && forward(in_loops)) ++pictures_;
}

program_run vgg16::run(executor& how, const std::function<bool()>& stopped) {
  start();
  check_room_for_openblas(how.threads());
  blas_.set_num_threads(1);
  const auto begin = std::chrono::steady_clock::now();
  if (kilter::runtime* rt = how.tasks()) {
    kilter::graph g;
    for (std::size_t kind = 0; kind < types_.size(); ++kind)
      types_[kind] = g.type(stage_names[kind]);
    network_type_ = g.type("network");
    g.add({.type = network_type_, .priority = kilter::priority::high},
          [this](kilter::task_context& here) { forward_in_tasks(here); });
    runs_to_its_end(rt->submit(g), stopped);
  } else {
    forward_in_loops(*how.loops(), stopped);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {.seconds = seconds.count(),
          .begin = begin,
          .iterations = pictures_,
          .tasks = tasks_,
          .complete = pictures_ == options_.pictures};
}

// ---- the network, layer by layer ----------------------------------------------------------------

namespace {

void softmax(const std::vector<float>& in, std::vector<float>& out) {
  const float largest = *std::ranges::max_element(in);
  double sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) sum += out[i] = std::exp(in[i] - largest);
  for (float& p : out) p = static_cast<float>(p / sum);
}

}  // namespace

/// All tasks of a layer are done before the next one begins, as in S2.
bool vgg16::forward(const stage_runner& run) {
  for (std::size_t at = 0; at < network_.layers.size(); ++at)
    if (network_.layers[at].kind == layer_kind::max_pooling ? !run(pool(at)) : !product(at, run))
      return false;
  softmax(now_.outputs.back(), now_.probabilities);
  return true;
}

bool vgg16::product(std::size_t at, const stage_runner& run) {
  const bool convolution = network_.layers[at].kind == layer_kind::convolution;
  if (convolution && !run(unfold(at))) return false;
  const std::size_t length = choices_[at].next();
  const stage s = convolution ? convolve(at, length) : connect(at, length);
  const auto begin = std::chrono::steady_clock::now();
  if (!run(s)) return false;
  choices_[at].learn(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return true;
}

block_length_choice::block_length_choice(std::size_t channels, std::size_t fixed) {
  const auto blocks = [&](std::size_t length) { return (channels + length - 1) / length; };
  if (fixed)
    candidates_ = {fixed};
  else
    for (const std::size_t length : {8, 16, 32, 64})
      if (candidates_.empty() || blocks(length) != blocks(candidates_.back()))
        candidates_.push_back(length);
}

std::size_t block_length_choice::next() const noexcept {
  if (seconds_.size() < candidates_.size()) return candidates_[seconds_.size()];
  return candidates_[static_cast<std::size_t>(std::ranges::min_element(seconds_) -
                                              seconds_.begin())];
}

void block_length_choice::learn(double seconds) {
  if (seconds_.size() < candidates_.size()) seconds_.push_back(seconds);
}

// ---- one piece of one task ----------------------------------------------------------------------

namespace {

struct range {
  std::size_t first, last;

  [[nodiscard]] std::size_t length() const noexcept { return last - first; }
};

std::size_t divided_up(std::size_t n, std::size_t by) noexcept { return (n + by - 1) / by; }

range block_of(std::size_t n, std::size_t length, std::size_t block) noexcept {
  return {block * length, std::min(n, (block + 1) * length)};
}

/// As equal as whole numbers are. Pieces depend on nothing but what is cut, and BLAS adds equal
/// shapes in equal order: so all models give the same bits.
range piece_of(range whole, std::size_t pieces, std::size_t piece) noexcept {
  return {whole.first + whole.length() * piece / pieces,
          whole.first + whole.length() * (piece + 1) / pieces};
}

/// One row of the unfolded input: what one of the 3 x 3 weights of one channel meets at each pixel.
void unfold_row(const float* in, const tensor_shape& shape, std::size_t row, float* out) noexcept {
  const std::size_t down = row % 9 / 3, across = row % 3, w = shape.width;
  const float* channel = in + row / 9 * shape.pixels();
  for (std::size_t y = 0; y < shape.height; ++y, out += w) {
    const std::size_t from = y + down;  // of rows that begin with one of zeros
    if (from == 0 || from > shape.height) {
      std::fill_n(out, w, 0.0f);
      continue;
    }
    const float* line = channel + (from - 1) * w;
    if (across == 0) {
      out[0] = 0;
      std::memcpy(out + 1, line, (w - 1) * sizeof(float));
    } else if (across == 1) {
      std::memcpy(out, line, w * sizeof(float));
    } else {
      std::memcpy(out, line + 1, (w - 1) * sizeof(float));
      out[w - 1] = 0;
    }
  }
}

void pool_channel(const float* in, const tensor_shape& shape, float* out) noexcept {
  for (std::size_t y = 0; y < shape.height; y += 2) {
    const float *above = in + y * shape.width, *below = above + shape.width;
    for (std::size_t x = 0; x < shape.width; x += 2)
      *out++ = std::max(std::max(above[x], above[x + 1]), std::max(below[x], below[x + 1]));
  }
}

void add_bias(const layer& l, std::size_t channel, float* out, std::size_t count) noexcept {
  const float bias = l.bias[channel];
  if (l.relu)
    for (std::size_t i = 0; i < count; ++i) out[i] = std::max(0.0f, out[i] + bias);
  else
    for (std::size_t i = 0; i < count; ++i) out[i] += bias;
}

/// BLAS is to run in the thread that calls it, and nowhere else. OpenBLAS for POSIX threads has one
/// setting for all callers, which run() makes; that for OpenMP asks what the calling thread may
/// start.
void keep_blas_here() noexcept {
  thread_local bool kept = false;
  if (!std::exchange(kept, true)) omp_set_num_threads(1);
}

// numbers: some 30 us, ten times what a task costs
constexpr std::size_t copied_in_a_task = 65'536;
// pixels: fewer would have BLAS rearrange more than it computes
constexpr std::size_t shortest_piece = 48, most_pieces = 64;
constexpr std::size_t connected_rows = 4;  // that BLAS multiplies by a vector at once

}  // namespace

vgg16::stage vgg16::unfold(std::size_t at) {
  const layer& l = network_.layers[at];
  const std::size_t rows = l.fan_in(), pixels = l.in.pixels(),
                    length = std::max<std::size_t>(1, copied_in_a_task / pixels),
                    tasks = divided_up(rows, length);
  return {im2col, size_class(at, length), tasks, divided_up(rows, tasks),
          [=, this, &l](std::size_t task, std::size_t piece) {
            const std::size_t row = piece_of({0, rows}, tasks, task).first + piece;
            if (row < piece_of({0, rows}, tasks, task).last)
              unfold_row(input_of(at), l.in, row, columns_.data() + row * pixels);
          }};
}

vgg16::stage vgg16::convolve(std::size_t at, std::size_t block_length) {
  const layer& l = network_.layers[at];
  const std::size_t pixels = l.out.pixels(),
                    pieces = std::clamp<std::size_t>(pixels / shortest_piece, 1, most_pieces);
  return {convolution, size_class(at, block_length), divided_up(l.out.channels, block_length),
          pieces, [=, this, &l](std::size_t task, std::size_t piece) {
            const range channels = block_of(l.out.channels, block_length, task),
                        part = piece_of({0, pixels}, pieces, piece);
            float* out = now_.outputs[at].data() + part.first;
            keep_blas_here();
            const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
            blas_.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(channels.length()),
                        size(part.length()), size(l.fan_in()), 1.0f,
                        l.weights.data() + channels.first * l.fan_in(), size(l.fan_in()),
                        columns_.data() + part.first, size(pixels), 0.0f,
                        out + channels.first * pixels, size(pixels));
            for (std::size_t c = channels.first; c < channels.last; ++c)
              add_bias(l, c, out + c * pixels, part.length());
          }};
}

// One picture makes the second matrix a vector, for which BLAS has a routine that does not
// rearrange the first.
vgg16::stage vgg16::connect(std::size_t at, std::size_t block_length) {
  const layer& l = network_.layers[at];
  const std::size_t length = std::min(block_length, l.out.channels),
                    pieces = divided_up(length, connected_rows);
  return {fully_connected, size_class(at, block_length), divided_up(l.out.channels, length), pieces,
          [=, this, &l](std::size_t task, std::size_t piece) {
            const range part = piece_of(block_of(l.out.channels, length, task), pieces, piece);
            if (part.length() == 0) return;  // of a last block that is shorter
            float* out = now_.outputs[at].data();
            keep_blas_here();
            blas_.sgemv(
                CblasRowMajor, CblasNoTrans, static_cast<blasint>(part.length()),
                static_cast<blasint>(l.fan_in()), 1.0f, l.weights.data() + part.first * l.fan_in(),
                static_cast<blasint>(l.fan_in()), input_of(at), 1, 0.0f, out + part.first, 1);
            for (std::size_t c = part.first; c < part.last; ++c) add_bias(l, c, out + c, 1);
          }};
}

vgg16::stage vgg16::pool(std::size_t at) {
  const layer& l = network_.layers[at];
  const std::size_t length =
                        std::clamp<std::size_t>(copied_in_a_task / l.in.pixels(), 1, l.in.channels),
                    tasks = divided_up(l.in.channels, length);
  return {max_pooling, size_class(at, length), tasks, length,
          [=, this, &l](std::size_t task, std::size_t piece) {
            const std::size_t channel = task * length + piece;
            if (channel < l.in.channels)
              pool_channel(input_of(at) + channel * l.in.pixels(), l.in,
                           now_.outputs[at].data() + channel * l.out.pixels());
          }};
}

/// Layers of one shape cut alike share what is learned, and no others.
std::uint32_t vgg16::size_class(std::size_t at, std::size_t length) const noexcept {
  const auto& layers = network_.layers;
  const auto like = std::ranges::find_if(layers, [&](const layer& l) {
    return l.kind == layers[at].kind && l.in == layers[at].in && l.out == layers[at].out;
  });
  return static_cast<std::uint32_t>((like - layers.begin()) << 16) |
         static_cast<std::uint32_t>(std::min<std::size_t>(length, 0xffff));
}

// ---- before and after ---------------------------------------------------------------------------

vgg16::vgg16(network n, std::vector<float> input, vgg16_options o)
    : blas_(loaded_openblas()), network_(std::move(n)), options_(std::move(o)) {
  now_.input = std::move(input);
  std::size_t most = 0;
  for (const layer& l : network_.layers) {
    now_.outputs.emplace_back(l.out.count());
    if (l.kind == layer_kind::convolution) most = std::max(most, l.fan_in() * l.in.pixels());
  }
  columns_.resize(most);
  now_.probabilities.resize(classes);
  start();
}

/// What is not computed is no number.
void vgg16::start() {
  for (std::vector<float>& out : now_.outputs)
    std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
  std::ranges::fill(now_.probabilities, std::numeric_limits<float>::quiet_NaN());
  choices_.clear();
  for (const layer& l : network_.layers)
    choices_.emplace_back(l.out.channels, options_.block_length);
  pictures_ = tasks_ = 0;
}

}  // namespace kilter::apps
