#pragma once
// The machine of the scheduling literature: processors without common parts, on which nothing takes
// time but tasks and messages.

#include <span>
#include <string>

#include "sim/platform.hpp"

namespace kilter::sim {

/// One cluster of one core for each processor, a kind of that name each, in this order; no
/// overheads, no noise, no limit of bandwidth. It has no kernel: tasks bring their seconds on each
/// core (type_work::given) or for all (type_work::fixed_s). No kind is said to be faster than
/// another; policies that want fast cores take the first (machine::fastest_cores) or those that
/// they are told. input_error if there is no processor, or too many.
[[nodiscard]] platform ideal_platform(std::span<const std::string> processors);

}  // namespace kilter::sim
