#include "balance/os/software_observer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "balance/os/perf_calls.hpp"

namespace kilter::balance::os {

namespace {

/// Of a thread's CPU time, for each CPU of the machine: about 200 samples a second if all CPUs are
/// busy, however many there are. A sample costs the thread up to 20 us on a virtual machine, which
/// makes 0.4 % of one core. Prime, so that it keeps no step with what a program does every
/// millisecond.
constexpr std::uint64_t sampled_every_ns_per_cpu = 4'999'999;
/// A thread whose class was told from `well_known` samples, or could not be told from a full
/// window, is asked this much less often.
constexpr std::uint64_t slower = 2;
constexpr std::uint64_t well_known = 32;
/// 53 samples; they are taken about ten times a second. All of it is locked memory, of which
/// ordinary users have little.
constexpr std::size_t ring_pages = 2;
/// A thread that ran for so long, and for so many periods, without a sample has lost its event, as
/// when it became a program with other rights; or it is in the kernel all the time.
constexpr double silent_s = 1.0, silent_periods = 16.0;

std::uint64_t period_ns(bool seldom) {
  static const auto cpus =
      static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return sampled_every_ns_per_cpu * cpus * (seldom ? slower : 1);
}

perf_event_attr clock_of_thread(bool seldom) {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_CPU_CLOCK;
  a.sample_period = period_ns(seldom);
  a.sample_type = PERF_SAMPLE_REGS_USER;
  a.sample_regs_user = sampled_register_mask;
  a.exclude_kernel = 1;
  a.exclude_hv = 1;
  a.comm = 1;  // tells of an exec
  a.comm_exec = 1;
  return a;
}

std::string why_not_mapped(int error) {
  if (error == EPERM || error == ENOMEM)
    return "memory for more samples may not be locked; raise kernel.perf_event_mlock_kb or ulimit "
           "-l";
  return std::strerror(error);
}

constexpr const char* code_forbidden =
    "their code may not be read; kernel.yama.ptrace_scope 0 or CAP_SYS_PTRACE allow it, or start "
    "the program by kilter lab balance";

}  // namespace

software_observer::software_observer(std::unique_ptr<sampling_calls> calls,
                                     std::unique_ptr<operand_decoder> decoder)
    : calls_(std::move(calls)), decoder_(std::move(decoder)) {
  if (!decoder_) {
    why_not_ = why_nothing_is_decoded();
    return;
  }
  code_.emplace(*decoder_, *calls_);
  const auto ring = open(0, false, why_not_);
  works_ = !ring.empty();
  if (works_) calls_->unmap(ring);
}

software_observer::~software_observer() {
  for (auto& [id, s] : threads_) stop(s);
}

std::string software_observer::limits() const {
  if (works_)
    return "tells by sampled addresses which threads wait for memory and which compute; no rates, "
           "so nothing is predicted";
  return "sees when threads run and wait, but neither misses nor what limits a thread, so nothing "
         "is predicted: " +
         why_not_;
}

std::span<std::byte> software_observer::open(pid_t tid, bool seldom, std::string& why) {
  const int fd = calls_->open(clock_of_thread(seldom), tid);
  if (fd < 0) {
    if (fd != -ESRCH) why = perf_refusal(-fd);
    return {};
  }
  int error = 0;
  const auto ring =
      calls_->map(fd, ring_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), error);
  calls_->close(fd);  // the mapping keeps the event
  if (ring.empty()) why = why_not_mapped(error);
  return ring;
}

void software_observer::start(sampled_thread& s, const watched_thread& t) {
  std::string why;
  s.ring = open(t.tid, s.seldom, why);
  // Its number may have passed to another thread just before the event was opened.
  if (!s.ring.empty() && !t.still_there()) stop(s);
  if (!why.empty()) ++refused_[why];
}

void software_observer::stop(sampled_thread& s) noexcept {
  if (!s.ring.empty()) calls_->unmap(std::exchange(s.ring, {}));
}

void software_observer::add(const watched_thread& t) {
  if (!works_) return;
  if (t.tid == t.pid) code_->forget(t.pid);
  sampled_thread s;
  s.pid = t.pid;
  start(s, t);
  if (!s.ring.empty()) threads_[t.id] = std::move(s);
}

void software_observer::remove(const watched_thread& t) {
  const auto at = threads_.find(t.id);
  if (at == threads_.end()) return;
  undecided_ += is_undecided(at->second) ? 1 : 0;
  stop(at->second);
  threads_.erase(at);
}

void software_observer::collect() {
  if (!works_) return;
  code_->grow_old();
  for (auto& [id, s] : threads_) take(s);
}

void software_observer::take(sampled_thread& s) {
  if (s.ring.empty()) return;
  taken_.clear();
  drain(s.ring, taken_);
  if (taken_.became_another_program) {
    code_->forget(s.pid);
    s.window = {};
    s.told = thread_class::unknown;
    s.samples = 0;
  }
  s.samples += taken_.samples.size() + taken_.narrow;
  if (!taken_.samples.empty() || taken_.narrow > 0) s.unseen_s = 0.0;
  bool forbidden = false;
  for (const register_values& registers : taken_.samples) {
    const operand_form next =
        code_->next(s.pid, value_of(registers, sampled_register::ip), forbidden);
    if (next.goes == operand_form::somewhere) s.window.add(address_of(next, registers));
    if (next.goes == operand_form::nowhere) s.window.add(std::nullopt);
  }
  if (!forbidden) return;
  ++refused_[code_forbidden];
  stop(s);
}

void software_observer::fill(const watched_thread& t, thread_sample& sample) {
  const auto at = threads_.find(t.id);
  if (at == threads_.end()) return;
  sampled_thread& s = at->second;
  s.unseen_s += sample.ran_s;
  take(s);
  const double period_s = static_cast<double>(period_ns(s.seldom)) * 1e-9;
  if (!s.ring.empty() && s.unseen_s > std::max(silent_s, silent_periods * period_s)) {
    stop(s);
    s = {};
    s.pid = t.pid;
    start(s, t);
  }
  sample.told = s.told = s.window.told();
  const bool seldom =
      s.samples >= (s.told == thread_class::unknown ? page_window::capacity : well_known);
  if (s.ring.empty() || s.seldom == seldom) return;
  stop(s);
  s.seldom = seldom;
  start(s, t);
}

bool software_observer::is_undecided(const sampled_thread& s) {
  return s.samples >= page_window::capacity && s.told == thread_class::unknown;
}

std::vector<std::string> software_observer::remarks() const {
  std::vector<std::string> lines;
  for (const auto& [why, threads] : refused_)
    lines.push_back(fmt::format("{} threads have no class: {}", threads, why));
  std::uint64_t undecided = undecided_;
  for (const auto& [id, s] : threads_) undecided += is_undecided(s) ? 1 : 0;
  if (undecided > 0)
    lines.push_back(
        fmt::format("of {} threads the sampled addresses told no class: they are neither spread "
                    "nor close together, or cannot be resolved",
                    undecided));
  return lines;
}

}  // namespace kilter::balance::os
