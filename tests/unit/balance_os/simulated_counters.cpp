#include "simulated_counters.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "host/proc.hpp"

namespace kilter::balance::os::testing {

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool streams(pid_t tid) {
  std::ifstream in("/proc/" + std::to_string(tid) + "/cmdline");
  const std::string words((std::istreambuf_iterator<char>(in)), {});
  return words.find(std::string("stream") + '\0') != std::string::npos;
}

/// A thread that computes for longer than any test.
sim::thread_plan plan_of(std::uint32_t demand) {
  return {.steps = {{.kind = sim::step_kind::compute, .which = demand, .amount_s = 1e4}}};
}

}  // namespace

simulated_counters::simulated_counters(simulated_computer c) : computer_(std::move(c)) {}

simulated_counters::~simulated_counters() {
  {
    const std::lock_guard hold(shared_);
    stop_ = true;
  }
  changed_.notify_all();
  if (simulation_.joinable()) simulation_.join();
}

int simulated_counters::open(const perf_event_attr&, pid_t tid, int group) {
  if (group >= 0) return groups_.contains(group) ? next_fd_++ : -EBADF;
  groups_[next_fd_] = tid;
  if (tid != 0 && std::ranges::find(tids_, tid) == tids_.end() && !simulation_.joinable())
    tids_.push_back(tid);
  return next_fd_++;
}

bool simulated_counters::read(int fd, std::span<std::uint64_t> into) {
  const auto group = groups_.find(fd);
  if (group == groups_.end() || into.size() != 7) return false;
  if (!simulation_.joinable() && tids_.size() >= computer_.threads) begin();
  if (simulation_.joinable()) catch_up();
  counted c;
  if (const auto at = std::ranges::find(tids_, group->second);
      at != tids_.end() && simulation_.joinable()) {
    const std::lock_guard hold(shared_);
    c = counted_[static_cast<std::size_t>(at - tids_.begin())];
  }
  const auto whole = [](double x) { return static_cast<std::uint64_t>(x); };
  const std::uint64_t raw[] = {4,
                               whole(c.ran_s * 1e9),
                               whole(c.ran_s * 1e9),
                               whole(c.ran_s * 1e9),
                               whole(c.instructions),
                               whole(c.references),
                               whole(c.misses)};
  std::ranges::copy(raw, into.begin());
  return true;
}

core_id simulated_counters::core_of(pid_t tid) const {
  const auto s = host::stat_of(tid, tid);
  const auto at = std::ranges::find(computer_.os_cpus, s ? s->os_cpu : -1);
  return at == computer_.os_cpus.end() ? 0 : static_cast<core_id>(at - computer_.os_cpus.begin());
}

void simulated_counters::begin() {
  sim::thread_program all{.name = "threads",
                          .demands = {{.stall = 0.7, .bytes_per_s = 2e9, .miss_ratio = 0.5},
                                      {.stall = 0.02, .bytes_per_s = 2e7, .miss_ratio = 0.02}},
                          .groups = {{}}};
  for (const pid_t tid : tids_) {
    all.groups[0].threads.push_back(plan_of(streams(tid) ? 0 : 1));
    where_.push_back(core_of(tid));
  }
  counted_.resize(tids_.size());
  began_s_ = now_s();
  simulation_ = std::thread([this, all] {
    try {
      static_cast<void>(sim::run_threads(computer_.machine, std::span(&all, 1), 1, this));
    } catch (const stopped&) {
    }
  });
}

void simulated_counters::catch_up() {
  std::vector<core_id> where;
  for (const pid_t tid : tids_) where.push_back(core_of(tid));
  std::unique_lock hold(shared_);
  where_ = std::move(where);
  wanted_s_ = now_s() - began_s_;
  changed_.notify_all();
  changed_.wait(hold, [&] { return reached_s_ + step_s > wanted_s_; });
}

core_id simulated_counters::place(const sim::thread_birth& b, std::span<const std::uint32_t>) {
  const std::lock_guard hold(shared_);
  return where_[b.thread];
}

double simulated_counters::look(double now, double, std::span<const sim::thread_counters> seen,
                                std::vector<sim::thread_move>& moves) {
  std::unique_lock hold(shared_);
  for (const sim::thread_counters& t : seen) {
    counted& c = counted_[t.thread];
    c.ran_s += t.ran_s;
    c.instructions += t.instructions;
    c.references += t.references;
    c.misses += t.misses;
  }
  reached_s_ = now;
  changed_.notify_all();
  changed_.wait(hold, [&] { return stop_ || reached_s_ + step_s <= wanted_s_; });
  if (stop_) throw stopped{};
  for (const sim::thread_counters& t : seen)
    if (where_[t.thread] != t.core) moves.push_back({t.thread, where_[t.thread]});
  return step_s;
}

}  // namespace kilter::balance::os::testing
