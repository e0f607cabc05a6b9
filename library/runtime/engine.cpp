#include "runtime/engine.hpp"

#include <algorithm>

#include "policy/checked.hpp"
#include "runtime/pinning.hpp"

namespace kilter::inline v0::detail {

std::unique_ptr<engine> engine::make(runtime_options o, const attachments& a) {
  engine_settings s(std::move(o), a);
  auto tables = std::make_unique<model::tables>(*s.machine, s.options.table);
  auto cells = std::make_unique<model::shared_cells>(s.plan.cells, s.plan.type_cells);
  std::unique_ptr<engine> e(new engine(std::move(s), std::move(tables), std::move(cells)));
  e->start();
  return e;
}

engine::engine(engine_settings s, std::unique_ptr<model::tables> t,
               std::unique_ptr<model::shared_cells> c)
    : view_source(*t, *c),
      settings(std::move(s)),
      clock(settings.attached.emulated ? settings.attached.emulated->scale() : 1.0,
            !settings.oversubscribed),
      events(settings.attached.events, clock, *settings.machine, tables),
      queues(settings.plan.queues, settings.machine->core_count(),
             routing::first_declared(settings.plan, *settings.machine)),
      cores(*this),
      workers(*this),
      own_tables_(std::move(t)),
      own_cells_(std::move(c)),
      desks_(settings.machine->clusters().size()) {
  workers.hire();
  if (settings.options.table.two_factors && !settings.attached.emulated) observe_landing();
}

engine::~engine() { stop(); }

void engine::observe_landing() {
  if (const core_id c = landing_core(*settings.machine); c != no_core) tables.set_landing(c);
}

void engine::start() {
  if (running()) refuse_after_fork();
  const sync::lock_guard hold(control_);
  if (running()) return;
  forks_ = sync::forks();
  workers.go_on();
  const machine& m = *settings.machine;
  pinned_ = settings.options.pinned && can_pin_to(m);
  lookout.begin(pinned_ && workers.size() > 1 && !settings.attached.emulated, workers.size());
  try {
    for (const auto& w : workers)
      threads_.emplace_back([this, served = w.get()] {
        if (pinned_) pin_to(*settings.machine, served->core);
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
  cores.begin(pinned_);
  runs.admit();
}

void engine::stop() {
  if (running()) refuse_after_fork();
  if (!can_be_stopped())
    throw usage_error("a task cannot stop the runtime that runs it; cancel its execution instead");
  const sync::lock_guard hold(control_);
  if (!running()) return;
  runs.shut();
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

void engine::join_all() {
  cores.end();
  workers.stop();
  for (auto& t : threads_) t.join();
  threads_.clear();
}

void engine::prepare(graph_core& g, execution_state& e) {
  for (std::uint32_t i = 0; i < g.kinds.size(); ++i) {
    task_kind& k = g.kinds[i];
    k.row = tables.row(g.type_names[k.type], k.size_class);
    check_home(k.home, settings.machine->core_count());
  }
  if (events) events.name_types(g);
  g.find_roots();
  if (settings.plan.reads_data) g.keep_releases();
  if (settings.plan.reads_predecessors) g.index_predecessors();
  g.clear_marks();
  g.next_serial.store(g.count, sync::memory_order_relaxed);
  e.tasks.begin(g.count);
  e.cycles_per_second = clock.cycles_per_second();
  e.time_scale = clock.scale();
  e.explored_before = tables.explored();
  e.submitted_ns = sync::nanoseconds();
}

std::shared_ptr<execution_state> engine::submit(graph& g, const sync::stop_token& stop,
                                                core_id as_worker) {
  worker::refuse_in_team("submit()");
  refuse_after_fork();
  g.check_acyclic();
  graph_core& core = graph_access::core(g);
  const machine& m = *settings.machine;
  if (as_worker != no_core && as_worker >= m.core_count())
    throw usage_error("core " + std::to_string(as_worker) + " has no worker; cores are 0 to " +
                      std::to_string(m.core_count() - 1));
  auto e = std::make_shared<execution_state>(*this, core, m.core_count(), m.places().size());
  void* idle = nullptr;
  if (!core.execution.compare_exchange_strong(idle, e.get(), sync::memory_order_acq_rel))
    throw usage_error(
        "the graph is already running; wait for its execution before it is submitted again");

  worker* here = worker::current();
  if (here && &here->owner != this) here = nullptr;
  try {
    prepare(core, *e);
    e->as_worker = as_worker;
    if (!here && !settings.attached.emulated) paid_.look(e->submitted_ns);
    runs.begin(e, [&] {
      core.engine = this;
      core.end_run_of = end_run_of;
      e->epoch = core.epoch = static_cast<std::uint8_t>(core.epoch % graph_core::last_epoch + 1);
    });
    cores.something_runs();
  } catch (...) {
    core.execution.store(nullptr, sync::memory_order_release);
    throw;
  }
  if (core.count == 0) {
    execution_done(*e);
    return e;
  }
  if (stop.stop_possible()) e->cancel_on(stop);
  if (events.graph()) events.submitted(*e);
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
    runs.withdraw(*e);
    throw;
  }
  if (!wanted || !wanted->call()) workers.notify_any();
  return e;
}

void engine::execution_done(execution_state& e) noexcept {
  e.finished_ns = sync::nanoseconds();
  e.explored = tables.explored() - e.explored_before;
  runs.end(e);
  workers.notify_helpers();
}

void engine::end_run_of(graph_core& g) noexcept { static_cast<engine*>(g.engine)->end_run(g); }

void engine::end_run(graph_core& g) noexcept {
  const std::shared_ptr<execution_state> e = runs.of(g);
  if (!e) return;
  e->cancel();
  if (worker* w = worker::current())
    w->help_until([&] { return e->tasks.done(); }, nullptr, e.get());
  else
    e->tasks.wait();
  const sync::lock_guard engine_has_let_go(*e->released);
}

void engine::execution_cancelled() noexcept {
  runs.is_cancelled();
  workers.notify_all();
}

bool engine::must_clear_up() noexcept {
  if (!runs.any_cancelled() || !workers.all_sleep() || !runs.begin_to_clear_up()) return false;
  workers.notify_all();
  return true;
}

// An idle worker may be asking its policy what to look for; joining it is the one way to know that
// it has come to the end.
std::vector<const tape*> engine::tapes() {
  runs.refuse_while_any("reading the recorded decisions");
  std::vector<const tape*> all;
  if (!settings.options.record_decisions) return all;
  if (running()) {
    stop();
    start();
  }
  for (const auto& w : workers) all.push_back(w->asker().log());
  return all;
}

// ---- what a view asks ---------------------------------------------------------------------------

double engine::recent_s(core_id c) noexcept { return clock.at_s(workers[c]->clock_seen()); }

std::uint32_t engine::random(core_id asker, std::uint32_t n) noexcept {
  return workers[asker]->asker().random(n);
}

std::uint32_t engine::length(queue_id q) noexcept {
  const declared_queue* d = queues.of(q);
  return d ? d->size() : workers[q]->waiting();
}

// Whatever worker asked; nothing may be thrown through it. Every run of this runtime depends on the
// policy, so all of them end.
void engine::policy_failed(const std::string& why) noexcept {
  runs.policy_failed(why);
  // It may have told workers to wait for a time or a task; what is left is taken without it.
  workers.notify_all();
}

void engine::rekey(task_ref t, std::uint64_t key) noexcept { queues.rekey(node_of(t), key); }

std::uint32_t engine::batch_size(core_id asker) noexcept {
  return static_cast<std::uint32_t>(workers[asker]->asker().batch().size());
}
task_ref engine::batch_task(core_id asker, std::uint32_t i) noexcept {
  return ref(workers[asker]->asker().batch()[i]);
}
bool engine::batch_is_whole_graph(core_id asker) noexcept {
  return workers[asker]->asker().whole_graph();
}
std::span<const in_edge> engine::added_in_edges(core_id asker, const node* n) noexcept {
  return workers[asker]->asker().edges_to(n);
}

}  // namespace kilter::inline v0::detail
