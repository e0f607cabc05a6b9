#pragma once
// exp(-x) without libm, so that the same samples give the same table on every computer.

namespace kilter::model {

/// exp(-x) for x >= 0, relative error below 1e-6 up to x = 8; 0 beyond 40.
constexpr double decay(double x) noexcept {
  if (x > 40.0) return 0.0;
  const double y = x / 64.0;
  double e = 1.0 - y * (1.0 - y * (0.5 - y * (1.0 / 6.0 - y * (1.0 / 24.0 - y / 120.0))));
  for (int squarings = 0; squarings < 6; ++squarings) e *= e;
  return e;
}

}  // namespace kilter::model
