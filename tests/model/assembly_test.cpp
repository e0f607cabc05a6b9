// A wide task: its members come, draw chunks, meet and leave, and exactly one of them finishes it.
// And the queue in which they find it.

#include <array>

#include "check.hpp"
#include "runtime/assembly.hpp"

namespace kilter::inline v0::detail {
namespace {

using namespace model;

constexpr std::string_view header = "runtime/assembly.hpp", source = "runtime/assembly.cpp";

/// worker::join and worker::give_back: chunks of a task for two, of whom either may come too late.
template <unsigned members, unsigned chunks>
struct chunked {
  static constexpr int threads = members;
  assembly a;
  std::array<plain, chunks> done;
  plain finished, given_back;

  chunked() { a.set_up(nullptr, nullptr, 0, {0, members}, false, false); }
  void thread(unsigned who) {
    if (a.enter()) {
      a.first_in(who);
      while (const chunk c = a.next_chunk(chunks, 1)) done[c.begin].write(1);
      if (a.leave()) {
        for (const plain& d : done) check(d.read() == 1, "whoever finishes sees all chunks done");
        finished.write(finished.read() + 1);
      }
    }
    if (a.drop()) given_back.write(given_back.read() + finished.read());
  }
  void after() {
    check(finished.read() == 1, "exactly one member finished the task");
    check(given_back.read() == 1, "it was given back once, after it was finished");
  }
};

TEST(assembly, one_member_finishes_a_chunked_task) {
  holds<chunked<2, 2>>();
  holds<chunked<3, 2>>();
}

TEST(assembly, mutants_finish_what_is_not_done) {
  is_caught<chunked<2, 2>>({source, "assembly::leave(", "inside_.fetch_sub"});
  is_caught<chunked<2, 2>>({header, "assembly::drop(", "holders_.fetch_sub"});
  is_caught<chunked<2, 2>>({source, "assembly::enter(", "compare_exchange_weak", harm::torn});
  is_caught<chunked<3, 2>>({source, "assembly::leave(", "compare_exchange_strong", harm::torn});
  is_caught<chunked<2, 2>>(
      {source, "assembly::next_chunk(", "cursor_.compare_exchange_weak", harm::torn});
}

/// Bodies that return early, of which one may throw while others are inside.
template <bool one_throws>
struct early {
  static constexpr int threads = 3;
  assembly a;
  plain finished;

  early() { a.set_up(nullptr, nullptr, 0, {0, 3}, false, false); }
  void thread(unsigned who) {
    if (a.enter()) {
      static_cast<void>(a.next_chunk(10, 1));
      if (one_throws && who == 0) a.exhaust();
      if (a.leave()) finished.write(finished.read() + 1);
    }
    static_cast<void>(a.drop());
  }
  void after() { check(finished.read() == 1, "exactly one member finished the task"); }
};

TEST(assembly, a_body_that_returns_early_or_throws_leaves_one_to_finish) {
  holds<early<false>>();
  holds<early<true>>();
}

/// Members that name different totals: the first one counts for both.
struct two_totals {
  static constexpr int threads = 2;
  assembly a;
  std::array<std::size_t, 2> agreed{};

  two_totals() { a.set_up(nullptr, nullptr, 0, {0, 2}, false, false); }
  void thread(unsigned who) { agreed[who] = a.agree_on(who + 2); }
  void after() { check(agreed[0] == agreed[1], "both go by one total"); }
};

TEST(assembly, members_agree_on_a_total) { holds<two_totals>(); }

TEST(assembly, mutants_disagree) {
  is_caught<two_totals>({source, "assembly::agree_on(", "compare_exchange_strong", harm::torn});
}

/// A task that needs all its members: the last one out sees what each of them did.
struct all_needed {
  static constexpr int threads = 3;
  assembly a;
  std::array<plain, threads> done;
  plain finished;

  all_needed() { a.set_up(nullptr, nullptr, 0, {0, threads}, true, false); }
  void thread(unsigned who) {
    check(a.enter(), "nobody closes a task that needs all");
    done[who].write(1);
    if (!a.leave()) return;
    for (const plain& d : done) check(d.read() == 1, "all were there");
    finished.write(finished.read() + 1);
  }
  void after() { check(finished.read() == 1, "exactly one member finished the task"); }
};

TEST(assembly, the_last_one_out_of_a_task_that_needs_all_sees_them_all) { holds<all_needed>(); }

TEST(assembly, mutants_finish_without_seeing) {
  is_caught<all_needed>({source, "assembly::leave(", "left_.fetch_add"});
}

/// All members meet twice; each then sees what the others wrote before.
template <unsigned members>
struct meeting {
  static constexpr int threads = members;
  assembly a;
  std::array<plain, members> written;
  plain finished;

  meeting() { a.set_up(nullptr, nullptr, 0, {0, members}, true, false); }
  void thread(unsigned who) {
    check(a.enter(), "nobody closes a task that needs all");
    for (int round = 1; round <= 2; ++round) {
      written[who].write(round);
      check(a.barrier([] { return false; }), "nothing broke it");
      for (const plain& w : written) check(w.read() == round, "all had come");
      check(a.barrier([] { return false; }), "nothing broke it");
    }
    if (a.leave()) finished.write(finished.read() + 1);
  }
  void after() { check(finished.read() == 1, "exactly one member finished the task"); }
};

TEST(assembly, members_that_meet_see_what_the_others_did) {
  holds<meeting<2>>();
  holds<meeting<3>>();
}

TEST(assembly, mutants_meet_without_seeing) {
  is_caught<meeting<2>>({header, "assembly::barrier(", "arrived_.fetch_add"});
  is_caught<meeting<2>>({header, "assembly::barrier(", "turn_.store"});
  is_caught<meeting<2>>({header, "assembly::barrier(", "for (int spins"});
}

bool pop(assembly_queue& from, assembly_entry& e) {
  return from.pop_unless([](const assembly_entry&) { return false; }, e);
}

/// worker::insert: the entries of two tasks go into both members' queues under the lock of their
/// cluster.
struct one_order {
  static constexpr int threads = 3;
  struct member {
    assembly_queue entries;
    std::array<assembly*, 2> seen{};
  };
  sync::spin_lock desk;
  std::array<assembly, 2> tasks;
  std::array<member, 2> members;

  void insert(unsigned which) {
    const sync::lock_guard hold(desk);
    for (member& m : members) m.entries.reserve();
    for (member& m : members)
      m.entries.push_reserved({assembly_entry::kind::join, nullptr, &tasks[which]});
  }
  void thread(unsigned who) {
    if (who < 2) {
      insert(who);
      return;
    }
    for (assembly_entry e; !members[0].entries.empty();)
      if (pop(members[0].entries, e)) saw(members[0], e);
  }
  static void saw(member& m, const assembly_entry& e) { m.seen[m.seen[0] ? 1 : 0] = e.wide; }
  void after() {
    for (member& m : members)
      for (assembly_entry e; pop(m.entries, e);) saw(m, e);
    check(members[0].seen[1] && members[0].seen == members[1].seen,
          "both members see both tasks in one order");
  }
};

TEST(assembly_queue, members_see_tasks_in_one_order) { holds<one_order>(); }

/// A queue that its owner empties while another adds to it, at either end.
struct kept_in_order {
  static constexpr int threads = 2;
  assembly_queue entries;
  plain payload;
  unsigned got = 0;

  void thread(unsigned who) {
    if (who == 0) {
      payload.write(7);
      entries.reserve();
      entries.push({assembly_entry::kind::run});
      entries.push_front_reserved({assembly_entry::kind::finish});
      return;
    }
    for (unsigned looks = 0; looks < 3; ++looks) take();
  }
  void take() {
    assembly_entry e;
    if (!pop(entries, e)) return;
    check(payload.read() == 7, "what was written before came with the entry");
    ++got;
  }
  void after() {
    while (!entries.empty()) take();
    check(got == 2, "each entry was taken once");
  }
};

TEST(assembly_queue, an_entry_comes_with_what_was_written_before) { holds<kept_in_order>(); }

TEST(assembly_queue, mutants_lose_what_was_written_before) {
  is_caught<kept_in_order>({"base/spin_lock.hpp", "spin_lock::unlock(", "held_.store"});
  is_caught<kept_in_order>({"base/spin_lock.hpp", "spin_lock::lock(", "held_.exchange"});
}

}  // namespace
}  // namespace kilter::inline v0::detail
