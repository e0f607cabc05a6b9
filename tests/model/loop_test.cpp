// A loop that several workers share: who does which part, and how it ends
// (library/runtime/loop_ranges.hpp).

#include <array>
#include <vector>

#include "check.hpp"
#include "runtime/loop_ranges.hpp"
#include "runtime/parking.hpp"
#include "runtime/sleeping.hpp"

namespace kilter::inline v0::detail {
namespace {

using namespace model;

constexpr std::string_view header = "runtime/loop_ranges.hpp", source = "runtime/loop_ranges.cpp";

struct loop : loop_ranges, loop_door {
  loop(std::uint32_t count, const std::vector<double>& weights)
      : loop_ranges(count, weights), done(count) {}
  std::vector<plain> done;
  plain work;  ///< shared_loop::work: members read it, who reuses the loop writes it

  /// worker::take_pieces. `loses_core`: as soon as it has taken something over from another.
  void take_pieces(core_id me, bool loses_core = false) {
    for (;;) {
      const block_range piece = take(me, 1);
      for (std::uint32_t b = piece.begin; b != piece.end; ++b)
        done[b].write(done[b].read() + work.read());
      if (!piece && (!steal(me, 1) || loses_core)) return;
    }
  }
  /// shared_loop::let_go.
  void let_go() {
    if (drop()) delete this;
  }
};

/// worker::run_loop and worker::join_loop: the first is the caller; the others are invited, and may
/// come too late. `lose_cores`: they leave something behind; `looks_again`: the caller sees it.
template <int members, bool even, bool lose_cores = false, bool looks_again = true>
struct shared_by {
  static constexpr int threads = members;
  static std::vector<double> weights() {
    std::vector<double> w(members, even ? 1.0 : 0.0);
    w[0] = 1.0;
    return w;
  }
  parking_counts all;
  parking caller{all};
  loop* const shared = new loop(members + 1, weights());

  shared_by() {
    shared->work.write(1);
    for (int i = 1; i < members; ++i) shared->hold();
  }
  void thread(unsigned who) {
    loop& l = *shared;
    if (who > 0) {
      if (l.enter()) {
        l.take_pieces(who, lose_cores);
        if (l.leave()) caller.wake();
      }
      l.let_go();
      return;
    }
    l.take_pieces(0);
    l.close();
    sleeping own{caller};
    while (!l.everybody_left()) own.sleep(-1, [&](std::int64_t&) { return l.everybody_left(); });
    if (looks_again && l.anything_left()) l.take_pieces(0);
    check(!l.anything_left(), "the caller leaves nothing");
    for (plain& b : l.done)
      check(b.read() == 1, "each block was done once, and the caller sees it");
    l.let_go();
  }
  void after() {}
};

/// worker::loop_for: a loop has ended to which the second thread was invited, who may not have come
/// yet. The first uses it for another one if it may.
struct used_again {
  static constexpr int threads = 2;
  loop* const shared = new loop(2, {1.0, 1.0});

  used_again() {
    shared->work.write(1);
    shared->hold();
    shared->take_pieces(0);
    shared->close();
  }
  void thread(unsigned who) {
    loop& l = *shared;
    if (who > 0) {
      if (l.enter()) {
        l.take_pieces(who);
        (void)l.leave();
      }
    } else if (l.unused()) {
      l.deal(2, {1.0, 1.0});
      l.work.write(2);
      l.open();
      l.take_pieces(0);
      for (plain& b : l.done) check(b.read() == 3, "each block was done once more");
    }
    l.let_go();
  }
  void after() {}
};

TEST(loop, is_used_again_once_nobody_may_come_to_it) { holds<used_again>(); }

TEST(loop, each_block_is_done_once_before_the_caller_goes_on) {
  holds<shared_by<2, true>>();
  holds<shared_by<2, false>>();
  holds<shared_by<3, true>>();
}

TEST(loop, what_somebody_leaves_who_loses_its_core_the_caller_does) {
  holds<shared_by<2, true, true>>();
  goes_wrong<shared_by<2, true, true, false>>(
      "a member may leave what the caller did not see any more");
}

TEST(loop, mutants_do_a_block_twice_or_never) {
  is_caught<shared_by<2, true>>(
      {source, "loop_ranges::take(", "compare_exchange_weak", harm::torn});
  is_caught<shared_by<2, false>>(
      {source, "loop_ranges::steal(", "compare_exchange_strong", harm::torn});
}

TEST(loop, mutants_go_on_too_early) {
  is_caught<shared_by<2, true>>({header, "loop_door::leave(", "inside_.fetch_sub"});
  is_caught<shared_by<2, true>>({header, "loop_door::everybody_left(", "inside_.load"});
  is_caught<shared_by<2, true>>({header, "loop_door::enter(", "compare_exchange_weak", harm::torn});
  is_caught<shared_by<2, true>>({"runtime/parking.hpp", "parking::wake", "sync::light_fence()"});
}

}  // namespace
}  // namespace kilter::inline v0::detail
