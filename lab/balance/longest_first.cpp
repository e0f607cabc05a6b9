#include "balance/longest_first.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "balance/fast_cores.hpp"

namespace kilter::balance {

namespace {

/// The free core that is preferred, else the other free one, else the one with the fewest threads,
/// a preferred one if there is a choice.
core_id choose(bool prefer_fast, std::span<const std::uint8_t> fast,
               std::span<const std::uint32_t> taken) {
  const auto cost = [&](std::size_t c) {
    return std::pair(taken[c], (fast[c] != 0) != prefer_fast);
  };
  std::size_t best = 0;
  for (std::size_t c = 1; c < taken.size(); ++c)
    if (cost(c) < cost(best)) best = c;
  return static_cast<core_id>(best);
}

class longest_first final : public scheduler {
 public:
  longest_first(std::string_view name, const machine& m, const scheduler_options& options,
                longest_first_variant v)
      : name_(name),
        variant_(v),
        quantum_s_(options.quantum_s),
        fast_(fast_flags(m, options.fast_cores)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] double first_s() const noexcept override { return quantum_s_; }

  [[nodiscard]] core_id place(const newcomer& n, std::span<const std::uint32_t> taken) override {
    const double length = variant_.key == job_key::length ? n.length : n.critical_length;
    if (length <= 0.0 || n.index >= n.group.size()) return no_core;
    if (variant_.idle_fast) length_of_[n.thread] = length;
    group_plan& plan = plans_[n.program];
    const bool planned = plan.size == n.group.size() && n.index >= plan.next &&
                         n.index - plan.first < plan.cores.size();
    if (!planned && n.index + 1 == n.group.size())
      return place_online(signed_lengths(n.group), fast_, taken);
    if (!planned)
      plan = {n.group.size(), n.index, n.index,
              plan_lengths(signed_lengths(n.group.subspan(n.index)), fast_, taken)};
    plan.next = n.index + 1;
    return plan.cores[n.index - plan.first];
  }

  [[nodiscard]] answer tick(const observation& o) override {
    answer a;
    a.next_s = quantum_s_;
    if (variant_.idle_fast) fill_idle(o, a);
    return a;
  }

 private:
  /// What was planned for a program's group when the first of its threads appeared.
  struct group_plan {
    std::size_t size = 0;
    std::uint32_t first = 0, next = 0;
    std::vector<core_id> cores;
  };

  [[nodiscard]] std::vector<double> signed_lengths(std::span<const double> lengths) const {
    std::vector<double> keys(lengths.begin(), lengths.end());
    if (variant_.shortest)
      for (double& k : keys) k = -k;
    return keys;
  }

  void fill_idle(const observation& o, answer& a) const {
    std::vector<std::uint8_t> busy(fast_.size());
    std::vector<const thread_sample*> slow;
    for (const thread_sample& t : o.threads) {
      if (!t.runnable || t.core >= fast_.size()) continue;
      busy[t.core] = 1;
      if (fast_[t.core] == 0 && t.movable && length_of_.contains(t.thread)) slow.push_back(&t);
    }
    std::stable_sort(slow.begin(), slow.end(), [&](const thread_sample* x, const thread_sample* y) {
      return length_of_.at(x->thread) > length_of_.at(y->thread);
    });
    auto next = slow.begin();
    for (core_id c = 0; c < fast_.size() && next != slow.end(); ++c)
      if (fast_[c] != 0 && busy[c] == 0) {
        a.moves.push_back({(*next)->thread, (*next)->core, c, reason::idle_core});
        ++next;
      }
  }

  std::string_view name_;
  longest_first_variant variant_;
  double quantum_s_;
  std::vector<std::uint8_t> fast_;
  std::unordered_map<program_id, group_plan> plans_;
  std::unordered_map<thread_id, double> length_of_;
};

}  // namespace

std::vector<core_id> plan_lengths(std::span<const double> lengths,
                                  std::span<const std::uint8_t> fast,
                                  std::span<const std::uint32_t> taken) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::uint32_t> living(taken.begin(), taken.end());
  std::vector<core_id> cores(lengths.size(), no_core);
  for (const std::size_t i : order) ++living[cores[i] = choose(true, fast, living)];
  return cores;
}

core_id place_online(std::span<const double> lengths, std::span<const std::uint8_t> fast,
                     std::span<const std::uint32_t> taken) {
  const double mean =
      std::accumulate(lengths.begin(), lengths.end(), 0.0) / static_cast<double>(lengths.size());
  return choose(lengths.back() >= mean, fast, taken);
}

std::unique_ptr<scheduler> make_longest_first(std::string_view name, const machine& m,
                                              const scheduler_options& options,
                                              longest_first_variant v) {
  return std::make_unique<longest_first>(name, m, options, v);
}

}  // namespace kilter::balance
