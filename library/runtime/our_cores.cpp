#include "runtime/our_cores.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "policy/ask.hpp"
#include "runtime/engine.hpp"
#include "runtime/pinning.hpp"

namespace kilter::inline v0::detail {
namespace {

// A look takes some ten microseconds. Beside others it is what one needs anew, or no longer, that
// the others hear of so late.
constexpr std::int64_t between_looks_ns = 10'000'000, beside_others_ns = 4'000'000;
// A pause that is shorter moves nothing.
constexpr std::int64_t pause_ns = 20'000'000;

bool is_refused() noexcept {
  const char* const variable = std::getenv("KILTER_SHARING");
  return variable && !std::strcmp(variable, "0");
}

/// A core that is away keeps nothing from the others: each of them may take what waits. A policy
/// from outside that says who takes what must be one that is told of cores that went.
bool any_core_may_take(const discipline& plan, const policy& p) noexcept {
  for (const queue_spec& q : plan.queues)
    if (!q.takers.empty()) return false;
  return p.trusted() || plan.asks_machine || !plan.asks_next;
}

}  // namespace

void our_cores::begin(bool pinned) {
  const engine_settings& s = of_.settings;
  if (!pinned || of_.workers.size() < 2 || s.attached.emulated ||
      !s.options.shares_cores.value_or(!s.options.machine) || is_refused() ||
      !any_core_may_take(s.plan, *s.policy))
    return;
  allowed_ = {};
  for (const kilter::core& c : s.machine->cores()) {
    if (c.os_index < 0 || c.os_index >= static_cast<int>(sharing::most_cpus)) return;
    allowed_.add(static_cast<std::uint32_t>(c.os_index));
  }
  page_ = sharing::page(nullptr, pause_ns);
  ends_.store(false, sync::memory_order_relaxed);
  try {
    looks_ = sync::thread([this] { look_on(); });
  } catch (const std::system_error&) {
    // Without a thread to look it is as if there were no others.
  }
}

void our_cores::end() noexcept {
  if (!looks_.joinable()) return;
  ends_.store(true, sync::memory_order_release);
  wake();
  looks_.join();
  page_.leave();
  become({allowed_, 0});
}

void our_cores::wake() noexcept {
  sleeps_.store(false, sync::memory_order_relaxed);
  ticket_.fetch_add(1, sync::memory_order_release);
  sync::unpark(ticket_, 1);
}

void our_cores::look_on() noexcept {
  for (std::int64_t ran_ns = 0; !ends_.load(sync::memory_order_acquire);) {
    const std::uint32_t ticket = ticket_.load(sync::memory_order_acquire);
    const std::int64_t now_ns = sync::nanoseconds();
    const std::uint32_t cores = could_use();
    const sharing::share share = page_.beat(allowed_, sharing::percent * cores);
    std::int64_t rest_ns = share.others > 0 ? beside_others_ns : between_looks_ns;
    if (cores != 0) {
      ran_ns = now_ns;
      become(share);
    } else if (now_ns - ran_ns > 2 * pause_ns) {  // the page says so by now
      rest_ns = -1;
      sleeps_.store(true, sync::memory_order_seq_cst);
      if (of_.runs.any()) rest_ns = 0;
    }
    if (rest_ns != 0) sync::park(ticket_, ticket, rest_ns);
    sleeps_.store(false, sync::memory_order_relaxed);
  }
}

std::uint32_t our_cores::could_use() noexcept {
  const bool more = lacks_.exchange(false, sync::memory_order_relaxed);
  if (!of_.runs.any()) return 0;
  std::uint32_t busy = 0;
  bool waits = more || of_.submissions.any();
  for (const auto& w : of_.workers) {
    if (!w->idle()) ++busy;
    waits = waits || w->has_open_work();
  }
  for (const auto& q : of_.queues) waits = waits || q->size() > 0;
  return waits ? static_cast<std::uint32_t>(of_.workers.size()) : busy == 0 ? 1 : busy;
}

void our_cores::become(const sharing::share& now) noexcept {
  bool changes = false;
  std::uint32_t given = 0;
  for (const auto& w : of_.workers) {
    const auto cpu = static_cast<std::uint32_t>(of_.settings.machine->cores()[w->core].os_index);
    const bool is = now.others == 0 || now.cpus.has(cpu);
    given += !is;
    changes = changes || is != w->ours();
    w->be_ours(is);
  }
  if (!changes && settled_) return;
  given_.store(given, sync::memory_order_release);
  if (changes && of_.settings.plan.asks_machine)
    tell_policy_.store(true, sync::memory_order_release);
  settled_ = true;
  for (const auto& w : of_.workers) settled_ = w->settle() && settled_;
  if (!changes) return;
  // Who has its core again looks around. So does who has lost it, for what others could take.
  for (const auto& w : of_.workers) w->wake();
}

// ---- what workers ask ----

bool our_cores::all_ours(place_id p) const noexcept {
  if (given() == 0) [[likely]]
    return true;
  const place& where = of_.settings.machine->at(p);
  const auto first = of_.workers.begin() + where.leader;
  return std::all_of(first, first + where.width, [](const auto& w) { return w->ours(); });
}

core_id our_cores::core_of_ours(core_id c) const noexcept {
  if (of_.workers[c]->ours()) return c;
  const machine& m = *of_.settings.machine;
  const cluster& near = m.clusters()[m.cores()[c].cluster];
  for (std::uint32_t i = 1; i < near.size; ++i) {
    const core_id there = near.first + (c - near.first + i) % near.size;
    if (of_.workers[there]->ours()) return there;
  }
  const auto there = std::ranges::find_if(of_.workers, [](const auto& w) { return w->ours(); });
  return there == of_.workers.end() ? c : (*there)->core;  // they are about to change
}

place_id our_cores::place_of_ours(const task_kind& k, place_id wanted,
                                  core_id near) const noexcept {
  if (all_ours(wanted)) return wanted;
  const machine& m = *of_.settings.machine;
  const auto does = [&](place_id p) { return allows_width(k, m.at(p).width) && all_ours(p); };
  for (const place_id p : m.containing(core_of_ours(near)))
    if (does(p)) return p;
  for (const place_id p : m.scan_order())
    if (does(p)) return p;
  return wanted;
}

std::vector<std::uint8_t> our_cores::without_loops(core_id caller) const {
  std::vector<std::uint8_t> away;
  if (given() == 0) return away;
  for (const auto& w : of_.workers) away.push_back(!w->ours());
  if (away[caller] == 0) return away;
  const auto last = std::ranges::find(away.rbegin(), away.rend(), 0);
  if (last != away.rend()) *last = 1;
  return away;
}

bool our_cores::pin_home(core_id c, pid_t thread) const noexcept {
  const machine& m = *of_.settings.machine;
  if (of_.workers[c]->ours()) return pin_to(m, c, thread);
  std::array<core_id, sharing::most_cpus> cores;
  std::size_t count = 0;
  for (const auto& w : of_.workers)
    if (w->ours()) cores[count++] = w->core;
  return pin_to_any(m, {cores.data(), count}, thread);
}

void our_cores::tell_policy(worker& by) noexcept {
  if (!of_.runs.any() || !tell_policy_.exchange(false, sync::memory_order_acq_rel)) return;
  try {
    asked_view v = of_.view_of(by);
    ask::machine(*of_.settings.policy, v);
  } catch (...) {
    tell_policy_.store(true, sync::memory_order_relaxed);
  }
}

}  // namespace kilter::inline v0::detail
