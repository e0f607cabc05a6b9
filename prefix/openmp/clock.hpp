#pragma once

#include <errno.h>
#include <time.h>
#include <cstdint>

namespace kilter::regions {

inline std::int64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace kilter::regions
