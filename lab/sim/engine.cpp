// The run of a graph: events, the machine's changes, and what follows from a task's end. Where
// workers find work is in finding.cpp.

#include "sim/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/sync.hpp"
#include "kilter/error.hpp"
#include "machine/distance.hpp"
#include "policy/ask.hpp"
#include "policy/checked.hpp"
#include "policy/sample.hpp"
#include "sim/numbers.hpp"

namespace kilter::sim {

using detail::graph_of;

namespace {

// Of a longer body the runtime reads its CPU time, and has somebody watch.
constexpr double long_body_s = 1e-3;
// A few milliseconds, or with a slow policy a tenth of a second.
constexpr std::uint32_t events_between_looks = 4096;

engine_options with_checked_policy(engine_options o, const machine& m) {
  o.policy = checked(std::move(o.policy), m);
  return o;
}

}  // namespace

engine::engine(const platform& p, engine_options o, std::unique_ptr<model::tables> t,
               std::unique_ptr<model::shared_cells> c, discipline d)
    : view_source(*t, *c),
      platform_(p),
      options_(std::move(o)),
      own_tables_(std::move(t)),
      own_cells_(std::move(c)),
      machine_(*p.cores),
      policy_(*options_.policy),
      plan_(std::move(d)),
      standard_queues_(routing::has_deques(plan_)),
      first_declared_(routing::first_declared(plan_, *p.cores)),
      speeds_(p, options_.blocks),
      events_(machine_.core_count() + 3 + static_cast<std::uint32_t>(options_.disturbances.size())),
      thieves_(options_.seed, "thieves"),
      last_out_(options_.seed, "last out"),
      energy_(p),
      quota_(machine_.core_count()) {
  divide();
  meet(p.contention);
  tries_one_by_one_ =
      (options_.every_try || plan_.steal_from != victims::random) && machine_.core_count() > 1;
  standard_learning_ = plan_.learns && !plan_.asks_done;
  searches_low_ = plan_.asks_take_low;
  searches_high_ = plan_.asks_take_high;
  decides_low_ = plan_.asks_ready_low;
  decides_high_ = plan_.asks_ready_high;
  // A recording holds every decision about a task, also those that the policy leaves to the
  // standard way. They cost what they cost without.
  if (options_.record_decisions)
    plan_.asks_submit = plan_.asks_ready_low = plan_.asks_ready_high = plan_.asks_take_low =
        plan_.asks_take_high = plan_.asks_done = true;
  for (core_id id = 0; id < machine_.core_count(); ++id) cores_.emplace_back(id, options_.seed);
  for (const queue_spec& q : plan_.queues) queues_.emplace_back(q, machine_.core_count());
  std::vector<std::vector<std::uint32_t>> widths_of;  // by kind
  for (kind_id kind = 0; kind < machine_.kinds().size(); ++kind)
    widths_of.push_back(p.widths(kind));
  for (const place& where : machine_.places()) {
    const auto& widths = widths_of[machine_.cores()[where.leader].kind];
    width_index_.push_back(
        static_cast<std::uint32_t>(std::ranges::find(widths, where.width) - widths.begin()));
  }
  for (const disturbance& what : options_.disturbances) {
    phases_.emplace_back(as_the_clock_follows(p, what));
    events_.set(machine_.core_count() + static_cast<std::uint32_t>(phases_.size()),
                phases_.back().next_change());
  }
  for (std::size_t i = 0; i < phases_.size(); ++i) apply(i);
  if (p.contention.sleep) {
    for (sim_core& w : cores_) w.patience = to_time(p.contention.sleep->after_s);
    // The operating system puts a fresh thread on a core that nobody has.
    const auto lands = std::ranges::find_if(
        cores_, [](const sim_core& w) { return !w.off && !w.away && !w.co_runner_here; });
    if (lands != cores_.end()) own_tables_->set_landing(lands->id);
  }
  if (!options_.data.empty()) residency_.emplace(p, options_.data);
  if (options_.true_costs_over_s > 0.0)
    left_mean_ = mean_left(p, options_.disturbances, options_.true_costs_over_s);
  steal_budget_ = exponential(thieves_);
}

engine::engine(const platform& p, const engine_options& o, const discipline& d)
    : engine(p, o, std::make_unique<model::tables>(*p.cores, o.table),
             std::make_unique<model::shared_cells>(d.cells, d.type_cells), d) {
  if (options_.learned) own_tables_->restore(*options_.learned);
}

engine::engine(const platform& p, const engine_options& o, answers_are_checked)
    : engine(p, o, o.policy->queues(*p.cores)) {}

engine::engine(const platform& p, const engine_options& o)
    : engine(p, with_checked_policy(o, *p.cores), answers_are_checked{}) {}

engine::~engine() = default;

execution_stats engine::run(graph& g, const std::vector<type_work>& work, core_id as_worker) {
  detail::graph_core& core = detail::graph_access::core(g);
  g.check_acyclic();
  resolve(core, work);
  follow_data(core);
  name_data(core);
  for (std::uint32_t i = 0; i < core.kinds.size(); ++i) {
    detail::check_home(core.kinds[i].home, machine_.core_count());
    if (tasks_stay_home &&
        std::ranges::find(options_.apart, core.kinds[i].home) == options_.apart.end())
      throw usage_error("a machine in parts needs tasks each of which is at home in one of them");
  }
  core.find_roots();
  if (platform_.noise_sigma != 0.0 && noise_.size() < core.count)
    noise_ = noise_factors(platform_.noise_sigma, options_.seed, core.count);
  if (plan_.reads_data) core.keep_releases();
  if (plan_.reads_predecessors) core.index_predecessors();
  core.clear_marks();
  runs_ = &core;
  stats_ = {};
  stats_.places.resize(machine_.places().size());
  for (sim_core& w : cores_) {
    w.work_s = 0.0;
    w.idle_since = now_;
    if (w.doing == activity::idle) looks_on(w);
  }
  const std::uint64_t explored_before = tables.explored();
  began_ = now_;
  left_ = core.count;
  sim_core& starter = cores_[as_worker != no_core ? as_worker : tables.home(now_s())];
  if (plan_.asks_submit) {
    core.for_each_node([&](node* n) { batch_.push_back(n); });
    detail::asked_view v = view_of(starter);
    const std::int64_t asked_ns = sync::nanoseconds();
    ask::submit(policy_, v);
    stats_.plan_s = static_cast<double>(sync::nanoseconds() - asked_ns) * 1e-9;
    batch_.clear();
  }
  spent_s_ = 0.0;
  for (node* root : core.roots) made_ready(root, nullptr, starter, as_worker);
  if (starter.next || !starter.bound.empty()) wake(starter);
  if (left_ > 0) loop();
  runs_ = nullptr;
  stats_.seconds = to_seconds(now_ - began_);
  stats_.explored = tables.explored() - explored_before;
  for (const sim_core& w : cores_) stats_.core_work_s.push_back(w.work_s);
  return std::move(stats_);
}

// Kernels of the graph's types on the kinds of this machine.
void engine::resolve(const detail::graph_core& core, const std::vector<type_work>& work) {
  const std::size_t kinds = machine_.kinds().size();
  costs_.assign(core.type_names.size() * kinds, {});
  given_.assign(core.type_names.size(), false);
  for (std::uint32_t i = 0; i < core.kinds.size(); ++i) {
    detail::task_kind& k = core.kinds[i];
    k.row = tables.row(core.type_names[k.type], k.size_class);
    const type_work& what = work.at(k.type);
    given_[k.type] = what.given;
    for (kind_id on = 0; on < kinds; ++on) {
      task_cost& cost = costs_[k.type * kinds + on];
      if (cost.seconds.empty()) cost = cost_of(platform_, what, on);
    }
  }
  decisions_by_type_.clear();
  for (std::size_t type = 0; type < core.type_names.size(); ++type) {
    const task_cost& cost = costs_[type * kinds];
    decisions_by_type_.push_back(cost.seconds.empty() ? nullptr
                                                      : platform_.contention.decisions_of(
                                                            policy_.name(), cost.seconds.front()));
  }
  asked_about_ = decisions_by_type_.empty() ? nullptr : decisions_by_type_.front();
}

// Before the run: who needs its data's way, and whether tasks that should bring their seconds do.
void engine::follow_data(const detail::graph_core& core) {
  arrivals_.assign(core.any_cost ? core.count : 0, {});
  if (std::ranges::find(given_, true) == given_.end()) return;
  core.for_each_node([&](const node* n) {
    if (!given_[core.kinds[n->kind].type]) return;
    const detail::cold_data* own = detail::cold_of(n);
    if (const std::size_t has = own ? own->core_seconds.size() : 0; has < machine_.core_count())
      throw input_error("task '" + core.label(n) + "' has given seconds for " +
                        std::to_string(has) + " cores; " + platform_.name + " has " +
                        std::to_string(machine_.core_count()));
  });
}

// They stay where one run left them for the next.
void engine::name_data(detail::graph_core& core) {
  if (!residency_ || named_ == &core) return;
  const std::span<const task_data> all = residency_->data();
  if (all.size() != core.count)
    throw usage_error("data are told of " + std::to_string(all.size()) +
                      " tasks, and the graph has " + std::to_string(core.count));
  core.places = std::make_unique<detail::data_places>();
  for (std::uint32_t t = 0; t < all.size(); ++t) core.places->names(t, all[t].read, all[t].written);
  named_ = &core;
}

sim_time engine::data_there(const node* n, core_id c) const noexcept {
  return arrivals_.empty() ? 0 : arrivals_[detail::id_of(n)].at(c);
}

void engine::loop() {
  const sim_time begun = now_, horizon = std::min(now_ + to_time(options_.horizon_s), longest - 1);
  const std::uint32_t count = machine_.core_count();
  std::uint32_t events = 0;
  while (left_ > 0) {
    if (++events % events_between_looks == 0 && options_.stopped && options_.stopped())
      throw cancelled_error("the simulated run was stopped");
    if (events_.empty() || events_.time_of(events_.first()) == never)
      throw std::runtime_error(std::string(policy_.name()) + " leaves " + std::to_string(left_) +
                               " tasks, and every worker rests");
    const event_queue::slot s = events_.first();
    now_ = events_.time_of(s);
    if (now_ > horizon)
      throw input_error("virtual time passed the horizon of " +
                        std::to_string(to_seconds(horizon - begun)) + " s with " +
                        std::to_string(left_) + " tasks left; give a longer one or fewer tasks");
    if (s < count) {
      resume(cores_[events_.take()]);
      events_.happened();
    } else if (s == count) {
      steal_happens();
    } else if (s <= count + phases_.size()) {
      toggle(s - count - 1);
    } else if (s == look_slot()) {
      watch();
    } else {
      quota_event();
    }
    if (steal_changed_) next_steal();
  }
}

// A core's own event.
void engine::resume(sim_core& w) {
  if (w.doing == activity::running)
    return w.runs->held.empty() ? finish(*w.runs) : run_out(*w.runs);
  if (w.off) {
    w.deferred = true;
    return;
  }
  if (w.doing == activity::idle && std::exchange(w.dozes, false)) return fall_asleep(w);
  if (w.doing == activity::trying) return try_once(w);
  if (w.to_begin) {
    sim_assembly& a = *std::exchange(w.to_begin, nullptr);
    return join(w, a);
  }
  step(w);
}

void engine::becomes(sim_core& w, activity what) {
  const auto in_use = [](activity a) { return a != activity::idle && a != activity::trying; };
  const bool changes = in_use(w.doing) != in_use(what);
  w.doing = what;
  if (!changes) return;
  use_changed(w);
  if (!in_use(what) && !platform_.contention.sleep) stops_using_core(w);
}

void engine::stops_using_core(const sim_core& w) {
  speeds_.rests(w.id, now_);
  schedule_moved();
}

void engine::after(sim_core& w, double in_s, activity what) {
  if (w.doing == activity::idle) leave_search(w);
  w.dozes = false;
  becomes(w, what);
  events_.set(w.id, now_ + to_time(in_s));
}

void engine::schedule_moved() {
  for (load* l : speeds_.moved) events_.set(l->members.front(), l->ends);
  speeds_.moved.clear();
}

// ---- the machine changes ----

void engine::toggle(std::size_t i) {
  phases_[i].advance();
  events_.set(machine_.core_count() + 1 + static_cast<std::uint32_t>(i), phases_[i].next_change());
  apply(i);
}

void engine::apply(std::size_t i) {
  const disturbance& d = phases_[i].what();
  if (d.what == disturbance::kind::offline) return come_and_go(d);
  if (d.what == disturbance::kind::quota) return set_quota(phases_[i]);
  apply_phase(phases_[i], machine_, speeds_, now_);
  if (d.what == disturbance::kind::clock) {
    const kind_id k = machine_.cores()[d.cores.front()].kind;
    energy_.set_clock(k, speeds_.clock(k), now_);
  } else {
    for (const core_id c : d.cores) update_core(cores_[c]);
  }
  schedule_moved();
}

void engine::update_core(sim_core& w) {
  count_co_runner(w);
  const core_share now = share_of(w.id, phases_);
  const bool off = now.off || quota_.exhausted();
  w.co_runner_runs = now.off;
  w.co_runner_here = now.co_runner;
  speeds_.set_neighbour(w.id, now.co_runner, now_);
  w.fluid = now.fluid;
  if (off != w.off && w.host == no_core && w.runs && w.runs->width > 1 && !w.runs->cost->fixed) {
    if (off)
      speeds_.hold(*w.runs, w.id, now_);
    else
      speeds_.release(*w.runs, w.id, now_);
  }
  if (off && !w.off) w.off_since_s = now_s();
  // A worker that polls sees that it was away; at a task its sample tells.
  if (!off && w.off && !w.runs) tables.gap(w.id, w.off_since_s, now_s());
  w.off = off;
  use_changed(w);
  if (w.host == no_core) speeds_.set_capacity(w.id, off ? 0.0 : now.fluid, now_);
  if (w.guest != no_core) look_after_guest(w);
  if (off) {
    if (part_of(w.id).searching.contains(w.id)) leave_search(w);
  } else {
    if (std::exchange(w.deferred, false)) events_.set(w.id, now_);
    if (w.doing == activity::idle) enter_search(w);
  }
}

void engine::count_co_runner(sim_core& w) {
  const sim_time before = std::exchange(w.counted, now_);
  if (!w.off && w.fluid == 1.0 && !w.co_runner_here) return;  // it has the core for itself
  const double since_s = to_seconds(now_ - before);
  const double lost_s = (w.off ? 1.0 : 1.0 - w.fluid) * since_s;
  if (w.host == no_core) w.without_s += lost_s;
  if (!w.co_runner_here) return;
  w.co_runner_there_s += since_s;
  w.co_runner_s += lost_s;
}

engine::co_runner_time engine::co_runner(core_id c) const noexcept {
  return {cores_[c].co_runner_s, cores_[c].co_runner_there_s};
}

// ---- a task's end ----

void engine::stop(sim_assembly& a, std::size_t member) {
  member_time& t = a.times[member];
  t.seconds = now_s() - a.came_s[member];
  cores_[t.core].work_s += t.seconds;
  cores_[t.core].runs = nullptr;
  if (cores_[t.core].host != no_core) send_home(cores_[t.core]);
  after(cores_[t.core], 0.0);
  let_go(a);
}

// Who finds no block left goes, and the task waits for those that lost their core in the middle of
// one.
void engine::run_out(sim_assembly& a) {
  for (std::size_t i = 0; i < a.times.size(); ++i)
    if (const sim_core& w = cores_[a.times[i].core]; w.runs == &a && !w.stands_still()) {
      speeds_.leave(a, w.id, now_);
      stop(a, i);
    }
  schedule_moved();
}

void engine::finish(sim_assembly& a) {
  a.done = true;
  const core_id last =
      a.members.size() == 1
          ? a.members.front()
          : a.members[last_out_.below(static_cast<std::uint32_t>(a.members.size()))];
  const bool comes_home = cores_[last].host != no_core;
  ++a.holds;
  done_first_.clear();
  for (std::size_t i = 0; i < a.times.size(); ++i) {
    const sim_core& w = cores_[a.times[i].core];
    if (w.runs != &a) continue;
    if (w.id != last && !w.off) done_first_.push_back(w.id);
    stop(a, i);
  }
  speeds_.finish(a, now_);
  schedule_moved();
  const double now = now_s();
  measured m;
  m.leader_first = a.times.front().core == a.at.leader;
  for (const member_time& t : a.times)
    if (t.core == a.at.leader) m.leader_s = t.seconds;
  m.members = a.times;
  if (const detail::cold_data* own = detail::cold_of(a.task); own && own->work > 0.0)
    m.work = own->work;
  m.span_s = now - a.came_s.front();
  if (m.span_s > long_body_s && lends()) have_watched();
  m.sample_s = sample_of(options_.timing, m);
  if (!m.leader_first) ++stats_.late_leaders;
  if (a.at.width == 1 && m.span_s > long_body_s && options_.table.two_factors) {
    count_co_runner(cores_[last]);
    m.cpu_s = m.span_s - (cores_[last].without_s - a.without_s);
  }
  ++stats_.tasks;
  node* n = a.task;
  auto& count = stats_.places[a.where];
  ++(n->flags & detail::flag_critical ? count.critical : count.other);

  sim_core& waker = cores_[last];
  spent_s_ = 0.0;
  const std::uint32_t row = graph_of(n).kinds[n->kind].row;
  if (plan_.asks_done) {
    detail::asked_view v = view_of(waker);
    ask::done(policy_, detail::ref(n), a.where, m, v);
  }
  if (a.at.width == 1)
    m.from_data = distance_between(machine_, detail::data_core_of(n), a.at.leader);
  if (m.from_data == kilter::distance::none && a.at_hand) m.from_data = kilter::distance::at_hand;
  detail::data_now_at(n, a.at.leader);
  if (residency_) residency_->ran(detail::id_of(n), *a.cost, a.at.leader);
  if (standard_learning_) tables.learn(row, a.where, m, now);
  remove_busy(n);
  if (options_.finished) options_.finished(a, last);
  static_assert(detail::flag_critical == detail::flag_high << 1);
  if (((n->flags >> 1) ^ n->flags) & detail::flag_high) n->flags ^= detail::flag_critical;
  --left_;
  // The other members look for work while the last one out has still to release the successors.
  for (const core_id c : done_first_) {
    events_.set(c, never);
    step(cores_[c]);
  }
  let_go(a);
  spent_s_ = 0.0;
  releasing_ = true;
  detail::for_each_successor(n, [&](node* s, double cost_s) {
    if (!arrivals_.empty()) arrivals_[detail::id_of(s)].add(a.at.leader, now_ + to_time(cost_s));
    spent_s_ += platform_.costs.wake_s;
    if (!s->pending.one_done_alone(s->predecessors)) return;
    made_ready(s, n, waker, last);
  });
  releasing_ = false;
  if (comes_home) share_next(waker);  // where it may have to wait
  after(waker, spent_s_);
}

void engine::add_busy(node* n, core_id leader, double seconds) {
  if (busy_.try_emplace(n, leader, seconds).second) cores_[leader].busy_s += seconds;
}

void engine::remove_busy(const node* n) {
  if (busy_.empty()) return;
  const auto at = busy_.find(n);
  if (at == busy_.end()) return;
  cores_[at->second.first].busy_s -= at->second.second;
  busy_.erase(at);
}

// ---- assemblies are used again and again ----

sim_assembly& engine::new_assembly() {
  if (free_.empty()) {
    assemblies_.push_back(std::make_unique<sim_assembly>());
    return *assemblies_.back();
  }
  sim_assembly& a = *free_.back();
  free_.pop_back();
  return a;
}

void engine::let_go(sim_assembly& a) {
  if (--a.holds == 0) free_.push_back(&a);
}

}  // namespace kilter::sim
