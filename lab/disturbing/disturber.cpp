#include "disturbing/disturber.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <fstream>
#include <new>
#include <thread>

#include "disturbing/disturber_load.hpp"
#include "disturbing/disturber_quota.hpp"
#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

using kind = disturbance_kind;

// The kernel keeps about a twentieth of every second for threads without real-time priority.
constexpr double least_realtime_share = 0.05;
// A chain that gets less of its core than this while it calibrates was not alone there.
constexpr double idle_enough = 0.9;

std::int64_t process_cpu_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::int64_t add_seconds(std::int64_t begin_ns, double seconds) noexcept {
  return begin_ns + static_cast<std::int64_t>(seconds * 1e9);
}

bool autogroup_enabled() {
  int enabled = 0;
  std::ifstream("/proc/sys/kernel/sched_autogroup_enabled") >> enabled;
  return enabled != 0;
}

// Threads of a disturber take no signals: Ctrl-C goes to the thread that the program chose for it.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

// Counters in memory that a child process shares.
struct unmap_counters {
  void operator()(load_counters* p) const noexcept { munmap(p, sizeof *p); }
};
using shared_counters = std::unique_ptr<load_counters, unmap_counters>;

shared_counters make_counters() {
  void* memory = mmap(nullptr, sizeof(load_counters), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return shared_counters(new (memory) load_counters);
}

}  // namespace

struct disturber::state {
  // One load: a disturbance on one core; a floating co-runner and a quota have several cores.
  struct load {
    disturbance what;
    std::vector<core_id> cores;
    std::vector<int> os_cpus;
    shared_counters counters = make_counters();
    std::unique_ptr<co_runner_chain> chain;  // co-runners only
    bool realtime = false;                   // time shares only: what the calibration got
    std::atomic<bool> lost_realtime{false};
    std::atomic<bool> begun{false};
    // the quota was refused, or the child could not be started
    std::atomic<bool> failed{false};
    std::optional<double> alone_per_s;
    bool core_was_idle = true;  // during calibration
    std::atomic<double> steal_from_s{0}, steal_s{0};
    std::atomic<bool> active{false};
    std::int64_t from_ns = 0, to_ns = never_ns;
    std::thread thread;
  };

  disturber_options options;
  std::vector<std::unique_ptr<load>> loads;
  std::unique_ptr<quota_group> quota;
  disturber_report calibration;
  stop_signal stop;
  bool running = false;

  [[nodiscard]] bool realtime_allowed() const noexcept {
    return options.set_realtime ? options.set_realtime() : set_realtime();
  }

  double steal(const load& l) const {
    double sum = 0;
    for (const int cpu : l.os_cpus) sum += steal_seconds(cpu);
    return sum;
  }

  void calibrate(load& l, double seconds);
  void run(load& l) noexcept;
  void run_child(load& l) noexcept;
  static void has_begun(load& l) noexcept {
    l.begun = true;
    l.begun.notify_all();
  }
  void run_quota(load& l) noexcept;
  [[nodiscard]] disturber_row row(const load& l, bool calibrated) const;
};

// ---- calibration --------------------------------------------------------------------------------

void disturber::state::calibrate(load& l, double seconds) {
  if (l.what.kind == kind::quota) return;
  bool pinned = true;
  const auto body = [&] {
    pinned = pin_to(l.os_cpus);
    if (!pinned) return;
    const std::int64_t end = add_seconds(sync::nanoseconds(), seconds);
    if (is_co_runner(l.what.kind)) {
      l.chain->run(*l.counters, stop, end);
    } else {
      l.realtime = realtime_allowed();
      run_time_share({l.what.share, 0.0}, l.realtime, *l.counters, stop, end);
    }
  };
  const double steal_before = steal(l);
  {
    const signals_blocked blocked;
    l.thread = std::thread(body);
  }
  l.thread.join();
  if (!pinned)
    throw input_error(fmt::format(
        "disturbance '{}': core {} is CPU {} of this computer, which this process may not use; "
        "choose a core that `kilter topo` lists",
        to_string(l.what), l.cores.front(), l.os_cpus.front()));
  l.steal_s = steal(l) - steal_before;
  const auto cpu_s = static_cast<double>(l.counters->cpu_ns.load()) * 1e-9;
  const auto wall_s = static_cast<double>(l.counters->wall_ns.load()) * 1e-9;
  if (!is_co_runner(l.what.kind) || cpu_s <= 0) return;
  // By its own CPU time: on a core that is not quite idle that is still what it would do alone.
  l.alone_per_s = static_cast<double>(l.counters->iterations.load()) / cpu_s;
  l.core_was_idle = cpu_s / wall_s >= idle_enough;
}

disturber::disturber(const machine& m, std::vector<disturbance> scenario,
                     const disturber_options& options)
    : state_(std::make_unique<state>()) {
  state_->options = options;
  for (const disturbance& d : scenario) {
    const std::string text = to_string(d);
    check_exists(d, disturbed_cores::real);
    for (const core_id c : d.cores)
      if (c >= m.core_count())
        throw input_error(fmt::format("disturbance '{}': core {} does not exist; cores are 0 to {}",
                                      text, c, m.core_count() - 1));
    if (d.kind == kind::quota && d.cores.size() != m.core_count())
      throw input_error(
          fmt::format("disturbance '{}': a quota limits the program and not a core; write "
                      "quota@all, or share for "
                      "single cores",
                      text));
    const bool whole = d.kind == kind::quota || d.kind == kind::floating;
    for (std::size_t i = 0; i < (whole ? 1 : d.cores.size()); ++i) {
      auto l = std::make_unique<state::load>();
      l->what = d;
      l->cores = whole ? d.cores : std::vector<core_id>{d.cores[i]};
      for (const core_id c : l->cores) l->os_cpus.push_back(m.cores()[c].os_index);
      if (is_co_runner(d.kind)) l->chain = std::make_unique<co_runner_chain>(d.kind == kind::mem);
      state_->loads.push_back(std::move(l));
    }
    if (d.kind == kind::quota && !state_->quota) state_->quota = std::make_unique<quota_group>();
  }
  if (state_->quota && state_->quota->version_2() && scenario.size() > 1)
    throw input_error(
        "disturbance quota together with others needs cgroup version 1, and this computer has "
        "version 2, which "
        "cannot keep the other loads out of the quota; give quota alone");

  // One after another: loads that calibrate at once could slow each other down.
  const auto count = static_cast<double>(std::max<std::size_t>(8, state_->loads.size()));
  const double each_s = options.calibration_s * 8 / count;
  for (auto& l : state_->loads) {
    state_->calibrate(*l, each_s);
    state_->calibration.rows.push_back(state_->row(*l, true));
    l->counters->clear();
    l->steal_s = 0;
  }
}

disturber::~disturber() { stop(); }

// ---- running ------------------------------------------------------------------------------------

void disturber::start(double run_length_s) {
  stop();
  state& s = *state_;
  for (const auto& l : s.loads)
    if (l->what.window && l->what.window->fractions &&
        !(run_length_s > 0 && std::isfinite(run_length_s)))
      throw input_error(
          fmt::format("disturbance '{}': its times are fractions of a run whose length is not "
                      "known; give seconds",
                      to_string(l->what)));
  if (s.quota) s.quota->enter();
  s.stop.clear();
  s.running = true;
  const std::int64_t begin = sync::nanoseconds();
  const signals_blocked blocked;
  for (auto& l : s.loads) {
    l->counters->clear();
    l->steal_s = 0;
    l->lost_realtime = l->failed = l->active = false;
    l->begun = false;
    l->from_ns = begin;
    l->to_ns = never_ns;
    if (const auto& window = l->what.window) {
      const double unit_s = window->fractions ? run_length_s : 1.0;
      l->from_ns = add_seconds(begin, window->from * unit_s);
      l->to_ns = add_seconds(begin, window->to * unit_s);
    }
    l->thread = std::thread([&s, load = l.get()] { s.run(*load); });
  }
  // Whoever starts a program next wants the disturbance beside all of it.
  for (auto& l : s.loads)
    if (!l->what.window) l->begun.wait(false);
}

void disturber::state::run(load& l) noexcept {
  // Threads start inside the quota that the process has just entered, where they would be limited
  // and could not be real-time.
  if (quota) quota->release_this_thread();
  if (stop.sleep_until(l.from_ns)) return has_begun(l);
  l.steal_from_s = steal(l);
  l.active = true;
  const auto go_to_its_cores = [&] {
    has_begun(l);
    pin_to(l.os_cpus);
  };
  switch (l.what.kind) {
    case kind::quota: run_quota(l); break;
    case kind::session: run_child(l); break;
    case kind::cpu:
    case kind::mem:
    case kind::floating:
      go_to_its_cores();
      l.chain->run(*l.counters, stop, l.to_ns);
      break;
    case kind::share:
    case kind::wave: {
      go_to_its_cores();
      const bool granted = l.realtime && realtime_allowed();
      l.lost_realtime = l.realtime && !granted;
      run_time_share({l.what.share, l.what.half_period_s}, granted, *l.counters, stop, l.to_ns);
      break;
    }
    case kind::freq:
    case kind::offline: break;  // refused
  }
  l.steal_s = steal(l) - l.steal_from_s;
  l.active = false;
}

// This thread outlives the child: the signal that a child gets when its parent dies is tied to the
// parent *thread*.
void disturber::state::run_child(load& l) noexcept {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // Only calls that are safe after a fork from a program with threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    setsid();
    for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    pin_to(l.os_cpus);
    l.chain->run(*l.counters, stop, never_ns);
    _exit(0);
  }
  has_begun(l);
  if (child < 0) {
    l.failed = true;
    return;
  }
  stop.sleep_until(l.to_ns);
  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

void disturber::state::run_quota(load& l) noexcept {
  l.failed = !quota->limit(l.what.share * static_cast<double>(l.cores.size()));
  has_begun(l);
  if (l.failed) return;
  const std::int64_t begin = sync::nanoseconds(), cpu_begin = process_cpu_ns();
  constexpr std::int64_t update_ns = 50'000'000;
  for (std::int64_t now = begin; now < l.to_ns;) {
    const bool stopped = stop.sleep_until(l.to_ns - now < update_ns ? l.to_ns : now + update_ns);
    now = sync::nanoseconds();
    l.counters->cpu_ns.store(process_cpu_ns() - cpu_begin, std::memory_order_relaxed);
    l.counters->wall_ns.store(now - begin, std::memory_order_relaxed);
    if (stopped) break;
  }
  quota->lift_limit();
}

void disturber::stop() noexcept {
  if (!state_->running) return;
  state_->stop.raise();
  for (auto& l : state_->loads)
    if (l->thread.joinable()) l->thread.join();
  if (state_->quota) state_->quota->leave();
  state_->stop.clear();
  state_->running = false;
}

// ---- reporting ----------------------------------------------------------------------------------

disturber_row disturber::state::row(const load& l, bool calibrated) const {
  disturber_row r;
  r.disturbance = to_string(l.what);
  r.kind = l.what.kind;
  r.cores = l.cores;
  if (has_share(l.what.kind)) r.wanted_share = l.what.share;
  r.alone_per_s = l.alone_per_s;
  r.active_s = static_cast<double>(l.counters->wall_ns.load(std::memory_order_relaxed)) * 1e-9;
  r.steal_s = std::max(0.0, l.active ? steal(l) - l.steal_from_s : l.steal_s.load());
  const double cpu_s =
      static_cast<double>(l.counters->cpu_ns.load(std::memory_order_relaxed)) * 1e-9;

  const auto note = [&r](std::string_view text) {
    r.note += fmt::format("{}{}", r.note.empty() ? "" : "; ", text);
  };
  const int nice = getpriority(PRIO_PROCESS, 0);
  if (is_time_share(l.what.kind)) {
    const bool realtime = l.realtime && !l.lost_realtime;
    r.method = realtime ? "fifo duty cycle"
                        : fmt::format("nice {} co-runner (no real-time permission)", nice);
    if (!realtime)
      note(
          "fell back to a thread of normal priority, which takes about half of a busy core at "
          "most: the share is not exact");
    else if (l.what.share < least_realtime_share)
      note("the kernel keeps about 5 % of a core from real-time threads, so less is not reached");
  } else if (l.what.kind == kind::quota) {
    r.method = quota->version_2() ? "cgroup v2 cpu.max" : "cgroup v1 cpu quota";
    if (l.failed)
      note("the kernel refused the limit (a group above has a tighter one): no quota was in force");
  } else if (l.what.kind == kind::session) {
    r.method = fmt::format("nice {} co-runner in a process session of its own", nice);
    if (!autogroup_enabled())
      note(
          "autogroup scheduling is off here, so a session of its own weighs no more than a thread");
    if (l.failed) note("the child process could not be started: no co-runner ran");
  } else {
    r.method =
        fmt::format("nice {} {}co-runner", nice, l.what.kind == kind::floating ? "floating " : "");
  }
  if (!l.core_was_idle)
    note("other programs used the core during calibration; the speed alone is by CPU time");
  if (r.active_s <= 0) return r;

  if (l.what.kind == kind::quota) {
    r.achieved_share = cpu_s / (r.active_s * static_cast<double>(l.cores.size()));
    return r;
  }
  // A floating co-runner is on one core at a time: what it leaves of that one.
  r.achieved_share = std::clamp(1.0 - cpu_s / r.active_s, 0.0, 1.0);
  if (is_time_share(l.what.kind)) {
    r.progress = cpu_s / (r.active_s * (1.0 - l.what.share));
  } else if (!calibrated) {
    r.during_per_s =
        static_cast<double>(l.counters->iterations.load(std::memory_order_relaxed)) / r.active_s;
    if (l.alone_per_s && *l.alone_per_s > 0) r.progress = *r.during_per_s / *l.alone_per_s;
  }
  return r;
}

const disturber_report& disturber::calibration() const noexcept { return state_->calibration; }

disturber_report disturber::report() const {
  disturber_report result;
  for (const auto& l : state_->loads) result.rows.push_back(state_->row(*l, false));
  return result;
}

}  // namespace kilter::lab
