#include "balance/os/accounts.hpp"

#include <algorithm>
#include <cmath>

namespace kilter::balance::os {

void accounts::began(const watched_thread& t) { clocks_[t.id] = {t.ran_ns, t.waited_ns}; }

void accounts::times(const watched_thread& t, thread_sample& s) {
  clocks& before = clocks_[t.id];
  s.ran_s = static_cast<double>(t.ran_ns - std::min(t.ran_ns, before.ran_ns)) * 1e-9;
  s.waited_s = static_cast<double>(t.waited_ns - std::min(t.waited_ns, before.waited_ns)) * 1e-9;
  before = {t.ran_ns, t.waited_ns};
}

void accounts::observed(const observation& o) {
  for (const thread_sample& s : o.threads) {
    result.classes_seen |= class_of(s) != thread_class::unknown;
    const auto at = expected_.find(s.thread);
    if (at == expected_.end() || !s.misses || *s.misses <= 0.0) continue;
    const double actual_per_s = *s.misses / o.length_s;
    error_sum_ += (at->second - actual_per_s) / actual_per_s;
    ++error_count_;
  }
}

void accounts::answered(const answer& a) {
  ++result.quanta;
  result.swaps += a.swaps;
  result.rejected += a.rejected;
  expected_before_ = std::move(expected_);
  expected_.clear();
  for (const expectation& e : a.expected) expected_[e.thread] = e.misses_per_s;
}

void accounts::moved(const move& m, double now_s) {
  ++result.moves;
  const move_row row{now_s, m.thread, m.from, m.to, m.why};
  if (result.log.size() < log_limit) result.log.push_back(row);
  last_moves_[m.thread] = row;
}

void accounts::ended(const watched_thread& t) {
  lifetimes_[t.program].push_back({t.last_s - t.first_s, static_cast<double>(t.ran_ns) * 1e-9});
  clocks_.erase(t.id);
  last_moves_.erase(t.id);
}

void accounts::finish_threads(const targets& watched, double now_s) {
  // The threads of a program that has ended, ended with it.
  if (result.program_status)
    for (const watched_thread* const t : watched.threads())
      lifetimes_[t->program].push_back({now_s - t->first_s, static_cast<double>(t->ran_ns) * 1e-9});
  for (const watched_program& p : watched.programs())
    if (p.threads > 0) result.programs.push_back({p.pid, p.name, p.threads, p.last_s - p.first_s});
  result.threads = watched.threads_seen();
}

std::optional<double> accounts::fairness() const {
  double sum = 0.0;
  int programs = 0;
  for (const auto& [program, all] : lifetimes_) {
    double most_s = 0.0;
    for (const lifetime& l : all) most_s = std::max(most_s, l.ran_s);
    std::vector<double> worked;
    for (const lifetime& l : all)
      // who only waits for the others is no part of the work
      if (l.lived_s > 0.0 && l.ran_s >= 0.1 * most_s && l.ran_s > 0.0) worked.push_back(l.lived_s);
    if (worked.size() < 2) continue;
    double mean = 0.0, square = 0.0;
    for (const double s : worked) mean += s / static_cast<double>(worked.size());
    for (const double s : worked)
      square += (s - mean) * (s - mean) / static_cast<double>(worked.size());
    sum += std::sqrt(square) / mean;
    ++programs;
  }
  return programs == 0 ? std::nullopt : std::optional(1.0 - sum / programs);
}

session_result accounts::conclude() {
  result.fairness = fairness();
  if (error_count_ > 0) result.prediction_error = error_sum_ / static_cast<double>(error_count_);
  return std::move(result);
}

const move_row* accounts::last_move(thread_id id) const {
  const auto at = last_moves_.find(id);
  return at == last_moves_.end() ? nullptr : &at->second;
}

thread_class accounts::class_of(const thread_sample& s) const {
  if (s.miss_ratio)
    return *s.miss_ratio > memory_above_ ? thread_class::memory : thread_class::compute;
  return s.told;
}

std::optional<double> accounts::expected(thread_id id) const {
  const auto at = expected_before_.find(id);
  return at == expected_before_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace kilter::balance::os
