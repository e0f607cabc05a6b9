#include "balance/gts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "balance/fast_cores.hpp"
#include "balance/seating.hpp"

namespace kilter::balance {

namespace {

constexpr double half_life_s = 0.032;

class gts final : public scheduler {
 public:
  gts(const machine& m, const scheduler_options& options)
      : cores_(m.core_count()), up_(options.gts_up), down_(options.gts_down) {
    is_fast_ = fast_flags(m, options.fast_cores);
    for (core_id c = 0; c < cores_; ++c) (is_fast_[c] != 0 ? fast_ : slow_).push_back(c);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "gts"; }
  // also the least time between two crossings: at every tick a thread may cross once
  [[nodiscard]] double first_s() const noexcept override { return kernel_tick_s; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t> taken) override {
    return *std::min_element(fast_.begin(), fast_.end(),
                             [&](core_id a, core_id b) { return taken[a] < taken[b]; });
  }

  [[nodiscard]] answer tick(const observation& o) override {
    update_loads(o);
    seating seats(o, cores_);
    std::vector<std::size_t> heaviest(o.threads.size());
    std::iota(heaviest.begin(), heaviest.end(), std::size_t{0});
    std::stable_sort(heaviest.begin(), heaviest.end(),
                     [&](std::size_t a, std::size_t b) { return load_of(o, a) > load_of(o, b); });
    std::vector<std::uint8_t> crossed(o.threads.size());
    const auto cross = [&](std::size_t i, core_id to, reason why) {
      seats.send(i, to, why);
      crossed[i] = 1;
    };
    const auto on = [&](std::size_t i, bool fast) {
      return seats.core_of(i) != no_core && (is_fast_[seats.core_of(i)] != 0) == fast &&
             o.threads[i].movable;
    };

    if (!slow_.empty()) {
      for (const std::size_t i : heaviest)
        if (on(i, true) && load_of(o, i) < down_) cross(i, seats.emptiest(slow_), reason::load);
      seats.even_out(fast_);
      for (const std::size_t i : heaviest)
        if (on(i, false) && crossed[i] == 0 && o.threads[i].runnable && load_of(o, i) > up_ &&
            seats.runnable_on(seats.emptiest(fast_)) == 0)
          cross(i, seats.emptiest(fast_), reason::idle_core);
      for (auto i = heaviest.rbegin(); i != heaviest.rend(); ++i)
        if (on(*i, true) && crossed[*i] == 0 && o.threads[*i].runnable &&
            seats.runnable_on(seats.core_of(*i)) >= 2 &&
            seats.runnable_on(seats.emptiest(fast_)) > 0 &&
            seats.runnable_on(seats.emptiest(slow_)) == 0)
          cross(*i, seats.emptiest(slow_), reason::load);
      seats.even_out(slow_);
    }
    seats.even_out(fast_);
    answer a;
    a.moves = seats.take();
    a.next_s = kernel_tick_s;
    return a;
  }

 private:
  void update_loads(const observation& o) {
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
  [[nodiscard]] double load_of(const observation& o, std::size_t i) const {
    return load_.at(o.threads[i].thread);
  }

  std::uint32_t cores_;
  double up_, down_;
  std::vector<std::uint8_t> is_fast_;
  std::vector<core_id> fast_, slow_;
  std::unordered_map<thread_id, double> load_;
};

}  // namespace

double tracked_load(double before, double busy, double length_s) {
  const double kept = std::exp2(-length_s / half_life_s);
  return before * kept + full_load * busy * (1.0 - kept);
}

std::unique_ptr<scheduler> make_gts(const machine& m, const scheduler_options& options) {
  return std::make_unique<gts>(m, options);
}

}  // namespace kilter::balance
