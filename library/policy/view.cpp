// Every accessor has one shape: without a tape the live value and nothing else; recording, the live
// value, noted down; replaying, the value that was noted down. On a tape a task is its number + 1,
// since addresses differ from run to run.

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "base/random.hpp"
#include "graph/node.hpp"
#include "machine/distance.hpp"
#include "policy/asking.hpp"
#include "policy/view_source.hpp"

namespace kilter {

using detail::cold_of;
using detail::graph_core;
using detail::graph_of;
using detail::node;
using detail::node_of;

namespace {

constexpr std::uint64_t bits(double v) noexcept { return std::bit_cast<std::uint64_t>(v); }
constexpr double real(std::uint64_t v) noexcept { return std::bit_cast<double>(v); }

std::uint64_t tape_name(task_ref t) noexcept { return t ? detail::id_of(node_of(t)) + 1 : 0; }

const detail::task_kind& kind_of(const node* n) noexcept { return graph_of(n).kinds[n->kind]; }
std::uint32_t row_of(const node* n) noexcept { return kind_of(n).row; }

std::span<const detail::in_edge> in_edges(view_source& s, core_id asker, const node* n) noexcept {
  if (n->flags & detail::flag_dynamic) return s.added_in_edges(asker, n);
  const graph_core& g = graph_of(n);
  const std::uint64_t id = detail::id_of(n);
  return id < g.reverse.size() ? std::span<const detail::in_edge>(g.reverse[id])
                               : std::span<const detail::in_edge>();
}

bool may_use(const view_source& s, const detail::task_kind& k, const place& where) noexcept {
  return detail::allows_width(k, where.width) &&
         (!s.tasks_stay_home || detail::contains(k.home, where));
}

/// Whom the table asks whether another place than the best will do.
struct chooser {
  const view_source* source;
  const node* task;
  const machine* on;
  std::uint32_t max_width;
  static bool allows(const void* self, place_id p) noexcept {
    const auto& c = *static_cast<const chooser*>(self);
    const place& where = c.on->at(p);
    return where.width <= c.max_width && may_use(*c.source, kind_of(c.task), where);
  }
};

/// All of what the table is taught, in one value to compare.
std::uint64_t learned_bits(const measured& m) noexcept {
  std::uint64_t sum = mix64(bits(m.sample_s));
  for (const double v : {m.leader_s, m.span_s, m.cpu_s, m.work}) sum = mix64(sum ^ bits(v));
  sum = mix64(sum ^ (std::uint64_t{m.tasks} << 3 | static_cast<std::uint64_t>(m.from_data) << 1 |
                     m.leader_first));
  for (const member_time& one : m.members)
    sum = mix64(mix64(sum ^ (std::uint64_t{one.core} << 32 | one.chunks)) ^ bits(one.seconds));
  return sum;
}

/// What a policy leaves in a task of this run must not be there in the next.
void mark(const node* n) noexcept {
  auto& marked = detail::graph_of(n).marked;
  if (!marked.load(sync::memory_order_relaxed)) marked.store(true, sync::memory_order_relaxed);
}

void set_flag(node* n, std::uint8_t flag, bool on) noexcept {
  n->flags = static_cast<std::uint8_t>(on ? n->flags | flag : n->flags & ~flag);
}

}  // namespace

}  // namespace kilter

namespace kilter::inline v0::detail {

std::uint64_t asking::name_of(task_ref t) const noexcept {
  return source_ ? tape_name(t) : t.handle;
}
std::uint64_t asking::kept_name_of(task_ref t) const noexcept {
  if (!source_) return t.handle;
  const std::optional<std::uint64_t> kept = source_->kept_name(t);
  return kept ? *kept : tape_name(t);
}
std::uint64_t asking::keep_name(task_ref t) const noexcept {
  const std::uint64_t name = name_of(t);
  if (source_ && t) source_->keep_name(t, name);
  return name;
}
std::uint64_t asking::name_of(task_ref t, std::uint64_t with) const noexcept {
  return name_of(t) << 32 | (with & 0xffffffff);
}

/// A search asks about one task again and again.
const task_kind* asking::kind(task_ref t) noexcept {
  if (kind_task_ != t) {
    kind_ = &kind_of(node_of(t));
    kind_task_ = t;
    units_ = 0.0;
  }
  return kind_;
}

/// How many times the task does what its type does, as the trace table counts.
double asking::units(task_ref t) noexcept {
  if (!source_->tables.options().by_work) return 1.0;
  static_cast<void>(kind(t));
  if (units_ == 0.0) {
    const cold_data* cold = cold_of(node_of(t));
    units_ = cold && cold->work > 0.0 ? cold->work : 1.0;
  }
  return units_;
}

template <class Key, class Live>
std::uint64_t asking::exchange(tape_item item, Key&& key, Live&& live) noexcept {
  if (!tape_) [[likely]]
    return live();
  return tape_->exchange(item, key(), source_ ? live() : 0);
}

template <class Key, class Live>
task_ref asking::exchange_ref(tape_item item, Key&& key, Live&& live) noexcept {
  if (!tape_) [[likely]]
    return live();
  if (!source_) return {static_cast<std::uintptr_t>(tape_->exchange(item, key(), 0))};
  const task_ref t = live();
  // What was kept as a word may be gone.
  tape_->exchange(item, key(), item == tape_item::task_of ? kept_name_of(t) : keep_name(t));
  return t;
}

template <class Key, class Apply>
void asking::write(tape_item item, Key&& key, std::uint64_t value, Apply&& apply) noexcept {
  if (tape_) [[unlikely]]
    tape_->exchange(item, key(), value, true);
  if (source_) apply();
}

/// A recording that was altered must not lead the policy, or the replay, out of bounds.
std::uint32_t asking::within(std::uint32_t limit, tape_item item, std::uint64_t value) noexcept {
  if (tape_ && value >= limit) [[unlikely]] {
    tape_->reject(item, value);
    return 0;
  }
  return static_cast<std::uint32_t>(value);
}

/// Leaves the i-th successor's edge in the cursor, null for the one that has no record.
void asking::move_cursor(task_ref t, std::uint32_t i) noexcept {
  const node* n = node_of(t);
  const std::uint32_t unrecorded = n->first_successor ? 1 : 0;
  if (i < unrecorded) {
    cursor_task_ = {};
    cursor_edge_ = nullptr;
    return;
  }
  const auto* edge = static_cast<const detail::edge*>(cursor_edge_);
  std::uint32_t at = cursor_index_;
  if (cursor_task_ != t || at > i || !edge) {
    edge = n->more_successors->next;
    at = unrecorded;
  }
  for (; at < i; ++at) edge = edge->next;
  cursor_task_ = t;
  cursor_index_ = i;
  cursor_edge_ = edge;
}

}  // namespace kilter::inline v0::detail

namespace kilter {

// ---- this engine --------------------------------------------------------------------------------

double view::now_s() noexcept {
  return real(question_->exchange(
      tape_item::now, [] { return 0; }, [&] { return bits(question_->source_->now_s()); }));
}
std::uint32_t view::random(std::uint32_t n) noexcept {
  return question_->within(n, tape_item::random,
                           question_->exchange(
                               tape_item::random, [&] { return n; },
                               [&] { return question_->source_->random(asker_, n); }));
}
bool view::online(core_id c) noexcept {
  return question_->exchange(
             tape_item::online, [&] { return c; }, [&] { return question_->source_->online(c); }) !=
         0;
}
bool view::idle(core_id c) noexcept {
  return question_->exchange(
             tape_item::idle, [&] { return c; }, [&] { return question_->source_->idle(c); }) != 0;
}
std::uint32_t view::length(queue_id q) noexcept {
  return static_cast<std::uint32_t>(question_->exchange(
      tape_item::length, [&] { return q; }, [&] { return question_->source_->length(q); }));
}
double view::busy_s(core_id c) noexcept {
  return real(question_->exchange(
      tape_item::busy, [&] { return c; }, [&] { return bits(question_->source_->busy_s(c)); }));
}
double view::paid_cores() noexcept {
  return real(question_->exchange(
      tape_item::paid, [] { return 0; },
      [&] {
        return bits(std::min(question_->source_->paid_cores(),
                             static_cast<double>(machine_->core_count())));
      }));
}
core_id view::home() noexcept {
  return question_->within(
      machine_->core_count(), tape_item::home,
      question_->exchange(
          tape_item::home, [] { return 0; },
          [&] { return question_->source_->tables.home(question_->source_->now_s()); }));
}

// ---- a task -------------------------------------------------------------------------------------

std::uint64_t view::id(task_ref t) noexcept {
  return question_->exchange(
      tape_item::id, [&] { return question_->name_of(t); },
      [&] { return detail::id_of(node_of(t)); });
}
bool view::critical(task_ref t) noexcept {
  return question_->exchange(
             tape_item::critical, [&] { return question_->name_of(t); },
             [&] { return (node_of(t)->flags & detail::flag_critical) != 0; }) != 0;
}
void view::set_critical(task_ref t, bool on) noexcept {
  question_->write(
      tape_item::set_critical, [&] { return question_->name_of(t); }, on,
      [&] {
        mark(node_of(t));
        set_flag(node_of(t), detail::flag_critical, on);
      });
}
priority view::user_priority(task_ref t) noexcept {
  const bool high = question_->exchange(
                        tape_item::user_priority, [&] { return question_->name_of(t); },
                        [&] { return (node_of(t)->flags & detail::flag_high) != 0; }) != 0;
  return high ? priority::high : priority::low;
}
bool view::allows(task_ref t, place_id p) noexcept {
  return question_->exchange(
             tape_item::allows, [&] { return question_->name_of(t, p); },
             [&] { return may_use(*question_->source_, *question_->kind(t), machine_->at(p)); }) !=
         0;
}
double view::work(task_ref t) noexcept {
  return real(question_->exchange(
      tape_item::work, [&] { return question_->name_of(t); },
      [&] {
        const auto* cold = cold_of(node_of(t));
        return bits(cold ? cold->work : 0.0);
      }));
}
double view::cost_s(task_ref t, place_id p) noexcept {
  return real(question_->exchange(
      tape_item::cost, [&] { return question_->name_of(t, p); },
      [&] {
        if (const double modelled_s = question_->source_->modelled_s(t, p); modelled_s > 0.0)
          return bits(modelled_s);
        const auto* cold = cold_of(node_of(t));
        const place& where = machine_->at(p);
        if (!cold || where.width != 1 || where.leader >= cold->core_seconds.size())
          return bits(0.0);
        return bits(std::max(cold->core_seconds[where.leader], std::numeric_limits<double>::min()));
      }));
}
task_state view::state(task_ref t) noexcept {
  const auto name = [&] { return question_->name_of(t); };
  task_state s;
  s.a = question_->exchange(tape_item::state_a, name, [&] { return node_of(t)->state.a; });
  s.b = question_->exchange(tape_item::state_b, name, [&] { return node_of(t)->state.b; });
  return s;
}
void view::set_state(task_ref t, const task_state& s) noexcept {
  const auto name = [&] { return question_->name_of(t); };
  question_->write(tape_item::set_state_a, name, s.a, [&] {
    mark(node_of(t));
    node_of(t)->state.a = s.a;
  });
  question_->write(tape_item::set_state_b, name, s.b, [&] { node_of(t)->state.b = s.b; });
}

std::uint64_t view::word_of(task_ref t) noexcept {
  return question_->exchange(
      tape_item::word_of, [&] { return question_->keep_name(t); },
      [&] { return std::uint64_t{t.handle}; });
}
task_ref view::task_of(std::uint64_t word) noexcept {
  return question_->exchange_ref(
      tape_item::task_of, [&] { return word; },
      [&] { return task_ref{static_cast<std::uintptr_t>(word)}; });
}

// ---- the graph as known so far ------------------------------------------------------------------

std::uint32_t view::batch_size() noexcept {
  return static_cast<std::uint32_t>(question_->exchange(
      tape_item::batch_size, [] { return 0; },
      [&] { return question_->source_->batch_size(asker_); }));
}
task_ref view::batch_task(std::uint32_t i) noexcept {
  return question_->exchange_ref(
      tape_item::batch_task, [&] { return i; },
      [&] { return question_->source_->batch_task(asker_, i); });
}
bool view::batch_is_whole_graph() noexcept {
  return question_->exchange(
             tape_item::batch_whole, [] { return 0; },
             [&] { return question_->source_->batch_is_whole_graph(asker_); }) != 0;
}

std::uint32_t view::successor_count(task_ref t) noexcept {
  return static_cast<std::uint32_t>(question_->exchange(
      tape_item::successors, [&] { return question_->name_of(t); },
      [&] {
        const node* n = node_of(t);
        std::uint32_t count = n->first_successor ? 1 : 0;
        if (const detail::edge* last = n->more_successors) {
          ++count;
          for (const detail::edge* e = last->next; e != last; e = e->next) ++count;
        }
        return count;
      }));
}

task_ref view::successor(task_ref t, std::uint32_t i) noexcept {
  return question_->exchange_ref(
      tape_item::successor, [&] { return question_->name_of(t, i); },
      [&] {
        question_->move_cursor(t, i);
        return detail::ref(question_->cursor_edge_
                               ? static_cast<const detail::edge*>(question_->cursor_edge_)->to
                               : node_of(t)->first_successor);
      });
}
double view::successor_cost_s(task_ref t, std::uint32_t i) noexcept {
  return real(question_->exchange(
      tape_item::successor_cost, [&] { return question_->name_of(t, i); },
      [&] {
        question_->move_cursor(t, i);
        return bits(question_->cursor_edge_
                        ? static_cast<const detail::edge*>(question_->cursor_edge_)->cost_s
                        : 0.0);
      }));
}
std::uint32_t view::predecessor_count(task_ref t) noexcept {
  return static_cast<std::uint32_t>(question_->exchange(
      tape_item::predecessors, [&] { return question_->name_of(t); },
      [&] { return in_edges(*question_->source_, asker_, node_of(t)).size(); }));
}
task_ref view::predecessor(task_ref t, std::uint32_t i) noexcept {
  return question_->exchange_ref(
      tape_item::predecessor, [&] { return question_->name_of(t, i); },
      [&] { return detail::ref(in_edges(*question_->source_, asker_, node_of(t))[i].from); });
}
double view::predecessor_cost_s(task_ref t, std::uint32_t i) noexcept {
  return real(question_->exchange(
      tape_item::predecessor_cost, [&] { return question_->name_of(t, i); },
      [&] { return bits(in_edges(*question_->source_, asker_, node_of(t))[i].cost_s); }));
}
double view::data_ready_s(task_ref t, core_id c) noexcept {
  return real(question_->exchange(
      tape_item::data_ready, [&] { return question_->name_of(t, c); },
      [&] { return bits(question_->source_->data_ready_s(t, c)); }));
}
core_id view::data_core(task_ref t) noexcept {
  const auto c = static_cast<core_id>(question_->exchange(
      tape_item::data_core, [&] { return question_->name_of(t); },
      [&] { return detail::data_core_of(node_of(t)); }));
  return c == no_core ? c : question_->within(machine_->core_count(), tape_item::data_core, c);
}
void view::rekey(task_ref t, std::uint64_t key) noexcept {
  question_->write(
      tape_item::rekey, [&] { return question_->name_of(t); }, key,
      [&] { question_->source_->rekey(t, key); });
}

// ---- what was learned ---------------------------------------------------------------------------

double view::time_s(task_ref t, place_id p) noexcept {
  return real(question_->exchange(
      tape_item::time, [&] { return question_->name_of(t, p); },
      [&] {
        return bits(question_->source_->tables.time_s(question_->kind(t)->row, p) *
                    question_->units(t));
      }));
}
double view::elsewhere_s(task_ref t, core_id c) noexcept {
  const auto live = [&] {
    const distance d = distance_between(*machine_, detail::data_core_of(node_of(t)), c);
    model::tables& learned = question_->source_->tables;
    const detail::task_kind& k = *question_->kind(t);
    const double more = learned.elsewhere(k.row, d, question_->source_->recent_s(asker_));
    if (more == 0.0) return bits(0.0);
    return bits(more * learned.time_s(k.row, machine_->single(c)) * question_->units(t));
  };
  const auto key = [&] { return question_->name_of(t, c); };
  return real(question_->exchange(tape_item::elsewhere, key, live));
}
bool view::known(task_ref t) noexcept {
  return question_->exchange(
             tape_item::known, [&] { return question_->name_of(t); },
             [&] { return question_->source_->tables.sampled(question_->kind(t)->row); }) != 0;
}
place_id view::best_place(task_ref t, objective goal, std::uint32_t max_width) noexcept {
  const auto key = [&] {
    return mix64(question_->name_of(t) ^
                 mix64(std::uint64_t{max_width} << 2 | static_cast<std::uint64_t>(goal)));
  };
  const auto live = [&] {
    const detail::task_kind& k = *question_->kind(t);
    const view_source& s = *question_->source_;
    if (!s.tasks_stay_home) {
      if (k.width_one_only || (max_width == 1 && k.widths.empty()))
        return s.tables.best(k.row, goal, model::widths::one);
      if (k.widths.empty() && max_width >= machine_->core_count())
        return s.tables.best(k.row, goal, model::widths::all);
    }
    const chooser who{&s, node_of(t), machine_, max_width};
    return s.tables.best(k.row, goal, model::allowed{chooser::allows, &who});
  };
  const std::uint64_t found = question_->exchange(tape_item::best, key, live);
  return found == no_place
             ? no_place
             : question_->within(static_cast<std::uint32_t>(machine_->places().size()),
                                 tape_item::best, found);
}
double view::slowdown(core_id c) noexcept {
  return real(question_->exchange(
      tape_item::slowdown, [&] { return c; },
      [&] { return bits(question_->source_->tables.slowdown(c)); }));
}
double view::gap_s(core_id c, double from_s, double work_s) noexcept {
  return real(question_->exchange(
      tape_item::gap, [&] { return mix64(mix64(c ^ mix64(bits(from_s))) ^ bits(work_s)); },
      [&] { return bits(question_->source_->tables.gap_s(c, from_s, work_s, c == asker_)); }));
}
bool view::slowed_lately(core_id c) noexcept {
  return question_->exchange(
             tape_item::slowed_lately, [&] { return c; },
             [&] {
               return question_->source_->tables.slowed_lately(c, question_->source_->now_s()) ? 1
                                                                                               : 0;
             }) != 0;
}
const table_options& view::table() const noexcept {
  return question_->source_ ? question_->source_->tables.options() : question_->tape_->table;
}
place_id view::settle(task_ref t, place_id best, objective goal, std::uint32_t max_width) noexcept {
  const auto key = [&] {
    return mix64(question_->name_of(t, best) ^
                 mix64(std::uint64_t{max_width} << 2 | static_cast<std::uint64_t>(goal)));
  };
  const auto live = [&] {
    const chooser who{question_->source_, node_of(t), machine_, max_width};
    return question_->source_->tables.settle(row_of(who.task), best, goal,
                                             question_->source_->recent_s(asker_),
                                             {chooser::allows, &who});
  };
  return question_->within(static_cast<std::uint32_t>(machine_->places().size()), tape_item::settle,
                           question_->exchange(tape_item::settle, key, live));
}
void view::learn(task_ref t, place_id p, const measured& m) noexcept {
  question_->write(
      tape_item::learn, [&] { return question_->name_of(t, p); }, learned_bits(m),
      [&] {
        question_->source_->tables.learn(row_of(node_of(t)), p, m, question_->source_->now_s());
      });
}

// ---- shared cells -------------------------------------------------------------------------------

std::uint64_t view::load(std::uint32_t cell) noexcept {
  return question_->exchange(
      tape_item::load, [&] { return cell; }, [&] { return question_->source_->cells.load(cell); });
}
void view::store(std::uint32_t cell, std::uint64_t value) noexcept {
  question_->write(
      tape_item::store, [&] { return cell; }, value,
      [&] { question_->source_->cells.store(cell, value); });
}
std::uint64_t view::fetch_add(std::uint32_t cell, std::uint64_t n) noexcept {
  return question_->exchange(
      tape_item::fetch_add, [&] { return mix64(cell ^ mix64(n)); },
      [&] { return question_->source_->cells.fetch_add(cell, n); });
}
bool view::exchange_if(std::uint32_t cell, std::uint64_t expected, std::uint64_t desired) noexcept {
  return question_->exchange(
             tape_item::exchange_if, [&] { return mix64(mix64(cell ^ mix64(expected)) ^ desired); },
             [&] { return question_->source_->cells.exchange_if(cell, expected, desired); }) != 0;
}
std::uint64_t view::type_load(task_ref t, std::uint32_t cell) noexcept {
  return question_->exchange(
      tape_item::type_load, [&] { return question_->name_of(t, cell); },
      [&] { return question_->source_->cells.load(question_->kind(t)->row, cell); });
}
std::uint64_t view::type_fetch_add(task_ref t, std::uint32_t cell, std::uint64_t n) noexcept {
  return question_->exchange(
      tape_item::type_fetch_add, [&] { return mix64(question_->name_of(t, cell) ^ mix64(n)); },
      [&] { return question_->source_->cells.fetch_add(question_->kind(t)->row, cell, n); });
}

}  // namespace kilter
