#include "openmp/parallel.hpp"

#include <sched.h>
#include <stdlib.h>
#include <strings.h>

#include "openmp/beside.hpp"
#include "openmp/folded.hpp"
#include "regions/openmp_settings.hpp"

namespace kilter::regions {

constinit __attribute__((tls_model("initial-exec"))) thread_local region* watching = nullptr;

namespace {

mode modes[2] = {mode::pass_on, mode::pass_on};  // by runtime
bool passive = false;
// the variable, or the tool's function, for which everything is left to that library
const char* against[2] = {};

bool user_has(const char* name) noexcept {
  const char* const value = getenv(name);
  return value && *value;
}
bool user_says(const char* name, const char* value) noexcept {
  const char* const is = getenv(name);
  return is && !strcasecmp(is, value);
}

constexpr refused_setting of_libomp[] = {{"KMP_AFFINITY", nullptr, nullptr},
                                         {"GOMP_CPU_AFFINITY", nullptr, nullptr},
                                         {"KMP_HW_SUBSET", nullptr, nullptr},
                                         {"KMP_STACKSIZE", nullptr, nullptr},
                                         {"GOMP_STACKSIZE", nullptr, nullptr},
                                         {"KMP_LIBRARY", nullptr, nullptr},
                                         {"KMP_DEVICE_THREAD_LIMIT", nullptr, nullptr},
                                         {"KMP_ALL_THREADS", nullptr, nullptr},
                                         {"KMP_DETERMINISTIC_REDUCTION", nullptr, nullptr},
                                         {"KMP_FORCE_REDUCTION", nullptr, nullptr},
                                         {"KMP_ENABLE_TASK_THROTTLING", nullptr, nullptr},
                                         {"KMP_BLOCKTIME", "infinite", "KMP_BLOCKTIME=infinite"}};

template <unsigned N>
const char* first_set(const refused_setting (&all)[N]) noexcept {
  for (const refused_setting& s : all)
    if (s.value ? user_says(s.name, s.value) : user_has(s.name)) return s.told ? s.told : s.name;
  return nullptr;
}

__attribute__((constructor)) void choose_modes() {
  const char* const wanted = getenv("KILTER_OPENMP");
  if (!wanted || !*wanted || !strcmp(wanted, "0")) return;
  const char* const sanitizer = watched_by_sanitizer();
  const char* const both = sanitizer ? sanitizer : first_set(refused_of_both);
  passive = user_says("OMP_WAIT_POLICY", "passive");
  against[0] = both ? both : first_set(refused_of_libgomp);
  against[1] = both ? both : first_set(of_libomp);
  if (!against[1] && watched_by_tool()) against[1] = "ompt_start_tool";
  const mode how = !strcmp(wanted, "all") ? mode::all : mode::learn;
  for (unsigned i = 0; i < 2; ++i)
    if (!against[i]) modes[i] = how;
  if (!both && (real_if_any(runtime::libgomp, "GOMP_parallel") ||
                real_if_any(runtime::libomp, "__kmpc_fork_call")))
    begin_to_look();
  if (both)
    account_for_nothing(both);
  else
    begin_account();
}

std::atomic<bool> libgomp_has_threads{false};

}  // namespace

void note_team_of(runtime r) noexcept {
  if (r == runtime::libgomp && !libgomp_has_threads.load(std::memory_order_relaxed))
    libgomp_has_threads.store(true, std::memory_order_relaxed);
}
void take_over_in_child() noexcept {
  mode& how = modes[static_cast<unsigned>(runtime::libgomp)];
  if (libgomp_has_threads.load(std::memory_order_relaxed) && how != mode::pass_on) how = mode::all;
}

mode mode_of(runtime r) noexcept { return modes[static_cast<unsigned>(r)]; }
bool waits_passively() noexcept { return passive || beside_others(); }
const char* set_against(runtime r) noexcept { return against[static_cast<unsigned>(r)]; }

void watched_member(void* watched) {
  const watched_call& w = *static_cast<watched_call*>(watched);
  region* const around = watching;
  watching = w.what;
  w.run(w.data);
  watching = around;
  if (w.ends) w.ends->note(sched_getcpu(), now_ns());
}

void timed_member(void* timed) {
  const watched_call& w = *static_cast<watched_call*>(timed);
  w.run(w.data);
  w.ends->note(sched_getcpu(), now_ns());
}

void run_nested(runtime library, const region_call& c) noexcept {
  team inner;
  inner.reset(c.run, c.data, 1, current);
  inner.library = library;
  inner.settings = current->settings;
  if (c.prepare) c.prepare(inner, c.with);
  run_member(inner, 0);
  inner.drop_shares();
}

bool would_fold(region& r, mode how, std::uint32_t members) noexcept {
  if (how == mode::all) return members > pool_size() && r.library == runtime::libgomp;
  if (!waits_passively() && members <= pool_size()) return false;
  const bool may = r.may_fold.load(std::memory_order_relaxed);
  if (r.library == runtime::libgomp && members > pool_size()) return true;
  return may && !has_fences(r);
}

bool can_be_ours(const region& r, mode how, std::uint32_t members, bool folds) noexcept {
  if (how == mode::all) return r.why.load(std::memory_order_relaxed) != reason::task_reductions;
  if (r.why.load(std::memory_order_relaxed) != reason::none || (members > pool_size() && !folds))
    return false;
  switch (r.needs.load(std::memory_order_relaxed)) {
    case team_need::none: return true;
    // alone a library that spins is a little quicker
    case team_need::members: return folds || waits_passively();
    case team_need::order: return folds;
    case team_need::library: break;
  }
  return false;
}

chosen_way::chosen_way(region& r, bool can_choose, std::int64_t now) noexcept : of_(r) {
  if (!can_choose) return;
  held_ = !r.choosing.exchange(true, std::memory_order_acquire);
  if (!held_) return;
  timed_ = r.way.measures(changes_of_machine(), now);
  library_ = r.way.second();
  if (timed_)
    begin_ns_ = now;
  else
    r.choosing.store(false, std::memory_order_release), held_ = false;
}

chosen_way::~chosen_way() {
  if (!held_) return;
  if (timed_) {
    const std::int64_t now = now_ns();
    of_.way.ran(now - begin_ns_, now,
                !library_ && of_.is_fine_grained.load(std::memory_order_relaxed));
  }
  of_.choosing.store(false, std::memory_order_release);
}

bool run_on_threads_of_ours(region& r, const region_call& c, const member_settings& settings,
                            std::uint32_t members, bool folds) noexcept {
  if (folds && !can_fold(members)) {
    release_pool();
    return false;
  }
  // Whose members work for longer than the operating system's slices without waiting for others is
  // better off with a thread for each: beside a neighbour they get more.
  constexpr std::int64_t long_ns = 4'000'000;
  const bool is_long = folds && r.took_ns.load(std::memory_order_relaxed) > long_ns;
  waits_go_to(account_is_wanted() ? &r.waited : nullptr);
  // in a region's first execution all that come count the same
  constexpr std::int64_t of_any_ns = 10'000;
  const std::int64_t ns_before = r.folded_ns.load(std::memory_order_relaxed),
                     events_before = r.folded_events.load(std::memory_order_relaxed);
  const way_to_run way{.folds = folds,
                       .with_extra_threads = is_long,
                       .an_event_ns = events_before == 0 ? of_any_ns : ns_before / events_before,
                       .makes_tasks = r.makes_tasks.load(std::memory_order_relaxed)};
  const folded_work done =
      run_on_pool(r.library, c.run, c.data, settings, members, way, c.prepare, c.with);
  if (members_made_tasks()) r.makes_tasks.store(true, std::memory_order_relaxed);
  if (folds) {
    constexpr std::int64_t a_while_ns = 1'000'000;
    const std::int64_t before = r.took_ns.load(std::memory_order_relaxed);
    r.took_ns.store(members_waited() ? 0 : before + (done.ns - before) / 4,
                    std::memory_order_relaxed);
    r.is_fine_grained.store(members_waited() && done.events * a_while_ns > done.ns,
                            std::memory_order_relaxed);
    r.folded_ns.store(ns_before + done.ns, std::memory_order_relaxed);
    r.folded_events.store(events_before + done.events, std::memory_order_relaxed);
  }
  const shown_need shown = need_shown();
  note_need(r, shown.need, shown.call);
  release_pool();
  return true;
}

}  // namespace kilter::regions
