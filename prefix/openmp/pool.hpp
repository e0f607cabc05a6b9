#pragma once
// The threads on which regions of ours run: one for each CPU of the process but the one where the
// program's own thread is.

#include "openmp/pool_threads.hpp"
#include "openmp/team.hpp"
#include "openmp/trial.hpp"
#include "openmp/waited.hpp"

namespace kilter::regions {

/// One region at a time; whoever finds the pool taken does without it.
[[nodiscard]] bool claim_pool() noexcept;
void release_pool() noexcept;

/// What threads wait in the regions to come is counted there; null: nobody wants to know. By
/// whoever has claimed the pool.
void waits_go_to(waited_times*) noexcept;
/// How a region is run.
struct way_to_run {
  bool folds = false;               ///< can_fold(members) was true
  bool with_extra_threads = false;  ///< each member gets a thread at once
  std::int64_t an_event_ns = 0;     ///< what comes once takes so long in the mean
  bool makes_tasks = false;         ///< its members are expected to
};
/// By whoever has claimed the pool. `prepare` is called before anybody begins. Returns what was
/// done if it folds.
folded_work run_on_pool(runtime, body* run, void* data, const member_settings&,
                        std::uint32_t members, const way_to_run&,
                        void (*prepare)(team&, const void*), const void* with) noexcept;
/// What calls of members of the region that has just run have shown.
struct shown_need {
  team_need need;
  std::uint32_t call;
};
[[nodiscard]] shown_need need_shown() noexcept;
/// While a folded team runs: threads whose CPUs are other programs' now (our_share.hpp) take no
/// more members.
void keep_to_our_share() noexcept;
/// Members of the region that has just run made tasks.
[[nodiscard]] bool members_made_tasks() noexcept;
/// Members of the region that has just run waited for one another.
[[nodiscard]] bool members_waited() noexcept;

}  // namespace kilter::regions
