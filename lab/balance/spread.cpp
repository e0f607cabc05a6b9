#include "balance/spread.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace kilter::balance {

namespace {

constexpr double most_of = 0.5;  ///< of a quantum: how long a core was idle
constexpr double waits = 0.4;    ///< of two threads on one core each waits for half
constexpr double all_of = 0.9;
constexpr double held_above = 0.25;  ///< used by others
constexpr double little = 0.05;
/// quanta; others that hold a core for less are not worth a move
constexpr int patience = 3;
constexpr double turn_s = 0.1;  ///< quantum while threads take turns

class spread final : public scheduler {
 public:
  spread(const machine& m, const scheduler_options& options)
      : cores_(m.core_count()), quantum_s_(options.quantum_s) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "spread"; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    return no_core;
  }
  [[nodiscard]] double first_s() const noexcept override { return quantum_s_; }

  [[nodiscard]] answer tick(const observation& o) override {
    answer a;
    a.next_s = quantum_s_;
    if (o.idle.size() != cores_ || send_to_idle(o, a) || !find_held(o)) {
      held_for_ = 0;
      ran_s_.clear();
      return a;
    }
    for (const thread_sample* const t : working_) ran_s_[t->thread] += t->ran_s;
    if (++held_for_ < patience) return a;
    take_turns(a);
    a.next_s = std::min(quantum_s_, turn_s);
    return a;
  }

 private:
  static bool may_use(const thread_sample& t, core_id c) {
    return t.may_use.empty() || (c < t.may_use.size() && t.may_use[c] != 0);
  }

  bool send_to_idle(const observation& o, answer& a) const {
    std::vector<double> idle = o.idle;
    // who stays need not wait any more, so one leaves a core in a quantum
    std::vector<std::uint8_t> relieved(cores_);
    for (const thread_sample& t : o.threads) {
      if (!t.movable || !t.runnable || t.core >= cores_ || relieved[t.core] != 0 ||
          t.waited_s < waits * o.length_s)
        continue;
      core_id best = no_core;
      for (core_id c = 0; c < cores_; ++c)
        if (c != t.core && idle[c] > most_of && may_use(t, c) &&
            (best == no_core || idle[c] > idle[best]))
          best = c;
      if (best == no_core) continue;
      idle[best] = 0.0;
      relieved[t.core] = 1;
      a.moves.push_back({t.thread, t.core, best, reason::load});
    }
    return !a.moves.empty();
  }

  /// Whether there is one thread that works all the time on each core, and others have held the
  /// same cores as a quantum ago.
  bool find_held(const observation& o) {
    working_.clear();
    double rest_s = 0.0;
    std::vector<double> ran(cores_);
    std::vector<std::uint32_t> on(cores_);
    for (const thread_sample& t : o.threads) {
      if (t.ran_s + t.waited_s < all_of * o.length_s) {
        rest_s += t.ran_s;
        continue;
      }
      if (t.core >= cores_ || !t.movable) return false;
      for (core_id c = 0; c < cores_; ++c)
        if (!may_use(t, c)) return false;
      ++on[t.core];
      ran[t.core] += t.ran_s / o.length_s;
      working_.push_back(&t);
    }
    if (working_.size() != cores_ || cores_ < 2 || rest_s > little * o.length_s) return false;
    if (std::any_of(on.begin(), on.end(), [](std::uint32_t n) { return n != 1; })) return false;
    std::vector<std::uint8_t> held(cores_);
    for (core_id c = 0; c < cores_; ++c) held[c] = 1.0 - o.idle[c] - ran[c] > held_above ? 1 : 0;
    const bool same = held == held_;
    held_ = std::move(held);
    const auto some = static_cast<std::uint32_t>(std::count(held_.begin(), held_.end(), 1));
    return same && some > 0 && some < cores_;
  }

  void take_turns(answer& a) const {
    std::vector<const thread_sample*> slowed, lucky;
    for (const thread_sample* const t : working_)
      (held_[t->core] != 0 ? slowed : lucky).push_back(t);
    const auto less = [&](const thread_sample* x, const thread_sample* y) {
      return ran_s_.at(x->thread) < ran_s_.at(y->thread);
    };
    std::stable_sort(slowed.begin(), slowed.end(), less);
    std::stable_sort(lucky.begin(), lucky.end(),
                     [&](const auto* x, const auto* y) { return less(y, x); });
    for (std::size_t i = 0; i < std::min(slowed.size(), lucky.size()); ++i) {
      if (ran_s_.at(slowed[i]->thread) >= ran_s_.at(lucky[i]->thread)) break;
      a.moves.push_back({slowed[i]->thread, slowed[i]->core, lucky[i]->core, reason::rotation});
      a.moves.push_back({lucky[i]->thread, lucky[i]->core, slowed[i]->core, reason::rotation});
      ++a.swaps;
    }
  }

  std::uint32_t cores_;
  double quantum_s_;
  std::vector<std::uint8_t> held_;             ///< by core, in the last quantum
  int held_for_ = 0;                           ///< quanta
  std::map<thread_id, double> ran_s_;          ///< since the cores are held
  std::vector<const thread_sample*> working_;  ///< of the observation at hand
};

}  // namespace

std::unique_ptr<scheduler> make_spread(const machine& m, const scheduler_options& options) {
  return std::make_unique<spread>(m, options);
}

}  // namespace kilter::balance
