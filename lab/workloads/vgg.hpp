#pragma once
// Inference with VGG-16 as a DAG of matrix products (S2, section 5.4; papers.md A3.3).

#include <cstdint>
#include <vector>

#include "workloads/task_graph.hpp"

namespace kilter::lab {

struct vgg16 {
  /// side of the picture, a multiple of 32; 224 is the usual network's
  std::uint32_t input = 512;
  std::uint32_t block_length = 16;  ///< output channels of one task
  /// as in X19: each block is two tasks, and one task a layer does what that code leaves to its
  /// main thread
  bool chains = false;
};

/// A layer as the product of a rows x depth and a depth x columns matrix.
struct gemm_layer {
  std::uint64_t rows = 0;     ///< output channels
  std::uint64_t depth = 0;    ///< 9 x input channels, or all inputs of a fully connected layer
  std::uint64_t columns = 0;  ///< points of the picture, or 1
};

/// The 13 convolutions, pooled after the 2nd, 4th, 7th, 10th and 13th, and the three fully
/// connected layers.
[[nodiscard]] std::vector<gemm_layer> gemm_layers_of(const vgg16&);

/// Tasks of the layer: its rows in blocks, the last one cut.
[[nodiscard]] std::uint64_t tasks_of(const vgg16&, const gemm_layer&) noexcept;

/// What X19 has for a layer (`chains`): one task for im2col, on one core; then for each block one
/// that scales its rows, on one core, and one that multiplies, in pieces of two rows. Convolutions
/// are of one size class and fully connected layers of another, as that code has one table each.
/// Else every task of a layer comes before every task of the next. One type, a size class a layer,
/// all low. A task counts as so many 64 x 64 products as have its operations; that the fully
/// connected layers read each weight once only, and so wait for memory, is not modelled.
[[nodiscard]] task_graph build(graph&, const vgg16&, const sim::platform&, body_runner* = nullptr);

}  // namespace kilter::lab
