#pragma once
// Weights of VGG-16 from files: Darknet's `.weights`, and safetensors with the names of torchvision
// or timm.

#include <cstdint>
#include <iosfwd>
#include <string>

#include "apps/programs/network.hpp"

namespace kilter::apps {

/// Fills every layer from a file of `bytes` bytes; its first bytes tell which of the two it is. The
/// network's pixel scale becomes that of the format. Nothing is allocated before all sizes are
/// known to be right. input_error naming `file`, the layer, what there is and what would be right:
/// a size or shape other than the network's, a layer too many or too few, another type than 32-bit
/// float, an early end, NaN or infinity.
///
/// Darknet (src/parser.c): three 32-bit numbers (major, minor, revision), how many pictures it saw
/// (64 bits from version 0.2 on, else 32), then for each layer its biases and its weights. Where a
/// version above 1000 is said, the weights of fully connected layers have a row for each input.
///
/// safetensors: the length of a header (64 bits), the header (JSON: dtype, shape and place of each
/// tensor), the tensors without holes.
void read_weights(std::istream&, std::uint64_t bytes, const std::string& file, network&);

}  // namespace kilter::apps
