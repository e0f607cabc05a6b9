#pragma once
// Where a parallel region runs: on threads of ours, or under its own library. Each library's calls
// come here with what they know of the region.

#include "openmp/account.hpp"
#include "openmp/beside.hpp"
#include "openmp/clock.hpp"
#include "openmp/library_waits.hpp"
#include "openmp/live_account.hpp"
#include "openmp/our_share.hpp"
#include "openmp/pool.hpp"
#include "openmp/region.hpp"
#include "openmp/team_size.hpp"

namespace kilter::regions {

enum class mode : std::uint8_t { pass_on, learn, all };
/// What the user lets us do with regions of that library. Chosen at load, from the environment.
[[nodiscard]] mode mode_of(runtime) noexcept;
/// A team of that library has begun.
void note_team_of(runtime) noexcept;
/// In a fork's child: libgomp would wait for ever for threads that its parent had, so if it had
/// any, each region runs on threads of ours. (libomp begins anew by itself.)
void take_over_in_child() noexcept;
/// The variable of the user for which everything is left to that library; null: none.
[[nodiscard]] const char* set_against(runtime) noexcept;

/// Who waits should not spin: others want the CPUs, or the user says so (OMP_WAIT_POLICY=passive).
[[nodiscard]] bool waits_passively() noexcept;

/// This thread runs a member of that region for its library, and is watched.
extern constinit __attribute__((tls_model("initial-exec"))) thread_local region* watching;

struct region_call {
  body* run = nullptr;  ///< a member
  void* data = nullptr;
  body* function = nullptr;                       ///< by which the region is known
  unsigned wanted = 0;                            ///< members; 0: as many as its library gives
  void (*prepare)(team&, const void*) = nullptr;  ///< before any member begins
  const void* with = nullptr;
};

/// How a region runs under its library.
/// the last two: with several members
enum class passed_as : std::uint8_t { as_it_is, watched, left };

struct watched_call {
  body* run;
  void* data;
  region* what;
  member_ends* ends;  ///< null: nobody wants to know
};
void watched_member(void* watched);
/// One of a region that is left to its library, and timed.
void timed_member(void* watched);

/// A region inside of a member that runs on a thread of ours: it has one member.
void run_nested(runtime, const region_call&) noexcept;
/// Whether its members take turns on threads of ours (folded.hpp), as they do where they are more
/// than these, and beside others, where one that is held up then holds up nobody on its CPU.
/// clang's members give libomp the number of the thread that they began on, so their module must
/// take nothing from it where that would be another one's.
[[nodiscard]] bool would_fold(region&, mode, std::uint32_t members) noexcept;
/// Whether it can run on threads of ours, going by what its calls have shown.
[[nodiscard]] bool can_be_ours(const region&, mode, std::uint32_t members, bool folds) noexcept;
/// Ours or its library's: what its executions took says so. While it lives the execution is timed,
/// if it is to be.
class chosen_way {
 public:
  chosen_way(region&, bool can_choose, std::int64_t now_ns) noexcept;
  ~chosen_way();
  chosen_way(const chosen_way&) = delete;
  chosen_way& operator=(const chosen_way&) = delete;
  [[nodiscard]] bool is_librarys() const noexcept { return library_; }
  /// It could not be done so.
  void give_up() noexcept { timed_ = false; }

 private:
  region& of_;
  bool held_ = false, timed_ = false, library_ = false;
  std::int64_t begin_ns_ = 0;
};
/// False: there is no room for its members, so nothing was done.
[[nodiscard]] bool run_on_threads_of_ours(region&, const region_call&, const member_settings&,
                                          std::uint32_t members, bool folds) noexcept;

/// What the library answers on this thread.
template <runtime Library>
struct asked {
  static int max_threads() noexcept {
    static int (*omp_get_max_threads)();
    return real_of(Library, omp_get_max_threads, "omp_get_max_threads")();
  }
  static int level() noexcept {
    static int (*omp_get_level)();
    return real_of(Library, omp_get_level, "omp_get_level")();
  }
  /// Regions in regions may have members of their own.
  static bool nests() noexcept {
    static int (*omp_get_max_active_levels)();
    return real_of(Library, omp_get_max_active_levels, "omp_get_max_active_levels")() > 1;
  }
  static member_settings settings() noexcept {
    static void (*omp_get_schedule)(int*, int*);
    static int (*omp_get_dynamic)();
    member_settings s{.max_threads = max_threads(),
                      .dynamic = real_of(Library, omp_get_dynamic, "omp_get_dynamic")()};
    real_of(Library, omp_get_schedule, "omp_get_schedule")(&s.schedule, &s.chunk);
    return s;
  }
};

/// `pass(run, data, passed_as)` runs it under the library.
template <runtime Library, class Pass>
void run_region(const region_call& c, const Pass& pass) noexcept {
  if (current) return run_nested(Library, c);
  const mode how = mode_of(Library);
  if (how == mode::pass_on) return pass(c.run, c.data, passed_as::as_it_is);
  if (watching) {
    leave_to_library(*watching, reason::nested);
    return pass(c.run, c.data, passed_as::as_it_is);
  }
  // inside of one that its library runs: how many members it gets is settled there
  if (asked<Library>::level() != 0) return pass(c.run, c.data, passed_as::as_it_is);
  region* const r = region_of(c.function, Library);
  if (!r) return pass(c.run, c.data, passed_as::as_it_is);
  const std::int64_t begin = now_ns();
  look_at_others(begin);
  settle_team_size(Library, reinterpret_cast<const void*>(c.function));
  if (account_is_wanted()) refresh_live_account(begin);
  const auto members =
      static_cast<std::uint32_t>(c.wanted ? c.wanted : asked<Library>::max_threads());
  renew_share(members < pool_size() ? members : pool_size());
  const bool folds = would_fold(*r, how, members);
  const bool trusted =
      how == mode::all || r->watched.load(std::memory_order_relaxed) >= watched_before ||
      (folds && r->may_fold.load(std::memory_order_relaxed) && !asked<Library>::nests());
  const bool may_be_ours = members > 1 && trusted && can_be_ours(*r, how, members, folds);
  chosen_way way(*r, may_be_ours && how != mode::all, begin);
  if (may_be_ours && !way.is_librarys() && claim_pool() &&
      run_on_threads_of_ours(*r, c, asked<Library>::settings(), members, folds)) {
    r->on_pool.fetch_add(1, std::memory_order_relaxed);
    if (!account_is_wanted()) return;
    r->is_ours.store(true, std::memory_order_relaxed);
    r->times.fetch_add(1, std::memory_order_relaxed);
    r->members.store(members, std::memory_order_relaxed);
    r->ns.fetch_add(static_cast<std::uint64_t>(now_ns() - begin), std::memory_order_relaxed);
    return;
  }
  if (may_be_ours && !way.is_librarys()) way.give_up();
  if (members > 1) note_team_of(Library);
  library_begins(*r, members);
  if (account_is_wanted()) r->is_ours.store(false, std::memory_order_relaxed);
  if (!trusted && r->why.load(std::memory_order_relaxed) == reason::none) {
    member_ends ends(begin);
    watched_call w{c.run, c.data, r, account_is_wanted() ? &ends : nullptr};
    r->members.store(members, std::memory_order_relaxed);
    pass(watched_member, &w,
         members > 1 && !may_not_sleep(*r) ? passed_as::watched : passed_as::as_it_is);
    if (members > 1) r->watched.fetch_add(1, std::memory_order_relaxed);
    if (account_is_wanted()) ends.tell(r->waited);
  } else if (account_is_wanted() && members > 1) {
    member_ends ends(begin);
    watched_call w{c.run, c.data, r, &ends};
    pass(timed_member, &w, passed_as::left);
    ends.tell(r->waited);
  } else {
    pass(c.run, c.data, members > 1 ? passed_as::left : passed_as::as_it_is);
  }
  library_ends();
  if (account_is_wanted()) {
    r->times.fetch_add(1, std::memory_order_relaxed);
    r->members.store(members, std::memory_order_relaxed);
    r->ns.fetch_add(static_cast<std::uint64_t>(now_ns() - begin), std::memory_order_relaxed);
  }
}

}  // namespace kilter::regions
