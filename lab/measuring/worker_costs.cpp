#include "measuring/worker_costs.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <thread>

#include "base/random.hpp"
#include "base/sync.hpp"
#include "disturbing/disturber_load.hpp"
#include "graph/node.hpp"
#include "kilter/runtime.hpp"
#include "measuring/graph_run.hpp"
#include "runtime/declared_queue.hpp"
#include "runtime/deque.hpp"
#include "runtime/lodging.hpp"
#include "runtime/pinning.hpp"
#include "runtime/sleeping.hpp"
#include "session/interrupt.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {

namespace {

using kilter::detail::declared_queue;
using kilter::detail::work_deque;

/// Between two looks at the clock.
constexpr std::uint32_t lump = 64;
/// Long enough for the sleeper's core to rest as it would.
constexpr std::int64_t asleep_ns = 300'000;
/// A thread that always looks at the clock had no core for so long.
constexpr std::int64_t lost_core_ns = 200'000;
constexpr std::int64_t short_task_ns = 31'000;

struct alignas(sync::cache_line) item {
  volatile std::uint64_t value = 0;
};

/// Runs `body(i, over)` on the first so many cores at once, each pinned, until the time is up.
/// False if that was not possible.
bool together(std::span<const core> cores, std::uint32_t count, double seconds,
              const std::function<void(std::uint32_t, const sync::atomic<bool>&)>& body) {
  sync::atomic<bool> over{false}, failed{false};
  sync::atomic<std::uint32_t> there{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        const int cpu = cores[i].os_index;
        if (!pin_to(std::span(&cpu, 1))) failed.store(true);
        there.fetch_add(1);
        while (there.load(sync::memory_order_acquire) < count) sync::yield();
        if (!failed.load()) body(i, over);
      });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    over.store(true);
  }
  return !failed.load() && !interrupted();
}

/// Of each lump that a thread did, seconds for one.
class lumps {
 public:
  void begins() noexcept { since_ = sync::nanoseconds(); }
  void ends(std::uint32_t done) {
    const std::int64_t now = sync::nanoseconds();
    each_.push_back(static_cast<double>(std::max<std::int64_t>(1, now - since_)) * 1e-9 / done);
    since_ = now;
  }
  [[nodiscard]] const std::vector<double>& each() const noexcept { return each_; }

 private:
  std::int64_t since_ = 0;
  std::vector<double> each_;
};

std::vector<double> all_of(const std::vector<lumps>& threads) {
  std::vector<double> all;
  for (const lumps& t : threads) all.insert(all.end(), t.each().begin(), t.each().end());
  return all;
}

}  // namespace

std::vector<std::uint32_t> counts_up_to(std::uint32_t most) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t n = 1; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

std::vector<double> look_s(std::span<const core> cores, std::uint32_t lookers, double seconds) {
  std::vector<work_deque<item>> deques(std::max(2u, lookers));
  std::vector<lumps> measured(lookers);
  const bool done =
      together(cores, lookers, seconds, [&](std::uint32_t me, const sync::atomic<bool>& over) {
        random_stream draws(1, "looks", me);
        measured[me].begins();
        while (!over.load(sync::memory_order_relaxed)) {
          for (std::uint32_t i = 0; i < lump; ++i) {
            const auto victim =
                (me + 1 + draws.below(static_cast<std::uint32_t>(deques.size() - 1))) %
                deques.size();
            item* none = nullptr;
            if (!deques[victim].empty()) (void)deques[victim].steal(none);
            for (int pause = 0; pause < kilter::detail::pauses_between_rounds; ++pause)
              sync::relax();
          }
          measured[me].ends(lump);
        }
      });
  return done ? all_of(measured) : std::vector<double>{};
}

std::vector<double> steal_s(std::span<const core> cores, std::uint32_t lookers, double seconds) {
  work_deque<item> deque;
  std::vector<item> items(4096);
  std::vector<lumps> measured(lookers);
  const bool done =
      together(cores, lookers + 1, seconds, [&](std::uint32_t me, const sync::atomic<bool>& over) {
        std::uint32_t next = 0;
        if (me ==
            0) {  // nobody runs out of work, and no item is pushed again before it is long gone
          while (!over.load(sync::memory_order_relaxed)) {
            if (deque.size() >= items.size() / 2) continue;
            item& one = items[next++ % items.size()];
            one.value = next;
            deque.push(&one);
          }
          return;
        }
        lumps& mine = measured[me - 1];
        mine.begins();
        while (!over.load(sync::memory_order_relaxed)) {
          item* stolen = nullptr;
          if (deque.steal(stolen) != work_deque<item>::outcome::success) continue;
          stolen->value = stolen->value + 1;
          if (++next % lump == 0) mine.ends(lump);
        }
      });
  return done ? all_of(measured) : std::vector<double>{};
}

std::vector<double> shared_queue_s(std::span<const core> cores, std::uint32_t users,
                                   double seconds) {
  declared_queue queue({no_core, queue_order::by_key, {}}, users);
  graph tasks;
  for (std::uint32_t i = 0; i < users * lump; ++i) tasks.add([] {});
  std::vector<kilter::detail::node*> nodes;
  kilter::detail::graph_access::core(tasks).for_each_node(
      [&](kilter::detail::node* n) { nodes.push_back(n); });
  for (std::uint32_t i = 0; i < nodes.size(); i += 2) queue.push(nodes[i], i);
  std::vector<lumps> measured(users);
  const bool done =
      together(cores, users, seconds, [&](std::uint32_t me, const sync::atomic<bool>& over) {
        random_stream keys(1, "keys", me);
        kilter::detail::node* mine = nodes[me * lump + 1];
        measured[me].begins();
        while (!over.load(sync::memory_order_relaxed)) {
          for (std::uint32_t i = 0; i < lump; ++i) {
            queue.push(mine, keys.below(1u << 20));
            std::uint64_t key = 0;
            mine = queue.pop(key);
          }
          measured[me].ends(2 * lump);
        }
      });
  if (!done) return {};
  std::vector<double> all = all_of(measured);
  for (double& s : all) s /= users;
  return all;
}

wake_up wake_up_s(const core& waker, const core& sleeper, double seconds) {
  const core both[] = {waker, sleeper};
  wake_up found;
  kilter::detail::parking_counts counts;
  kilter::detail::parking parked(counts);
  sync::atomic<std::int64_t> up_ns{0};
  sync::atomic<bool> ends{false}, gone{false};
  const bool done =
      together(both, 2, seconds, [&](std::uint32_t me, const sync::atomic<bool>& over) {
        if (me == 1) {
          while (!ends.load(sync::memory_order_acquire)) {
            const std::uint32_t ticket = parked.announce(false);
            parked.sleep(ticket, -1);
            const bool by_itself = parked.get_up();
            if (!by_itself) up_ns.store(sync::nanoseconds(), sync::memory_order_release);
          }
          gone.store(true, sync::memory_order_release);
          return;
        }
        while (!over.load(sync::memory_order_relaxed)) {
          const std::int64_t lies = sync::nanoseconds() + asleep_ns;
          while (sync::nanoseconds() < lies) sync::relax();
          up_ns.store(0, sync::memory_order_release);
          const std::int64_t begins = sync::nanoseconds();
          if (!parked.wake()) continue;
          const std::int64_t called = sync::nanoseconds();
          std::int64_t up = 0;
          while ((up = up_ns.load(sync::memory_order_acquire)) == 0) sync::relax();
          found.call_s.push_back(static_cast<double>(called - begins) * 1e-9);
          found.up_s.push_back(static_cast<double>(std::max<std::int64_t>(0, up - begins)) * 1e-9);
        }
        ends.store(true, sync::memory_order_release);
        // It may have looked just before, and sleep only now.
        while (!gone.load(sync::memory_order_acquire)) {
          (void)parked.wake();
          sync::yield();
        }
      });
  return done ? found : wake_up{};
}

lent_core lend_s(const machine& m, core_id host, core_id guest, double seconds) {
  using namespace kilter::detail;
  const core three[] = {m.cores()[host], m.cores()[guest], m.cores()[guest]};
  lent_core found;
  sync::atomic<pid_t> thread{0};          // the guest's
  sync::atomic<std::int64_t> seen_ns{0};  // its clock, while it has a core
  // when somebody looked who then gave it a core; it takes the time out again
  sync::atomic<std::int64_t> lent_ns{0};
  const auto spin = [](std::int64_t for_ns) {
    const std::int64_t end = sync::nanoseconds() + for_ns;
    while (sync::nanoseconds() < end) sync::relax();
  };

  // The steps of worker::lend_core.
  const auto lends = [&](const sync::atomic<bool>& over) {
    parking_counts counts;
    parking bed(counts);
    while (!over.load(sync::memory_order_relaxed)) {
      const std::int64_t seen = seen_ns.load(sync::memory_order_relaxed),
                         looks = sync::nanoseconds();
      if (seen == 0 || lent_ns.load() != 0 || looks - seen < lost_core_ns) continue;
      const std::int64_t cpu_ns = cpu_nanoseconds_of(thread.load());
      const auto held_up = [&] {
        spin(static_cast<std::int64_t>(off_core_s * 1e9));
        return cpu_nanoseconds_of(thread.load()) == cpu_ns && wants_cpu(thread.load());
      };
      if (!held_up() || !held_up() || seen_ns.load() != seen) continue;
      lent_ns.store(looks);
      (void)kilter::detail::pin_to(m, host, thread.load());
      bed.sleep(bed.announce(false), asleep_ns);
      (void)bed.get_up();
    }
  };
  const auto is_guest = [&](const sync::atomic<bool>& over) {
    thread.store(thread_number());
    for (std::int64_t seen = 0; !over.load(sync::memory_order_relaxed);) {
      const std::int64_t now = sync::nanoseconds();
      if (const std::int64_t looked = lent_ns.load(sync::memory_order_relaxed); looked != 0) {
        found.lend_s.push_back(static_cast<double>(std::max<std::int64_t>(1, now - looked)) * 1e-9);
        spin(short_task_ns);
        (void)kilter::detail::pin_to(m, guest);
        found.keeps_s.push_back(static_cast<double>(sync::nanoseconds() - seen) * 1e-9);
        lent_ns.store(0);
      }
      seen = sync::nanoseconds();
      seen_ns.store(seen, sync::memory_order_relaxed);
    }
  };
  // That of cpu@: one that asks for its CPU time gives a core up sooner than one that does not.
  co_runner_chain chain(false);
  const auto is_neighbour = [&](const sync::atomic<bool>& over) {
    const stop_signal goes_on;
    load_counters ignored;
    while (!over.load(sync::memory_order_relaxed)) chain.run(ignored, goes_on, 0);
  };
  const bool done =
      together(three, 3, seconds, [&](std::uint32_t me, const sync::atomic<bool>& over) {
        me == 0 ? lends(over) : me == 1 ? is_guest(over) : is_neighbour(over);
      });
  return done ? found : lent_core{};
}

}  // namespace kilter::lab
