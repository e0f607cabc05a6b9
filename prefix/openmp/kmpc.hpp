#pragma once
// The calls that clang makes of a program's OpenMP, `__kmpc_*`, and what of them concerns a whole
// team. The ABI is that of LLVM's openmp/runtime.

#include <cstdint>

#include "openmp/team.hpp"

namespace kilter::regions {

/// Where a call comes from. Of its fields only `flags` means something to us.
struct ident {
  std::int32_t reserved, flags, reserved_2, reserved_3;
  const char* place;
};
inline constexpr std::int32_t has_atomic_reduction = 0x10;

/// What clang makes of a region: called with the thread's number in libomp, its number in the team,
/// and what the region captured.
using microtask = void(std::int32_t*, std::int32_t*, ...);

/// Whoever makes one of these shows that its region needs libomp, or a folded team. Carried out
/// here where a member of ours makes it: X(name).
// clang-format off
#define KILTER_KMPC_TEAM_CALLS(X) \
  X(__kmpc_barrier) X(__kmpc_copyprivate) X(__kmpc_ordered) X(__kmpc_reduce) \
  X(__kmpc_cancel_barrier) X(__kmpc_omp_task_alloc) X(__kmpc_omp_taskwait) \
  X(__kmpc_omp_wait_deps) X(__kmpc_taskgroup)
// clang-format on

/// The same, but it needs libomp.
#define KILTER_KMPC_CALLS_FOR_LIBOMP(X) X(__kmpc_doacross_init)

/// And libomp carries out these, also for a member of ours: its thread is one that libomp knows.
// clang-format off
#define KILTER_KMPC_PASSED_CALLS(X) \
  X(__kmpc_threadprivate) X(__kmpc_threadprivate_cached) X(kmp_set_affinity)
// clang-format on

#define KILTER_NUMBER_OF(name) number_of_##name,
enum class kmpc_call : std::uint32_t {
  KILTER_KMPC_TEAM_CALLS(KILTER_NUMBER_OF) KILTER_KMPC_CALLS_FOR_LIBOMP(KILTER_NUMBER_OF)
      KILTER_KMPC_PASSED_CALLS(KILTER_NUMBER_OF) number_of___kmpc_push_proc_bind
};
#undef KILTER_NUMBER_OF

/// As regions count calls: libgomp's come first.
inline constexpr std::uint32_t first_kmpc_call = 1000;
[[nodiscard]] const char* kmpc_call_name(std::uint32_t call) noexcept;

/// This thread's member of a region of libomp that runs on threads of ours; null: it runs none. A
/// call of the whole team is remembered, whoever it is that makes it.
[[nodiscard]] inline member* kmpc_member() noexcept { return member_for(runtime::libomp); }
[[nodiscard]] member* kmpc_member(kmpc_call) noexcept;

/// This thread's number in libomp, which gives one to whoever asks.
[[nodiscard]] std::int32_t number_in_libomp(ident* place) noexcept;

/// This thread's member goes on as the only member of a team inside of its own, and back.
void begin_alone() noexcept;
void end_alone() noexcept;

}  // namespace kilter::regions
