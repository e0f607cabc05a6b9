// The end of a run and of a batch, and how a run gets from whoever submits it to a worker.

#include <array>

#include "check.hpp"
#include "runtime/completion.hpp"
#include "runtime/parking.hpp"
#include "runtime/sleeping.hpp"
#include "runtime/submissions.hpp"

namespace kilter::inline v0::detail {
namespace {

using namespace model;

constexpr std::string_view file = "runtime/completion.hpp";

/// worker::flush, engine::execution_done and execution::wait: two workers hand in what they did, a
/// third thread waits.
struct run_ends {
  static constexpr int threads = 3;
  run_count tasks;
  std::array<plain, 2> tally;
  plain finished;

  run_ends() { tasks.begin(2); }
  void thread(unsigned who) {
    if (who < 2) {
      tally[who].write(1);
      if (!tasks.take_off(1)) return;
      check(tally[0].read() + tally[1].read() == 2, "whoever ends the run sees all tallies");
      finished.write(1);
      tasks.end();
      return;
    }
    tasks.wait();
    check(finished.read() == 1 && tally[0].read() + tally[1].read() == 2,
          "whoever waited sees the figures of the run");
  }
  void after() { check(tasks.done(), "it is done"); }
};

TEST(completion, whoever_waits_for_a_run_sees_all_of_it) {
  holds<run_ends>();
  holds_in_all_orders<run_ends>(3);
}

TEST(completion, mutants_end_a_run_unseen) {
  is_caught<run_ends>({file, "run_count::take_off(", "fetch_sub"});
  is_caught<run_ends>({file, "run_count::take_off(", "fetch_sub", harm::torn});
  is_caught<run_ends>({file, "run_count::end(", "done_.fetch_or"});
  is_caught<run_ends>({file, "run_count::done(", "done_.load"});
}

/// execution::wait with a stop token: a second thread requests the stop. The run goes on.
struct waiter_gives_up {
  static constexpr int threads = 2;
  run_count tasks;
  plain said;
  sync::atomic<bool> requested{false};

  waiter_gives_up() { tasks.begin(1); }
  void thread(unsigned who) {
    if (who == 0) {
      said.write(1);
      requested.store(true, sync::memory_order_release);
      tasks.ask_again();
      return;
    }
    const bool done =
        tasks.wait_until(-1, [&] { return requested.load(sync::memory_order_acquire); });
    check(!done && said.read() == 1, "it gave up because it was asked to");
  }
  void after() {
    check(tasks.take_off(1), "the run goes on");
    tasks.end();
    check(tasks.done(), "and ends");
  }
};

TEST(completion, who_waits_for_a_run_may_give_up) {
  holds<waiter_gives_up>();
  holds_in_all_orders<waiter_gives_up>(3);
}

TEST(completion, mutants_wait_for_ever) {
  is_caught<waiter_gives_up>({file, "run_count::ask_again(", "done_.fetch_add"});
}

/// A task of the run adds another, which a second worker runs: the run must not end between.
struct run_grows {
  static constexpr int threads = 2;
  run_count tasks;
  plain added;
  sync::atomic<bool> there{false};
  unsigned ends = 0;

  run_grows() { tasks.begin(1); }
  void thread(unsigned who) {
    if (who == 0) {
      added.write(1);
      tasks.add(1);
      there.store(true, sync::memory_order_release);
    } else {
      while (!there.load(sync::memory_order_acquire)) sync::yield();
      check(added.read() == 1, "the added task came with what it needs");
    }
    if (!tasks.take_off(1)) return;
    ++ends;
    tasks.end();
  }
  void after() { check(ends == 1 && tasks.done(), "the run ended once"); }
};

TEST(completion, a_run_that_grows_ends_once) { holds<run_grows>(); }

/// engine::execution_done and a worker that waits for the run while it helps.
struct helper_waits {
  static constexpr int threads = 2;
  parking_counts all;
  parking helper{all};
  run_count tasks;
  plain figure;

  helper_waits() { tasks.begin(1); }
  void thread(unsigned who) {
    if (who == 0) {
      figure.write(7);
      if (tasks.take_off(1)) tasks.end();
      if (all.a_helper_sleeps()) helper.wake();
      return;
    }
    sleeping own{helper};
    while (!tasks.done()) {
      const parking_counts::helper_sleeps told(all);
      own.sleep(-1, [&](std::int64_t&) { return tasks.done(); });
      own.comes_back();
    }
    own.search_ends([](bool) {});
    check(figure.read() == 7, "whoever waited sees the figures of the run");
  }
  void after() { check(all.sleepers.load() == 0, "nobody sleeps after the end"); }
};

TEST(completion, a_helper_is_woken_when_its_run_ends) {
  holds<helper_waits>();
  holds_in_all_orders<helper_waits>(4);
}

TEST(completion, mutants_let_a_helper_sleep) {
  is_caught<helper_waits>(
      {"runtime/parking.hpp", "parking_counts::a_helper_sleeps", "sync::light_fence()"});
  is_caught<helper_waits>({"runtime/parking.hpp", "parking::announce", "sync::heavy_fence()"});
}

/// worker::complete and execution::wait for one task: two threads wait for its end, which comes
/// without a fence.
struct task_ends {
  static constexpr int threads = 3;
  task_end end;
  end_waiters waiters;
  plain result;

  void thread(unsigned who) {
    if (who == 0) {
      result.write(7);
      if (end.set(3, false)) waiters.tell();
      return;
    }
    waiters.wait(end, 3, -1, [] { return false; });
    check(end.has_come(3) && !end.left_out(), "it has ended");
    check(result.read() == 7, "whoever waited sees what the task did");
  }
  void after() {}
};

// Without membarrier the waiter looks again and again, so there is no end of orders.
TEST(completion, whoever_waits_for_a_task_is_told_and_sees_what_it_did) { holds<task_ends>(); }

TEST(completion, mutants_end_a_task_unseen) {
  is_caught<task_ends>({"graph/shared_parts.hpp", "task_end::set(", "ended_.store"});
  is_caught<task_ends>(
      {"graph/shared_parts.hpp", "task_end::announce_wait(", "sync::heavy_fence()"});
  is_caught<task_ends>({file, "end_waiters::tell(", "told_.fetch_add"});
}

/// batch::release, worker::end_of_dynamic, batch::wait and ~batch: the waiter sleeps until the last
/// task is done, and lets go.
struct batch_ends {
  static constexpr int threads = 3;
  parking_counts all;
  parking waiting{all};
  batch_count* const count = new batch_count(reinterpret_cast<worker*>(&waiting));
  std::array<plain, 2> done;

  batch_ends() { count->add(2); }
  void thread(unsigned who) {
    if (who < 2) {
      done[who].write(1);
      if (worker* w = count->task_done()) reinterpret_cast<parking*>(w)->wake();
      return;
    }
    sleeping own{waiting};
    while (!count->all_done()) own.sleep(-1, [&](std::int64_t&) { return count->all_done(); });
    check(done[0].read() + done[1].read() == 2, "whoever waited sees what the tasks did");
    count->let_go();
  }
  void after() {}
};

TEST(completion, whoever_waits_for_a_batch_is_woken_and_sees_all_of_it) { holds<batch_ends>(); }

TEST(completion, mutants_end_a_batch_unseen) {
  is_caught<batch_ends>({file, "batch_count::task_done(", "open_.fetch_sub"});
  is_caught<batch_ends>({file, "batch_count::all_done(", "open_.load"});
  is_caught<batch_ends>({"runtime/parking.hpp", "parking::wake", "sync::light_fence()"});
}

/// batch::detach with tasks of a batch that was waited for before, and nobody waits any more:
/// whoever is last deletes the count, once.
struct batch_left_alone {
  static constexpr int threads = 3;
  batch_count* const count = new batch_count(nullptr);

  batch_left_alone() { count->add(2); }
  void thread(unsigned who) {
    if (who < 2)
      check(!count->task_done(), "nobody is to be woken");
    else
      count->let_go();
  }
  void after() {}
};

TEST(completion, a_batch_nobody_waits_for_is_deleted_once) { holds<batch_left_alone>(); }

/// engine::submit, the worker's loop as far as submissions go, and the end of the run. The second
/// worker may be at work: it has found a task whose body goes on until the run is done. A
/// submission that is left to it must then be begun by the first; so must one that is left to it
/// while it searches, if another program has its core before it sleeps (our_cores::become,
/// worker::stand_aside). `told`: worker::sleep_until_work ends such a search.
enum class second_worker { free, at_work, loses_core };
template <second_worker is, bool told = true>
struct submitted {
  static constexpr int threads = 3;
  struct run {
    plain made;
    run_count tasks;
  };
  parking_counts all;
  parking first{all}, second{all};
  submission_queue<run> submissions;
  run one;
  sync::atomic<bool> second_ours{true};

  [[nodiscard]] bool ours(const parking& mine) const {
    return &mine == &first || second_ours.load(sync::memory_order_acquire);
  }
  void notify_any() {
    if (!all.somebody_is_needed()) return;
    for (parking* p : {&first, &second})
      if (ours(*p) && p->wake()) return;
  }
  void search_ends(sleeping& own) {
    own.search_ends([&](bool) {
      if (submissions.any()) notify_any();
    });
  }

  void submit() {
    one.made.write(7);
    one.tasks.begin(1);
    parking* const wanted = second.idle() ? &second : nullptr;
    submissions.push(&one, wanted);
    if (!wanted || !wanted->call()) notify_any();
    if (is == second_worker::loses_core) {
      second_ours.store(false, sync::memory_order_release);
      for (parking* p : {&first, &second}) p->wake();
    }
    one.tasks.wait();
    all.stop(std::array{&first, &second});
  }
  void serve(parking& mine) {
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    sleeping own{mine};
    const auto sleep_unless = [&](auto&& found) {
      own.sleep(-1, [&](std::int64_t&) {
        return (ours(mine) && found()) || stops() || (told && own.ended_search() && !ours(mine));
      });
      own.comes_back();
    };
    while (!stops()) {
      if (!ours(mine)) {
        search_ends(own);
        sleep_unless([] { return false; });
        continue;
      }
      own.search_begins();
      if (run* const begun = submissions.take(mine)) {
        search_ends(own);
        check(begun->made.read() == 7, "the run came as it was made");
        if (begun->tasks.take_off(1)) begun->tasks.end();
        continue;
      }
      if (told && !ours(mine)) search_ends(own);
      sleep_unless([&] { return submissions.any_for(mine); });
    }
    search_ends(own);
  }
  void thread(unsigned who) {
    if (who == 0) {
      submit();
    } else if (who == 1) {
      serve(first);
    } else {
      if (is == second_worker::at_work) {
        sleeping own{second};
        own.search_begins();
        search_ends(own);
        one.tasks.wait();
      }
      serve(second);
    }
  }
  void after() {
    check(one.tasks.done(), "it ran");
    check(all.sleepers.load() == 0 && all.searchers.load() == 0,
          "nobody sleeps or looks after the end");
  }
};

TEST(submissions, a_worker_begins_what_was_submitted) { holds<submitted<second_worker::free>>(); }
TEST(submissions, others_begin_what_a_worker_at_work_was_to_begin) {
  holds<submitted<second_worker::at_work>>();
}

TEST(submissions, others_begin_what_was_left_to_a_worker_that_loses_its_core) {
  holds<submitted<second_worker::loses_core>>();
  goes_wrong<submitted<second_worker::loses_core, false>>(
      "a run waits for a worker that has lost its core");
}

/// engine::submit, worker::policy_finds_work and engine::notify_any. Either worker begins the run,
/// perhaps in its last look, and before it is called for it. What that leaves the second alone
/// takes, as a policy may have it: `leaves_itself_out`, or the first wakes itself instead.
template <bool leaves_itself_out>
struct begun_in_the_last_look {
  static constexpr int threads = 3;
  parking_counts all;
  parking first{all}, second{all};
  submission_queue<plain> submissions;
  plain made;
  sync::atomic<bool> left{false};
  run_count tasks;

  void notify_any(const parking* self) {
    if (!all.somebody_is_needed()) return;
    wake_one(
        std::array{&first, &second}, self, [](const parking&) { return true; },
        [](const parking&) { return false; });
  }
  void submit() {
    tasks.begin(1);
    made.write(7);
    parking* const wanted = first.idle() ? &first : nullptr;
    submissions.push(&made, wanted);
    if (!wanted || !wanted->call()) notify_any(nullptr);
    tasks.wait();
    all.stop(std::array{&first, &second});
  }
  void serve(parking& mine) {
    const parking* const self = leaves_itself_out ? &mine : nullptr;
    const auto stops = [&] { return all.stopping.load(sync::memory_order_acquire); };
    sleeping own{mine};
    const auto search_ends = [&] {
      own.search_ends([&](bool) {
        if (submissions.any() || left.load(sync::memory_order_relaxed)) notify_any(self);
      });
    };
    const auto does_something = [&] {
      if (const plain* const begun = submissions.take(mine)) {
        search_ends();
        check(begun->read() == 7, "the run came as it was made");
        left.store(true, sync::memory_order_release);
        notify_any(self);
        return true;
      }
      if (&mine == &first || !left.exchange(false, sync::memory_order_acq_rel)) return false;
      search_ends();
      if (tasks.take_off(1)) tasks.end();
      return true;
    };
    while (!stops()) {
      own.search_begins();
      if (does_something()) continue;
      own.sleep(-1, [&](std::int64_t&) { return does_something() || stops(); });
      own.comes_back();
    }
    search_ends();
  }
  void thread(unsigned who) {
    if (who == 0)
      submit();
    else
      serve(who == 1 ? first : second);
  }
  void after() { check(tasks.done(), "it ran"); }
};

TEST(submissions, who_begins_one_in_its_last_look_wakes_another_for_what_that_leaves) {
  holds<begun_in_the_last_look<true>>();
  goes_wrong<begun_in_the_last_look<false>>("who is about to sleep may wake itself in vain");
}

TEST(submissions, mutants_leave_a_run_waiting) {
  is_caught<submitted<second_worker::free>>(
      {"runtime/parking.hpp", "parking::announce", "sync::heavy_fence()"});
  is_caught<submitted<second_worker::at_work>>(
      {"runtime/submissions.hpp", "::push(", "sync::fence()"});
  is_caught<submitted<second_worker::at_work>>(
      {"runtime/parking.hpp", "parking::search_ends", "sync::fence()"});
}

}  // namespace
}  // namespace kilter::inline v0::detail
