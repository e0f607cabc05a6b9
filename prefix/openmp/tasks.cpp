#include "openmp/tasks.hpp"

#include <new>

#include "openmp/constructs.hpp"
#include "openmp/dependences.hpp"
#include "openmp/extra.hpp"
#include "openmp/folded.hpp"
#include "openmp/pool_threads.hpp"
#include "openmp/ready_tasks.hpp"

namespace kilter::regions {

namespace {

constexpr std::uint32_t most_for_each = 64;  // members: longer queues gain nobody anything

void free_task(const member* by, task& t) noexcept {
  give_room(by, reinterpret_cast<char*>(&t) - t.gap, t.bytes);
}

/// One that held it does no longer; who is held by nobody goes, and holds its parent no longer.
void let_go(const member* by, task* t) noexcept {
  while (t &&
         task::holders(t->counts.fetch_sub(task::one_holder, std::memory_order_acq_rel)) == 1) {
    task* const parent = t->keeps_parent ? t->parent : nullptr;
    free_task(by, *t);
    t = parent;
  }
}

/// A task that runs at once holds its parent, which stands below it on the stack, only from its
/// first child on.
void hold_parents(task& t) noexcept {
  for (task* p = &t; p->parent && !p->keeps_parent; p = p->parent) {
    p->parent->counts.fetch_add(task::one_holder, std::memory_order_relaxed);
    p->keeps_parent = true;
  }
}

/// A task that was submitted is over. Whoever waits may go on from the moment that a number changes
/// here, and then what it waited with is gone.
void end_task(team& of, const member* by, task& t) noexcept {
  if (t.of_children) forget_children(by, t, true);
  if (t.order) end_order(of, by, *t.order);
  if (task_group* const g = t.group) {
    const std::uint32_t waiter = g->waiter;
    if (g->left.fetch_sub(1, std::memory_order_acq_rel) == (task_group::waited_for | 1))
      wake_member(of, waiter);
  }
  const std::uint32_t made_by = t.made_by;
  task* const parent = t.parent;
  const bool only_itself = task::holders(t.counts.load(std::memory_order_acquire)) == 1;
  if (only_itself) free_task(by, t);
  const std::uint64_t before = parent->counts.fetch_sub(
      task::one_child + (only_itself ? task::one_holder : 0), std::memory_order_acq_rel);
  if ((before & (task::one_holder - 1)) == (task::waited_for | task::one_child))
    wake_member(of, made_by);
  if (!only_itself) {
    let_go(by, &t);
  } else if (task::holders(before) == 1) {
    task* const above = parent->keeps_parent ? parent->parent : nullptr;
    free_task(by, *parent);
    let_go(by, above);
  }
  count_ended(by);
}

/// What the function of a task does to the member ends with it.
void call(member& m, task& t) noexcept {
  task* const around = m.doing;
  const member_settings its = m.settings;
  m.doing = &t;
  m.settings = t.settings;
  do {
    t.again = false;
    t.run(t.data);
  } while (t.again);
  m.doing = around;
  m.settings = its;
}

/// What is of a thread is looked up anew after each task: a member may come back on another thread
/// than it left. A thread that was moved leaves where its time is over.
__attribute__((noinline)) void may_leave_host() noexcept {
  if (own_pool_thread && own_pool_thread->host.load(std::memory_order_relaxed)) may_go_home();
}
/// One beyond those of the CPUs that is not wanted any more: else it would go from task to task.
__attribute__((noinline)) bool thread_should_leave() noexcept {
  return on_own_stack() && !own_pool_thread && !extra_threads_win();
}

void run(member& m, task& t) noexcept {
  team& of = *m.of;
  call(m, t);
  if (!t.detached || t.to_come.fetch_sub(1, std::memory_order_acq_rel) == 1) end_task(of, &m, t);
  may_leave_host();
}

/// Runs tasks that may run on top of `within`, and waits for `number` to change where there are
/// none, until `over()`.
template <class Over>
void work_until_over(member& m, const task* within, waited_number& number,
                     const Over& over) noexcept {
  team& t = *m.of;
  for (;;) {
    const std::uint32_t before = number.load();
    // whoever sets it changes `number` then
    const bool tasks = has_place(m) && t.has_tasks.load(std::memory_order_acquire);
    if (over()) return;
    if (tasks && thread_should_leave()) {
      constexpr std::uint64_t never = ~std::uint64_t{0};
      leave_for_tasks(number, before, tasks_wanted::some, never);
      continue;
    }
    if (task* const next = tasks ? find(m, within, false) : nullptr) {
      run(m, *next);
    } else if (on_own_stack()) {
      // before it looks again: more may come while it does
      const std::uint64_t put = tasks_to_take(t).put;
      if (task* const late = tasks ? find(m, within, true) : nullptr)
        run(m, *late);
      else
        leave_for_tasks(number, before, within ? tasks_wanted::some : tasks_wanted::any, put);
    } else if (!tasks) {
      await(number, before);
    } else {
      const searching s(t);
      if (task* const late = find(m, within, true))
        run(m, *late);
      else if (!over())
        await(number, before);
    }
  }
}

void tell_all(team& t) noexcept {
  t.changes.add(1);
  tell_change(t);
}

void expect_tasks(team& t) noexcept {
  use_places_of(t);
  if (!t.has_tasks.exchange(true, std::memory_order_acq_rel)) tell_all(t);
}

waited_number& wake_of(const member& m) noexcept {
  return m.of->folds && has_place(m) ? place_of(m).wake : m.of->changes;
}

void wait_for_event(member& m, task& t) noexcept {
  if (has_place(m))
    return work_until_over(m, m.doing, wake_of(m),
                           [&] { return t.to_come.load(std::memory_order_acquire) == 0; });
  constexpr std::int64_t look_again_ns = 100'000;
  // nobody tells a team that may be gone
  while (t.to_come.load(std::memory_order_acquire) != 0)
    m.of->changes.sleep_while(m.of->changes.load(), look_again_ns);
}

}  // namespace

bool runs_at_once(const member& m) noexcept {
  return !has_place(m) || m.doing->final_one ||
         place_of(m).waiting.load(std::memory_order_relaxed) >= most_for_each * m.of->members;
}

namespace {

task* begin_task(const member& m, void* room, std::size_t gap, std::size_t whole) noexcept {
  task* const t = new (static_cast<char*>(room) + gap) task;
  t->bytes = static_cast<std::uint32_t>(whole);
  t->gap = static_cast<std::uint8_t>(gap);
  t->parent = m.doing;
  t->group = m.doing->group;
  t->depth = m.doing->depth + 1;
  t->made_by = m.number;
  t->settings = m.settings;
  return t;
}

}  // namespace

new_task make_task(member& m, std::size_t bytes, std::size_t align) noexcept {
  const std::size_t whole = sizeof(task) + bytes + (align > 0 ? align - 1 : 0);
  task* const t = begin_task(m, take_room(m, whole), 0, whole);
  const auto behind = reinterpret_cast<std::uintptr_t>(t + 1),
             to = static_cast<std::uintptr_t>(align > 0 ? align : 1);
  return {t, reinterpret_cast<void*>((behind + to - 1) / to * to)};
}

task& make_task_before(member& m, std::size_t bytes) noexcept {
  const std::size_t whole = task_with_gap + bytes + alignment_before - alignof(std::max_align_t);
  void* const room = take_room(m, whole);
  const std::size_t gap = -reinterpret_cast<std::uintptr_t>(room) % alignment_before;
  return *begin_task(m, room, gap, whole);
}

void give_up(member& m, task& t) noexcept { let_go(&m, &t); }

void submit(member& m, task& t, dependent* order) noexcept {
  team& of = *m.of;
  hold_parents(*t.parent);
  t.keeps_parent = true;
  t.parent->counts.fetch_add(task::one_child + task::one_holder, std::memory_order_relaxed);
  if (t.group) t.group->left.fetch_add(1, std::memory_order_relaxed);
  count_made(m);
  if (!of.has_tasks.load(std::memory_order_relaxed)) expect_tasks(of);
  t.order = order;
  if (!order || may_begin(*order)) put(place_of(m), t, of);
}

void run_at_once(member& m, task& t) noexcept {
  t.at_once = true;
  call(m, t);
  end_at_once(m, t);
}

void begin_at_once(member& m, task& t) noexcept {
  t.at_once = true;
  m.doing = &t;
}

void end_at_once(member& m, task& t) noexcept {
  if (m.doing == &t) {
    m.doing = t.parent;
    m.settings = t.settings;
  }
  if (t.detached && t.to_come.fetch_sub(1, std::memory_order_acq_rel) != 1) wait_for_event(m, t);
  if (t.of_children) forget_children(&m, t, true);
  let_go(&m, &t);
}

void run_at_once(member& m, body* f, void* data, bool final_one) noexcept {
  const bool was_final = m.doing->final_one;
  const member_settings its = m.settings;
  m.doing->final_one = was_final || final_one;
  f(data);
  m.doing->final_one = was_final;
  m.settings = its;
}

void work_until(member& m, bool (*over)(const void*), const void* what) noexcept {
  work_until_over(m, m.doing, wake_of(m), [&] { return over(what); });
}

void wait_for_children(member& m) noexcept {
  task& t = *m.doing;
  if (task::children(t.counts.load(std::memory_order_acquire)) == 0) return;
  bool said = false;
  work_until_over(m, &t, wake_of(m), [&] {
    if (task::children(t.counts.load(std::memory_order_acquire)) == 0) return true;
    if (said) return false;
    said = true;  // whoever ends the last one from now on tells us
    return task::children(t.counts.fetch_or(task::waited_for, std::memory_order_acq_rel)) == 0;
  });
  if (said) t.counts.fetch_and(~task::waited_for, std::memory_order_relaxed);
  if (t.of_children) forget_children(&m, t, false);
}

void run_another(member& m) noexcept {
  if (!has_place(m) || !m.of->has_tasks.load(std::memory_order_relaxed)) return;
  if (task* const t = find(m, m.doing, false)) run(m, *t);
}

void begin_group(member& m) noexcept {
  task_group* const around = m.doing->group;
  m.doing->group = new (take_room(m, sizeof(task_group))) task_group{
      .around = around, .waiter = m.number, .reductions = around ? around->reductions : nullptr};
}

void end_group(member& m) noexcept {
  task_group& g = *m.doing->group;
  bool said = false;
  const auto over = [&] {
    if ((g.left.load(std::memory_order_acquire) & ~task_group::waited_for) == 0) return true;
    if (said) return false;
    said = true;
    return (g.left.fetch_or(task_group::waited_for, std::memory_order_acq_rel) &
            ~task_group::waited_for) == 0;
  };
  if (!over()) work_until_over(m, m.doing, wake_of(m), over);
  m.doing->group = g.around;
  give_room(&m, &g, sizeof g);
}

void detach(member& m, task& t) noexcept {
  t.detached = true;
  t.to_come.store(2, std::memory_order_relaxed);
  t.of = has_place(m) ? m.of : nullptr;
}

void fulfill(task& t) noexcept {
  team* const of = t.of;
  const bool at_once = t.at_once;
  const std::uint32_t made_by = t.made_by;
  if (t.to_come.fetch_sub(1, std::memory_order_acq_rel) != 1 || !of) return;
  if (at_once) return wake_member(*of, made_by);  // it may be gone
  end_task(*of, current && current->of == of ? current : nullptr, t);
  tell_all(*of);  // at a barrier somebody looks whether this was the last one
}

void end_round(team& t) noexcept {
  // before the round: whoever sees the new one may come again
  t.at_barrier.store(0, std::memory_order_relaxed);
  note_last_to_come();
  t.rounds.fetch_add(1, std::memory_order_acq_rel);
  tell_all(t);
  may_go_home();
}

void wait_at_barrier(member& m, std::uint32_t round) noexcept {
  team& t = *m.of;
  work_until_over(m, nullptr, t.changes, [&] {
    if (t.rounds.load(std::memory_order_acquire) != round) return true;
    if (!t.has_tasks.load(std::memory_order_relaxed)) return false;
    // Who ends a task or comes here does that first and looks then. So of the last two to do
    // either, at least one sees that the other has.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (t.at_barrier.load(std::memory_order_relaxed) != t.members || !all_over(t)) return false;
    // one of those that find it out ends the round; it cannot be another one, for this member has
    // not come to that
    std::uint32_t all = t.members;
    // who ends it may not have begun the next one yet
    if (!t.at_barrier.compare_exchange_strong(all, 0, std::memory_order_acq_rel)) return false;
    end_round(t);
    return true;
  });
}

void begin_implicit_task(member& m) noexcept {
  if (!has_place(m)) return void(m.doing = &m.alone);
  task& t = place_of(m).implicit;
  t.group = nullptr;
  t.counts.store(task::one_holder, std::memory_order_relaxed);
  t.final_one = false;
  m.doing = &t;
}

void end_implicit_task(member& m) noexcept {
  if (m.of->ends_together) barrier();
  if (m.doing->of_children) forget_children(&m, *m.doing, true);
}

void run_tasks_left(team& t) noexcept {
  if (!t.has_tasks.load(std::memory_order_acquire)) return;
  member m{.of = &t, .number = 0, .settings = t.settings};
  m.doing = &place_of(m).implicit;
  member* const around = current;
  current = &m;
  work_until_over(m, nullptr, t.changes, [&] { return all_over(t); });
  current = around;
}

void make_ready(team& of, const member* by, task& t) noexcept {
  put(places[by ? by->number : t.made_by], t, of);
}

void wake_member(team& of, std::uint32_t number) noexcept {
  if (!of.folds) return of.changes.add(1);
  places[number].wake.add(1);
  tell_of_folded_tasks();
}

}  // namespace kilter::regions
