// Tasks that running tasks add, and what else a body may ask its engine.

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <unordered_set>
#include <utility>

#include "runtime/engine.hpp"

namespace kilter {

using namespace detail;

struct batch::state {
  worker* here;
  execution_state* run;
  node* parent;
  worker_tally* tally;
  std::vector<node*> added;
  /// of `added`, the first `known.size()`, once there are many and edges join them
  std::unordered_set<const node*> known{};
  std::unique_ptr<data_uses> uses{};  ///< of the data that tasks named; null while none did
  batch_count* count = nullptr;
  /// where graphs are recorded: the number of what was released since the last wait
  std::optional<std::uint32_t> recorded{};

  [[nodiscard]] bool holds(const node*);

  void drop_unfinished() noexcept;
  void release();
  void submit(batch_count*) noexcept;
  void record(trace::graph_log&, const std::vector<node*>& released) noexcept;
  void drop_last() noexcept;
  void let_go() noexcept;
};

}  // namespace kilter

namespace kilter::inline v0::detail {
namespace {

constexpr std::uint64_t serials_at_once = 1024;

struct free_aligned {
  std::align_val_t alignment;
  void operator()(void* p) const noexcept { ::operator delete(p, alignment); }
};

dynamic_node* fresh_node(worker_tally& t, graph_core& g) {
  if (node* n = t.free_dynamic) {
    t.free_dynamic = n->link;
    return static_cast<dynamic_node*>(n);
  }
  block* b = t.blocks.full() ? t.blocks.append(&g, 0, sizeof(dynamic_node)) : t.blocks.back();
  return static_cast<dynamic_node*>(b->at(b->used++));
}

// Records are freed one by one when the task that holds them ends: a growing graph must not grow
// for ever.
void add_dynamic_edge(node* from, node* to, double cost_s) {
  if (!from->first_successor && !from->more_successors && cost_s == 0.0) {
    ++to->predecessors;
    from->first_successor = to;
    return;
  }
  auto* e = new edge{to, nullptr, cost_s};
  ++to->predecessors;
  if (edge* last = from->more_successors) {
    e->next = last->next;
    last->next = e;
  } else {
    e->next = e;
  }
  from->more_successors = e;
}

void free_closure(dynamic_node* n, const body& code) noexcept {
  void* closure = closure_of(n, code);
  if ((n->flags & flag_constructed) && code.destroy) code.destroy(closure);
  if (closure != &n->closure && closure != n->small_closure.data())
    ::operator delete (closure, std::align_val_t{code.alignment});
  if (n->flags & flag_cold) delete dynamic_cold(n);
}

void free_edges(const dynamic_node* n) noexcept {
  const edge* last = n->more_successors;
  if (!last) return;
  for (const edge* at = last->next;;) {
    const edge* following = at->next;
    const bool end = at == last;
    delete at;
    if (end) break;
    at = following;
  }
}

}  // namespace

void worker::end_of_dynamic(dynamic_node* n, execution_state& e) noexcept {
  graph_core& g = e.graph;
  free_closure(n, *g.kinds[n->kind].code);
  free_edges(n);
  batch_count* count = n->batch;
  worker_tally& t = tally(e);
  n->link = t.free_dynamic;
  t.free_dynamic = n;
  if (!count) return;
  if (worker* waiter = count->task_done(); waiter && waiter != this) waiter->wake();
}

}  // namespace kilter::inline v0::detail

namespace kilter {

batch::batch(task_context& context) {
  worker* here = worker::running(context, "adds tasks");
  node* parent = task_access::call_of(context)->task;
  auto* run =
      static_cast<execution_state*>(graph_of(parent).execution.load(sync::memory_order_relaxed));
  state_ = new state{here, run, parent, &run->tallies[here->core], {}};
}

batch::~batch() {
  try {
    wait();
  } catch (...) {  // out of memory: what was not released never runs, and the run says why
    state_->run->fail(std::current_exception());
    while (!state_->added.empty()) state_->drop_last();
  }
  state_->let_go();
  delete state_;
}

// The closure's constructor threw: its task is not one.
void batch::state::drop_unfinished() noexcept {
  if (!added.empty() && !(added.back()->flags & flag_constructed)) drop_last();
}

void batch::state::drop_last() noexcept {
  auto* n = static_cast<dynamic_node*>(added.back());
  added.pop_back();
  known.erase(n);
  free_closure(n, *run->graph.kinds[n->kind].code);
  free_edges(n);
  n->link = tally->free_dynamic;
  tally->free_dynamic = n;
}

// A look through all of a wide batch at each of its edges would take the square of its size.
bool batch::state::holds(const node* n) {
  constexpr std::size_t few = 64;
  if (added.size() <= few) return n && std::find(added.begin(), added.end(), n) != added.end();
  while (known.size() < added.size()) known.insert(added[known.size()]);
  return known.contains(n);
}

void batch::state::submit(batch_count* counted_in) noexcept {
  std::vector<node*> ready;
  ready.swap(added);
  known.clear();
  if (uses) uses->released(!counted_in);
  for (node* n : ready) {
    static_cast<dynamic_node*>(n)->batch = counted_in;
    n->pending.set(n->predecessors);
  }
  run->tasks.add(static_cast<std::int64_t>(ready.size()));
  if (trace::graph_log* log = here->owner.events.graph()) [[unlikely]]
    record(*log, ready);
  here->release_batch(ready, parent);
}

void batch::state::record(trace::graph_log& log, const std::vector<node*>& released) noexcept {
  if (!recorded) recorded = log.new_batch();
  here->owner.events.released(log, *run, parent, *recorded, released);
}

void batch::state::let_go() noexcept {
  if (count) count->let_go();
  count = nullptr;
  recorded.reset();
}

task batch::allocate(const task_options& o, const body& code, void*& storage, bool unfinished) {
  execution_state& e = *state_->run;
  graph_core& g = e.graph;
  worker_tally& t = *state_->tally;
  state_->drop_unfinished();
  check_work(o.work);
  if (!g.is_kind(t.last_kind, o, code)) {
    check_home(o.home, e.workers);
    const sync::lock_guard hold(g.dynamic_lock);
    const std::uint32_t before = g.kinds.size();
    t.last_kind = g.kind_index(o, code);
    if (t.last_kind >= before) {
      task_kind& k = g.kinds[t.last_kind];
      k.row = state_->here->owner.tables.row(g.type_names[k.type], k.size_class);
    }
  }
  if (t.next_serial == t.serials_end) {
    t.next_serial = g.next_serial.fetch_add(serials_at_once, sync::memory_order_relaxed);
    t.serials_end = t.next_serial + serials_at_once;
  }
  if (state_->added.size() == state_->added.capacity())
    state_->added.reserve(2 * state_->added.size() + 8);
  const bool cold = o.work != 0.0 || !o.name.empty() || !o.core_seconds.empty();
  const bool in_place = fits_in_node(code);
  const bool small =
      !cold && code.size <= sizeof(dynamic_node::small_closure) && code.alignment <= 16;
  // Memory first: nothing of the task exists until all of it is there.
  std::unique_ptr<cold_data> cold_part;
  if (cold)
    cold_part.reset(
        new cold_data{std::string(o.name), o.work, {o.core_seconds.begin(), o.core_seconds.end()}});
  std::unique_ptr<void, free_aligned> closure(
      in_place || small ? nullptr : ::operator new (code.size, std::align_val_t{code.alignment}),
      free_aligned{std::align_val_t{code.alignment}});
  dynamic_node* n = ::new (fresh_node(t, g)) dynamic_node{};
  n->flags =
      static_cast<std::uint8_t>(flag_dynamic | (unfinished ? 0 : flag_constructed) |
                                (o.priority == priority::high ? flag_high | flag_critical : 0) |
                                (o.home.empty() ? 0 : flag_home));
  n->kind = t.last_kind;
  n->where = place_unset;
  n->serial = t.next_serial++;
  n->closure = in_place ? nullptr
               : small  ? static_cast<void*>(n->small_closure.data())
                        : closure.release();
  storage = closure_of(n, code);
  if (cold) {
    dynamic_cold(n) = cold_part.release();
    n->flags |= flag_cold;
  }
  state_->added.push_back(n);
  return task_access::make(n, true);
}

void batch::constructed(task t) noexcept { task_access::get(t)->flags |= flag_constructed; }

void batch::check(const depend& data) const {
  const data_uses none;
  (state_->uses ? *state_->uses : none).check(data);
}

void batch::follow(task t, const depend& data) try {
  state& s = *state_;
  if (!s.uses) s.uses = std::make_unique<data_uses>();
  node* n = task_access::get(t);
  for (node* before : s.uses->follow(n, data)) add_dynamic_edge(before, n, 0.0);
} catch (...) {
  // It lacks edges, so nothing of this run must go on.
  state_->run->fail(std::current_exception());
  throw;
}

void batch::edge(task before, task after, double cost_s) {
  node* from = task_access::get(before);
  node* to = task_access::get(after);
  if (!state_->holds(from) || !state_->holds(to))
    throw usage_error("an edge of a batch joins two of its tasks that are not yet released");
  if (id_of(from) >= id_of(to))
    throw usage_error(
        "an edge of a batch runs from an older task to a younger one, so that no cycle can arise");
  add_dynamic_edge(from, to, cost_s);
}

void batch::state::release() {
  drop_unfinished();
  if (added.empty()) return;
  if (!count) count = new batch_count(here);
  count->add(static_cast<std::uint32_t>(added.size()));
  submit(count);
}

void batch::release() {
  state_->release();
  state_->here->hand_out();
}

void batch::detach() {
  state& s = *state_;
  s.drop_unfinished();
  if (!s.added.empty()) s.submit(nullptr);
  s.let_go();
  s.here->hand_out();
}

void batch::wait() {
  state& s = *state_;
  const bool at_once = !s.added.empty();
  s.release();
  if (!s.count) return;
  const std::optional<std::uint32_t> waited = std::exchange(s.recorded, {});
  const std::int64_t begin_ns = waited ? s.here->owner.clock.now_ns() : 0;
  s.here->help_until([&] { return s.count->all_done(); }, s.run, s.run);
  if (waited)
    s.here->owner.events.waited(*s.here->owner.events.graph(), *s.run, s.parent, *waited, begin_ns,
                                at_once);
  if (s.uses) s.uses->done();
}

chunk team_member::next_chunk(std::size_t total, std::size_t grain) {
  body_call& me = *call_;
  auto* a = static_cast<assembly*>(me.assembly);
  const std::size_t agreed = a ? a->agree_on(total) : me.named_total ? me.total : total;
  if (agreed != total)
    throw usage_error("next_chunk: the chunks of this task were begun with a total of " +
                      std::to_string(agreed) + ", now it is " + std::to_string(total) +
                      "; a task has one chunk source, so make a second loop a second task");
  if (me.given_out)
    throw usage_error("next_chunk: all " + std::to_string(total) +
                      " were given out, as this member was told; a task has one chunk source, so "
                      "make a second loop a second task");
  chunk c;
  if (a) {
    c = a->next_chunk(total, grain);
    if (c) ++a->members[me.member].chunks;
  } else if (!me.named_total) {
    me.named_total = true;
    me.total = total;
    c = {0, total};  // alone there is nobody to share with: all of it at once
  }
  me.given_out = !c;
  return c;
}

void team_member::barrier() {
  node* n = call_->task;
  const task_kind& k = graph_of(n).kinds[n->kind];
  if (!k.all_members)
    throw usage_error(
        "barrier() needs a task declared with all_members; in others members may be absent");
  auto* a = static_cast<assembly*>(call_->assembly);
  if (!a || call_->where.width == 1) return;
  execution_state& e = *a->execution;
  if (!a->barrier([&] { return e.stops(n); }))
    throw cancelled_error("the task was cancelled while its members were meeting");
}

namespace {

bool is_cancelled(const body_call& c) noexcept { return execution_of(c.task).stops(c.task); }

}  // namespace

bool team_member::cancelled() const noexcept { return is_cancelled(*call_); }
bool task_context::cancelled() const noexcept { return is_cancelled(*call_); }

}  // namespace kilter
