#pragma once
// Whether the process has its CPUs to itself. It is asked at each region's begin, and what was
// found out about a region holds until the answer changes.

#include <cstdint>

namespace kilter::regions {

/// Others use CPUs that the process may use, or a quota pays for a part of them only: who spins
/// keeps somebody from working, and equal shares hold everybody up.
[[nodiscard]] bool beside_others() noexcept;
/// How often that has changed.
[[nodiscard]] std::uint32_t changes_of_machine() noexcept;

/// What is used from now on is what the first looks count. Once, when the process begins.
void begin_to_look() noexcept;
/// By whoever comes to a region, or waits in one: looks, if the latest look is a tenth of a second
/// old. The first look of a process that is younger than that goes by what runs at this moment.
void look_at_others(std::int64_t now_ns) noexcept;

}  // namespace kilter::regions
