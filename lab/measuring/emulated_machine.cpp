#include "measuring/emulated_machine.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>

#include "base/sync.hpp"
#include "disturbing/disturber_load.hpp"
#include "graph/node.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

using sim::sim_time;
using access = kilter::detail::task_access;

/// Sleepers look this often whether their graph was cancelled.
constexpr std::int64_t longest_sleep_ns = 50'000'000;

/// Threads that sleep nearly all the time harm nobody by going first, and what else runs here
/// cannot make them late. Where it is not permitted, at least the timer is asked to be exact.
void be_punctual() noexcept {
  thread_local bool asked = false;
  if (std::exchange(asked, true)) return;
  if (!set_realtime()) ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace

void lateness::add(const lateness& o) noexcept {
  tasks += o.tasks;
  modelled_s += o.modelled_s;
  late_s += o.late_s;
  most_s = std::max(most_s, o.most_s);
}

emulated_machine::emulated_machine(settings s, const std::vector<sim::type_work>& types)
    : platform_(s.platform),
      scale_(s.scale),
      seed_(s.seed),
      speeds_(s.platform),
      last_out_(s.seed, "last out") {
  const machine& m = *platform_.cores;
  for (const place& where : m.places()) {
    const auto widths = platform_.widths(m.cores()[where.leader].kind);
    width_index_.push_back(
        static_cast<std::uint32_t>(std::ranges::find(widths, where.width) - widths.begin()));
  }
  for (const sim::type_work& what : types)
    for (kind_id on = 0; on < m.kinds().size(); ++on)
      costs_.push_back(what.kernel.empty() && what.fixed_s <= 0.0
                           ? sim::task_cost{}
                           : sim::cost_of(platform_, what, on));
  for (core_id c = 0; c < m.core_count(); ++c) seats_.push_back(std::make_unique<seat>());
  for (const sim::disturbance& d : s.disturbances)
    phases_.emplace_back(sim::as_the_clock_follows(platform_, d));
  for (const sim::disturbance_phase& p : phases_) {
    update_cores(p, 0);
    next_change_ = std::min(next_change_, p.next_change());
  }
  speeds_.moved.clear();
}

emulated_machine::~emulated_machine() = default;

void emulated_machine::begin() {
  const std::lock_guard hold(mutex_);
  begin_ns_ = sync::nanoseconds();
  goes_ = true;
}

void emulated_machine::end() {
  const std::lock_guard hold(mutex_);
  goes_ = false;
  for (const auto& s : seats_) s->changed.notify_all();
}

sim_time emulated_machine::now() const noexcept {
  return goes_ ? static_cast<sim_time>(static_cast<double>(sync::nanoseconds() - begin_ns_) * 1e3 /
                                       scale_)
               : 0;
}

// ---- what happens by itself ----

/// Task ends and changes of the machine, each at its own moment and in their order, whoever comes
/// first to see that it is over.
void emulated_machine::advance(sim_time to) {
  for (;;) {
    running* first = nullptr;
    for (const auto& r : running_)
      if (!r->done() && (!first || r->ends < first->ends)) first = r.get();
    if (first && first->ends <= to && first->ends <= next_change_) {
      first->held.empty() ? finish(*first, first->ends) : run_out(*first, first->ends);
      continue;
    }
    if (next_change_ > to) return;
    const sim_time at = next_change_;
    for (std::size_t i = 0; i < phases_.size(); ++i)
      if (phases_[i].next_change() == at) toggle(i, at);
    next_change_ = sim::never;
    for (const sim::disturbance_phase& p : phases_)
      next_change_ = std::min(next_change_, p.next_change());
  }
}

void emulated_machine::toggle(std::size_t phase, sim_time at) {
  phases_[phase].advance();
  update_cores(phases_[phase], at);
  tell_moved();
}

void emulated_machine::update_cores(const sim::disturbance_phase& p, sim_time at) {
  sim::apply_phase(p, *platform_.cores, speeds_, at);
  if (p.what().what == sim::disturbance::kind::clock) return;
  for (const core_id c : p.what().cores) {
    count_co_runner(*seats_[c], at);
    const bool was_off = seats_[c]->share.off;
    seats_[c]->share = sim::share_of(c, phases_);
    running* wide = was_off == seats_[c]->share.off ? nullptr : wide_task_of(c);
    if (wide && was_off) speeds_.release(*wide, c, at);
    if (wide && !was_off) speeds_.hold(*wide, c, at);
    speeds_.set_capacity(c, seats_[c]->share.left(), at);
    seats_[c]->changed.notify_all();
  }
}

void emulated_machine::count_co_runner(seat& s, sim_time at) noexcept {
  const double since_s = sim::to_seconds(at - s.counted);
  s.counted = at;
  if (!s.share.co_runner) return;
  s.co_runner.there_s += since_s;
  s.co_runner.got_s += (1.0 - s.share.left()) * since_s;
}

void emulated_machine::finish(running& r, sim_time at) {
  r.ended = at;
  const std::vector<core_id> members = r.members;
  r.last = members.size() == 1
               ? members.front()
               : members[last_out_.below(static_cast<std::uint32_t>(members.size()))];
  speeds_.finish(r, at);
  tell_moved();
  for (const core_id c : members) seats_[c]->changed.notify_all();
}

/// Who finds no block left goes, and the task waits for those that lost their core in the middle of
/// one.
void emulated_machine::run_out(running& r, sim_time at) {
  const std::vector<core_id> members = r.members;
  for (const core_id c : members)
    if (!seats_[c]->share.off) {
      speeds_.leave(r, c, at);
      seats_[c]->changed.notify_all();
    }
  tell_moved();
}

emulated_machine::running* emulated_machine::wide_task_of(core_id c) {
  for (const auto& r : running_)
    if (!r->done() && r->width > 1 && !r->cost->fixed && r->has(c)) return r.get();
  return nullptr;
}

/// Members that sleep until an end that has moved go to sleep anew.
void emulated_machine::tell_moved() {
  for (const sim::load* l : speeds_.moved)
    for (const core_id c : l->members) seats_[c]->changed.notify_all();
  speeds_.moved.clear();
}

// ---- bodies ----

emulated_machine::running& emulated_machine::started(team_member& c, sim_time at) {
  const kilter::detail::node* n = access::node_of(c);
  const auto known = std::ranges::find(running_, static_cast<const void*>(n),
                                       [](const auto& r) { return r->task; });
  if (known != running_.end()) return **known;
  if (free_.empty()) free_.push_back(std::make_unique<running>());
  running_.push_back(std::move(free_.back()));
  free_.pop_back();
  running& r = *running_.back();
  const machine& m = *platform_.cores;
  const core& leader = m.cores()[c.place().leader];
  const kilter::detail::cold_data* own = kilter::detail::cold_of(n);
  r.task = n;
  r.cost =
      &costs_[kilter::detail::graph_of(n).kinds[n->kind].type * m.kinds().size() + leader.kind];
  r.cluster = leader.cluster;
  r.width = c.width();
  r.width_index = width_index_[*m.find(c.place())];
  r.left = sim::noise_factor(platform_.noise_sigma, seed_, kilter::detail::id_of(n)) *
           (own && own->work > 0.0 ? own->work : 1.0);
  r.members.clear();
  r.begun = at;
  r.ended = sim::never;
  speeds_.begin(r, at);
  return r;
}

void emulated_machine::work(team_member& c) {
  std::unique_lock hold(mutex_);
  // After the end of a wide task its chunks are used up, so that who comes between the end and the
  // closing does not begin it anew.
  if (c.width() > 1 && !c.next_chunk(c.width(), 1)) return;
  const sim_time came = now();
  advance(came);
  running& r = started(c, came);
  ++r.inside;
  if (!r.done()) {
    speeds_.join(r, c.core(), came);
    tell_moved();
  }
  while (!r.done() && r.has(c.core())) {
    sleep(c.core(), std::min(r.ends, next_change_), hold);
    advance(now());
    if (!r.done() && c.cancelled()) finish(r, now());
  }
  leave(r, c, hold);
}

/// The last one out releases the successors. Sleepers that wake for the same moment do so in an
/// order that hardly changes, while who takes the last piece of real work is anybody; so it is
/// drawn, as in the simulator.
void emulated_machine::leave(running& r, team_member& c, std::unique_lock<std::mutex>& hold) {
  if (c.width() > 1)
    while (c.next_chunk(c.width(), 1)) {
    }
  while (r.done() && r.last == c.core() && r.inside > 1) sleep(c.core(), sim::never, hold);
  if (--r.inside > 0) {
    if (r.done() && r.inside == 1) seats_[r.last]->changed.notify_all();
    return;
  }
  const double late_s = sim::to_seconds(std::max<sim_time>(0, now() - r.ended));
  late_.add({1, sim::to_seconds(r.ended - r.begun), late_s, late_s});
  const auto at = std::ranges::find(running_, &r, &std::unique_ptr<running>::get);
  free_.push_back(std::move(*at));
  running_.erase(at);
}

void emulated_machine::sleep(core_id c, sim_time until, std::unique_lock<std::mutex>& hold) {
  const std::int64_t soon = sync::nanoseconds() + longest_sleep_ns;
  const double at = until == sim::never ? static_cast<double>(soon)
                                        : static_cast<double>(begin_ns_) +
                                              static_cast<double>(until) * scale_ * 1e-3 + 1.0;
  const auto ns = static_cast<std::int64_t>(std::min(at, static_cast<double>(soon)));
  seats_[c]->changed.wait_until(
      hold, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns)));
}

// ---- what the runtime asks ----

std::int64_t emulated_machine::cpu_nanoseconds(core_id c) noexcept {
  const std::lock_guard hold(mutex_);
  const sim_time at = now();
  advance(at);
  count_co_runner(*seats_[c], at);
  return (at - sim::to_time(seats_[c]->co_runner.got_s)) / 1000;
}

bool emulated_machine::has_core(core_id c) noexcept {
  const std::lock_guard hold(mutex_);
  if (!goes_) return true;
  advance(now());
  return !seats_[c]->share.off;
}

void emulated_machine::wait_for_core(core_id c) noexcept {
  be_punctual();
  std::unique_lock hold(mutex_);
  while (goes_ && !interrupted()) {
    advance(now());
    if (!seats_[c]->share.off) return;
    sleep(c, next_change_, hold);
  }
}

// ---- what is told afterwards ----

emulated_machine::co_runner_time emulated_machine::co_runners() {
  const std::lock_guard hold(mutex_);
  const sim_time at = now();
  advance(at);
  co_runner_time all;
  for (const auto& s : seats_) {
    count_co_runner(*s, at);
    all.got_s += s->co_runner.got_s;
    all.there_s += s->co_runner.there_s;
  }
  return all;
}

lateness emulated_machine::late() const {
  const std::lock_guard hold(mutex_);
  return late_;
}

}  // namespace kilter::lab
