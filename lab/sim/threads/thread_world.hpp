#pragma once
// The state of a simulated world of threads, and everything that happens in it. Only for
// run_threads: thread_engine.cpp has the steps of threads, thread_cores.cpp who is where,
// thread_rates.cpp how fast.

#include <deque>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/event_queue.hpp"
#include "sim/numbers.hpp"
#include "sim/threads/memory_share.hpp"
#include "sim/threads/thread_engine.hpp"
#include "sim/time.hpp"

namespace kilter::sim {

inline constexpr std::uint32_t nobody = ~0u;

enum class thread_state : std::uint8_t { runnable, blocked, waking, paused, ended };

struct live_thread {
  const thread_plan* plan = nullptr;
  std::uint32_t program = 0, group = 0, index = 0;
  std::size_t step = 0;
  thread_state now = thread_state::runnable;
  core_id core = no_core;
  bool pinned = false;
  double left_s = 0.0;       // of the step's computing
  double cold_left_s = 0.0;  // of reading the cache again, before computing goes on
  const demand* cold = nullptr;
  bool has_piece = false;           // of the pool that its step names
  double per_s = 0.0, share = 0.0;  // how fast what it is at falls; its part of the core
  thread_counters since;            // the last look
  random_stream work{0}, pauses{0};
};

struct lock_state {
  std::uint32_t owner = nobody;
  std::deque<std::uint32_t> waiting;
};

struct pool_state {
  // that nobody has taken; of them, that may be taken
  std::uint32_t left = 0, there = 0;
  std::deque<std::uint32_t> waiting;
};

struct program_state {
  std::vector<lock_state> locks;
  std::vector<std::vector<std::uint32_t>> barriers;  // who waits there
  std::vector<pool_state> pools;
  std::vector<std::uint32_t> alive;  // of each group
  std::vector<std::uint32_t> joiner;
};

class thread_world {
 public:
  thread_world(const thread_machine& m, std::span<const thread_program> programs,
               std::uint64_t seed, thread_watcher* watcher, double longest_s);
  threads_result run();

 private:
  static std::uint32_t count(std::span<const thread_program> programs) {
    std::size_t n = 0;
    for (const thread_program& p : programs)
      for (const thread_group& g : p.groups) n += g.threads.size();
    return static_cast<std::uint32_t>(n);
  }
  [[noreturn]] void fail(const std::string& what) const;
  /// A piece of computing that stalls for the whole of a move: what it costs, and the bytes read
  /// meanwhile.
  demand cold_demand(double bytes) const;
  double cold_seconds(double bytes) const {
    return machine_.migrate_s + bytes / machine_.refill_bytes_per_s;
  }

  // Events.
  void take(event_queue::slot s);
  /// Goes on with the thread's steps until one takes time or waits.
  void advance(std::uint32_t id);
  static double factor(random_stream& from, double sigma) {
    return exp_of(sigma * normal(from) - sigma * sigma / 2.0);
  }
  void create(std::uint32_t program, std::uint32_t group);
  void end(std::uint32_t id);
  /// At a step that is done when it wakes.
  void block(std::uint32_t id);
  /// At a step that it looks at again when it wakes.
  void block_here(std::uint32_t id);
  /// The thread is at a pool, and has done the piece that it had. Whether it waits or has another
  /// one; else none is left for it.
  bool goes_on_in_pool(std::uint32_t id, std::uint32_t pool);
  void wake(std::uint32_t id);
  void set_pause(std::uint32_t id);
  void pause(std::uint32_t id);

  // Who is where. A thread that is runnable counts for its core, no other.
  void takes_core(std::uint32_t id) { ++runnable_[threads_[id].core]; }
  void leaves_core(std::uint32_t id) { --runnable_[threads_[id].core]; }
  core_id emptiest_core();
  [[nodiscard]] bool sibling_works(core_id) const;
  /// One of those that fit, at random; of those whose sibling idles if there are any, as Linux
  /// looks for a whole idle core first.
  template <class Fits>
  core_id drawn(Fits fits) {
    std::uint32_t all = 0, whole = 0;
    for (core_id c = 0; c < machine_.cores.size(); ++c)
      if (fits(c)) {
        ++all;
        whole += sibling_works(c) ? 0 : 1;
      }
    if (all == 0) return no_core;
    std::uint32_t skip = os_.below(whole > 0 ? whole : all);
    for (core_id c = 0;; ++c)
      if (fits(c) && !(whole > 0 && sibling_works(c)) && skip-- == 0) return c;
  }
  /// A woken thread returns to its core, unless that is taken and another is idle (papers.md A4),
  /// or by chance (B5).
  void wake_on_core(std::uint32_t id);
  void change_core(std::uint32_t id, core_id to);
  /// An idle core takes a waiting thread from the core with most of them, as the operating system's
  /// balancing does.
  void fill_idle_cores();

  // Looking and moving.
  void set_look(double in_s);
  void look();

  // Time.
  const demand& at(const live_thread& t) const {
    if (t.cold_left_s > 0.0) return *t.cold;
    const thread_program& p = programs_[t.program];
    const thread_step& s = t.plan->steps[t.step];
    return p.demands[s.kind == step_kind::pool ? p.pools[s.which].demand : s.which];
  }
  double amount(live_thread& t, double mean_s) const {
    return mean_s * (machine_.sigma > 0.0 ? factor(t.work, machine_.sigma) : 1.0);
  }
  /// Brings everybody up to `now_`.
  void settle();
  /// How fast everybody is from now on, and when what each is at ends.
  void share_out();
  void finish();

  const thread_machine& machine_;
  std::span<const thread_program> programs_;
  std::uint64_t seed_;
  thread_watcher* watcher_;
  sim_time longest_;
  std::uint32_t total_;
  event_queue queue_;  // a thread's next moment, its next pause, the next look
  memory_share memory_;
  random_stream os_, counters_;
  // reading caches again after a move: to another socket, in the socket, to the sibling
  demand far_, near_, beside_;
  std::vector<std::uint32_t> runnable_;  // threads that run on the core or wait for it
  std::vector<live_thread> threads_;
  std::vector<program_state> states_;
  std::uint32_t waited_for_ = 0;   // threads that exist and must end
  bool somebody_goes_on_ = false;  // one of them is not waiting for another
  sim_time now_ = 0, settled_ = 0;
  double look_length_s_ = 0.0;
  std::vector<thread_counters> seen_;
  std::vector<thread_move> moves_;
  std::vector<std::uint32_t> at_work_, sockets_;
  std::vector<double> wants_, gets_;
  threads_result result_;
};

}  // namespace kilter::sim
