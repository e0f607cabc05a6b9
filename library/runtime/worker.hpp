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

#include <sys/types.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/spin_lock.hpp"
#include "base/sync.hpp"
#include "graph/node.hpp"
#include "kilter/policy.hpp"
#include "policy/routing.hpp"
#include "policy/tape.hpp"
#include "runtime/added_edges.hpp"
#include "runtime/assembly.hpp"
#include "runtime/deque.hpp"
#include "runtime/execution.hpp"
#include "runtime/in_hand.hpp"
#include "runtime/inbox.hpp"
#include "runtime/lodging.hpp"
#include "runtime/parking.hpp"
#include "runtime/sleeping.hpp"
#include "runtime/stacks.hpp"

namespace kilter::detail {

class engine;
class declared_queue;
struct loop_work;
struct loop_pace;

class alignas(sync::cache_line) worker {
 public:
  worker(engine&, core_id, std::uint64_t seed);
  ~worker();

  /// The thread's function: serves until the engine stops.
  void loop();
  /// One unit of work, if there is any. `helping`: from inside a task that waits; never starts a
  /// task that needs all members.
  bool step(bool helping);
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
  void bind(const assembly_entry&);
  /// To the leader's end of the work queue, out of reach of thieves (papers.md E8, E9).
  void leave_bound(node*);
  /// Open to thieves.
  void leave_open(node*);
  node* steal_from() noexcept;
  /// Wakes it if it sleeps; returns whether it did.
  bool wake() noexcept { return parking_.wake(); }
  [[nodiscard]] parking& sleeping_place() noexcept { return parking_; }
  [[nodiscard]] bool idle() const noexcept { return parking_.idle(); }
  /// It is up, and has nothing to do.
  [[nodiscard]] bool looks_for_work() const noexcept { return parking_.searches(); }
  /// False while another program has its core (our_cores.hpp). Then it does what is bound to it, on
  /// one of the cores that are left, and nothing else.
  [[nodiscard]] bool ours() const noexcept { return ours_.load(sync::memory_order_acquire); }
  void be_ours(bool is) noexcept { ours_.store(is, sync::memory_order_release); }
  /// Its thread goes where it belongs by now; false if that is to be tried again.
  bool settle() noexcept;
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    return static_cast<std::uint32_t>(own_.size()) + roots_left_.load(sync::memory_order_relaxed);
  }

  // --- called on its own thread ---
  /// What follows up to release_batch throws nothing: if there is no memory for a queue or a
  /// policy's question, the run of the task ends with bad_alloc, and the task is done without its
  /// body.
  void push_own(node*) noexcept;
  /// A root or a dynamic task has become ready on this worker.
  void made_ready(node* n, node* parent, core_id waker) noexcept;
  void start_execution(execution_state&) noexcept;
  /// Makes the tasks of a batch ready. The list is used up.
  void release_batch(std::vector<node*>&, node* parent) noexcept;
  /// A dynamic task is done: its closure, records and number go.
  void end_of_dynamic(dynamic_node*, execution_state&) noexcept;
  /// Divides the loop among this worker and others; returns when all of it is done. Rethrows what
  /// the body threw.
  void run_loop(const loop_work&, std::uint32_t row, execution_state*);
  /// What the task that is running has made ready can be taken by others from here on.
  void hand_out() noexcept;
  /// Something that any worker may take.
  [[nodiscard]] bool has_open_work() const noexcept {
    return !own_.empty() || !open_inbox_.empty() || !declined_.empty() ||
           roots_left_.load(sync::memory_order_acquire) || !kept_.empty();
  }
  /// The last look before a sleep: there is something that this worker could take.
  [[nodiscard]] bool something_to_take() const noexcept;

  engine& owner;
  const core_id core;
  random_stream random;
  std::unique_ptr<tape> log;
  const std::vector<node*>* batch = nullptr;  ///< what question 1 is about
  bool batch_whole = false;
  added_edges batch_edges;                ///< of that batch, if a running task added it
  std::uint64_t clock_seen = 0;           ///< the cycle counter as this worker last read it
  sync::atomic<std::int64_t> busy_ns{0};  ///< busy estimates not yet done

 private:
  // --- looking for work: worker.cpp ---
  /// One entry of the assembly queue. `narrow`: also a task that runs here alone.
  bool step_bound(bool helping, bool narrow);
  struct places_to_look;
  node* take(origin&);
  node* take_bound();
  void empty_bound_inbox() noexcept;
  node* take_asked(origin&);
  node* take_left_over();
  node* steal(bool& stolen);
  void unload() noexcept;
  node* keep_but_oldest(node*) noexcept;
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
  static bool pass_stop_on(const node*, const execution_state&) noexcept;
  void successor_ready(node* n, node* parent);
  [[nodiscard]] worker_tally& tally(execution_state& e) noexcept { return e.tallies[core]; }
  /// What a body had of the core, in nanoseconds.
  [[nodiscard]] std::int64_t cpu_nanoseconds() const noexcept;

  // --- from ready to a queue: ready.cpp ---
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
  /// One that is kept and that nobody uses, or a new one; held once for the caller.
  [[nodiscard]] shared_loop* loop_for(const loop_work&, std::uint32_t row, execution_state*,
                                      const std::vector<double>& weights);
  /// Unless it came too late.
  void join_loop(shared_loop&);
  /// Takes part in it while there are pieces. Back: for how many cycles those may take that are
  /// still in one.
  std::uint64_t take_pieces(shared_loop&);
  /// By core; empty if all take part.
  [[nodiscard]] std::vector<std::uint8_t> cores_without_loops() const;
  void learn_loop(const shared_loop&, const loop_pace&, std::uint64_t span);
  void look_at_cpu_time() noexcept;

  // --- lending: lending.cpp ---
  /// Somebody whose core has been taken from it gets this worker's, which is about to sleep.
  void lend_core() noexcept;
  [[nodiscard]] bool has_guest() const noexcept { return guest_ && guest_->lodging_.is_at(core); }
  /// While tasks run one of those that sleep looks again and again; whether it is this one.
  [[nodiscard]] bool begins_watch() noexcept;
  [[nodiscard]] bool may_lend_to(const worker&) const noexcept;
  bool lend_to(worker&, std::int64_t cpu_ns_before) noexcept;
  /// Others' pieces of work are about to be done here: whoever stands on this core goes home.
  void take_core_back() noexcept;
  void look_after_guest() noexcept;
  /// Back to its own core from one that was lent.
  void go_home() noexcept;

  // --- waiting: helping.cpp ---
  static constexpr std::uint32_t deep_waits = 64;
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
  [[nodiscard]] bool deep() const noexcept { return waits_ >= deep_waits; }
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
  void sleep_until_work(std::int64_t timeout_ns, const condition* over = nullptr);
  bool policy_finds_work(std::int64_t& timeout_ns);
  /// It has found something, or has other things to do.
  void search_ends() noexcept;
  /// Of emulated cores; others are always there.
  void wait_for_core() noexcept;

  // What the owner alone touches at every task comes first, then what thieves read, then what
  // others write.
  in_hand hand_;
  // the last one, until another body runs; policies may ask for its data
  const node* released_ = nullptr;
  // what becomes ready does so at the end of a task, after which this worker looks for another
  bool looks_next_ = false;
  // taken out of bound_inbox_, youngest first; not in hand, since nobody else may run it
  node* bound_ = nullptr;
  body_on_stack body_;
  sleeping sleeping_{parking_};
  std::uint32_t waits_ = 0;   // nested on this worker's stack
  bool starts_over_ = false;  // a graph has begun in the middle of a look
  struct cpu_look {
    std::uint64_t cycles = 0;
    std::int64_t ns = -1;  // none: it slept since, which is no CPU time either
  };
  cpu_look cpu_seen_;  // its CPU time, and when
  work_deque<node> own_;
  // What became ready while many waits were nested: the youngest is run first; others take only
  // what nobody else has for them.
  work_deque<node> kept_;
  stacks stacks_;
  std::unique_ptr<sync::thread> stand_in_;
  std::vector<member_time> member_times_;
  static constexpr std::size_t kept_loops = 2;
  std::vector<shared_loop*> loops_;
  // --- others write these, each on lines of its own ---
  alignas(sync::cache_line) sync::spin_lock roots_lock_;
  node* const* next_root_ = nullptr;  // under the lock
  sync::atomic<std::uint32_t> roots_left_{0};
  alignas(sync::cache_line) inbox<node> bound_inbox_;
  inbox<node> open_inbox_;  // what others left for the deque
  inbox<node> declined_;
  assembly_queue assembly_;
  alignas(sync::cache_line) parking parking_;
  sync::atomic<bool> stand_in_busy_{false};
  sync::atomic<bool> ours_{true};
  lodging lodging_{core};
  worker* guest_ = nullptr;  // whom this one has lent its core, and who may be gone
  cpu_look guest_seen_;
  sync::atomic<pid_t> thread_{0};  // that is in the loop; 0: none
};

}  // namespace kilter::detail
