#include "openmp/team.hpp"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "openmp/clock.hpp"
#include "openmp/tasks.hpp"

namespace kilter::regions {

constinit __attribute__((tls_model("initial-exec"))) thread_local member* current = nullptr;

void moment::lock() noexcept {
  for (unsigned tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries)
    if (tries % 64 == 63)
      sched_yield();
    else
      pause();
}

void waited_number::wake() noexcept {
  if (sleepers_.load(std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void waited_number::store(std::uint32_t v) noexcept {
  value_.store(v, std::memory_order_seq_cst);
  wake();
}

void waited_number::add(std::uint32_t n) noexcept {
  value_.fetch_add(n, std::memory_order_seq_cst);
  wake();
}

void waited_number::sleep_while(std::uint32_t old, std::int64_t limit_ns) noexcept {
  const timespec limit{limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
  const int error = errno;
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (value_.load(std::memory_order_seq_cst) == old) {
    syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, old, limit_ns ? &limit : nullptr, nullptr, 0);
    if (limit_ns) break;
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  errno = error;
}

void waited_number::wait_while(std::uint32_t old, std::int64_t spin_ns) noexcept {
  const std::int64_t begin = now_ns();
  for (unsigned tries = 1; load() == old; ++tries) {
    pause();
    if (tries % 32 == 0 && now_ns() - begin > spin_ns) return sleep_while(old);
  }
}

void team::reset(body* f, void* d, std::uint32_t n, member* around) noexcept {
  run = f;
  data = d;
  members = n;
  parent = around;
  level = around ? around->of->level + 1 : 1;
  folds = folds_loop = ends_together = false;
  for (std::atomic<void*>& parts : parts_of_members)
    if (parts.load(std::memory_order_relaxed)) parts.store(nullptr, std::memory_order_relaxed);
  if (singles.load(std::memory_order_relaxed) != 0) singles.store(0, std::memory_order_relaxed);
  // the first share is used first; and a program that ends a region in the middle of a construct
  // may have left anything
  if (waits.load(std::memory_order_relaxed) || shares[0].phase.load() != 0) {
    waits.store(false, std::memory_order_relaxed);
    at_barrier.store(0, std::memory_order_relaxed);
    copies.store(0);
    for (work_share& s : shares) {
      s.ended.store(0, std::memory_order_relaxed);
      s.phase.store(0);
    }
  }
  if (needs.load(std::memory_order_relaxed) != team_need::none)
    needs.store(team_need::none, std::memory_order_relaxed);
  if (has_tasks.load(std::memory_order_relaxed)) has_tasks.store(false, std::memory_order_relaxed);
  if (surprised.load(std::memory_order_relaxed)) surprised.store(false, std::memory_order_relaxed);
  left.store(n);
}

void team::drop_shares() noexcept {
  for (work_share& s : shares) {
    free(s.memory);
    s.memory = nullptr;
  }
}

void run_member(team& t, std::uint32_t number) noexcept {
  member m{.of = &t, .number = number, .settings = t.settings};
  if (t.folds_loop) m.share = &t.first_loop;
  member* const around = current;
  current = &m;
  begin_implicit_task(m);
  t.run(t.data);
  end_implicit_task(m);
  current = around;
}

}  // namespace kilter::regions
