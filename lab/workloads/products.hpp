#pragma once
// Work that is like a matrix product, counted in 64 x 64 products, for which every platform has
// figures.

#include "sim/engine.hpp"

namespace kilter::lab {

inline constexpr double product_side = 64.0;

[[nodiscard]] inline sim::type_work one_product() {
  return {.kernel = "matmul", .size = product_side};
}

/// How many 64 x 64 products have so many floating-point operations.
[[nodiscard]] constexpr double products(double operations) noexcept {
  return operations / (2.0 * product_side * product_side * product_side);
}

}  // namespace kilter::lab
