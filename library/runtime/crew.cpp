#include "runtime/crew.hpp"

#include <algorithm>

#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {

crew::~crew() = default;

void crew::hire() {
  for (core_id c = 0; c < of_.settings.machine->core_count(); ++c)
    all_.push_back(std::make_unique<worker>(of_, c));
}

void crew::stop() noexcept { parked_.stop(all_); }

// One on a core that others slowed lately may come a slice late.
template <class May>
bool crew::wake_one(May may) noexcept {
  const double now = of_.clock.now_s();
  return detail::wake_one(
      all_, worker::current(), [&](const worker& w) { return w.ours() && may(w); },
      [&](const worker& w) { return of_.tables.slowed_lately(w.core, now); });
}

void crew::notify_any() noexcept {
  if (!parked_.somebody_is_needed()) return;
  if (!wake_one([](const worker&) { return true; })) of_.cores.lack();
}

void crew::wake_for_what_waits(bool queues_too) noexcept {
  const bool look = of_.settings.deques || any_deep();
  if (of_.submissions.any() ||
      (look && std::ranges::any_of(all_, [](const auto& w) { return w->has_open_work(); })))
    notify_any();
  if (!queues_too) return;
  for (const auto& q : of_.queues)
    if (q->size() > 0) notify_takers(*q);
}

void crew::notify_takers(const declared_queue& q) noexcept {
  if (!parked_.somebody_sleeps()) return;
  const worker* self = worker::current();
  // Others may leave it to its owner.
  if (q.owner() != no_core && all_[q.owner()].get() != self && all_[q.owner()]->ours() &&
      all_[q.owner()]->wake())
    return;
  if (wake_one([&](const worker& w) { return q.may_take(w.core); })) return;
  of_.cores.lack();
  // Left over: the caller itself, on its way to sleep.
  if (self && &self->owner == &of_ && self->ours() && q.may_take(self->core))
    all_[self->core]->wake();
}

void crew::notify_other_takers(const declared_queue& q) noexcept {
  if (!parked_.somebody_sleeps()) return;
  const worker* self = worker::current();
  for (const auto& w : all_)
    if (w.get() != self && w->ours() && q.may_take(w->core)) w->wake();
}

void crew::notify_all() noexcept {
  for (const auto& w : all_) w->wake();
}

}  // namespace kilter::inline v0::detail
