#include "conformance/subjects.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace kilter::conformance {

// ---- graphs -------------------------------------------------------------------------------------

workload layered(std::uint32_t tasks, std::uint32_t parallelism) {
  workload w{"layered", {}, {}};
  std::uint32_t head = 0;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const bool first_of_layer = i == 0 || (i - 1) % parallelism == 0;
    w.tasks.push_back({.critical = first_of_layer, .type = 0});
    if (i == 0) continue;
    const std::uint32_t layer_head = 1 + (i - 1) / parallelism * parallelism;
    head = layer_head == 1 ? 0 : layer_head - parallelism;
    w.edges.push_back({head, i});
  }
  return w;
}

workload tangled(std::uint32_t tasks, std::uint64_t seed) {
  workload w{"tangled", {}, {}};
  random_stream random(seed, "tangled");
  for (std::uint32_t i = 0; i < tasks; ++i) {
    task_spec s;
    s.critical = random.below(5) == 0;
    s.type = random.below(3);
    if (random.below(8) == 0) s.widths = {1};
    s.work = 0.5 + random.uniform();
    w.tasks.push_back(std::move(s));
    const std::uint32_t back = std::min(i, 40u);
    for (std::uint32_t e = 0; back > 0 && e < random.below(4); ++e)
      w.edges.push_back({i - 1 - random.below(back), i, random.below(2) ? 1e-6 : 0.0});
  }
  return w;
}

workload chain(std::uint32_t tasks) {
  workload w{"chain", std::vector<task_spec>(tasks, {.critical = true}), {}};
  for (std::uint32_t i = 1; i < tasks; ++i) w.edges.push_back({i - 1, i});
  return w;
}

workload independent(std::uint32_t tasks) {
  return {"independent", std::vector<task_spec>(tasks), {}};
}

// ---- policies -----------------------------------------------------------------------------------

namespace {

using next_kind = next_decision::kind;

next_decision take_from(queue_id q) { return {.what = next_kind::take_from, .queue = q}; }
next_decision nothing() { return {}; }

/// The first half of the cores, at least one.
std::uint32_t fast_count(const machine& m) { return std::max(1u, m.core_count() / 2); }

std::vector<core_id> first_cores(std::uint32_t n) {
  std::vector<core_id> cores(n);
  std::iota(cores.begin(), cores.end(), core_id{0});
  return cores;
}

/// Single core if the task allows it, else the narrowest place around it.
place_id place_at(view& v, task_ref t, core_id c) {
  for (const place_id p : v.machine().containing(c))
    if (v.allows(t, p)) return p;
  return v.machine().single(c);
}

// ---- sorted shared queues -----------------------------------------------------------------------
//
//   submit: bottom level in hops, raised upwards from each new task; what waits already is sorted
//   anew ready:  critical if its level is the highest seen, or if it follows the last critical task
//   and lies at most one below it done:   what follows a critical task and waits already moves up
//   next:   fast: critical queue, 300 tries, then the other one; slow: the other one

class sorted final : public policy {
 public:
  std::string_view name() const noexcept override { return "probe-sorted"; }
  discipline queues(const machine& m) const override {
    discipline d;
    d.queues = {{no_core, queue_order::by_key, first_cores(fast_count(m))},
                {no_core, queue_order::by_key, {}}};
    d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_done = true;
    d.reads_predecessors = true;
    d.cells = 3;
    return d;
  }
  void on_submit(view& v) const override {
    std::vector<task_ref> raised;
    // Youngest first: the batched form of CATS's updates, linear where edges run from older to
    // younger tasks.
    for (std::uint32_t i = v.batch_size(); i-- > 0;) {
      raised.push_back(v.batch_task(i));
      while (!raised.empty()) {
        const task_ref t = raised.back();
        raised.pop_back();
        const std::uint64_t level = v.state(t).a + 1;
        for (std::uint32_t p = 0; p < v.predecessor_count(t); ++p) {
          const task_ref before = v.predecessor(t, p);
          if (v.state(before).a >= level) continue;
          v.set_state(before, {level, 0});
          v.rekey(before, level);
          raised.push_back(before);
        }
      }
    }
  }
  ready_decision on_ready(task_ref t, task_ref parent, core_id, view& v) const override {
    const std::uint64_t level = v.state(t).a;
    const bool follows = parent && v.load(last_critical) == v.word_of(parent);
    const bool critical = level >= v.load(highest) || (follows && level + 1 >= v.load(current));
    if (!critical) return ready_decision::wait_in(1, level);
    if (level > v.load(highest)) v.store(highest, level);
    v.store(current, level);
    v.store(last_critical, v.word_of(t));
    return ready_decision::wait_in(0, level);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    const bool fast = worker < fast_count(v.machine());
    if (fast && attempt < 300) return take_from(0);
    if (attempt == (fast ? 300u : 0u)) return take_from(1);
    return nothing();
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    return {.where = place_at(v, t, here)};
  }
  void on_done(task_ref t, place_id, const measured&, view& v) const override {
    if (v.load(last_critical) != v.word_of(t)) return;
    for (std::uint32_t i = 0; i < v.successor_count(t); ++i) {
      const task_ref next = v.successor(t, i);
      v.rekey(next, v.state(next).a + 1);
    }
  }

 private:
  static constexpr std::uint32_t highest = 0, current = 1, last_critical = 2;
};

// ---- a plan -------------------------------------------------------------------------------------
//
//   submit: tasks in order of submission after their predecessors; each to the core that would be
//   done with it first
//           state a: the core; state b: the task after it in that core's plan; cell c: the next
//           task of core c
//   next:   hold the next task of the plan
//   taken:  advance the plan

class planned final : public policy {
 public:
  std::string_view name() const noexcept override { return "probe-planned"; }
  discipline queues(const machine& m) const override {
    discipline d;
    for (core_id c = 0; c < m.core_count(); ++c) d.queues.push_back({c, queue_order::fifo, {c}});
    d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_take_low =
        d.asks_take_high = true;
    d.cells = m.core_count();
    return d;
  }
  void on_submit(view& v) const override {
    const std::uint32_t cores = v.machine().core_count();
    std::vector<double> free_s(cores, 0.0);
    std::vector<task_ref> last(cores);
    for (std::uint32_t i = 0; i < v.batch_size(); ++i) {
      const task_ref t = v.batch_task(i);
      core_id best = 0;
      double soonest_s = 0.0;
      for (core_id c = 0; c < cores; ++c) {
        const double cost_s = v.cost_s(t, v.machine().single(c));
        const double end_s = free_s[c] + (cost_s > 0.0 ? cost_s : 1.0);
        if (c == 0 || end_s < soonest_s) {
          best = c;
          soonest_s = end_s;
        }
      }
      free_s[best] = soonest_s;
      v.set_state(t, {best, 0});
      if (last[best])
        v.set_state(last[best], {best, v.word_of(t)});
      else
        v.store(best, v.word_of(t));
      last[best] = t;
    }
  }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    return ready_decision::wait_in(static_cast<queue_id>(v.state(t).a));
  }
  next_decision next(core_id worker, std::uint32_t, view& v) const override {
    const task_ref planned_task = v.task_of(v.load(worker));
    if (!planned_task) return nothing();
    return {.what = next_kind::hold_task, .task = planned_task};
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    v.store(here, v.state(t).b);
    return {.where = place_at(v, t, here)};
  }
};

// ---- busy estimates -----------------------------------------------------------------------------
//
//   ready:  for each core: busy estimate + learned time; bind to the least, and add what was
//   estimated

class busy final : public policy {
 public:
  std::string_view name() const noexcept override { return "probe-busy"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = true;
    d.learns = true;
    return d;
  }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    place_id best = no_place;
    double soonest_s = 0.0, adds_s = 0.0;
    for (core_id c = 0; c < v.machine().core_count(); ++c) {
      const place_id p = place_at(v, t, c);
      const double time_s = v.time_s(t, p), end_s = v.busy_s(v.machine().at(p).leader) + time_s;
      if (best != no_place && end_s >= soonest_s) continue;
      best = p;
      soonest_s = end_s;
      adds_s = time_s;
    }
    return ready_decision::bind_to(best, adds_s);
  }
};

// ---- one queue ----------------------------------------------------------------------------------

class fifo final : public policy {
 public:
  std::string_view name() const noexcept override { return "probe-fifo"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::wait_in(0);
  }
  next_decision next(core_id, std::uint32_t attempt, view&) const override {
    return attempt == 0 ? take_from(0) : nothing();
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    return {.where = place_at(v, t, here)};
  }
};

// ---- declining ----------------------------------------------------------------------------------
//
//   taken:  every core but the first puts back one task in three, so that never all of them decline

class declining final : public policy {
 public:
  std::string_view name() const noexcept override { return "probe-declining"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_take_low = d.asks_take_high = true;
    return d;
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    if (here != 0 && v.random(3) == 0) return {.put_back = true};
    return {.where = place_at(v, t, here)};
  }
};

// ---- a queue that some may not take from --------------------------------------------------------
//
//   ready:  critical: the queue of the fast cores; else the queue of all
//   next:   fast: own queue, then the other; slow: the other

class restricted final : public policy {
 public:
  std::string_view name() const noexcept override { return "probe-restricted"; }
  discipline queues(const machine& m) const override {
    discipline d;
    d.queues = {{no_core, queue_order::lifo, first_cores(fast_count(m))},
                {no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    return d;
  }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    return ready_decision::wait_in(v.critical(t) ? 0 : 1);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    const std::uint32_t first = worker < fast_count(v.machine()) ? 0 : 1;
    return first + attempt < 2 ? take_from(first + attempt) : nothing();
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    return {.where = place_at(v, t, here)};
  }
};

}  // namespace

made sorted_probe(const machine&) { return std::make_shared<sorted>(); }
made planned_probe(const machine&) { return std::make_shared<planned>(); }
made busy_probe(const machine&) { return std::make_shared<busy>(); }
made fifo_probe(const machine&) { return std::make_shared<fifo>(); }
made declining_probe(const machine&) { return std::make_shared<declining>(); }
made restricted_probe(const machine&) { return std::make_shared<restricted>(); }

std::vector<made> probes(const machine& m) {
  return {sorted_probe(m), planned_probe(m),   busy_probe(m),
          fifo_probe(m),   declining_probe(m), restricted_probe(m)};
}

}  // namespace kilter::conformance
