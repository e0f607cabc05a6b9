#pragma once
// One worker: what it owns, what others may leave for it, and its loop, which
// docs/inside/worker-loop.md walks through. What it does lies in
//   worker.cpp    looking for work
//   run.cpp       from a task in hand to its end: the place, the body, the sample
//   ready.cpp     from the end of a task to the queues of those that it released
//   wide.cpp      tasks on several cores
//   parallel.cpp  loops
//   lending.cpp   a core of its own that it does not need, for a worker that is held up on another
//   helping.cpp   what it does while a task waits
//   in_hand       what it has in hand, and how it lets go of it
//   sleeping      how it comes to rest and gets up again; parking.hpp is what others see of that

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/sync.hpp"
#include "graph/node.hpp"
#include "kilter/policy.hpp"
#include "policy/routing.hpp"
#include "runtime/asker.hpp"
#include "runtime/assembly.hpp"
#include "runtime/core_load.hpp"
#include "runtime/cpu_time.hpp"
#include "runtime/deque.hpp"
#include "runtime/execution.hpp"
#include "runtime/in_hand.hpp"
#include "runtime/inbox.hpp"
#include "runtime/parallel.hpp"
#include "runtime/parking.hpp"
#include "runtime/shared_roots.hpp"
#include "runtime/sleeping.hpp"
#include "runtime/stacks.hpp"
#include "runtime/stand_in_thread.hpp"
#include "runtime/wait_depth.hpp"
#include "runtime/worker_thread.hpp"

namespace kilter::inline v0::detail {

class engine;
class declared_queue;

class alignas(sync::cache_line) worker {
 public:
  worker(engine&, core_id);
  ~worker();

  engine& owner;
  const core_id core;

  /// The thread's function: serves until the engine stops.
  void loop();
  /// Runs other tasks until `finished()`; the time is taken off the task that waits, which belongs
  /// to `mine` (null: not known). Afterwards the worker has nothing in hand. Where no stack is left
  /// to help on, `awaited` fails, so that it ends without its bodies.
  template <class Finished>
  void help_until(Finished&& finished, const execution_state* mine, execution_state* awaited) {
    if (finished()) return;
    help({[](void* f) { return bool((*static_cast<std::remove_reference_t<Finished>*>(f))()); },
          &finished},
         mine, awaited);
  }

  /// The worker of the calling thread, or null.
  static worker* current() noexcept;
  /// The worker for which the calling thread stands in, or null.
  static worker* stood_in_for() noexcept;
  /// The worker that runs the body which was given this context. usage_error, naming what the body
  /// `does`, if that body is not the one that the calling thread is in: another's context was kept
  /// or captured.
  static worker* running(const task_context&, const char* does);
  /// usage_error, naming what is `asked`, if the calling thread is inside a member of a team.
  static void refuse_in_team(const char* asked);
  /// usage_error if the body that the calling thread is in belongs to that run; or, with a task, to
  /// that task.
  static void refuse_own(const execution_state& awaited, const node* awaited_task);

  // --- what others may do ---
  /// Wakes it if it sleeps; returns whether it did.
  bool wake() noexcept { return parking_.wake(); }
  [[nodiscard]] parking& sleeping_place() noexcept { return parking_; }
  /// What the policy expects of work on its core.
  [[nodiscard]] core_load& load() noexcept { return load_; }
  [[nodiscard]] bool idle() const noexcept { return parking_.idle(); }
  /// False while another program has its core (our_cores.hpp). Then it does what is bound to it, on
  /// one of the cores that are left, and nothing else.
  [[nodiscard]] bool ours() const noexcept { return ours_.load(sync::memory_order_acquire); }
  void be_ours(bool is) noexcept { ours_.store(is, sync::memory_order_release); }
  /// Its thread goes where it belongs by now; false if that is to be tried again.
  bool settle() noexcept;
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    return static_cast<std::uint32_t>(own_.size()) + roots_.left();
  }
  /// Something that any worker may take.
  [[nodiscard]] bool has_open_work() const noexcept {
    return !own_.empty() || !open_inbox_.empty() || !declined_.empty() || roots_.left() != 0 ||
           !kept_.empty();
  }
  /// The last look before a sleep: there is something that this worker could take.
  [[nodiscard]] bool something_to_take() const noexcept;

  // --- called on its own thread ---
  /// What it adds to the questions that it asks.
  [[nodiscard]] detail::asker& asker() noexcept { return asker_; }
  /// When it last read the cycle counter.
  [[nodiscard]] std::uint64_t clock_seen() const noexcept { return clock_seen_; }
  // What follows up to release_batch throws nothing: if there is no memory for a queue or a
  // policy's question, the run of the task ends with bad_alloc, and the task is done without its
  // body.
  void start_execution(execution_state&) noexcept;
  /// Makes the tasks of a batch ready. The list is used up.
  void release_batch(std::vector<node*>&, node* parent) noexcept;
  /// What the task that is running has made ready can be taken by others from here on.
  void hand_out() noexcept;
  /// Divides the loop among this worker and others; returns when all of it is done. Rethrows what
  /// the body threw.
  void run_loop(const loop_work&, std::uint32_t row, execution_state*);

 private:
  // --- what other workers may do ---
  void bind(const assembly_entry&);
  /// To the leader's end of the work queue, out of reach of thieves (papers.md E8, E9).
  void leave_bound(node*);
  /// Open to thieves.
  void leave_open(node*);
  node* steal_from() noexcept;

  // --- looking for work: worker.cpp ---
  /// One unit of work, if there is any. `helping`: from inside a task that waits; never starts a
  /// task that needs all members.
  bool step(bool helping);
  /// One entry of the assembly queue. `narrow`: also a task that runs here alone.
  bool step_bound(bool helping, bool narrow);
  struct places_to_look;
  node* take(origin&);
  node* take_bound();
  node* take_asked(origin&);
  node* take_left_over();
  node* steal(bool& stolen);
  void unload() noexcept;
  node* keep_but_oldest(node*) noexcept;
  void push_own(node*) noexcept;
  /// The core is another program's: what others may take goes to them, and what is bound is done.
  void stand_aside();
  /// Ends the run of the task with the exception that is being handled, and keeps the task here,
  /// where nothing needs memory.
  void give_up(node*) noexcept;
  static void stands_in(worker*) noexcept;

  // --- letting go of what is in hand: in_hand.cpp ---
  friend struct in_hand;
  void let_go(const execution_state* mine = nullptr) noexcept { hand_.let_go(*this, mine); }
  /// Lets go, and no longer counts as looking: the worker turns to something else.
  void stop_looking(const execution_state* mine = nullptr) noexcept;
  void share_next() noexcept {
    if (hand_.next) share(std::exchange(hand_.next, nullptr));
  }
  void share(node*) noexcept;
  /// Wakes somebody for what waits there, if anything does.
  void tell(const declared_queue&) noexcept;
  [[nodiscard]] bool keeps_open_work() const noexcept { return !own_.empty() || !kept_.empty(); }
  void notify_any() noexcept;
  /// The worker has seen the task and does not want it: back to where it waited.
  void put_back(node*, const origin&);
  /// The same, where nobody catches what it throws.
  void decline(node*, const origin&) noexcept;
  void hand_in(execution_state&) noexcept;
  void learn_row(const short_row::contents&) noexcept;

  // --- from a task in hand to its end: run.cpp ---
  /// The innermost body that runs.
  struct body_on_stack {
    const body_call* call = nullptr;  // null between bodies and inside a loop's pieces
    bool in_team = false;             // it is a member of a team
    std::uint64_t nested_cycles = 0;  // that went to other tasks within it
  };
  void place_and_run(node*, const origin&, bool helping) noexcept;
  bool finds_place(node*, const origin&, place_id& where) noexcept;
  bool goes_to(place_id, node*, bool stolen, bool needs_stand_in) noexcept;
  void run_entry(const assembly_entry&, bool helping);
  void run_alone(node*, bool stolen, bool helping);
  void run_short(node*, execution_state&, task_kind&, bool helping);
  node* next_of_row(const graph_core&, const task_kind&, std::uint16_t kind) noexcept;
  bool run_body(node*, const body&, body_call&, execution_state&);
  void learn(node*, const task_kind&, place_id, const measured&, std::uint64_t now_cycles);
  void complete(node*, execution_state&);
  /// A dynamic task is done: its closure, records and number go.
  void end_of_dynamic(dynamic_node*, execution_state&) noexcept;
  static bool pass_stop_on(const node*, const execution_state&) noexcept;
  void successor_ready(node* n, node* parent);
  [[nodiscard]] worker_tally& tally(execution_state& e) noexcept { return e.tallies[core]; }

  // --- from ready to a queue: ready.cpp ---
  /// A root or a dynamic task has become ready on this worker.
  void made_ready(node* n, node* parent, core_id waker) noexcept;
  void enqueue_standard(node*, core_id waker);
  void apply(node*, const ready_decision&, core_id waker);
  void send(node*, const routing::destination&, std::uint64_t key);
  bool open_roots(execution_state&, core_id waker);
  /// A piece of the roots that this worker opened: the first is returned, the others go into the
  /// deque of `taker`.
  node* take_roots(worker& taker);
  void add_busy(node*, core_id leader, double seconds);
  void remove_busy(const node*, execution_state&);

  // --- tasks on several cores: wide.cpp ---
  void insert(node*, place_id, bool stolen);
  void join(assembly&);
  /// On a thread of its own, since this one is inside a task and must not block in another.
  void stand_in(assembly&);
  bool take_part(assembly&);
  void finish_wide(assembly&);
  void give_back(assembly&);

  // --- loops: parallel.cpp ---
  /// Unless it came too late.
  void join_loop(shared_loop&);
  /// Takes part in it while there are pieces. Back: for how many cycles those may take that are
  /// still in one.
  std::uint64_t take_pieces(shared_loop&);
  void learn_loop(const shared_loop&, const loop_pace&, std::uint64_t span);

  // --- lending: lending.cpp ---
  /// Somebody whose core has been taken from it gets this worker's, which is about to sleep.
  void lend_core() noexcept;
  /// While tasks run one of those that sleep looks again and again; whether it is this one.
  [[nodiscard]] bool begins_watch() noexcept;
  [[nodiscard]] bool may_lend_to(const worker&) const noexcept;
  bool lend_to(worker&, std::int64_t cpu_ns_before) noexcept;
  /// Back to its own core from one that was lent.
  void go_home() noexcept;

  // --- waiting: helping.cpp ---
  struct condition {
    bool (*holds)(void*);
    void* argument;
    [[nodiscard]] bool operator()() const { return holds(argument); }
  };
  void help(condition, const execution_state* mine, execution_state* awaited);
  void help_here(condition);
  void help_without_stack(condition, execution_state* awaited);
  bool step_deep();
  void rest_while_helping(condition);
  /// So many waits are nested on the stack that what becomes ready here waits here.
  [[nodiscard]] bool deep() const noexcept { return waits_.deep(); }
  bool keep(node*);
  node* steal_kept();
  void run_kept(node*, bool stolen, bool helping) noexcept;
  bool kept_stays_here(node*, bool stolen);
  void let_kept_go() noexcept;
  /// As the policy says, after all.
  void made_public(node*) noexcept;

  // --- coming to rest: sleeping.cpp ---
  /// Sleeps until woken, at most `timeout_ns` (negative: without limit). Not if there is work, or
  /// `over` (may be null) holds.
  void tell_nothing_at_hand() const noexcept;
  void sleep_until_work(std::int64_t timeout_ns, const condition* over = nullptr);
  bool policy_finds_work(std::int64_t& timeout_ns);
  /// It has found something, or has other things to do.
  void search_ends() noexcept;
  /// Of emulated cores; others are always there.
  void wait_for_core() noexcept;

  // What the owner alone touches at every task comes first, on lines of its own since thieves read
  // what stands before; then what thieves read, then what others write.
  alignas(sync::cache_line) std::uint64_t clock_seen_ = 0;
  in_hand hand_;
  // the last one, until another body runs; policies may ask for its data
  const node* released_ = nullptr;
  // what becomes ready does so at the end of a task, after which this worker looks for another
  bool looks_next_ = false;
  // taken out of bound_inbox_; not in hand, since nobody else may run it
  link_list<node> bound_;
  body_on_stack body_;
  sleeping sleeping_{parking_};
  wait_depth waits_;
  bool starts_over_ = false;  // a graph has begun in the middle of a look
  cpu_time cpu_time_;
  work_deque<node> own_;
  // What became ready while many waits were nested: the youngest is run first; others take only
  // what nobody else has for them.
  work_deque<node> kept_;
  stacks stacks_;
  detail::asker asker_;
  std::vector<member_time> member_times_;
  kept_loops loops_;
  guest guest_;  // to whom it has lent its core
  // --- others write these, each on lines of its own ---
  alignas(sync::cache_line) shared_roots roots_;
  alignas(sync::cache_line) inbox<node> bound_inbox_;
  inbox<node> open_inbox_;  // what others left for the deque
  inbox<node> declined_;
  assembly_queue assembly_;
  alignas(sync::cache_line) parking parking_;
  stand_in_thread stand_in_;
  sync::atomic<bool> ours_{true};
  worker_thread thread_{core};
  core_load load_;
};

}  // namespace kilter::inline v0::detail
