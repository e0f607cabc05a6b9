// A single-threaded engine on virtual time. It knows nothing of any policy: what it does is the
// contract, in the plainest form.
//
//   A worker that is free looks for work in this order: its assembly queue, its bound inbox
//   (youngest first), what it is to run next, then question 3. A task that it takes goes to the
//   place that travels with it, else to the answer of question 4. The first member of a place to
//   arrive starts the task; members that arrive before it ends take part; later ones find it done.
//
// It throws std::runtime_error naming what happened if the policy breaks the contract (a queue that
// the worker may not take from, a place that the task does not allow) or if no worker will ever
// run what is left.

#include "conformance/engines.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <ranges>
#include <stdexcept>

#include "base/random.hpp"
#include "graph/node.hpp"
#include "policy/ask.hpp"
#include "policy/asking.hpp"
#include "policy/checked.hpp"
#include "policy/view_source.hpp"

namespace kilter::conformance {

namespace {

using detail::node;

constexpr double step_s = 1e-6;   // one look for work
constexpr double unit_s = 20e-6;  // a task of work 1 on an undisturbed core

[[noreturn]] void broken(const policy& p, const std::string& what) {
  throw std::runtime_error(std::string(p.name()) + " breaks the contract: " + what);
}

// ---- queues -------------------------------------------------------------------------------------

class task_queue {
 public:
  task_queue(const queue_spec& spec, std::uint32_t cores)
      : order_(spec.order), may_take_(cores, spec.takers.empty()), owner(spec.owner) {
    for (const core_id c : spec.takers) may_take_.at(c) = true;
  }
  [[nodiscard]] bool may_take(core_id c) const { return may_take_[c]; }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

  void push(node* n, std::uint64_t key) { waiting_.push_back({n, key, arrivals_++}); }
  node* pop(std::uint32_t skip = 0) {
    if (waiting_.size() <= skip) return nullptr;
    if (skip == 0) return remove(first());
    std::vector<iterator> all;
    for (iterator at = waiting_.begin(); at != waiting_.end(); ++at) all.push_back(at);
    std::ranges::sort(all, [](iterator a, iterator b) {
      return a->key != b->key ? a->key > b->key : a->arrival < b->arrival;
    });
    return remove(all[skip]);
  }
  node* pop_oldest() { return waiting_.empty() ? nullptr : remove(waiting_.begin()); }
  node* extract(const node* n) {
    const auto at = find(n);
    return at == waiting_.end() ? nullptr : remove(at);
  }
  void rekey(const node* n, std::uint64_t key) {
    if (const auto at = find(n); at != waiting_.end()) at->key = key;
  }

 private:
  struct entry {
    node* task;
    std::uint64_t key, arrival;
  };
  using iterator = std::deque<entry>::iterator;

  iterator first() {
    if (order_ == queue_order::fifo) return waiting_.begin();
    if (order_ == queue_order::lifo) return waiting_.end() - 1;
    return std::ranges::max_element(waiting_, [](const entry& a, const entry& b) {
      return a.key != b.key ? a.key < b.key : a.arrival > b.arrival;
    });
  }
  iterator find(const node* n) { return std::ranges::find(waiting_, n, &entry::task); }
  node* remove(iterator at) {
    node* n = at->task;
    waiting_.erase(at);
    return n;
  }

  queue_order order_;
  std::vector<bool> may_take_;
  std::deque<entry> waiting_;
  std::uint64_t arrivals_ = 0;

 public:
  core_id owner;
};

// ---- tasks in their places, workers, events -----------------------------------------------------

struct assembly {
  node* task;
  place_id where;
  double start_s = -1.0, end_s = 0.0;  // start < 0: nobody has arrived
  // in order of arrival; seconds holds the arrival until the end
  std::vector<member_time> members;
  bool done = false;
};

struct worker {
  explicit worker(core_id c, std::uint64_t seed) : core(c), random(seed, "worker", c) {}
  core_id core;
  random_stream random;
  tape log;
  std::deque<assembly*> assemblies;
  std::vector<node*> next, bound;
  std::uint32_t attempt = 0;
  bool running = false, asleep = false;
  // something came for it since its first attempt, perhaps where it had looked already
  bool told = false;
  double busy_s = 0.0;
  std::uint64_t wake_ticket = 0;  // an older event to look for work is void
};

struct event {
  double when_s;
  std::uint64_t number;  // ties in time: first made, first served
  worker* who;
  assembly* ends;  // null: look for work
  std::uint64_t ticket;
  friend bool operator>(const event& a, const event& b) {
    return a.when_s != b.when_s ? a.when_s > b.when_s : a.number > b.number;
  }
};

class engine_on_virtual_time final : public view_source {
 public:
  engine_on_virtual_time(const run_request& r, model::tables& t, model::shared_cells& c)
      : view_source(t, c),
        request_(r),
        policy_(*r.asked),
        machine_(r.machine),
        plan_(policy_.queues(r.machine)),
        outside_(no_core, r.seed) {
    standard_queues_ = plan_.queues.empty() || plan_.deques_too;
    for (core_id core = 0; core < machine_.core_count(); ++core) {
      workers_.push_back(std::make_unique<worker>(core, r.seed));
      if (standard_queues_)
        queues_.push_back(task_queue({core, queue_order::lifo, {}}, machine_.core_count()));
    }
    for (const queue_spec& q : plan_.queues)
      queues_.push_back(task_queue(q, machine_.core_count()));
  }

  run_result run() {
    graph g;
    const auto tasks = build(g, request_.work, [](std::uint32_t) { return [](team_member&) {}; });
    for (const task t : tasks) {
      node* n = detail::task_access::get(t);
      detail::task_kind& k = detail::graph_of(n).kinds[n->kind];
      k.row = tables.row(detail::graph_of(n).type_names[k.type], k.size_class);
      n->pending.set(n->predecessors);
      nodes_.push_back(n);
    }
    if (plan_.reads_predecessors) detail::graph_access::core(g).index_predecessors();
    result_.runs.assign(nodes_.size(), 0);
    result_.where.assign(nodes_.size(), no_place);
    busy_added_.assign(nodes_.size(), 0.0);
    keys_.assign(nodes_.size(), 0);

    if (plan_.asks_submit || request_.record) {
      detail::asked_view v = view_of(outside_);
      ask::submit(policy_, v);
    }
    for (node* n : nodes_)
      if (n->predecessors == 0) made_ready(n, nullptr, outside_, false);
    for (auto& w : workers_) look_for_work(*w, 0.0);
    while (!events_.empty()) {
      const event e = events_.top();
      events_.pop();
      now_ = e.when_s;
      if (e.ends)
        end(*e.ends);
      else if (e.ticket == e.who->wake_ticket)
        step(*e.who);
    }
    if (result_.order.size() != nodes_.size())
      broken(policy_, std::to_string(nodes_.size() - result_.order.size()) +
                          " tasks are left, and every worker sleeps");
    if (request_.record) {
      for (auto& w : workers_) result_.tapes.push_back(w->log.entries());
      result_.tapes.push_back(outside_.log.entries());
    }
    return std::move(result_);
  }

  // --- what a view asks ---
  double now_s() noexcept override { return now_; }
  std::uint32_t random(core_id asker, std::uint32_t n) noexcept override {
    return of(asker).random.below(n);
  }
  bool online(core_id) noexcept override { return true; }
  bool idle(core_id c) noexcept override { return !workers_[c]->running; }
  std::uint32_t length(queue_id q) noexcept override {
    return static_cast<std::uint32_t>(queues_[q].size());
  }
  double busy_s(core_id c) noexcept override { return workers_[c]->busy_s; }
  double modelled_s(task_ref t, place_id p) noexcept override {
    return duration(detail::node_of(t), p);
  }
  double data_ready_s(task_ref, core_id) noexcept override { return now_; }
  void rekey(task_ref t, std::uint64_t key) noexcept override {
    keys_[detail::id_of(detail::node_of(t))] = key;
    for (task_queue& q : queues_) q.rekey(detail::node_of(t), key);
  }
  std::uint32_t batch_size(core_id) noexcept override {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  task_ref batch_task(core_id, std::uint32_t i) noexcept override { return detail::ref(nodes_[i]); }
  bool batch_is_whole_graph(core_id) noexcept override { return true; }
  bool has_task(task_ref t, std::uint64_t) noexcept override {
    return std::ranges::find(nodes_, detail::node_of(t)) != nodes_.end();
  }

 private:
  worker& of(core_id c) noexcept { return c == no_core ? outside_ : *workers_[c]; }
  detail::asked_view view_of(worker& w) noexcept {
    return {machine_, this, w.core, request_.record ? &w.log : nullptr};
  }

  /// Cores are unequal and change: core 0 is three times slower in every second millisecond. Wider
  /// is quicker, but costs more.
  double duration(const node* n, place_id p) const noexcept {
    const place& where = machine_.at(p);
    const bool disturbed = where.contains(0) && static_cast<std::uint64_t>(now_ * 1e3) % 2 == 1;
    const double speedup = 1.0 + 0.8 * (where.width - 1);
    return unit_s * request_.work.tasks[detail::id_of(n)].work * (disturbed ? 3.0 : 1.0) / speedup;
  }

  // ---- looking for work ----

  void look_for_work(worker& w, double in_s) {
    events_.push({now_ + in_s, event_count_++, &w, nullptr, ++w.wake_ticket});
  }

  void wake(worker& w) {
    w.told = true;
    if (!w.asleep) return;
    w.asleep = false;
    w.attempt = 0;
    look_for_work(w, step_s);
  }

  /// Wakes who may take from a queue, and nobody else.
  void notify(const task_queue& q, const worker* but = nullptr) {
    for (auto& w : workers_)
      if (w.get() != but && q.may_take(w->core)) wake(*w);
  }

  void step(worker& w) {
    if (w.running) return;
    w.asleep = false;
    while (!w.assemblies.empty()) {
      assembly* a = w.assemblies.front();
      w.assemblies.pop_front();
      if (!a->done) return arrive(w, *a);
    }
    if (node* n = pop_youngest(w.bound)) return taken(w, n, nullptr, false);
    if (node* n = pop_youngest(w.next))
      return taken(w, n, standard_queues_ ? &queues_[w.core] : nullptr, false);
    ask_next(w);
  }

  static node* pop_youngest(std::vector<node*>& from) {
    if (from.empty()) return nullptr;
    node* n = from.back();
    from.pop_back();
    return n;
  }

  void ask_next(worker& w) {
    detail::asked_view v = view_of(w);
    const auto declared = queues_.begin() + (standard_queues_ ? machine_.core_count() : 0);
    const bool waits = std::any_of(declared, queues_.end(), [&](const task_queue& q) {
      return q.size() > 0 && q.may_take(w.core);
    });
    if (plan_.deques_too)
      if (node* n = queues_[w.core].pop()) return taken(w, n, &queues_[w.core], false);
    const bool asked = plan_.deques_too ? waits : plan_.asks_next || request_.record;
    if (w.attempt == 0) w.told = false;
    const next_decision d = asked ? ask::next(policy_, w.core, w.attempt, v)
                                  : policy_.kilter::policy::next(w.core, w.attempt, v);
    ++w.attempt;
    switch (d.what) {
      case next_decision::kind::nothing:
        // A thief's draws may have missed the one victim that has something.
        if (w.told || (standard_queues_ && std::ranges::any_of(queues_, [](const task_queue& q) {
                         return q.size() > 0;
                       }))) {
          w.attempt = 0;
          return look_for_work(w, step_s);
        }
        w.asleep = true;
        return;
      case next_decision::kind::take_from: {
        task_queue& q = queues_.at(d.queue);
        if (!q.may_take(w.core))
          broken(policy_, "core " + std::to_string(w.core) + " may not take from queue " +
                              std::to_string(d.queue));
        const bool stolen = q.owner != no_core && q.owner != w.core;
        if (node* n = stolen ? q.pop_oldest() : q.pop(d.skip)) return taken(w, n, &q, stolen);
        return look_for_work(w, step_s);
      }
      case next_decision::kind::steal:
        if (task_queue* q = victim(w))
          if (node* n = q->pop_oldest()) return taken(w, n, q, true);
        return look_for_work(w, step_s);
      case next_decision::kind::hold_task: return hold(w, d.task);
      case next_decision::kind::hold_until:
        w.asleep = true;  // what is bound to it wakes it early
        return look_for_work(w, std::max(d.until_s - now_, step_s));
    }
  }

  void hold(worker& w, task_ref wanted) {
    for (task_queue& q : queues_)
      if (q.may_take(w.core))
        if (node* n = q.extract(detail::node_of(wanted)))
          return taken(w, n, &q, q.owner != no_core && q.owner != w.core);
    w.asleep = true;
  }

  task_queue* victim(worker& w) {
    if (machine_.core_count() < 2) return nullptr;
    const core_id draw = w.random.below(machine_.core_count() - 1);
    return &queues_[draw < w.core ? draw : draw + 1];
  }

  // ---- from a queue to a place ----

  void taken(worker& w, node* n, task_queue* from, bool stolen) {
    if (n->where != detail::place_unset) return put_in_place(n, n->where, w);
    const bool critical = n->flags & detail::flag_critical;
    detail::asked_view v = view_of(w);
    const bool always = plan_.deques_too && from && from->owner == no_core;
    const bool asked =
        always || (critical ? plan_.asks_take_high : plan_.asks_take_low) || request_.record;
    const take_decision d =
        asked ? ask::take(policy_, detail::ref(n), w.core, stolen, v)
              : policy_.kilter::policy::on_take(detail::ref(n), w.core, stolen, v);
    if (d.put_back) {
      if (!from) broken(policy_, "a task that was in no queue cannot be put back");
      from->push(n, keys_[detail::id_of(n)]);
      notify(*from, &w);
      w.attempt = 0;
      return look_for_work(w, step_s);
    }
    add_busy(n, d.where, d.busy_s);
    put_in_place(n, d.where, w);
  }

  void put_in_place(node* n, place_id p, worker& w) {
    detail::asked_view v(machine_, this, w.core, nullptr);
    const auto allowed = [&](place_id at) { return v.allows(detail::ref(n), at); };
    const auto all = std::views::iota(place_id{0}, static_cast<place_id>(machine_.places().size()));
    if (p >= all.size() ||
        (!allowed(p) && (machine_.at(p).width > 1 || std::ranges::any_of(all, allowed))))
      broken(policy_, "task " + std::to_string(detail::id_of(n)) + " does not allow place " +
                          std::to_string(p));
    assembly& a =
        *assemblies_.emplace_back(std::make_unique<assembly>(assembly{n, p, -1.0, 0.0, {}, false}));
    const place& where = machine_.at(p);
    for (core_id c = where.leader; c < where.leader + where.width; ++c) {
      workers_[c]->assemblies.push_back(&a);
      if (c != w.core) wake(*workers_[c]);
    }
    if (w.core != no_core && !w.running) look_for_work(w, 0.0);
  }

  void add_busy(node* n, place_id p, double busy_s) {
    workers_[machine_.at(p).leader]->busy_s += busy_s;
    busy_added_[detail::id_of(n)] = busy_s;
  }

  void arrive(worker& w, assembly& a) {
    w.running = true;
    w.attempt = 0;
    a.members.push_back({w.core, now_, 1});
    if (a.start_s >= 0.0) return;
    a.start_s = now_;
    a.end_s = now_ + duration(a.task, a.where);
    events_.push({a.end_s, event_count_++, &w, &a, 0});
  }

  // ---- done ----

  void end(assembly& a) {
    a.done = true;
    const std::uint64_t id = detail::id_of(a.task);
    ++result_.runs[id];
    result_.where[id] = a.where;
    result_.order.push_back(static_cast<std::uint32_t>(id));
    const core_id leader = machine_.at(a.where).leader;
    measured m{.sample_s = now_ - a.start_s,
               .span_s = now_ - a.start_s,
               .leader_first = a.members.front().core == leader};
    for (member_time& one : a.members) {
      one.seconds = now_ - one.seconds;
      if (one.core == leader) m.leader_s = one.seconds;
    }
    m.members = a.members;
    worker& last = *workers_[a.members.front().core];
    detail::asked_view v = view_of(last);
    if (plan_.asks_done || request_.record) ask::done(policy_, detail::ref(a.task), a.where, m, v);
    if (plan_.learns && !plan_.asks_done)
      tables.learn(detail::graph_of(a.task).kinds[a.task->kind].row, a.where, m, now_);
    workers_[leader]->busy_s -= busy_added_[id];

    bool may_forward = plan_.forward_child && standard_queues_;
    detail::for_each_successor(a.task, [&](node* next, double) {
      if (next->pending.one_done(next->predecessors))
        may_forward = !made_ready(next, a.task, last, may_forward) && may_forward;
    });
    for (const member_time& one : a.members) {
      workers_[one.core]->running = false;
      look_for_work(*workers_[one.core], step_s);
    }
  }

  /// Returns whether the task was forwarded to run next.
  bool made_ready(node* n, node* parent, worker& waker, bool may_forward) {
    const bool critical = n->flags & detail::flag_critical;
    detail::asked_view v = view_of(waker);
    const task_ref from = parent ? detail::ref(parent) : task_ref{};
    const bool asked = (critical ? plan_.asks_ready_high : plan_.asks_ready_low) || request_.record;
    const ready_decision d =
        asked ? ask::ready(policy_, detail::ref(n), from, waker.core, v)
              : policy_.kilter::policy::on_ready(detail::ref(n), from, waker.core, v);
    n->where = d.where == no_place ? detail::place_unset : static_cast<std::uint16_t>(d.where);
    if (d.busy_s != 0.0) add_busy(n, d.where, d.busy_s);
    switch (d.what) {
      case ready_decision::kind::bind: put_in_place(n, d.where, waker); return false;
      case ready_decision::kind::run_next:
        if (waker.core == no_core) broken(policy_, "run_next without a waker");
        waker.next.push_back(n);
        return false;
      case ready_decision::kind::queue: break;
    }
    if (may_forward && d.stealable && d.queue == waker.core && d.where == no_place) {
      waker.next.push_back(n);
      return true;
    }
    task_queue& q = queues_.at(d.queue);
    if (d.stealable) {
      q.push(n, keys_[detail::id_of(n)] = d.key);
      notify(q);
    } else {
      if (q.owner == no_core)
        broken(policy_, "queue " + std::to_string(d.queue) +
                            " is shared, so a task in it can be taken by others");
      workers_[q.owner]->bound.push_back(n);
      wake(*workers_[q.owner]);
    }
    return false;
  }

  const run_request& request_;
  const policy& policy_;
  const kilter::machine& machine_;
  const discipline plan_;
  bool standard_queues_ = false;
  std::vector<task_queue> queues_;
  std::vector<std::unique_ptr<worker>> workers_;
  worker outside_;
  std::vector<node*> nodes_;
  std::vector<double> busy_added_;
  std::vector<std::uint64_t> keys_;  // of tasks that wait, to put them back where they were
  std::vector<std::unique_ptr<assembly>> assemblies_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t event_count_ = 0;
  double now_ = 0.0;
  run_result result_;
};

run_result run_single_threaded(const run_request& r) {
  run_request request = r;
  request.asked = checked(r.asked, r.machine);
  model::tables tables(request.machine, request.table);
  const discipline plan = request.asked->queues(request.machine);
  model::shared_cells cells(plan.cells, plan.type_cells);
  return engine_on_virtual_time(request, tables, cells).run();
}

}  // namespace

const std::vector<engine>& engines() {
  static const std::vector<engine> all = {{"single_threaded", true, run_single_threaded}};
  return all;
}

}  // namespace kilter::conformance
