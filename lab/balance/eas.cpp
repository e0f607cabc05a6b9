#include "balance/eas.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "balance/fast_cores.hpp"
#include "balance/gts.hpp"
#include "balance/seating.hpp"

namespace kilter::balance {

namespace {

constexpr double fits = 0.8;           // Linux leaves a fifth of a core's capacity as room
constexpr double worth_moving = 1.06;  // and moves a thread for a sixteenth of its energy

class eas final : public scheduler {
 public:
  eas(const machine& m, const scheduler_options& options) : cores_(m.core_count()) {
    const std::vector<std::uint8_t> fast = fast_flags(m, options.fast_cores);
    double slowest = 0.0, fastest = 0.0;
    for (const core_kind& k : m.kinds()) {
      fastest = std::max(fastest, k.relative_speed);
      slowest = slowest > 0.0 ? std::min(slowest, k.relative_speed) : k.relative_speed;
    }
    const double ratio = slowest > 0.0 ? fastest / slowest : 1.0;
    for (core_id c = 0; c < cores_; ++c) {
      capacity_.push_back(fast[c] != 0 ? 1.0 : 1.0 / ratio);
      watts_.push_back(fast[c] != 0 ? options.eas_power : 1.0);
      by_capacity_.push_back(c);
    }
    std::ranges::stable_sort(by_capacity_, std::ranges::greater{},
                             [&](core_id c) { return capacity_[c]; });
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "eas"; }
  [[nodiscard]] double first_s() const noexcept override { return kernel_tick_s; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t> taken) override {
    return *std::ranges::min_element(by_capacity_, {}, [&](core_id c) { return taken[c]; });
  }

  [[nodiscard]] answer tick(const observation& o) override {
    update(o);
    seating seats(o, cores_);
    std::vector<double> used(cores_, 0.0);
    for (std::size_t i = 0; i < seats.threads(); ++i)
      if (seats.core_of(i) != no_core) used[seats.core_of(i)] += need_of(o, i);
    std::vector<std::size_t> heaviest(seats.threads());
    std::iota(heaviest.begin(), heaviest.end(), std::size_t{0});
    std::ranges::stable_sort(heaviest, std::ranges::greater{},
                             [&](std::size_t i) { return need_of(o, i); });
    const auto full = [&](core_id c) { return used[c] > fits * capacity_[c]; };
    if (std::ranges::any_of(by_capacity_, full))
      fill_up(o, seats, heaviest);
    else
      save(o, seats, heaviest, used);
    answer a;
    a.moves = seats.take();
    a.next_s = kernel_tick_s;
    return a;
  }

 private:
  /// Part of a fastest core.
  [[nodiscard]] double need_of(const observation& o, std::size_t i) const {
    const core_id c = o.threads[i].core;
    return load_.at(o.threads[i].thread) / full_load * (c < cores_ ? capacity_[c] : 1.0);
  }
  [[nodiscard]] static bool may_use(const thread_sample& t, core_id c) {
    return t.may_use.empty() || (c < t.may_use.size() && t.may_use[c] != 0);
  }

  void update(const observation& o) {
    std::unordered_map<thread_id, double> now;
    for (const thread_sample& t : o.threads) {
      const auto before = load_.find(t.thread);
      now[t.thread] =
          before == load_.end()
              ? full_load
              : tracked_load(before->second, std::min(1.0, (t.ran_s + t.waited_s) / o.length_s),
                             o.length_s);
    }
    load_ = std::move(now);
  }

  void fill_up(const observation& o, seating& seats,
               const std::vector<std::size_t>& heaviest) const {
    seats.even_out(by_capacity_);
    for (const std::size_t i : heaviest) {
      const thread_sample& t = o.threads[i];
      const core_id from = seats.core_of(i);
      if (!t.movable || !t.runnable || from == no_core || need_of(o, i) <= fits * capacity_[from])
        continue;
      for (const core_id to : by_capacity_)
        if (capacity_[to] > capacity_[from] && seats.runnable_on(to) == 0 && may_use(t, to)) {
          seats.send(i, to, reason::idle_core);
          break;
        }
    }
  }

  void save(const observation& o, seating& seats, const std::vector<std::size_t>& heaviest,
            std::vector<double>& used) const {
    for (const std::size_t i : heaviest) {
      const thread_sample& t = o.threads[i];
      const core_id from = seats.core_of(i);
      if (!t.movable || from == no_core) continue;
      const double need = need_of(o, i);
      // of a unit of need
      const auto energy = [&](core_id c) { return watts_[c] / capacity_[c]; };
      core_id best = from;
      for (const core_id c : by_capacity_) {
        if (c == from || !may_use(t, c) || used[c] + need > fits * capacity_[c]) continue;
        const bool saves = energy(c) * worth_moving < energy(best),
                   alike = best != from && energy(c) == energy(best);
        if (saves || (alike && used[c] < used[best])) best = c;
      }
      if (best == from) continue;
      seats.send(i, best, reason::load);
      used[from] -= need;
      used[best] += need;
    }
  }

  std::uint32_t cores_;
  std::vector<double> capacity_, watts_;  // by core: of the fastest one; of a slow one
  std::vector<core_id> by_capacity_;
  std::unordered_map<thread_id, double> load_;
};

}  // namespace

std::unique_ptr<scheduler> make_eas(const machine& m, const scheduler_options& options) {
  return std::make_unique<eas>(m, options);
}

}  // namespace kilter::balance
