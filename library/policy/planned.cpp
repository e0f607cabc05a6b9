#include "policy/planned.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "policy/search.hpp"

namespace kilter::builtin {

namespace {

constexpr double cannot = std::numeric_limits<double>::infinity();
constexpr double unknown_s = 1e-3;

// Cells: the head of each core's list, as a word; then how many planned tasks have not been taken.
std::uint32_t untaken_cell(const machine& m) noexcept { return m.core_count(); }

/// A task's own bytes: a is the word of the next one on its core, b is 1 << 63 | core << 32 |
/// position in the plan; b is 0 without a plan.
struct planned_place {
  std::uint64_t next = 0;
  core_id core = 0;
  std::uint32_t position = 0;
};
constexpr std::uint64_t planned_bit = std::uint64_t{1} << 63;

bool is_planned(const task_state& s) noexcept { return (s.b & planned_bit) != 0; }
planned_place place_in(const task_state& s) noexcept {
  return {s.a, static_cast<core_id>(s.b >> 32 & 0x7fffffff), static_cast<std::uint32_t>(s.b)};
}
task_state state_of(const planned_place& p) noexcept {
  return {p.next, planned_bit | std::uint64_t{p.core} << 32 | p.position};
}

/// On the narrowest place around the core; 0 if nothing is known of it.
double known_s(view& v, task_ref t, core_id c) noexcept {
  const place_id single = v.machine().single(c);
  const place_id where = v.allows(t, single) ? single : search::narrowest(v, t, c);
  const double cost_s = v.cost_s(t, where);
  return cost_s > 0.0 ? cost_s : v.time_s(t, where);
}

double units_of(view& v, task_ref t) noexcept {
  const double work = v.work(t);
  return work > 0.0 ? work : 1.0;
}

std::vector<bool> usable_cores(view& v) {
  std::vector<bool> usable(v.machine().core_count());
  for (core_id c = 0; c < usable.size(); ++c) usable[c] = v.online(c);
  if (std::ranges::find(usable, true) == usable.end()) usable.assign(usable.size(), true);
  return usable;
}

/// Tasks x cores. Each task can run on some core.
std::vector<double> seconds_of_batch(view& v, std::uint32_t tasks) {
  const std::vector<bool> usable = usable_cores(v);
  const auto cores = static_cast<std::uint32_t>(usable.size());
  std::vector<double> all(std::size_t{tasks} * cores, cannot);
  std::vector<std::uint32_t> unknown;
  double known_sum_s = 0.0, known_units = 0.0;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const task_ref t = v.batch_task(i);
    double* row = all.data() + std::size_t{i} * cores;
    double sum_s = 0.0;
    std::uint32_t able = 0, silent = 0;
    for (core_id c = 0; c < cores; ++c) {
      if (!usable[c]) continue;
      row[c] = known_s(v, t, c);
      if (row[c] == 0.0)
        ++silent;
      else if (row[c] < cannot) {
        sum_s += row[c];
        ++able;
      }
    }
    if (able == 0) {
      unknown.push_back(i);
      continue;
    }
    if (silent > 0)
      for (core_id c = 0; c < cores; ++c)
        if (row[c] == 0.0) row[c] = sum_s / able;
    known_sum_s += sum_s / able;
    known_units += units_of(v, t);
  }
  const double unit_s = known_units > 0.0 ? known_sum_s / known_units : unknown_s;
  for (const std::uint32_t i : unknown)
    for (core_id c = 0; c < cores; ++c)
      if (usable[c]) all[std::size_t{i} * cores + c] = unit_s * units_of(v, v.batch_task(i));
  return all;
}

std::vector<planner::plan_edge> edges_of_batch(view& v, std::uint32_t tasks) {
  for (std::uint32_t i = 0; i < tasks; ++i) v.set_state(v.batch_task(i), {i, 0});
  std::vector<planner::plan_edge> all;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const task_ref t = v.batch_task(i);
    const std::uint32_t count = v.successor_count(t);
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto to = static_cast<std::uint32_t>(v.state(v.successor(t, k)).a);
      all.push_back({i, to, v.successor_cost_s(t, k)});
    }
  }
  return all;
}

struct entry {
  std::uint32_t position;
  std::uint64_t word;
};

/// Writes a core's list, in order, last to first: whoever reads the head finds all that follows.
void write_list(view& v, core_id c, const std::vector<entry>& list) noexcept {
  std::uint64_t next = 0;
  for (auto e = list.rbegin(); e != list.rend(); ++e) {
    v.set_state(v.task_of(e->word), state_of({next, c, e->position}));
    next = e->word;
  }
  v.store(c, next);
}

}  // namespace

discipline planned_policy::queues(const machine& m) const {
  discipline d;
  for (core_id c = 0; c < m.core_count(); ++c)
    d.queues.push_back({.owner = c, .order = queue_order::fifo, .takers = {c}});
  d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_take_low =
      d.asks_take_high = d.asks_machine = true;
  d.learns = true;
  d.cells = untaken_cell(m) + 1;
  return d;
}

void planned_policy::on_submit(view& v) const {
  const std::uint32_t tasks = v.batch_size();
  if (tasks == 0 || !v.batch_is_whole_graph()) return;
  if (!v.exchange_if(untaken_cell(v.machine()), 0, tasks)) return;
  const std::vector<double> seconds = seconds_of_batch(v, tasks);
  const std::vector<planner::plan_edge> edges = edges_of_batch(v, tasks);
  const planner::plan plan = plan_({tasks, v.machine().core_count(), seconds, edges});

  // A task that takes nothing goes before the one that begins where it is, as planned.
  std::vector<std::tuple<double, double, std::uint32_t>> by_start;
  for (std::uint32_t i = 0; i < tasks; ++i)
    by_start.emplace_back(plan.start_s[plan.order[i]], plan.end_s[plan.order[i]], i);
  std::ranges::sort(by_start);
  std::vector<std::vector<entry>> lists(v.machine().core_count());
  for (std::uint32_t position = 0; position < tasks; ++position) {
    const std::uint32_t t = plan.order[std::get<2>(by_start[position])];
    lists[plan.processor[t]].push_back({position, v.word_of(v.batch_task(t))});
  }
  for (core_id c = 0; c < lists.size(); ++c) write_list(v, c, lists[c]);
}

ready_decision planned_policy::on_ready(task_ref task, task_ref, core_id, view& v) const {
  const task_state s = v.state(task);
  if (is_planned(s)) return ready_decision::wait_in(place_in(s).core);
  const std::vector<bool> usable = usable_cores(v);
  const double now_s = v.now_s();
  core_id best = no_core;
  double soonest_s = cannot, own_s = 0.0;
  for (core_id c = 0; c < usable.size(); ++c) {
    if (!usable[c]) continue;
    const double known = known_s(v, task, c);
    const double seconds = known > 0.0 ? known : unknown_s * units_of(v, task);
    const double end_s = std::max(now_s + v.busy_s(c), v.data_ready_s(task, c)) + seconds;
    if (best != no_core && end_s >= soonest_s) continue;
    best = c;
    soonest_s = end_s;
    own_s = seconds;
  }
  return ready_decision::bind_to(search::narrowest(v, task, best), own_s < cannot ? own_s : 0.0);
}

next_decision planned_policy::next(core_id worker, std::uint32_t, view& v) const {
  next_decision d;
  if (const std::uint64_t head = v.load(worker); head != 0) {
    d.what = next_decision::kind::hold_task;
    d.task = v.task_of(head);
  }
  return d;
}

take_decision planned_policy::on_take(task_ref task, core_id here, bool, view& v) const {
  if (const task_state s = v.state(task); is_planned(s)) {
    v.store(place_in(s).core, s.a);
    v.fetch_add(untaken_cell(v.machine()), ~std::uint64_t{0});
  }
  return {.where = search::narrowest(v, task, here)};
}

void planned_policy::on_machine(view& v) const {
  const auto cores = v.machine().core_count();
  std::vector<bool> there(cores);
  for (core_id c = 0; c < cores; ++c) there[c] = v.online(c);
  if (std::ranges::find(there, true) == there.end()) return;
  bool orphans = false;
  for (core_id c = 0; c < cores; ++c) orphans = orphans || (!there[c] && v.load(c) != 0);
  if (!orphans) return;

  std::vector<std::vector<entry>> lists(cores);
  std::vector<double> load_s(cores, 0.0);
  std::vector<entry> homeless;
  for (core_id c = 0; c < cores; ++c)
    for (std::uint64_t word = v.load(c); word != 0;) {
      const planned_place p = place_in(v.state(v.task_of(word)));
      if (there[c]) load_s[c] += known_s(v, v.task_of(word), c);
      (there[c] ? lists[c] : homeless).push_back({p.position, word});
      word = p.next;
    }
  std::ranges::sort(homeless, {}, &entry::position);
  for (const entry& e : homeless) {
    core_id best = no_core;
    double least_s = cannot;
    for (core_id c = 0; c < cores; ++c) {
      if (!there[c]) continue;
      const double with_it_s = load_s[c] + known_s(v, v.task_of(e.word), c);
      if (best != no_core && with_it_s >= least_s) continue;
      best = c;
      least_s = with_it_s;
    }
    load_s[best] = least_s;
    lists[best].push_back(e);
  }
  for (core_id c = 0; c < cores; ++c) {
    std::ranges::sort(lists[c], {}, &entry::position);
    write_list(v, c, lists[c]);
  }
}

}  // namespace kilter::builtin
