#pragma once

#include "sharing/cpu_bits.hpp"

namespace kilter::sharing {

inline cpu_bits up_to(std::uint32_t count) {
  cpu_bits c;
  for (std::uint32_t cpu = 0; cpu < count; ++cpu) c.add(cpu);
  return c;
}

}  // namespace kilter::sharing
