#include "apps/programs/stages.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace kilter::apps {

namespace {

struct counts {
  std::uint64_t items = 0, barriers = 0;
  bool complete = true;
};

// ---- one thread ---------------------------------------------------------------------------------

counts run_alone(const item_pipeline& p, const std::function<bool()>& stopped) {
  counts c;
  for (;; ++c.items) {
    if (stopped()) return c.complete = false, c;
    if (!p.next(0)) return c;
    for (const item_stage& s : p.stages) s.work(0);
  }
}

// ---- loops --------------------------------------------------------------------------------------

/// One stage of all items of a window. Exceptions may not leave a loop of OpenMP, so the first one
/// waits here until the loop is over.
class window_loop {
 public:
  window_loop(block_loop& loop, const std::function<bool()>& stopped)
      : loop_(loop), stopped_(stopped) {}

  /// False if it was stopped on the way.
  bool run(const item_stage& s, std::size_t items) {
    if (s.ordered) {
      for (std::size_t slot = 0; slot < items; ++slot) {
        if (stopped_()) return false;
        s.work(slot);
      }
      return true;
    }
    loop_.run(items, [&](std::size_t slot, std::uint32_t) { call(s, slot); });
    if (first_) std::rethrow_exception(first_);
    return !ends_;
  }

 private:
  void call(const item_stage& s, std::size_t slot) noexcept {
    try {
      if (ends_ || stopped_())
        ends_ = true;
      else
        s.work(slot);
    } catch (...) {
      const std::lock_guard hold(mutex_);
      if (!first_) first_ = std::current_exception();
      ends_ = true;
    }
  }

  block_loop& loop_;
  const std::function<bool()>& stopped_;
  std::mutex mutex_;
  std::exception_ptr first_;  // under the lock
  std::atomic<bool> ends_ = false;
};

counts run_in_windows(block_loop& loop, const item_pipeline& p,
                      const std::function<bool()>& stopped) {
  window_loop window(loop, stopped);
  counts c;
  for (bool more = true; more;) {
    std::size_t items = 0;
    while (items < p.slots) {
      if (stopped()) return c.complete = false, c;
      if (!(more = p.next(items))) break;
      ++items;
    }
    c.items += items;
    if (items == 0) break;
    for (const item_stage& s : p.stages) {
      if (!window.run(s, items)) return c.complete = false, c;
      c.barriers += !s.ordered;
    }
  }
  return c;
}

// ---- a pool of threads for each stage -----------------------------------------------------------

struct item {
  std::size_t slot = 0;
  std::uint64_t number = 0;  ///< from 0, in the order of the first stage
};

/// A queue that has room for every slot, so whoever puts something in never waits. With bounds
/// below that an item that an ordered stage waits for could stand outside of a queue that is full
/// of later ones.
class item_queue {
 public:
  item_queue(std::size_t slots, bool ordered) : ordered_(ordered), cells_(slots) {}

  void put(item i) {
    {
      const std::lock_guard hold(mutex_);
      // No two share a cell: whoever waits for an earlier item has a slot, that item has one, and
      // so has each between them.
      cells_[(ordered_ ? i.number : last_) % cells_.size()] = i;
      ++last_;
    }
    changed_.notify_one();
  }
  /// Waits for it. Empty when there will be none any more.
  std::optional<item> take() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] {
      return ended_ || cells_[first_ % cells_.size()] || (closed_ && first_ == last_);
    });
    if (ended_ || !cells_[first_ % cells_.size()]) return std::nullopt;
    return std::exchange(cells_[first_++ % cells_.size()], std::nullopt);
  }
  /// Nothing is put in any more; what is there is still taken.
  void close() { say(closed_); }
  /// Nothing is taken any more.
  void end() { say(ended_); }

 private:
  void say(bool& word) {
    {
      const std::lock_guard hold(mutex_);
      word = true;
    }
    changed_.notify_all();
  }

  const bool ordered_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<item>> cells_;  // all of these under the lock
  std::uint64_t first_ = 0, last_ = 0;
  bool closed_ = false, ended_ = false;
};

class pools {
 public:
  pools(std::uint32_t threads, const item_pipeline& p, const std::function<bool()>& stopped)
      : pipeline_(p), stopped_(stopped), free_(p.slots, false) {
    for (const item_stage& s : p.stages)
      pools_.push_back(std::make_unique<pool>(p.slots, s.ordered, s.ordered ? 1 : threads));
    for (std::size_t slot = 0; slot < p.slots; ++slot) free_.put({slot, 0});
    try {
      for (std::size_t s = 0; s < pools_.size(); ++s)
        for (std::uint32_t t = pools_[s]->at_work; t > 0; --t)
          threads_.emplace_back([this, s] { serve(s); });
    } catch (...) {
      end();
      throw;
    }
  }

  counts run() {
    counts c;
    try {
      while (const std::optional<item> i = free_.take()) {
        if (stopped_()) {
          c.complete = false;
          end();
          break;
        }
        if (!pipeline_.next(i->slot)) break;
        pools_[0]->queue.put({i->slot, c.items++});
      }
    } catch (...) {
      fail();
    }
    pools_[0]->queue.close();
    threads_.clear();
    if (first_) std::rethrow_exception(first_);
    return c;
  }

 private:
  struct pool {
    pool(std::size_t slots, bool ordered, std::uint32_t threads)
        : queue(slots, ordered), at_work(threads) {}
    item_queue queue;
    std::atomic<std::uint32_t> at_work;
  };

  void serve(std::size_t stage) {
    const bool last = stage + 1 == pools_.size();
    try {
      while (const std::optional<item> i = pools_[stage]->queue.take()) {
        pipeline_.stages[stage].work(i->slot);
        (last ? free_ : pools_[stage + 1]->queue).put(*i);
      }
    } catch (...) {
      fail();
    }
    if (--pools_[stage]->at_work == 0 && !last) pools_[stage + 1]->queue.close();
  }

  void fail() {
    {
      const std::lock_guard hold(mutex_);
      if (!first_) first_ = std::current_exception();
    }
    end();
  }
  void end() {
    free_.end();
    for (const auto& p : pools_) p->queue.end();
  }

  const item_pipeline& pipeline_;
  const std::function<bool()>& stopped_;
  item_queue free_;
  std::vector<std::unique_ptr<pool>> pools_;
  std::mutex mutex_;
  std::exception_ptr first_;           // under the lock
  std::vector<std::jthread> threads_;  // the last member: they use all others
};

}  // namespace

program_run run_stages(executor& how, const item_pipeline& p,
                       const std::function<bool()>& stopped) {
  std::optional<pools> threads;  // there before the clock starts, like those of the other models
  if (how.model() == execution_model::static_threads && !p.stages.empty())
    threads.emplace(how.threads(), p, stopped);
  const auto begin = std::chrono::steady_clock::now();
  const bool alone = how.model() == execution_model::serial || p.stages.empty();
  const counts c = threads ? threads->run()
                   : alone ? run_alone(p, stopped)
                           : run_in_windows(*how.loops(), p, stopped);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {.seconds = seconds.count(),
          .begin = begin,
          .iterations = c.items,
          .tasks = c.items * (1 + p.stages.size()),
          .barriers = c.barriers,
          .complete = c.complete};
}

}  // namespace kilter::apps
