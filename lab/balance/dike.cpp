#include "balance/dike.hpp"

#include <algorithm>
#include <unordered_map>

#include "balance/decider.hpp"
#include "balance/migrator.hpp"
#include "balance/observer.hpp"
#include "balance/optimizer.hpp"
#include "balance/predictor.hpp"
#include "balance/selector.hpp"

namespace kilter::balance {

namespace {

class dike final : public scheduler {
 public:
  dike(std::string_view name, const machine& m, const scheduler_options& options, goal g)
      : name_(name),
        machine_(m),
        options_(options),
        goal_(g),
        now_{options.swap_size, options.quantum_s} {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    return no_core;
  }
  [[nodiscard]] double first_s() const noexcept override { return options_.quantum_s; }

  [[nodiscard]] answer tick(const observation& o) override {
    auto threads = view_threads(o, options_.memory_above);
    remember_swaps(threads);
    if (o.rates)
      add_quantum(history_, achieved_by_core(threads, machine_.core_count()), options_.window);
    const auto bandwidth = core_bandwidth(history_);
    update_sides(o.rates, bandwidth);

    const double cv = o.rates ? access_cv(threads, options_.global_cv) : 0.0;
    const bool fair = o.rates && cv < options_.fair_below;
    answer a;
    if (o.rates)
      for (const thread_view& t : threads) a.expected.push_back({t.thread, t.rate_per_s});
    if (!fair) swap(o, threads, bandwidth, a);
    if (o.rates) optimize(threads, cv);
    a.next_s = now_.quantum_s;
    ++quantum_;
    return a;
  }

 private:
  /// Threads that are gone are forgotten.
  void remember_swaps(std::vector<thread_view>& threads) {
    std::unordered_map<thread_id, std::uint64_t> still;
    for (thread_view& t : threads) {
      const auto swapped = swapped_in_.find(t.thread);
      if (swapped == swapped_in_.end()) continue;
      t.quanta_since_swap = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(quantum_ - swapped->second, never_swapped - 1));
      still.insert(*swapped);
    }
    swapped_in_ = std::move(still);
  }

  void update_sides(bool rates, std::span<const std::optional<double>> bandwidth) {
    if (!options_.high_bandwidth.empty())
      sides_ = fixed_sides(options_.high_bandwidth, machine_.core_count());
    else if (rates)
      sides_ = bandwidth_sides(bandwidth, sides_);
    else if (sides_.empty() && machine_.kinds().size() > 1)
      sides_ = fixed_sides(machine_.fastest_cores(), machine_.core_count());
  }

  void swap(const observation& o, std::span<const thread_view> threads,
            std::span<const std::optional<double>> bandwidth, answer& a) {
    std::vector<std::uint32_t> threads_on(machine_.core_count());
    for (const thread_view& t : threads)
      if (t.core < threads_on.size()) ++threads_on[t.core];
    const std::uint32_t wanted = options_.pairs ? now_.swap_size : now_.swap_size / 2;
    const std::uint32_t most =
        options_.more_than_half ? wanted : std::min(wanted, most_swapped(threads) / 2);
    std::vector<thread_pair> exchanged;
    for (const thread_pair& p :
         select_pairs(threads, sides_,
                      {most, options_.strict_pairs, options_.turns, options_.one_class, o.rates})) {
      std::optional<swap_forecast> forecast;
      if (o.rates)
        forecast = predict_swap(p, bandwidth, threads_on, now_.quantum_s, options_.swap_overhead_s);
      if (decide_swap(p, forecast, {options_.cool_down, options_.profit_margin}) !=
          swap_verdict::exchange) {
        ++a.rejected;
        continue;
      }
      exchanged.push_back(p);
      for (const thread_id t : {p.low.thread, p.high.thread}) swapped_in_[t] = quantum_;
      if (!forecast) continue;
      for (expectation& e : a.expected) {
        if (e.thread == p.low.thread) e.misses_per_s = forecast->low_per_s;
        if (e.thread == p.high.thread) e.misses_per_s = forecast->high_per_s;
      }
    }
    a.moves = exchange(exchanged);
    a.swaps = static_cast<std::uint32_t>(exchanged.size());
  }

  void optimize(std::span<const thread_view> threads, double cv) {
    cv_sum_ += cv;
    if (goal_ == goal::none || ++cvs_ < options_.optimizer_every) return;
    now_ = next_configuration(now_, goal_, mix_of(threads), cv_sum_ / cvs_ < options_.fair_below,
                              options_.bidirectional, most_swapped(threads));
    cv_sum_ = 0.0;
    cvs_ = 0;
  }

  std::string_view name_;
  const machine& machine_;
  scheduler_options options_;
  goal goal_;
  swap_configuration now_;
  bandwidth_history history_;
  std::vector<core_side> sides_;
  /// the quantum at whose end a thread was last exchanged
  std::unordered_map<thread_id, std::uint64_t> swapped_in_;
  std::uint64_t quantum_ = 0;
  double cv_sum_ = 0.0;
  std::uint32_t cvs_ = 0;
};

}  // namespace

std::unique_ptr<scheduler> make_dike(std::string_view name, const machine& m,
                                     const scheduler_options& options, goal g) {
  return std::make_unique<dike>(name, m, options, g);
}

}  // namespace kilter::balance
