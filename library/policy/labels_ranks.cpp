// One path by HEFT's upward rank, in learned seconds (Topcuoglu et al. 2002, papers.md A6.3)
//
//   w(task)    = mean over the cores of the learned time of the task there; cores without a sample
//   do not count
//                nothing learned of its type: the mean of the tasks that have one; nothing learned
//                at all: 1 for each, so ranks are values
//   rank(task) = w(task) + the largest rank of its successors
//   submit:            all ranks; the task of the largest rank is critical
//   ready, critical:   the successors' ranks anew, from w as it is by now and the ranks of theirs;
//   the one of the largest rank is critical
//
// So the path is chosen as it is walked, each step by what has been learned up to it. Ranks two and
// more steps below are those of the submission: to renew them all at each step would cost the
// graph's size each time. Edge costs are not in a rank: places are not known yet.

#include <bit>

#include "policy/labels.hpp"
#include "policy/labels_levels.hpp"
#include "policy/search.hpp"

namespace kilter::labels {

namespace {

double rank(view& v, task_ref t) noexcept { return std::bit_cast<double>(v.state(t).b); }

/// 0 if nothing was learned.
double mean_s(view& v, task_ref t) noexcept {
  double sum_s = 0.0;
  std::uint32_t known = 0;
  for (core_id c = 0; c < v.machine().core_count(); ++c)
    if (const double s = v.time_s(t, search::narrowest(v, t, c)); s > 0.0) {
      sum_s += s;
      ++known;
    }
  return known == 0 ? 0.0 : sum_s / known;
}

double largest_below(view& v, task_ref t) noexcept {
  double below = 0.0;
  each_successor(v, t, [&](task_ref next) { below = std::max(below, rank(v, next)); });
  return below;
}

}  // namespace

void ranks_on_submit(view& v) noexcept {
  const std::uint32_t size = v.batch_size();
  double sum_s = 0.0;
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    v.set_critical(v.batch_task(i), false);
    if (const double s = mean_s(v, v.batch_task(i)); s > 0.0) {
      sum_s += s;
      ++known;
    }
  }
  const double unknown_s = known == 0 ? 1.0 : sum_s / known;
  task_ref first{};
  double largest = 0.0;
  backwards(v, size, [&](task_ref t) {
    const double own_s = mean_s(v, t);
    const double r = (own_s > 0.0 ? own_s : unknown_s) + largest_below(v, t);
    v.set_state(t, {0, std::bit_cast<std::uint64_t>(r)});
    if (r <= largest) return;
    largest = r;
    first = t;
  });
  if (first) v.set_critical(first, true);
}

void ranks_on_ready(task_ref task, view& v) noexcept {
  task_ref best{};
  double largest = 0.0;
  each_successor(v, task, [&](task_ref next) {
    const double w = mean_s(v, next);
    const double r = w > 0.0 ? w + largest_below(v, next) : rank(v, next);
    if (r <= largest) return;
    largest = r;
    best = next;
  });
  if (best) v.set_critical(best, true);
}

}  // namespace kilter::labels
