// What workers share of a graph while it runs (library/graph/shared_parts.hpp), and the queues that
// policies declare.

#include <array>

#include "check.hpp"
#include "graph/shared_parts.hpp"
#include "runtime/declared_queue.hpp"

namespace kilter::inline v0::detail {

struct node {
  model::plain payload;
};

namespace {

using namespace model;

constexpr std::string_view file = "graph/shared_parts.hpp";

/// worker::successor_ready: a task with two predecessors, in two runs of the graph.
struct joins {
  static constexpr int threads = 2;
  pending_count pending;
  std::array<plain, 2> done;
  sync::atomic<std::uint32_t> runs{0};

  joins() { pending.set(2); }
  void thread(unsigned who) {
    for (int run = 1; run <= 2; ++run) {
      done[who].write(run);
      if (pending.one_done(2)) {
        check(done[0].read() == run && done[1].read() == run,
              "the task sees what all its predecessors did");
        runs.fetch_add(1, sync::memory_order_release);
      } else {
        while (runs.load(sync::memory_order_acquire) < static_cast<std::uint32_t>(run))
          sync::yield();
      }
    }
  }
  void after() { check(runs.load() == 2, "it ran once in each run"); }
};

TEST(pending, a_task_sees_all_its_predecessors) { holds<joins>(); }

TEST(pending, mutants_run_a_task_too_early) {
  is_caught<joins>({file, "pending_count::one_done(", "left_.fetch_sub"});
  is_caught<joins>({file, "pending_count::one_done(", "left_.fetch_sub", harm::torn});
}

/// Kinds of tasks: one thread adds, another reads what is published, across chunks.
struct grows {
  static constexpr int threads = 2;
  struct kind {
    plain row;
  };
  append_list<kind, 2, 2> kinds;

  void thread(unsigned who) {
    if (who == 0) {
      for (int i = 1; i <= 3; ++i) {
        kinds.append().row.write(i);
        kinds.publish();
      }
      return;
    }
    for (int looks = 0; looks < 2; ++looks)
      for (std::uint32_t i = kinds.size(); i-- > 0;)
        check(kinds[i].row.read() == static_cast<int>(i) + 1, "what is published is whole");
  }
  void after() { check(kinds.size() == 3, "all are there"); }
};

TEST(kinds, readers_need_no_lock) { holds<grows>(); }

TEST(kinds, mutants_publish_half_of_it) {
  is_caught<grows>({file, "::publish(", "size_.store"});
  is_caught<grows>({file, "::size(", "size_.load"});
}

/// Two take from a queue that a third fills; one of them names its task.
struct declared {
  static constexpr int threads = 3;
  declared_queue queue{queue_spec{.order = queue_order::by_key, .takers = {}}, 2};
  std::array<node, 2> tasks;
  std::array<sync::atomic<int>, 2> taken;

  void took(node* n) {
    if (!n) return;
    check(n->payload.read() == 7, "the payload came with the task");
    check(taken[static_cast<std::size_t>(n - tasks.data())].fetch_add(
              1, sync::memory_order_relaxed) == 0,
          "nobody else took it");
  }
  void thread(unsigned who) {
    std::uint64_t key = 0;
    if (who == 0) {
      for (node& n : tasks) {
        n.payload.write(7);
        queue.push(&n, 1);
      }
    } else if (who == 1) {
      queue.rekey(&tasks[0], 5);
      took(queue.extract(&tasks[1]));
      took(queue.pop(key));
    } else {
      took(queue.pop(key, 1));
      took(queue.pop(key));
    }
  }
  void after() {
    std::uint64_t key = 0;
    while (node* n = queue.pop(key)) took(n);
    check(queue.size() == 0 && taken[0].load() == 1 && taken[1].load() == 1,
          "each task was taken once");
  }
};

TEST(declared_queue, each_task_is_taken_once) { holds<declared>(); }

}  // namespace
}  // namespace kilter::inline v0::detail
