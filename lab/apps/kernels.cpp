// The four kernels as workloads: what a slot holds, how a task is cut into parts, and the
// references they are checked against.

#include "apps/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "base/random.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {
namespace {

constexpr std::array<std::string_view, 4> names{"matmul", "copy", "stencil", "sort"};

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

// Numbers of both signs around one, cheap enough to fill a pool of a gigabyte in a second.
void fill(float* to, std::size_t count, std::uint64_t seed) noexcept {
  random_stream numbers(seed, "tile");
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint64_t bits = numbers.next();
    to[i] = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31f;
    if (i + 1 < count)
      to[i + 1] = static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-31f;
  }
}

void poison(float* to, std::size_t count) noexcept {
  std::fill_n(to, count, std::numeric_limits<float>::quiet_NaN());
}

std::uint32_t row_chunks(std::size_t rows, std::uint32_t tile, std::uint32_t width) noexcept {
  if (width <= 1) return 1;
  const std::size_t chunk = std::max<std::size_t>(1, tile / (std::size_t{8} * width));
  return static_cast<std::uint32_t>((rows + chunk - 1) / chunk);
}

// A tile of floats cut by rows. Any number of parts covers every row once.
class tile_kernel : public kernel_instance {
 protected:
  tile_kernel(std::string_view name, std::uint32_t tile, std::size_t tiles_per_slot,
              const kernel_options& options)
      : kernel_instance(name, tile,
                        tiles_per_slot * padded(std::size_t{tile} * tile * sizeof(float)), options),
        elements_(std::size_t{tile} * tile) {}

  [[nodiscard]] float* array(std::size_t slot, std::size_t which) const noexcept {
    return reinterpret_cast<float*>(slot_memory(slot) + which * padded(elements_ * sizeof(float)));
  }
  [[nodiscard]] std::size_t elements() const noexcept { return elements_; }

 private:
  std::size_t elements_;
};

class matmul_kernel final : public tile_kernel {
 public:
  matmul_kernel(std::uint32_t tile, const kernel_options& options)
      : tile_kernel("matmul", tile, 3, options) {
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      fill(array(slot, 0), elements(), 2 * slot);
      fill(array(slot, 1), elements(), 2 * slot + 1);
      poison(array(slot, 2), elements());
    }
  }

  std::uint32_t parts(std::uint32_t width) const noexcept override {
    return row_chunks(tile(), tile(), width);
  }

  bool check(std::uint64_t task) const override {
    const std::size_t slot = slot_of(task), n = tile();
    const float* a = array(slot, 0);
    const float* bt = array(slot, 1);
    const float* c = array(slot, 2);
    // Terms are at most one in size: the rounding of n of them stays below n epsilon for each order
    // of summation.
    const double tolerance = static_cast<double>(n) * std::numeric_limits<float>::epsilon() * 4;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double expected = 0;
        for (std::size_t k = 0; k < n; ++k)
          expected += double{a[i * n + k]} * double{bt[j * n + k]};
        if (!(std::abs(double{c[i * n + j]} - expected) <= tolerance)) return false;
      }
    return true;
  }

 private:
  void body(std::size_t slot, std::uint32_t part, std::uint32_t parts) noexcept override {
    const std::size_t n = tile();
    matmul_rows(array(slot, 0), array(slot, 1), array(slot, 2), n, n * part / parts,
                n * (part + std::size_t{1}) / parts);
  }
};

class copy_kernel final : public tile_kernel {
 public:
  copy_kernel(std::uint32_t tile, const kernel_options& options)
      : tile_kernel("copy", tile, 2, options) {
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      fill(array(slot, 0), elements(), slot);
      poison(array(slot, 1), elements());
    }
  }

  std::uint32_t parts(std::uint32_t width) const noexcept override {
    return row_chunks(tile(), tile(), width);
  }

  bool check(std::uint64_t task) const override {
    const std::size_t slot = slot_of(task);
    return std::equal(array(slot, 0), array(slot, 0) + elements(), array(slot, 1));
  }

 private:
  void body(std::size_t slot, std::uint32_t part, std::uint32_t parts) noexcept override {
    const std::size_t n = tile();
    copy_rows(array(slot, 0), array(slot, 1), n, n * part / parts,
              n * (part + std::size_t{1}) / parts);
  }
};

// Input, output and, for more than one sweep, a third tile. Sweeps write the output and the third
// in turn, the last one the output; the input is never written, so each run of a task does the same
// work on the same numbers.
class stencil_kernel final : public tile_kernel {
 public:
  stencil_kernel(std::uint32_t tile, const kernel_options& options)
      : tile_kernel("stencil", tile, options.sweeps > 1 ? 3 : 2, options), sweeps_(options.sweeps) {
    const std::size_t n = tile;
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      fill(array(slot, 0), elements(), slot);
      for (std::size_t which = 1; which < (sweeps_ > 1 ? 3u : 2u); ++which) {
        float* to = array(slot, which);
        std::copy_n(array(slot, 0), elements(), to);
        for (std::size_t i = 1; i + 1 < n; ++i) poison(to + i * n + 1, n - 2);
      }
    }
  }

  std::uint32_t parts(std::uint32_t width) const noexcept override {
    return width <= 1 ? 1 : sweeps_ * row_chunks(tile() - 2, tile(), width);
  }
  // A sweep overwrites what the sweep before it reads, so it needs all of that one complete, not
  // just its neighbours.
  std::uint32_t phase_begin(std::uint32_t part, std::uint32_t parts) const noexcept override {
    if (parts == 1) return 0;
    const std::uint32_t chunks = parts / sweeps_;
    return part / chunks * chunks;
  }

  bool check(std::uint64_t task) const override {
    const std::size_t slot = slot_of(task), n = tile();
    std::vector<double> from(array(slot, 0), array(slot, 0) + elements()), to = from;
    for (std::uint32_t sweep = 0; sweep < sweeps_; ++sweep) {
      for (std::size_t i = 1; i + 1 < n; ++i)
        for (std::size_t j = 1; j + 1 < n; ++j) {
          const double* at = &from[i * n + j];
          to[i * n + j] = *at + double{stencil_k} * (at[-static_cast<std::ptrdiff_t>(n)] + at[n] +
                                                     at[-1] + at[1] - 4 * *at);
        }
      std::swap(from, to);
    }
    const float* out = array(slot, 1);
    const double tolerance = sweeps_ * 4.0 * std::numeric_limits<float>::epsilon();
    for (std::size_t i = 0; i < elements(); ++i)
      if (!(std::abs(double{out[i]} - from[i]) <= tolerance)) return false;
    return true;
  }

 private:
  void body(std::size_t slot, std::uint32_t part, std::uint32_t parts) noexcept override {
    if (parts == 1) {
      for (std::uint32_t sweep = 0; sweep < sweeps_; ++sweep) sweep_rows(slot, sweep, 0, 1);
    } else {
      const std::uint32_t chunks = parts / sweeps_;
      sweep_rows(slot, part / chunks, part % chunks, chunks);
    }
  }

  void sweep_rows(std::size_t slot, std::uint32_t sweep, std::size_t chunk,
                  std::size_t chunks) noexcept {
    const auto target = [this](std::uint32_t s) { return (sweeps_ - 1 - s) % 2 == 0 ? 1u : 2u; };
    const float* in = sweep == 0 ? array(slot, 0) : array(slot, target(sweep - 1));
    const std::size_t n = tile(), rows = n - 2;
    stencil_rows(in, array(slot, target(sweep)), n, 1 + rows * chunk / chunks,
                 1 + rows * (chunk + 1) / chunks);
  }

  std::uint32_t sweeps_;
};

// Two buffers: quarters are sorted in the first, merged by pairs into the second, and merged into
// the first. The quicksorts write fresh keys before they sort, so a task that runs again sorts the
// same disorder and no third buffer is touched.
class sort_kernel final : public kernel_instance {
 public:
  static constexpr std::uint32_t quicksorts = 4, pair_merges = 4, final_merges = 2;
  static constexpr std::uint32_t all_parts = quicksorts + pair_merges + final_merges;

  sort_kernel(std::uint32_t keys, const kernel_options& options)
      : kernel_instance("sort", keys, 2 * padded(keys * sizeof(std::uint32_t)), options) {
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      // Descending, so that buffers nobody sorted do not pass the check.
      for (std::uint32_t i = 0; i < keys; ++i) buffer(slot, 0)[i] = keys - i;
      std::fill_n(buffer(slot, 1).data(), keys, 0u);
    }
  }

  std::uint32_t parts(std::uint32_t width) const noexcept override {
    return width <= 1 ? 1 : all_parts;
  }

  std::uint32_t phase_begin(std::uint32_t part, std::uint32_t parts) const noexcept override {
    if (parts == 1 || part < quicksorts) return 0;
    return part < quicksorts + pair_merges ? quicksorts : quicksorts + pair_merges;
  }

  bool check(std::uint64_t task) const override {
    const std::size_t slot = slot_of(task);
    std::vector<std::uint32_t> expected(tile());
    for (std::uint32_t i = 0; i < tile(); ++i) expected[i] = key(slot, i);
    std::sort(expected.begin(), expected.end());
    const auto sorted = buffer(slot, 0);
    return std::equal(sorted.begin(), sorted.end(), expected.begin());
  }

 private:
  [[nodiscard]] std::span<std::uint32_t> buffer(std::size_t slot,
                                                std::size_t which) const noexcept {
    std::byte* at = slot_memory(slot) + which * padded(std::size_t{tile()} * sizeof(std::uint32_t));
    return {reinterpret_cast<std::uint32_t*>(at), tile()};
  }
  [[nodiscard]] static std::uint32_t key(std::size_t slot, std::uint32_t position) noexcept {
    return static_cast<std::uint32_t>(mix64((std::uint64_t{slot} << 32) | position) >> 32);
  }

  void body(std::size_t slot, std::uint32_t part, std::uint32_t parts) noexcept override {
    if (parts != 1) return step(slot, part);
    for (std::uint32_t i = 0; i < all_parts; ++i) step(slot, i);
  }

  void step(std::size_t slot, std::uint32_t part) noexcept {
    const auto first = buffer(slot, 0), second = buffer(slot, 1);
    const std::size_t quarter = tile() / 4, half = tile() / 2;
    if (part < quicksorts) {
      const auto mine = first.subspan(part * quarter, quarter);
      for (std::size_t i = 0; i < quarter; ++i)
        mine[i] = key(slot, static_cast<std::uint32_t>(part * quarter + i));
      quicksort(mine);
    } else if (part < quicksorts + pair_merges) {
      const std::size_t pair = (part - quicksorts) / 2, side = (part - quicksorts) % 2;
      const auto both = first.subspan(pair * half, half);
      merge_range(both.first(quarter), both.last(quarter), second.data() + pair * half,
                  side * quarter, (side + 1) * quarter);
    } else {
      const std::size_t side = part - quicksorts - pair_merges;
      merge_range(second.first(half), second.last(half), first.data(), side * half,
                  (side + 1) * half);
    }
  }
};

[[noreturn]] void unknown_kernel(std::string_view name) {
  throw input_error("unknown kernel '" + std::string(name) +
                    "': use matmul, copy, stencil or sort");
}

}  // namespace

std::span<const std::string_view> kernel_names() noexcept { return names; }

std::uint32_t default_tile(std::string_view kernel) {
  if (kernel == "matmul") return 64;
  if (kernel == "copy" || kernel == "stencil") return 1024;
  if (kernel == "sort") return 65536;
  unknown_kernel(kernel);
}

std::unique_ptr<kernel_instance> make_kernel(std::string_view kernel, std::uint64_t tile,
                                             const kernel_options& options) {
  const std::uint32_t usual = default_tile(kernel);
  const auto refuse = [&](const std::string& right) {
    throw input_error("tile " + std::to_string(tile) + " of kernel " + std::string(kernel) +
                      " is not usable: " + right + " (the papers use " + std::to_string(usual) +
                      ")");
  };
  if (kernel == "sort") {
    if (tile < 4 || tile % 4 != 0 || tile > (std::uint64_t{1} << 26))
      refuse("give a number of keys, a multiple of 4, from 4 to 67108864");
  } else if (const std::uint64_t least = kernel == "stencil" ? 3 : 1; tile < least || tile > 8192) {
    refuse("give the side of a square of floats, " + std::to_string(least) + " to 8192");
  }
  if (options.sweeps == 0 || options.sweeps > 1000)
    throw input_error("sweeps " + std::to_string(options.sweeps) + " is out of range: 1 to 1000");
  if (options.sweeps != 1 && kernel != "stencil")
    throw input_error("sweeps " + std::to_string(options.sweeps) + " given to kernel " +
                      std::string(kernel) + ": only stencil has sweeps");

  const auto side = static_cast<std::uint32_t>(tile);
  if (kernel == "matmul") return std::make_unique<matmul_kernel>(side, options);
  if (kernel == "copy") return std::make_unique<copy_kernel>(side, options);
  if (kernel == "stencil") return std::make_unique<stencil_kernel>(side, options);
  return std::make_unique<sort_kernel>(side, options);
}

}  // namespace kilter::apps
