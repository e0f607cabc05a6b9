#include "c/pool.hpp"

#include <algorithm>

#include "kilter/error.hpp"
#include "runtime/loop_shares.hpp"

namespace kilter::c {

namespace {

// A kind of core for each thread: those of a pool may lie on different ones, and their parts of a
// region need not be alike.
std::uint32_t checked(std::size_t threads) {
  if (threads == 0 || threads > pool::most_threads)
    throw input_error("a pool of " + std::to_string(threads) + " threads; 1 to " +
                      std::to_string(pool::most_threads) + " are supported");
  return static_cast<std::uint32_t>(threads);
}

const void* this_thread() noexcept {
  static thread_local const char here = 0;
  return &here;
}

}  // namespace

pool::pool(std::size_t threads)
    : cores_(machine::uniform(checked(threads), checked(threads))),
      tables_(cores_, table_options::robust()),
      turns_(std::make_unique<turn[]>(threads)),
      seconds_per_cycle_(1.0 / sync::cycles_per_second()),
      start_cycles_(sync::cycles()) {}
pool::~pool() = default;

region& pool::named(const char* name) {
  const sync::lock_guard hold(naming_);
  auto found = regions_.find(std::string_view(name));
  if (found == regions_.end())
    found = regions_.emplace(name, std::make_unique<region>(*this, name)).first;
  return *found->second;
}

void pool::refuse_while_busy() const {
  for (core_id t = 0; t < threads(); ++t)
    if (const region* in = turns_[t].in.load(sync::memory_order_acquire))
      throw usage_error("thread " + std::to_string(t) + " is in region '" + in->name() +
                        "'; a pool is destroyed when all have ended theirs");
}

pool::turn& pool::turn_of(std::size_t thread) {
  if (thread >= threads())
    throw usage_error("thread " + std::to_string(thread) +
                      " is not of this pool; its threads are 0 to " +
                      std::to_string(threads() - 1));
  return turns_[thread];
}

std::vector<std::uint64_t> region::shares(std::uint64_t items) const {
  return detail::begins_of_shares(of_.tables_, of_.cores_, row_, items, 0);
}

void region::begin(std::size_t thread) {
  pool::turn& mine = of_.turn_of(thread);
  const region* none = nullptr;
  if (!mine.in.compare_exchange_strong(none, this, sync::memory_order_acq_rel))
    throw usage_error("thread " + std::to_string(thread) + " begins region '" + name_ +
                      "' but is in region '" + none->name_ + "'; it must end that first");
  mine.who.store(this_thread(), sync::memory_order_relaxed);
  mine.begin_cpu_ns = sync::thread_cpu_nanoseconds();
  mine.begin_cycles = sync::cycles();
}

void region::end(std::size_t thread, std::uint64_t items) {
  const std::uint64_t now = sync::cycles();
  pool::turn& mine = of_.turn_of(thread);
  if (mine.in.load(sync::memory_order_acquire) != this)
    throw usage_error("thread " + std::to_string(thread) + " ends region '" + name_ +
                      "', which it has not begun");
  if (mine.who.load(sync::memory_order_relaxed) != this_thread())
    throw usage_error("thread " + std::to_string(thread) + " of the pool ends region '" + name_ +
                      "' on another thread of the process than it began it on");
  const double wall_s = of_.seconds(now - mine.begin_cycles);
  const double cpu_s =
      static_cast<double>(sync::thread_cpu_nanoseconds() - mine.begin_cpu_ns) * 1e-9;
  mine.who.store(nullptr, sync::memory_order_relaxed);
  mine.in.store(nullptr, sync::memory_order_release);
  if (items > 0 && wall_s > 0.0 && cpu_s > 0.0)
    learn(static_cast<core_id>(thread), items, wall_s, cpu_s, of_.seconds(now - of_.start_cycles_));
}

void region::learn(core_id thread, std::uint64_t items, double wall_s, double cpu_s,
                   double now_s) noexcept {
  of_.tables_.learn_loop(row_, thread, static_cast<double>(items), std::min(cpu_s, wall_s), wall_s,
                         now_s);
}

}  // namespace kilter::c
