#include "policy/auto_choice.hpp"

namespace kilter::auto_parts {

namespace {

// What each one does when it is halved or doubled: docs/inside/decisions/constants.md.

// Of the task's time. For a wide place the longest way waits as long as it then runs there: twice
// the width is worth at most that. Half: .4 % slower in the mean and 51 of 600 cells by more than 3
// %; twice: .2 % faster, 27 cells slower and 34 faster.
constexpr double long_way_wait = 1.0;
// Of the rest. A task that ends this much before it delays nothing, though ranks are sums of
// predictions. .4 and 1: the same in the mean.
constexpr double in_time_share = 0.8;
// Seconds. A core looks again after this at the earliest, since to sleep and to wake takes about as
// long. Half: .1 % slower where waking is free, as in simulation.
constexpr double shortest_rest_s = 20e-6;
// Seconds beyond what was promised before a task that nobody came for is taken after all: for one
// to wake up and to come. Half and twice: the same in the mean where waking is free.
constexpr double patience_s = 100e-6;

}  // namespace

// Under a quota it is CPU time that counts, not cores.
std::uint32_t share(const situation& now, std::uint32_t cores, std::uint32_t tasks) noexcept {
  return now.all_slowed && !now.paid_known ? 1 : std::max(1u, cores / tasks);
}

goal goal_of(const situation& now, std::uint32_t share) noexcept {
  goal g{.now_s = now.now_s, .soon_s = now.now_s + free_soon * now.fastest_s, .share = share};
  g.on_long_way = now.on_long_way() && (!now.all_slowed || now.paid_known);
  if (g.on_long_way) g.wanted_s = now.fastest_s * now.left_s / now.way_s;
  g.anywhere = g.on_long_way || share > 1;
  return g;
}

void place_start::add(double promised_s) noexcept {
  doubt_s_ = std::max(doubt_s_, now_s_ - promised_s);
  begin_s_ = std::max(begin_s_, free_at_s(promised_s, now_s_));
}

bool place_start::worth_waiting_for(const goal& g, std::uint32_t width,
                                    double time_s) const noexcept {
  return begin_s_ - now_s_ + doubt_s_ <=
         (g.on_long_way && width > 1 ? long_way_wait : free_soon) * time_s;
}

bool place_search::is_better(const option& o, const option& than, double of,
                             double of_that) noexcept {
  if (o.unsure == than.unsure) return of < of_that;
  return o.unsure ? (1.0 + sooner_margin) * of < of_that : of <= (1.0 + sooner_margin) * of_that;
}

void place_search::offer(const option& o) noexcept {
  const auto takes_s = [&](const option& x) { return x.end_s() - goal_.now_s; };
  const bool fast_enough = goal_.on_long_way && takes_s(o) <= goal_.wanted_s;
  if (fast_enough && (!cheap_ || is_better(o, *cheap_, o.cost_s(), cheap_->cost_s()))) cheap_ = o;
  if (!first_ || (goal_.anywhere ? fair(o) && is_better(o, *first_, takes_s(o), takes_s(*first_))
                                 : is_better(o, *first_, o.cost_s(), first_->cost_s())))
    first_ = o;
}

bool others_builder::add(double free_s, double first_s, double mean_s, bool surer) noexcept {
  const double left_s = by_s_ - free_s;
  if (left_s <= first_s &&
      !(surer && free_s + first_s <= end_s_ + sooner_margin * (end_s_ - now_s_)))
    return false;
  if (all_.first_free_s == 0.0 || free_s < all_.first_free_s) all_.first_free_s = free_s;
  if (free_s <= now_s_ + free_soon * first_s) ++all_.idle;
  constexpr double many = 1e6;  // tasks; more than wait anywhere, and a number that can be counted
  all_.sooner += 1 + static_cast<std::uint32_t>(std::clamp((left_s - first_s) / mean_s, 0.0, many));
  return true;
}

std::uint32_t share_beside(const situation& now, const others& rest, std::uint32_t tasks) noexcept {
  return share(now, now.idle - std::min(now.idle, rest.idle),
               tasks - std::min(tasks - 1, rest.sooner));
}

bool in_time(const situation& now, double first_way_s, double end_s) noexcept {
  if (now.all_slowed) return false;
  const double after_s = std::max((now.way_s - now.fastest_s) * now.quicker, now.later_s);
  const double rest_s = std::max(now.left_s, first_way_s * now.quicker);
  return end_s - now.now_s + after_s < in_time_share * rest_s;
}

bool nobody_came(queue_note note, double now_s, double end_s) noexcept {
  return note.was_declined() && note.declined_for_s(now_s) > end_s - now_s + patience_s;
}

declined decline(const others& rest, std::uint32_t waiting, double now_s) noexcept {
  if (rest.sooner <= waiting) return {.skip = rest.sooner};
  return {.skip = resting, .until_s = rest_until_s(rest.first_free_s, now_s)};
}

double rest_until_s(double until_s, double now_s) noexcept {
  return std::max(now_s + shortest_rest_s, until_s);
}

}  // namespace kilter::auto_parts
