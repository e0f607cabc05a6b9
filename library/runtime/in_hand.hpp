#pragma once
// What a worker has in hand: what it holds, counts and owes where nobody else can reach it. A
// worker that turns to something else, or to nothing, lets go of it first, since others may wait
// for any of it; docs/inside/decisions/helping.md says why. There is one way to let go, and `empty`
// sees every member there is, so what is added below and forgotten in `let_go` ends the first test
// that gets there.

#include <cstdint>
#include <utility>

#include "base/ensure.hpp"
#include "base/sync.hpp"

namespace kilter::inline v0::detail {

struct node;
struct task_kind;
struct execution_state;
class declared_queue;

/// Where a task that a worker has taken waited. There it goes back if it is declined.
struct origin {
  declared_queue* queue = nullptr;  ///< null if that was no declared queue
  std::uint64_t key = 0;            ///< its key there
  bool stolen = false;              ///< from another worker

  bool operator==(const origin&) const = default;
};

/// Very short tasks of one kind and one run that follow one another. They are timed as one: the
/// clock and the table then cost each a sixteenth, or less if even the row is short.
class short_row {
 public:
  /// What a closed row tells.
  struct contents {
    task_kind* kind;
    execution_state* run;
    std::uint64_t begin_cycles;
    std::uint32_t count;
  };

  [[nodiscard]] bool is_open() const noexcept { return kind_ != nullptr; }
  [[nodiscard]] bool is_of(const task_kind& k) const noexcept { return kind_ == &k; }
  void open(task_kind& k, execution_state& e, std::uint64_t now_cycles) noexcept {
    kind_ = &k;
    run_ = &e;
    begin_cycles_ = now_cycles;
    count_ = 0;
  }
  /// One more has run. Whether the row is as long as it is to be.
  [[nodiscard]] bool counts() noexcept { return ++count_ == length_; }
  [[nodiscard]] contents close() noexcept {
    return {std::exchange(kind_, nullptr), run_, begin_cycles_, count_};
  }
  /// Something else came between: no time can be told.
  void spoil() noexcept { kind_ = nullptr; }
  /// After a row that took `span_cycles`: how long the next is to be, if bodies below
  /// `limit_cycles` are very short.
  void fit(const contents& last, std::uint64_t span_cycles, std::uint64_t limit_cycles) noexcept {
    length_ = span_cycles * 2 * usual < limit_cycles * last.count ? longest : usual;
  }

  /// Closed rows are alike.
  bool operator==(const short_row& other) const noexcept { return kind_ == other.kind_; }

  static constexpr std::uint32_t usual = 16, longest = 64;

 private:
  task_kind* kind_ = nullptr;  // null: closed
  execution_state* run_ = nullptr;
  std::uint64_t begin_cycles_ = 0;
  std::uint32_t count_ = 0, length_ = usual;
};

/// One worker's. Its members are the worker's to use while it works.
struct in_hand {
  node* next = nullptr;  ///< runs right after what runs now
  /// the clock at the end of the last task, while nothing came between; else 0
  std::uint64_t stamp_cycles = 0;
  execution_state* counted = nullptr;  ///< the run whose tally has tasks that are not handed in
  short_row row;                       ///< of `counted`, or about to be
  /// got a task at the end of one that ran here, and nobody was told: this worker looks next
  declared_queue* untold = nullptr;
  node* found = nullptr;  ///< what the last look before sleeping brought
  origin found_in;

  bool operator==(const in_hand&) const = default;
  /// But for what is counted for `mine`.
  [[nodiscard]] bool empty(const execution_state* mine = nullptr) const noexcept {
    in_hand rest = *this;
    if (rest.counted == mine) rest.counted = nullptr;
    return rest == in_hand{};
  }

  /// All of it goes to where others find it. What is counted for `mine` may stay: that run cannot
  /// end before the task of it that goes on here. `Worker` has
  /// - tell(const declared_queue&): wakes somebody for what waits there
  /// - decline(node*, const origin&): puts a task back
  /// - share(node*): leaves a task that was to run next
  /// - learn_row(const contents&): the sample of a row
  /// - hand_in(execution_state&): takes what the tally has counted off that run, which may end it
  template <class Worker>
  void let_go(Worker&& w, const execution_state* mine = nullptr) noexcept {
    if (found) [[unlikely]]
      w.decline(std::exchange(found, nullptr), std::exchange(found_in, {}));
    if (next) w.share(std::exchange(next, nullptr));
    tell(w);
    if (counted != mine)
      hand_in(w);
    else
      close_row(w);
    stamp_cycles = 0;
    ensure(empty(mine), "a worker that turns to something else has let go of what it had in hand");
  }
  /// Before a body goes on, which may block until what it made ready has run: so that others can
  /// take it, and know. `Worker` has `share`, and
  ///   keeps_open_work()    others can take something from it
  ///   notify_any()         wakes somebody, unless one is looking
  template <class Worker>
  void hand_out(Worker&& w) noexcept {
    if (next) w.share(std::exchange(next, nullptr));
    if (!w.keeps_open_work()) return;
    // Answers the fence with which others stop searching or go to sleep.
    sync::fence();
    w.notify_any();
  }
  /// Before a body runs, since it may take long.
  template <class Worker>
  void tell(Worker&& w) noexcept {
    if (untold) [[unlikely]]
      w.tell(*std::exchange(untold, nullptr));
  }
  /// What was counted, before it counts for another run. The row is part of it: its run may be gone
  /// afterwards.
  template <class Worker>
  void hand_in(Worker&& w) noexcept {
    close_row(w);
    if (counted) w.hand_in(*std::exchange(counted, nullptr));
  }
  template <class Worker>
  void close_row(Worker&& w) noexcept {
    if (row.is_open()) w.learn_row(row.close());
  }
};

}  // namespace kilter::inline v0::detail
