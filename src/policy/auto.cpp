// The default: one policy that chooses by itself.
//
//   What is short is placed as DAM-C does (dam_c.cpp), since little can be won by thinking longer than a task takes. Longer tasks wait in one queue
//   that is sorted by rank, how much is left to do from a task on. Whoever is free asks what the others will have done before it could end one:
//
//   ready, short:    critical: the place learned to be cheapest, or fastest while cores are free, unless a neighbour is about to take a core of it;
//                    else the waker's deque
//   ready, longer:   into the queue, by rank
//   taken, longer:   place <- if the way from this task on takes longer than all the work that is left would take all cores: the cheapest place that is
//                             fast enough to make up for it, else the one that ends it first
//                             else while cores are free: the one that ends it first among those that leave every waiting task its share of them, tasks
//                             that other cores end sooner not counted, nor those cores
//                             else the cheapest one of this core
//                    n <- how many tasks the other cores end sooner, each beginning when it is expected to be free
//                    n = 0, or the task is not critical and all that waits for it would still be done before the rest is: take it
//                    n < tasks that wait: the others will see to the first n, so take the one after them
//                    else decline, and ask again when the first of them is done
//
//   Under a quota it is CPU time that is short and not cores. If the system tells how much is left (papers.md D4), a core takes nothing while faster ones and
//   those at work use it up, unless a task as long fits into what was paid for lately and not spent; and a task's share is one of the paid cores. If it does
//   not, all cores being slowed at once tells it, and nothing is made wider than what is cheapest.
//
//   So a slow or disturbed core takes what the others do not come to in time, and nothing that the end of the graph would have to wait for; on equal
//   cores n is 0 always. The times are the table's, which knows which core is slowed and for how long (papers.md D3, D5, D7).

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "policy/builtin.hpp"
#include "policy/ranks.hpp"
#include "policy/search.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

// A shorter task is not worth a lock and a look at every core.
constexpr double short_s = 40e-6;
// Others must be sooner by more than what the prediction is worth.
constexpr double sooner_margin = 0.05;
constexpr double free_soon = 0.05, long_way_wait = 1.0;  // of the task's time
constexpr double visible_slowdown = 1.05, like_the_others = 1.4;
constexpr double a_while_s = 0.5;
constexpr double in_time_share = 0.8;
constexpr double savings_last_s = 0.025;   // a quarter of Linux' period, at whose end what is left is lost
constexpr double shortest_rest_s = 20e-6;
constexpr double patience_s = 100e-6;      // beyond what was promised, before a task that nobody came for is taken after all
constexpr std::uint64_t resting = ~std::uint64_t{0};

// The low half of a task's a: whether it waits in the queue, and when it was first declined.
constexpr std::uint64_t low_half = 0xffffffff, waits = 1;
constexpr double declined_unit_s = 8e-6;
constexpr std::uint64_t declined_at(double now_s) noexcept { return (static_cast<std::uint64_t>(now_s / declined_unit_s) << 1 & low_half) | 2; }
bool nobody_came(const task_state& s, double now_s, double promised_s) noexcept {
  if ((s.a & low_half) == waits) return false;
  const std::uint64_t since = (declined_at(now_s) - (s.a & low_half & ~waits)) & low_half;
  return static_cast<double>(since >> 1) * declined_unit_s > promised_s + patience_s;
}

constexpr std::uint64_t bits(double v) noexcept { return std::bit_cast<std::uint64_t>(v); }
constexpr double real(std::uint64_t v) noexcept { return std::bit_cast<double>(v); }

class auto_policy : public built_in {
 public:
  auto_policy(const machine& m, const policy_options& o)
      : cores_(m.core_count()), queue_(m.core_count()), local_(o.local_search), start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "auto"; }
  discipline queues(const machine&) const override;
  void on_submit(view&) const override;
  ready_decision on_ready(task_ref, task_ref parent, core_id waker, view&) const override;
  next_decision next(core_id worker, std::uint32_t attempt, view&) const override;
  take_decision on_take(task_ref, core_id here, bool stolen, view&) const override;
  void on_machine(view& v) const override { search::note_offline(v); }

 private:
  struct option {
    place_id where = no_place;
    double time_s = 0.0, cost_s = 0.0, begin_s = 0.0;
    bool usable = false;
    [[nodiscard]] double end_s() const noexcept { return begin_s + time_s; }
  };
  /// What the others do and what is left, in the eyes of one task.
  struct situation {
    double now_s = 0.0;
    std::uint32_t waiting = 0, idle = 0;  // idle: cores that a task may have, as far as a quota pays for them
    bool paid_known = false;
    double fastest_s = 0.0;      // the task on the core that takes least
    double worth = 0.0;          // of all cores, in cores like that
    bool all_slowed = false;     // a quota is used up: no core is better off than the others
    double left_s = 0.0;         // what is not done, on all cores together
    double way_s = 0.0;          // from the beginning of this task to the end of the graph, on that core
    double later_s = 0.0;        // what may have to wait for it, on all cores together
    double quicker = 1.0;        // what the fastest place of any width would take of that
    [[nodiscard]] bool on_long_way() const noexcept { return way_s > left_s; }
  };
  struct others {
    std::uint32_t sooner = 0;    // tasks
    std::uint32_t idle = 0;      // of the cores that end them
    double first_free_s = 0.0;
  };
  // Cells.
  static constexpr std::uint32_t left_cell = search::cells;  // nanoseconds of what has not begun, in the unit of the ranks
  static constexpr std::uint32_t way_cell = search::cells + 1;   // seconds, from the first that waited last
  static constexpr std::uint32_t spent_cell = search::cells + 2;  // nanoseconds of CPU time under a quota, and what was too much to save
  static std::uint32_t ends(core_id c) noexcept { return search::cells + 3 + 3 * c; }
  static std::uint32_t skips(core_id c) noexcept { return search::cells + 4 + 3 * c; }
  static std::uint32_t rests(core_id c) noexcept { return search::cells + 5 + 3 * c; }

  void begins(view&, const task_state&) const noexcept;
  [[nodiscard]] bool is_short(view&, task_ref) const noexcept;
  [[nodiscard]] double promised_at(view&, core_id, double now_s) const noexcept;
  [[nodiscard]] double free_at(view&, core_id, double now_s) const noexcept;
  [[nodiscard]] double alone_s(view&, task_ref, core_id, double from_s, const situation&) const noexcept;
  [[nodiscard]] double wide_s(view&, task_ref, place_id, double from_s, const situation&) const noexcept;
  [[nodiscard]] situation look(view&, task_ref, core_id here) const noexcept;
  [[nodiscard]] static std::uint32_t share(const situation&, std::uint32_t cores, std::uint32_t tasks) noexcept;
  [[nodiscard]] option best(view&, task_ref, core_id here, std::uint32_t share, const situation&) const noexcept;
  [[nodiscard]] bool in_time(view&, const situation&, double end_s) const noexcept;
  [[nodiscard]] others elsewhere(view&, task_ref, const place& mine, double end_s, const situation&) const noexcept;
  [[nodiscard]] bool any_idle(view&) const noexcept;
  [[nodiscard]] bool is_cut(view&, task_ref, place_id) const noexcept;
  void spend(view&, double task_s, const place&) const noexcept;
  [[nodiscard]] double saved_s(view&, double paid) const noexcept;
  [[nodiscard]] std::optional<double> used_up_by_faster(view&, task_ref, core_id here, double paid) const noexcept;

  std::uint32_t cores_;
  queue_id queue_;
  policy_options::local local_;
  discipline start_;
};

discipline auto_policy::queues(const machine&) const {
  discipline d = start_;
  d.queues = {{no_core, queue_order::by_key, {}}};
  d.deques_too = true;
  d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_take_low = d.asks_take_high = true;
  d.take_stays = true;
  d.asks_machine = true;
  d.learns = true;
  d.cells = search::cells + 3 + 3 * cores_;
  return d;
}

bool auto_policy::is_short(view& v, task_ref t) const noexcept {
  return v.known(t) && v.time_s(t, v.machine().single(v.machine().core_count() - 1)) < short_s;
}

void auto_policy::on_submit(view& v) const {
  const std::uint32_t size = v.batch_size();
  bool flagged = !v.batch_is_whole_graph();
  for (std::uint32_t i = 0; i < size && !flagged; ++i) flagged = v.user_priority(v.batch_task(i)) == priority::high;
  const double all_s = ranks::on_submit(v, !flagged);
  // What a cancelled graph left is forgotten when nothing waits.
  const auto all_ns = static_cast<std::uint64_t>(all_s * 1e9);
  if (v.length(queue_) == 0 && v.batch_is_whole_graph()) v.store(left_cell, all_ns);
  else v.fetch_add(left_cell, all_ns);
}

void auto_policy::begins(view& v, const task_state& s) const noexcept {
  v.fetch_add(left_cell, ~static_cast<std::uint64_t>(ranks::own_s(s) * 1e9) + 1);
}

ready_decision auto_policy::on_ready(task_ref task, task_ref parent, core_id waker, view& v) const {
  task_state s = v.state(task);
  if (!is_short(v, task)) {
    s.a |= waits;
    v.set_state(task, s);
    return ready_decision::wait_in(queue_, static_cast<std::uint64_t>(std::min(ranks::rank_s(s) * 1e9, 9e18)));
  }
  begins(v, s);
  if (!v.critical(task)) return ready_decision::wait_in(waker == no_core ? v.home() : waker);
  if (wake_up::root_waits_at_home(parent, waker, v)) return wake_up::root(task, waker, v);
  place_id where = search::global(v, task, any_idle(v) ? objective::time : objective::cost);
  if (waker != no_core && is_cut(v, task, where)) where = search::narrowest(v, task, waker);
  return wake_up::at_place(where, waker, false, v.machine());
}

// Whether a neighbour has a core of the place, or takes it before the task is done.
bool auto_policy::is_cut(view& v, task_ref task, place_id p) const noexcept {
  const place& where = v.machine().at(p);
  const double now_s = v.now_s(), time_s = v.time_s(task, p);
  for (core_id c = where.leader; c < where.leader + where.width; ++c)
    if (v.gap_s(c, now_s, time_s) > 0.0) return true;
  return false;
}

bool auto_policy::any_idle(view& v) const noexcept {
  for (core_id c = 0; c < cores_; ++c)
    if (v.idle(c)) return true;
  return false;
}

next_decision auto_policy::next(core_id worker, std::uint32_t, view& v) const {
  next_decision d;
  const std::uint64_t skip = v.load(skips(worker));
  const std::uint32_t waiting = v.length(queue_);
  if (skip != 0) v.store(skips(worker), 0);
  if (waiting == 0) return d;
  v.store(ends(worker), 0);
  if (skip == resting || skip >= waiting) {
    d.what = next_decision::kind::hold_until;
    d.until_s = std::max(real(v.load(rests(worker))), v.now_s() + shortest_rest_s);
    return d;
  }
  d.what = next_decision::kind::take_from;
  d.queue = queue_;
  d.skip = static_cast<std::uint32_t>(skip);
  v.store(skips(worker), skip);
  return d;
}

// When the core was expected to be free, which may be over.
double auto_policy::promised_at(view& v, core_id c, double now_s) const noexcept {
  if (v.idle(c)) return now_s;
  const double end_s = real(v.load(ends(c)));
  return end_s == 0.0 ? now_s : end_s;
}

// Who is overdue will take as long again as it is overdue by now.
double auto_policy::free_at(view& v, core_id c, double now_s) const noexcept { return now_s + std::abs(promised_at(v, c, now_s) - now_s); }

// A task of width 1 that begins then: with the gap that its slice would end in, if the neighbour is that regular, else with the mean of all gaps.
double auto_policy::alone_s(view& v, task_ref task, core_id c, double from_s, const situation& now) const noexcept {
  const double mean_s = v.time_s(task, v.machine().single(c)), slowdown = v.slowdown(c);
  if (slowdown == 1.0 || now.all_slowed) return mean_s;
  const double work_s = mean_s / slowdown, gap_s = v.gap_s(c, from_s, work_s);
  return gap_s < 0.0 ? mean_s : work_s + gap_s;
}

// Likewise of any width: who shares its chunks with a member that is away waits for the one that this member has begun.
double auto_policy::wide_s(view& v, task_ref task, place_id p, double from_s, const situation& now) const noexcept {
  const place& where = v.machine().at(p);
  const double mean_s = v.time_s(task, p);
  double slowdown = 1.0, gap_s = 0.0;
  for (core_id c = where.leader; c < where.leader + where.width; ++c) slowdown = std::max(slowdown, v.slowdown(c));
  if (slowdown == 1.0 || now.all_slowed) return mean_s;
  for (core_id c = where.leader; c < where.leader + where.width; ++c) {
    const double core_gap_s = v.gap_s(c, from_s, mean_s / slowdown);
    if (core_gap_s < 0.0 && v.slowdown(c) > visible_slowdown) return mean_s;
    gap_s = std::max(gap_s, core_gap_s);
  }
  return mean_s / slowdown + gap_s;
}

auto_policy::situation auto_policy::look(view& v, task_ref task, core_id here) const noexcept {
  const machine& m = v.machine();
  situation all{.now_s = v.now_s(), .waiting = v.length(queue_), .all_slowed = true};
  const double paid = v.paid_cores();
  double in_use = 0.0;  // cores that the quota pays for, fastest kind first
  all.fastest_s = v.time_s(task, m.single(here));
  std::uint32_t busy = 0;
  double running = 0.0;  // in tasks like this one
  double least = std::numeric_limits<double>::infinity(), most = 1.0;  // slowdown
  for (core_id c = 0; c < cores_; ++c) {
    if (c != here && !v.online(c)) continue;
    const double time_s = v.time_s(task, m.single(c));
    all.fastest_s = std::min(all.fastest_s, time_s);
    const double part = std::clamp(paid - in_use, 0.0, 1.0);
    in_use += part;
    all.worth += part / time_s;
    // An idle core's slowdown fades, whatever it was; and a quota's periods are longer than what a slowdown is a mean of.
    if (c == here || !v.idle(c)) {
      ++busy;
      least = std::min(least, v.slowdown(c));
      most = std::max(most, v.slowdown(c));
      all.all_slowed = all.all_slowed && (v.slowdown(c) > visible_slowdown || v.gap_s(c, all.now_s, a_while_s) > 0.0);
    }
    const double busy_s = c == here ? 0.0 : free_at(v, c, all.now_s) - all.now_s;
    running += busy_s / time_s;
    if (busy_s <= free_soon * time_s) ++all.idle;
  }
  all.paid_known = paid < cores_;
  all.all_slowed = all.paid_known ? busy >= paid : all.all_slowed && 2 * busy > cores_ && most <= like_the_others * least;
  if (all.paid_known) all.idle = std::min(all.idle, static_cast<std::uint32_t>(std::max(1.0, paid + 1.0 - busy)));
  all.worth *= all.fastest_s;
  const task_state s = v.state(task);
  // Ranks are in the seconds that were predicted when the graph came.
  const double own_s = ranks::own_s(s);
  const double unit = own_s > 0.0 ? all.fastest_s / own_s : 0.0;
  all.left_s = std::max(0.0, static_cast<double>(static_cast<std::int64_t>(v.load(left_cell)))) * 1e-9 * unit / all.worth + running * all.fastest_s / all.worth;
  all.way_s = ranks::rank_s(s) * unit;
  all.later_s = ranks::later_s(s) * unit / all.worth;
  if (const place_id quickest = v.best_place(task, objective::time); quickest != no_place) all.quicker = std::min(1.0, v.time_s(task, quickest) / all.fastest_s);
  return all;
}

// Under a quota it is CPU time that counts, not cores.
std::uint32_t auto_policy::share(const situation& now, std::uint32_t cores, std::uint32_t tasks) noexcept {
  return now.all_slowed && !now.paid_known ? 1 : std::max(1u, cores / tasks);
}

auto_policy::option auto_policy::best(view& v, task_ref task, core_id here, std::uint32_t share, const situation& now) const noexcept {
  const machine& m = v.machine();
  const double now_s = now.now_s;
  const bool on_long_way = now.on_long_way() && (!now.all_slowed || now.paid_known);
  // Seconds that the task may take so that its way is no longer than the rest.
  const double wanted_s = on_long_way ? now.fastest_s * now.left_s / now.way_s : 0.0;
  const bool anywhere = on_long_way || share > 1;
  const auto option_at = [&](place_id p) {
    const place& where = m.at(p);
    option o{.where = p, .begin_s = now_s};
    double doubt_s = 0.0;  // a core that is overdue has been guessed wrong once
    o.usable = v.allows(task, p) && (anywhere || where.contains(here));
    for (core_id c = where.leader; c < where.leader + where.width && o.usable; ++c) {
      if (c == here) continue;
      o.usable = v.online(c);
      const double promised_s = promised_at(v, c, now_s);
      doubt_s = std::max(doubt_s, now_s - promised_s);
      o.begin_s = std::max(o.begin_s, now_s + std::abs(promised_s - now_s));
    }
    o.time_s = where.width == 1 ? alone_s(v, task, where.leader, o.begin_s, now) : wide_s(v, task, p, o.begin_s, now);
    o.cost_s = o.time_s * where.width;
    // Nothing is bound to a core that will be free some time: that is a guess, and the task would wait for it. On the long way a wide place is worth a wait.
    o.usable = o.usable && o.begin_s - now_s + doubt_s <= (on_long_way && where.width > 1 ? long_way_wait : free_soon) * o.time_s;
    return o;
  };
  const auto fair = [&](const option& o) { return on_long_way || m.at(o.where).width <= share; };

  option first, cheap;
  for (const place_id p : anywhere ? m.scan_order() : m.containing(here)) {
    const option o = option_at(p);
    if (!o.usable) continue;
    if (on_long_way && o.end_s() - now_s <= wanted_s && (!cheap.usable || o.cost_s < cheap.cost_s)) cheap = o;
    if (!first.usable || (anywhere ? fair(o) && o.end_s() < first.end_s() : o.cost_s < first.cost_s)) first = o;
  }
  if (cheap.usable) return cheap;
  if (!first.usable) return {.where = search::narrowest(v, task, here), .time_s = now.fastest_s, .begin_s = now_s};
  const double soon_s = now_s + free_soon * now.fastest_s;
  if (!anywhere || first.begin_s > soon_s) return first;
  // Where it is, until leaving pays; and now and then a place that nobody has tried (the table's settle).
  const place_id settled = v.settle(task, first.where, objective::time);
  if (settled == first.where) return first;
  const option other = option_at(settled);
  return other.usable && fair(other) && other.begin_s <= soon_s ? other : first;
}

auto_policy::others auto_policy::elsewhere(view& v, task_ref task, const place& mine, double end_s, const situation& now) const noexcept {
  const machine& m = v.machine();
  const double now_s = now.now_s;
  others all;
  for (core_id c = 0; c < cores_; ++c) {
    if (mine.contains(c) || !v.online(c)) continue;
    const double free_s = free_at(v, c, now_s), time_s = alone_s(v, task, c, free_s, now);
    const double left_s = end_s - sooner_margin * (end_s - now_s) - free_s;
    if (left_s <= time_s) continue;
    if (all.first_free_s == 0.0 || free_s < all.first_free_s) all.first_free_s = free_s;
    if (free_s <= now_s + free_soon * time_s) ++all.idle;
    all.sooner += 1 + static_cast<std::uint32_t>(std::min((left_s - time_s) / v.time_s(task, m.single(c)), 1e6));
  }
  return all;
}

// Whether a task that ends then, with all that waits for it, is done before the rest would be.
bool auto_policy::in_time(view& v, const situation& now, double end_s) const noexcept {
  if (now.all_slowed) return false;
  const double after_s = std::max((now.way_s - now.fastest_s) * now.quicker, now.later_s);
  const double rest_s = std::max(now.left_s, real(v.load(way_cell)) * now.quicker);
  return end_s - now.now_s + after_s < in_time_share * rest_s;
}

// What predictions are wrong by must not add up to savings that are none.
void auto_policy::spend(view& v, double task_s, const place& where) const noexcept {
  v.fetch_add(spent_cell, static_cast<std::uint64_t>(task_s * where.width * (1.0 + sooner_margin) * 1e9));
}

// CPU time that a quota of so many cores has paid for lately and that nobody has spent.
double auto_policy::saved_s(view& v, double paid) const noexcept {
  const double spent_s = static_cast<double>(static_cast<std::int64_t>(v.load(spent_cell))) * 1e-9;
  const double saved_s = paid * v.now_s() - spent_s, most_s = paid * savings_last_s;
  if (saved_s > most_s) v.fetch_add(spent_cell, static_cast<std::uint64_t>((saved_s - most_s) * 1e9));
  return std::min(saved_s, most_s);
}

// When a core on which the quota is better spent is free next, if those and the others at work use it up.
std::optional<double> auto_policy::used_up_by_faster(view& v, task_ref task, core_id here, double paid) const noexcept {
  const machine& m = v.machine();
  const auto cpu_s = [&](core_id c) { return v.time_s(task, m.single(c)) / v.slowdown(c); };
  const double mine_s = cpu_s(here), now_s = v.now_s();
  double used = 0.0, first_free_s = std::numeric_limits<double>::infinity();
  for (core_id c = 0; c < cores_; ++c) {
    if (c == here || !v.online(c)) continue;
    const bool faster = cpu_s(c) < mine_s * (1.0 - sooner_margin);
    if (faster || !v.idle(c)) used += 1.0;
    if (faster) first_free_s = std::min(first_free_s, free_at(v, c, now_s));
  }
  if (used < paid || first_free_s == std::numeric_limits<double>::infinity()) return std::nullopt;
  if (v.known(task) && v.time_s(task, m.single(here)) < saved_s(v, paid)) return std::nullopt;
  return first_free_s;
}

take_decision auto_policy::on_take(task_ref task, core_id here, bool, view& v) const {
  task_state s = v.state(task);
  const double paid = v.paid_cores();
  if (!(s.a & waits)) {
    const place_id where = search::local(v, task, here, local_);
    if (paid < cores_) spend(v, v.time_s(task, where), v.machine().at(where));
    return {.where = where};
  }
  if (paid < cores_) {
    if (const auto free_s = used_up_by_faster(v, task, here, paid)) {
      v.store(skips(here), resting);
      v.store(rests(here), bits(std::max(v.now_s() + shortest_rest_s, *free_s)));
      return {.put_back = true};
    }
  }
  const situation now = look(v, task, here);
  const std::uint32_t tasks = now.waiting + 1, fair = share(now, now.idle, tasks);
  option mine = best(v, task, here, fair, now);
  others rest = elsewhere(v, task, v.machine().at(mine.where), mine.end_s(), now);
  // What others end sooner needs no share of the cores that are left.
  if (const std::uint32_t more = share(now, now.idle - std::min(now.idle, rest.idle), tasks - std::min(tasks - 1, rest.sooner)); rest.sooner > 0 && more > fair) {
    mine = best(v, task, here, more, now);
    rest = elsewhere(v, task, v.machine().at(mine.where), mine.end_s(), now);
  }
  const place& where = v.machine().at(mine.where);
  const std::uint64_t skipped = v.load(skips(here));
  if (skipped == 0) v.store(way_cell, bits(now.way_s));
  if (rest.sooner <= skipped || nobody_came(s, now.now_s, mine.end_s() - now.now_s) ||
      (!v.critical(task) && in_time(v, now, mine.end_s()))) {
    v.store(skips(here), 0);
    for (core_id c = where.leader; c < where.leader + where.width; ++c) v.store(ends(c), bits(mine.end_s()));
    s.a &= ~low_half;
    v.set_state(task, s);
    begins(v, s);
    if (paid < cores_) spend(v, mine.time_s, where);
    return {.where = mine.where};
  }
  if ((s.a & low_half) == waits) {
    s.a |= declined_at(now.now_s);
    v.set_state(task, s);
  }
  const bool deeper = rest.sooner <= now.waiting;
  v.store(skips(here), deeper ? rest.sooner : resting);
  if (!deeper) v.store(rests(here), bits(std::max(now.now_s + shortest_rest_s, rest.first_free_s)));
  return {.put_back = true};
}

}  // namespace

made automatic(const machine& m, const policy_options& o) { return std::make_shared<auto_policy>(m, o); }

}  // namespace kilter::builtin
