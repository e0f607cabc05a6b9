#pragma once
// Units of the times in tables of tests.

namespace kilter::test {

inline constexpr double ms = 1e-3, us = 1e-6;

}  // namespace kilter::test
