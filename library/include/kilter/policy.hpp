#pragma once
// The contract between policies and engines. An engine asks, a policy answers; a policy owns no
// thread, lock, clock or source of randomness, and keeps nothing between questions: whatever it
// reads or writes goes through the view, which can record it. A recorded run can therefore be
// replayed, question by question, to the last answer.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kilter/ids.hpp"
#include "kilter/machine.hpp"
#include "kilter/measured.hpp"
#include "kilter/policies.hpp"
#include "kilter/task_ref.hpp"
#include "kilter/trace_table.hpp"

namespace kilter {
inline namespace v0 {

// ---- question 0: which queues exist -------------------------------------------------------------

/// by_key: largest key first, FIFO among equals
enum class queue_order : std::uint8_t { lifo, fifo, by_key };

struct queue_spec {
  core_id owner = no_core;  ///< the core it belongs to; no_core: shared
  queue_order order = queue_order::lifo;
  std::vector<core_id> takers;  ///< cores that may take from it; empty: all
};

/// Queues, and which questions the policy answers itself. What it leaves out is done the standard
/// way at no cost a task. A flag only saves the asking: a policy that is asked all the same, as by
/// an engine that records, must give the standard answer.
struct discipline {
  /// Empty: one work-stealing deque a core (queue id = core id), owner at one end, thieves at the
  /// other.
  std::vector<queue_spec> queues;
  /// With `queues`: the deques are there too, as queues 0 .. cores - 1, and those of `queues`
  /// follow them. A worker empties its own deque, asks question 3 while something waits that it may
  /// take, and then steals. What comes out of `queues` is always asked about (question 4).
  bool deques_too = false;
  victims steal_from = victims::random;
  /// The first child made ready that is to wait in its waker's own deque, open to thieves, runs
  /// next on the waker instead.
  bool forward_child = true;

  /// question 1; otherwise nothing is labelled beyond the user's priorities
  bool asks_submit = false;
  /// question 2 for tasks not flagged critical; otherwise the waker's own queue
  bool asks_ready_low = false;
  bool asks_ready_high = false;  ///< question 2 for tasks flagged critical; otherwise as above
  bool asks_next = false;        ///< question 3; otherwise own queue, then steal, then nothing
  /// question 4 for tasks not flagged critical; otherwise width 1 on the taker
  bool asks_take_low = false;
  bool asks_take_high = false;  ///< question 4 for flagged tasks that carry no place already
  /// question 4 only ever chooses places of the taker: not asked where width 1 alone is allowed
  bool take_stays = false;
  bool asks_done = false;           ///< question 5; otherwise `learns` decides
  bool learns = false;              ///< standard on_done: the sample goes into the trace table
  bool asks_machine = false;        ///< question 6
  bool reads_predecessors = false;  ///< the engine keeps reverse edges of every graph
  /// the engine keeps where tasks were released that name no data
  bool reads_data = false;
  /// how many shared 64-bit cells the policy uses, all zero at start
  std::uint32_t cells = 0;
  /// how many more for each type and size class of tasks (each row of the trace table)
  std::uint32_t type_cells = 0;
};

// ---- answers ------------------------------------------------------------------------------------

/// Question 2: where a ready task waits.
struct ready_decision {
  enum class kind : std::uint8_t {
    queue,  ///< wait in `queue`
    /// the waker runs it right after what it is doing, at `where` if that is given (a place that
    /// the waker leads)
    run_next,
    bind,  ///< go into the assembly queues of `where` at once, FIFO; nobody can steal it
  };
  kind what = kind::queue;
  /// false: only the queue's owner may take it (it goes to the owner's inbox)
  bool stealable = true;
  queue_id queue = 0;
  /// the place already chosen; travels with the task (papers.md E8)
  place_id where = no_place;
  std::uint64_t key = 0;  ///< order in a by_key queue
  /// added to the busy estimate of the place's leader until the task is done
  double busy_s = 0.0;

  static ready_decision wait_in(queue_id q, std::uint64_t key = 0) noexcept {
    ready_decision d;
    d.queue = q;
    d.key = key;
    return d;
  }
  static ready_decision next() noexcept {
    ready_decision d;
    d.what = kind::run_next;
    return d;
  }
  /// To the leader of `p`, not stealable, keeping `p`.
  static ready_decision reserve(place_id p, core_id leader) noexcept {
    ready_decision d;
    d.stealable = false;
    d.queue = leader;
    d.where = p;
    return d;
  }
  static ready_decision bind_to(place_id p, double busy_s = 0.0) noexcept {
    ready_decision d;
    d.what = kind::bind;
    d.where = p;
    d.busy_s = busy_s;
    return d;
  }
};

/// Question 3: what an idle worker tries. Only at `nothing` may the engine park the worker.
struct next_decision {
  enum class kind : std::uint8_t {
    nothing,
    take_from,  ///< try `queue`; on failure the engine asks again with attempt + 1
    steal,      ///< try one victim by the discipline's `steal_from`; on failure asks again
    /// run exactly `task` if it waits in a declared queue that this worker may take from; else
    /// wait, and ask again once something comes
    hold_task,
    hold_until,  ///< do nothing before `until_s` (engine time), then ask again
  };
  kind what = kind::nothing;
  queue_id queue = 0;
  /// take_from a declared queue: leave so many of the first to others; where no more wait the
  /// attempt fails
  std::uint32_t skip = 0;
  task_ref task{};
  double until_s = 0.0;
};

/// Question 4: the place of a task that a worker has taken, or back into the queue it came from.
struct take_decision {
  place_id where = no_place;
  /// The worker declines: the task goes back to its queue with its key (a forwarded one to the
  /// worker's own), others that may take it are woken, and the worker asks question 3 anew. Never
  /// let all cores decline.
  bool put_back = false;
  double busy_s = 0.0;
};

// ---- the view -----------------------------------------------------------------------------------

namespace detail {
struct layout;
struct trusting;
class asking;  // what the engine keeps of the question that it asks
}  // namespace detail

/// Everything a policy may know and touch while it answers one question. Not kept beyond the
/// answer.
class view {
 public:
  /// Made by engines, one a question.
  view(const kilter::machine& m, core_id asker, detail::asking& question) noexcept
      : machine_(&m), question_(&question), asker_(asker) {}
  view(const view&) = delete;
  view& operator=(const view&) = delete;

  [[nodiscard]] const kilter::machine& machine() const noexcept { return *machine_; }

  // -- this engine --
  /// seconds since the engine started
  [[nodiscard]] double now_s() noexcept;
  /// uniform 0..n-1 from the asking worker's stream; n > 0
  [[nodiscard]] std::uint32_t random(std::uint32_t n) noexcept;
  [[nodiscard]] bool online(core_id) noexcept;
  /// nothing running there; may be stale at once
  [[nodiscard]] bool idle(core_id) noexcept;
  [[nodiscard]] std::uint32_t length(queue_id) noexcept;  ///< tasks waiting; an estimate
  /// sum of busy estimates not yet done
  [[nodiscard]] double busy_s(core_id) noexcept;
  /// How many cores' worth of time a quota leaves to the program, at least 0; the number of cores
  /// if there is none or the engine cannot tell (papers.md D4).
  [[nodiscard]] double paid_cores() noexcept;
  /// Where a task without a waker starts: core 0 in paper mode, else the core that a fresh unpinned
  /// thread would get.
  [[nodiscard]] core_id home() noexcept;

  // -- a task --
  /// stable within a run; order of creation
  [[nodiscard]] std::uint64_t id(task_ref) noexcept;
  /// the flag that `set_critical` or the user's priority gave
  [[nodiscard]] bool critical(task_ref) noexcept;
  void set_critical(task_ref, bool) noexcept;
  [[nodiscard]] priority user_priority(task_ref) noexcept;
  /// the task's allowed widths include the place's
  [[nodiscard]] bool allows(task_ref, place_id) noexcept;
  /// the user's estimate, in the user's unit; 0 if none
  [[nodiscard]] double work(task_ref) noexcept;
  /// Given or modelled seconds there; 0 if unknown, infinite if it cannot run there. Where no time
  /// at all is given: the smallest number above 0.
  [[nodiscard]] double cost_s(task_ref, place_id) noexcept;
  [[nodiscard]] task_state state(task_ref) noexcept;
  void set_state(task_ref, const task_state&) noexcept;
  /// A task as a word that may be kept in a task's sixteen bytes or in a cell, and back; 0 is no
  /// task. A `task_ref` itself must not be kept: its handle differs between a run and its replay.
  [[nodiscard]] std::uint64_t word_of(task_ref) noexcept;
  [[nodiscard]] task_ref task_of(std::uint64_t word) noexcept;

  // -- the graph as known so far --
  [[nodiscard]] std::uint32_t batch_size() noexcept;  ///< question 1 only
  /// question 1 only; order of creation
  [[nodiscard]] task_ref batch_task(std::uint32_t i) noexcept;
  [[nodiscard]] bool batch_is_whole_graph() noexcept;
  [[nodiscard]] std::uint32_t successor_count(task_ref) noexcept;
  [[nodiscard]] task_ref successor(task_ref, std::uint32_t i) noexcept;
  /// seconds if the two run on different cores
  [[nodiscard]] double successor_cost_s(task_ref, std::uint32_t i) noexcept;
  /// needs discipline::reads_predecessors, as the next
  [[nodiscard]] std::uint32_t predecessor_count(task_ref) noexcept;
  [[nodiscard]] task_ref predecessor(task_ref, std::uint32_t i) noexcept;
  [[nodiscard]] double predecessor_cost_s(task_ref, std::uint32_t i) noexcept;
  /// engine time when the data of the predecessors that are done have reached the core
  [[nodiscard]] double data_ready_s(task_ref, core_id) noexcept;
  /// The core that last worked on the task's data (depend::inout, else `in`, else `out`; the first
  /// of them counts): its caches have them. With discipline::reads_data, of a task that names none
  /// and takes a microsecond or more: the core that ran the last of its predecessors. no_core if
  /// nobody has touched them, for roots, and for what a running task added.
  [[nodiscard]] core_id data_core(task_ref) noexcept;
  /// New key of a task that waits in a by_key queue; no effect if it waits nowhere.
  void rekey(task_ref, std::uint64_t key) noexcept;

  // -- what was learned --
  /// Predicted seconds of the task at a place. 0: unexplored (never with the neutral prior).
  [[nodiscard]] double time_s(task_ref, place_id) noexcept;
  /// Seconds that it takes more on that core than if it ran at once on `data_core`, as its type was
  /// seen to: on `data_core` itself what it takes more later. 0 if nothing, or that is not known.
  [[nodiscard]] double elsewhere_s(task_ref, core_id) noexcept;
  /// A task of its type has run, or its times were given; otherwise `time_s` is a guess.
  [[nodiscard]] bool known(task_ref) noexcept;
  /// What a search over all places that the task allows finds, at most `max_width` wide: least
  /// predicted time, or time x width; the first one without a sample if the table explores first;
  /// ties to the smaller width, then to the lower leader (papers.md E1, E13, E55). Does not
  /// ask whether cores are online. no_place if the task allows none.
  [[nodiscard]] place_id best_place(task_ref, objective, std::uint32_t max_width = ~0u) noexcept;
  /// Slowdown of a core against its undisturbed self, >= 1; 1 in paper mode.
  [[nodiscard]] double slowdown(core_id) noexcept;
  /// Seconds that a steady neighbour is expected to take from a core between `from_s` (engine time)
  /// and the end of `work_s` seconds of work begun then, by the slices that the core's time was cut
  /// into lately; 0 if it is left alone by now, negative if no pattern is known (then there is
  /// `slowdown`). What is due counts as begun until the core is seen at work; the one that asks is.
  [[nodiscard]] double gap_s(core_id, double from_s, double work_s) noexcept;
  /// Whether a core lost a tenth or more to others within the last ten seconds; false in paper
  /// mode. One that did is not worth a try while another is idle.
  [[nodiscard]] bool slowed_lately(core_id) noexcept;
  [[nodiscard]] const table_options& table() const noexcept;
  /// The place to use when a whole-table search found `best`: with `lost_time` the place in use
  /// until leaving it pays, now and then with `ageing` a place to be tried again; otherwise `best`.
  /// Only places that the task allows and that are at most `max_width` wide come up.
  [[nodiscard]] place_id settle(task_ref, place_id best, objective,
                                std::uint32_t max_width = ~0u) noexcept;
  /// Puts what was seen into the trace table.
  void learn(task_ref, place_id, const measured&) noexcept;

  // -- shared cells --
  [[nodiscard]] std::uint64_t load(std::uint32_t cell) noexcept;
  void store(std::uint32_t cell, std::uint64_t value) noexcept;
  std::uint64_t fetch_add(std::uint32_t cell, std::uint64_t n) noexcept;
  /// Sets the cell to `desired` if it holds `expected`; returns whether it did.
  bool exchange_if(std::uint32_t cell, std::uint64_t expected, std::uint64_t desired) noexcept;
  /// The cells that all tasks of this one's type and size class share; `cell` is below
  /// discipline::type_cells.
  [[nodiscard]] std::uint64_t type_load(task_ref, std::uint32_t cell) noexcept;
  std::uint64_t type_fetch_add(task_ref, std::uint32_t cell, std::uint64_t n) noexcept;

  /// The core whose worker asks.
  [[nodiscard]] core_id asker() const noexcept { return asker_; }

 private:
  friend struct detail::layout;  // policy_plugin.hpp
  friend class detail::asking;
  const kilter::machine* machine_;
  detail::asking* question_;
  core_id asker_;
};

// ---- the policy ---------------------------------------------------------------------------------

/// One scheduling algorithm. Immutable: an engine holds it const and may ask from every worker at
/// once. What it answers outside the contract (a place, queue, core or task that does not exist, a
/// place that the task does not allow, a number that is none), and what it throws, ends the run
/// with one usage_error that names the policy, the question and the answer.
class policy {
 public:
  policy() = default;
  virtual ~policy() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// 0. Which queues exist, and what the policy answers itself: an `on_ready` is never asked unless
  /// this sets `asks_ready_low` or `asks_ready_high`, and so
  ///    on for the other questions. Asked once, when an engine starts.
  [[nodiscard]] virtual discipline queues(const machine&) const = 0;
  /// 1. A whole static graph, or the tasks that a running task adds (view::batch_*): label, plan,
  /// re-key.
  virtual void on_submit(view&) const {}
  /// 2. `task` has become ready: `parent` released it last and ran on `waker`; both empty for a
  /// root submitted from outside.
  ///    A root that a worker submits has a waker and no parent. A task that a running task adds and
  ///    that waits for nothing has the adding task as its parent.
  [[nodiscard]] virtual ready_decision on_ready(task_ref task, task_ref parent, core_id waker,
                                                view&) const;
  /// 3. `worker` has nothing bound to it; `attempt` counts from 0 since it last ran something or
  /// slept.
  [[nodiscard]] virtual next_decision next(core_id worker, std::uint32_t attempt, view&) const;
  /// 4. `here` has taken `task` from a queue; `stolen`: the queue belongs to another core.
  [[nodiscard]] virtual take_decision on_take(task_ref task, core_id here, bool stolen,
                                              view&) const;
  /// 5. `task` is done at `place`.
  virtual void on_done(task_ref, place_id, const measured&, view&) const {}
  /// 6. Cores came or went (view::online); the engine asks 2 again for all that waited on or was
  /// planned for cores that went.
  virtual void on_machine(view&) const {}

  /// Its answers come from Kilter itself, or were checked before: an engine takes them as they are.
  /// Only for machines of as many cores and places as the one that it was made for.
  [[nodiscard]] bool trusted() const noexcept { return cores_ > 0; }
  [[nodiscard]] bool made_for(const machine& m) const noexcept {
    return cores_ == m.core_count() && places_ == m.places().size();
  }

 private:
  friend struct detail::layout;  // policy_plugin.hpp
  friend struct detail::trusting;
  std::size_t cores_ = 0, places_ = 0;  // 0: of any policy that is not trusted
};

}  // namespace v0
}  // namespace kilter
