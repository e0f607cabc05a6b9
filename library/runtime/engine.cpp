#include "runtime/engine.hpp"

#include <algorithm>
#include <limits>

#include "kilter/emulated_cores.hpp"
#include "machine/cgroup.hpp"
#include "policy/checked.hpp"
#include "runtime/pinning.hpp"

namespace kilter::detail {
namespace {

// Two system calls of under a microsecond each are lost in a body of this length.
constexpr double long_body_s = 1e-3;
// Reading the clock and learning cost some 20 ns; around a body of this length that is 2 %.
constexpr double short_body_s = 1e-6;

/// A worker more than the quota pays for would only be throttled; a fraction of a core is still
/// worth a worker.
std::shared_ptr<const kilter::machine> machine_for(const runtime_options& o) {
  const auto m = o.machine ? o.machine
                           : std::make_shared<const kilter::machine>(
                                 within_quota(kilter::machine::local(), cgroup_quota_cores()));
  return o.max_workers == 0
             ? m
             : std::make_shared<const kilter::machine>(first_cores(*m, o.max_workers));
}

}  // namespace

std::unique_ptr<engine> engine::make(runtime_options o) {
  auto m = machine_for(o);
  auto p = checked(o.custom ? o.custom : make_policy(o.policy, *m, o.policy_settings), *m);
  auto plan = p->queues(*m);
  auto tables = std::make_unique<model::tables>(*m, o.table);
  auto cells = std::make_unique<model::shared_cells>(plan.cells, plan.type_cells);
  std::unique_ptr<engine> e(new engine(std::move(o), std::move(m), std::move(p), std::move(tables),
                                       std::move(cells), std::move(plan)));
  e->start();
  return e;
}

engine::engine(runtime_options o, std::shared_ptr<const kilter::machine> m,
               std::shared_ptr<const kilter::policy> p, std::unique_ptr<model::tables> t,
               std::unique_ptr<model::shared_cells> c, discipline d)
    : view_source(*t, *c),
      options(std::move(o)),
      machine(std::move(m)),
      policy(std::move(p)),
      plan(std::move(d)),
      desks(machine->clusters().size()),
      own_tables(std::move(t)),
      own_cells(std::move(c)),
      events(options.events) {
  const double rate = sync::cycles_per_second();
  if (options.emulated) time_scale = options.emulated->scale();
  seconds_per_cycle = 1.0 / (rate * time_scale);
  start_cycles = sync::cycles();
  const bool oversubscribed = machine->core_count() > allowed_cpus();
  spin_cycles = oversubscribed ? 0 : static_cast<std::uint64_t>(spin_s * rate);
  long_spin_cycles = oversubscribed ? 0 : static_cast<std::uint64_t>(long_spin_s * rate);
  gap_cycles = static_cast<std::uint64_t>(model::slices::shortest_gap_s * rate);
  long_body_cycles = static_cast<std::uint64_t>(long_body_s * rate * time_scale);
  short_body_cycles = static_cast<std::uint64_t>(short_body_s * rate);
  measures_cpu = options.table.two_factors && (plan.learns || plan.asks_done);
  samples_rows =
      options.table.two_factors && !plan.asks_done && !events && !options.record_decisions;
  standard_learning = plan.learns && !plan.asks_done;
  // A recording holds every decision, also those that the policy leaves to the standard way.
  if (options.record_decisions)
    plan.asks_submit = plan.asks_ready_low = plan.asks_ready_high = plan.asks_next =
        plan.asks_take_low = plan.asks_take_high = plan.asks_done = true;
  for (const queue_spec& q : plan.queues)
    queues.push_back(std::make_unique<declared_queue>(q, machine->core_count()));
  first_declared = routing::first_declared(plan, *machine);
  deques = routing::has_deques(plan);
  takes_own = routing::takes_own(plan);
  keeps_low = plan.forward_child && deques && !plan.asks_ready_low;
  keeps_high = plan.forward_child && deques && !plan.asks_ready_high;
  for (core_id i = 0; i < machine->core_count(); ++i)
    workers.push_back(std::make_unique<worker>(*this, i, options.seed));
  if (options.table.two_factors && !options.emulated) observe_landing();
}

engine::~engine() { stop(); }

void engine::observe_landing() {
  if (const core_id c = landing_core(*machine); c != no_core) tables.set_landing(c);
}

void engine::start() {
  if (running.load()) refuse_after_fork();
  const sync::lock_guard hold(control);
  if (running.load()) return;
  forks_ = sync::forks();
  parked.stopping.store(false, sync::memory_order_release);
  pins = options.pinned && can_pin_to(*machine);
  lends = pins && workers.size() > 1 && !options.emulated;
  cpu_ns_seen.resize(workers.size());
  try {
    for (auto& w : workers)
      threads_.emplace_back([this, served = w.get()] {
        if (pins) pin_to(*machine, served->core);
        served->loop();
      });
  } catch (const std::system_error& why) {
    const std::size_t started = threads_.size();
    join_all();
    throw std::system_error(why.code(), "worker " + std::to_string(started) + " of " +
                                            std::to_string(workers.size()) + " got no thread");
  } catch (...) {
    join_all();
    throw;
  }
  our_cores_.begin();
  running.store(true);
}

void engine::stop() {
  if (running.load()) refuse_after_fork();
  if (!can_be_stopped())
    throw usage_error("a task cannot stop the runtime that runs it; cancel its execution instead");
  const sync::lock_guard hold(control);
  if (!running.load()) return;
  {
    sync::unique_lock hold_active(active_lock_);
    running.store(false);  // refuses new submissions
    for (auto& e : active_) e->cancel();
    none_active_.wait(hold_active, [&] { return active_.empty(); });
  }
  join_all();
}

void engine::refuse_after_fork() const {
  if (forked())
    throw usage_error(
        "this process is a fork of the one whose runtime this is, and has none of its workers; "
        "make a runtime after fork()");
}

bool engine::can_be_stopped() const noexcept {
  const worker* w = worker::current() ? worker::current() : worker::stood_in_for();
  return (!w || &w->owner != this) && !forked();
}

void engine::cancel_all() noexcept {
  const sync::lock_guard hold(active_lock_);
  for (auto& e : active_) e->cancel();
}

void engine::join_all() {
  our_cores_.end();
  parked.stop(workers);
  for (auto& t : threads_) t.join();
  threads_.clear();
}

// A container's limit can change while it runs. Reading it takes some hundred microseconds, so not
// with every graph.
void engine::look_at_quota(std::int64_t now_ns) {
  constexpr std::int64_t every_ns = 1'000'000'000;
  if (options.emulated || (quota_seen_ns_ > 0 && now_ns - quota_seen_ns_ < every_ns)) return;
  quota_seen_ns_ = now_ns;
  paid_cores_.store(cgroup_quota_cores().value_or(std::numeric_limits<double>::infinity()),
                    sync::memory_order_relaxed);
}

std::shared_ptr<execution_state> engine::submit(graph& g, core_id as_worker) {
  worker::refuse_in_team("submit()");
  refuse_after_fork();
  g.check_acyclic();
  graph_core& core = graph_access::core(g);
  if (as_worker != no_core && as_worker >= machine->core_count())
    throw usage_error("core " + std::to_string(as_worker) + " has no worker; cores are 0 to " +
                      std::to_string(machine->core_count() - 1));
  auto e = std::make_shared<execution_state>(*this, core, machine->core_count(),
                                             machine->places().size());
  void* idle = nullptr;
  if (!core.execution.compare_exchange_strong(idle, e.get(), sync::memory_order_acq_rel))
    throw usage_error(
        "the graph is already running; wait for its execution before it is submitted again");

  worker* here = worker::current();
  if (here && &here->owner != this) here = nullptr;
  try {
    for (std::uint32_t i = 0; i < core.kinds.size(); ++i) {
      task_kind& k = core.kinds[i];
      k.row = tables.row(core.type_names[k.type], k.size_class);
      check_home(k.home, machine->core_count());
    }
    if (events)
      for (std::uint16_t i = 0; i < core.type_names.size(); ++i)
        events->name_type(i, core.type_names[i]);
    core.find_roots();
    if (plan.reads_data) core.keep_releases();
    if (plan.reads_predecessors) core.index_predecessors();
    core.clear_marks();
    core.next_serial.store(core.count, sync::memory_order_relaxed);
    e->tasks.begin(core.count);
    e->cycles_per_second = 1.0 / seconds_per_cycle;
    e->time_scale = time_scale;
    e->as_worker = as_worker;
    e->explored_before = tables.explored();
    e->submitted_ns = sync::nanoseconds();
    const sync::lock_guard hold(active_lock_);
    if (!running.load())
      throw usage_error("the runtime is stopped; call start() before submitting");
    if (!policy_failure_.empty())
      throw usage_error(policy_failure_ + "; this runtime asks it no more, make another");
    core.engine = this;
    core.end_run_of = [](graph_core& c) noexcept { static_cast<engine*>(c.engine)->end_run(c); };
    e->number = submitted_++;
    e->epoch = core.epoch = static_cast<std::uint8_t>(core.epoch % graph_core::last_epoch + 1);
    if (!here) look_at_quota(e->submitted_ns);
    active_.push_back(e);
    active.fetch_add(1, sync::memory_order_seq_cst);
    our_cores_.something_runs();
  } catch (...) {
    core.execution.store(nullptr, sync::memory_order_release);
    throw;
  }
  if (core.count == 0) {
    execution_done(*e);
    return e;
  }
  if (graph_log()) record_graph(*e);
  if (here && (as_worker == no_core || as_worker == here->core)) {
    e->as_worker = here->core;
    here->start_execution(*e);
    here->hand_out();
    return e;
  }
  // A root without a waker starts where the policy says; its worker is the best one to say it, if
  // it is free.
  core_id starter = as_worker;
  if (starter == no_core) {
    const core_id first = home();
    if (workers[first]->idle()) starter = first;
  }
  parking* const wanted = starter == no_core ? nullptr : &workers[starter]->sleeping_place();
  try {
    submissions.push(e.get(), wanted);  // it stays active until its last task is done
  } catch (...) {
    const sync::lock_guard hold(active_lock_);
    std::erase(active_, e);
    active.fetch_sub(1, sync::memory_order_seq_cst);
    core.execution.store(nullptr, sync::memory_order_release);
    none_active_.notify_all();
    throw;
  }
  if (!wanted || !wanted->call()) notify_any();
  return e;
}

void engine::execution_done(execution_state& e) noexcept {
  e.finished_ns = sync::nanoseconds();
  e.explored = tables.explored() - e.explored_before;
  // Whoever waits passes this lock too, so that the engine's hold is gone when wait() returns: what
  // the tasks threw then dies with the user's last handle and never later on a worker.
  const std::shared_ptr<sync::mutex> released = e.released;
  const sync::lock_guard release(*released);
  std::shared_ptr<execution_state> alive;
  {
    const sync::lock_guard hold(active_lock_);
    const auto at = std::ranges::find_if(active_, [&](const auto& a) { return a.get() == &e; });
    alive = std::move(*at);
    active_.erase(at);
    ended_.fetch_add(1, sync::memory_order_release);
    active.fetch_sub(1, sync::memory_order_seq_cst);
    e.graph.execution.store(nullptr, sync::memory_order_release);
    {
      const sync::lock_guard state(e.lock);
      e.tasks.end();
      if (e.cancelled.load(sync::memory_order_relaxed) &&
          cancelled_runs_.fetch_sub(1, sync::memory_order_seq_cst) == 1)
        clears_up_.store(false, sync::memory_order_relaxed);
    }
    none_active_.notify_all();
  }
  alive.reset();
  if (parked.a_helper_sleeps()) notify_all();
}

void engine::end_run(graph_core& g) noexcept {
  std::shared_ptr<execution_state> e;
  {
    const sync::lock_guard hold(active_lock_);
    const auto at = std::ranges::find_if(active_, [&](const auto& a) { return &a->graph == &g; });
    if (at == active_.end()) return;
    e = *at;
  }
  e->cancel();
  if (worker* w = worker::current())
    w->help_until([&] { return e->tasks.done(); }, nullptr, e.get());
  else
    e->tasks.wait();
  const sync::lock_guard engine_has_let_go(*e->released);
}

void engine::execution_cancelled() noexcept {
  any_cancelled_.store(true, sync::memory_order_relaxed);
  cancelled_runs_.fetch_add(1, sync::memory_order_seq_cst);
  notify_all();
}

double engine::now_s() noexcept { return seconds(sync::cycles() - start_cycles); }

std::uint32_t engine::random(core_id asker, std::uint32_t n) noexcept {
  return workers[asker]->random.below(n);
}

std::uint32_t engine::length(queue_id q) noexcept {
  const declared_queue* d = declared_of(q);
  return d ? d->size() : workers[q]->waiting();
}

// Whatever worker asked; nothing may be thrown through it. Every run of this runtime depends on the
// policy, so all of them end.
void engine::policy_failed(const std::string& why) noexcept {
  {
    const sync::lock_guard hold(active_lock_);
    if (policy_failure_.empty()) policy_failure_ = why;
    policy_out_.store(true, sync::memory_order_seq_cst);
    for (auto& e : active_) e->fail(std::make_exception_ptr(usage_error(policy_failure_)));
  }
  // It may have told workers to wait for a time or a task; what is left is taken without it.
  notify_all();
}

bool engine::has_task(task_ref t, std::uint64_t ended) noexcept {
  const sync::lock_guard hold(active_lock_);
  if (any_cancelled_.load(sync::memory_order_relaxed) ||
      ended_.load(sync::memory_order_relaxed) != ended)
    return true;
  return std::ranges::any_of(active_, [&](const auto& e) {
    // workers append what they add, unseen from here
    const bool grows = e->graph.next_serial.load(sync::memory_order_relaxed) != e->graph.count;
    return grows || e->graph.blocks.holds(node_of(t));
  });
}

void engine::rekey(task_ref t, std::uint64_t key) noexcept {
  for (auto& q : queues)
    if (q->rekey(node_of(t), key)) return;
}

std::uint32_t engine::batch_size(core_id asker) noexcept {
  return static_cast<std::uint32_t>(workers[asker]->batch->size());
}
task_ref engine::batch_task(core_id asker, std::uint32_t i) noexcept {
  return ref((*workers[asker]->batch)[i]);
}
bool engine::batch_is_whole_graph(core_id asker) noexcept { return workers[asker]->batch_whole; }

bool engine::declared_waits_for(core_id c) const noexcept {
  return std::ranges::any_of(queues,
                             [c](const auto& q) { return q->size() > 0 && q->may_take(c); });
}

// An idle worker may be asking its policy what to look for; joining it is the one way to know that
// it has come to the end.
void engine::settle_recordings() {
  if (!running.load()) return;
  stop();
  start();
}

void engine::refuse_while_busy(const char* what) {
  const sync::lock_guard hold(active_lock_);
  if (!active_.empty())
    throw usage_error(std::string(what) + " while a graph runs; wait for it first");
}

}  // namespace kilter::detail
