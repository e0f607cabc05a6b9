#include <algorithm>
#include <cmath>
#include <map>

#include "balance/dio.hpp"
#include "balance/migrator.hpp"
#include "balance/selector.hpp"

namespace kilter::balance {

namespace {

constexpr std::size_t samples_kept = 10;
constexpr double phase_change = 0.3;
constexpr std::uint32_t changes_to_sort = 5;

struct intensity {
  std::vector<double> samples;  ///< a ring of the last ones
  std::size_t next = 0;
  double sorted_by = 0.0;

  [[nodiscard]] double mean() const {
    double sum = 0.0;
    for (const double s : samples) sum += s;
    return sum / static_cast<double>(samples.size());
  }
};

class dio_original final : public scheduler {
 public:
  dio_original(const machine& m, const scheduler_options& options)
      : machine_(m), memory_above_(options.memory_above), quantum_s_(options.quantum_s) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "dio-original"; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    return no_core;
  }
  [[nodiscard]] double first_s() const noexcept override { return quantum_s_; }

  [[nodiscard]] answer tick(const observation& o) override {
    answer a;
    a.next_s = quantum_s_;
    auto threads = view_threads(o, memory_above_);
    std::erase_if(threads, [&](const thread_view& t) { return t.core >= machine_.core_count(); });
    if (learn(o, threads)) reassign(threads, a);
    return a;
  }

 private:
  /// Misses per million instructions; per second where instructions are not seen; where only
  /// classes are, 1 for memory and 0 for compute.
  static double sample_of(const observation& o, const thread_view& t) {
    const auto s =
        std::lower_bound(o.threads.begin(), o.threads.end(), t.thread,
                         [](const thread_sample& x, thread_id id) { return x.thread < id; });
    if (!o.rates) return t.kind == thread_class::memory ? 1.0 : 0.0;
    return s->instructions && *s->instructions > 0.0 ? *s->misses / *s->instructions * 1e6
                                                     : t.rate_per_s;
  }

  /// True if the threads are to be dealt out anew.
  bool learn(const observation& o, std::span<const thread_view> threads) {
    bool came_or_went = threads.size() != known_.size();
    std::map<thread_id, intensity> known;
    for (const thread_view& t : threads) {
      const auto before = known_.find(t.thread);
      intensity& now = known[t.thread];
      if (before != known_.end()) now = std::move(before->second);
      const double sample = sample_of(o, t);
      if (now.samples.size() < samples_kept)
        now.samples.push_back(sample);
      else
        now.samples[now.next++ % samples_kept] = sample;
      if (before == known_.end()) {
        came_or_went = true;
        now.sorted_by = sample;
      } else if (const double mean = now.mean();
                 std::abs(mean - now.sorted_by) > phase_change * now.sorted_by) {
        now.sorted_by = mean;
        ++changes_;
      }
    }
    known_ = std::move(known);
    if (!came_or_went && changes_ < changes_to_sort) return false;
    changes_ = 0;
    return true;
  }

  void reassign(std::span<const thread_view> threads, answer& a) {
    std::vector<thread_view> leaving;
    std::vector<cluster_id> to;
    deal(threads, leaving, to);
    std::vector<std::uint32_t> living(machine_.core_count());
    for (const thread_view& t : threads) ++living[t.core];

    std::vector<thread_pair> pairs;
    std::vector<bool> done(leaving.size());
    for (std::size_t i = 0; i < leaving.size(); ++i)
      for (std::size_t j = i + 1; j < leaving.size() && !done[i]; ++j)
        if (!done[j] && to[j] == domain_of(leaving[i]) && to[i] == domain_of(leaving[j])) {
          pairs.push_back({leaving[i], leaving[j], reason::swap});
          done[i] = done[j] = true;
        }
    a.moves = exchange(pairs);
    a.swaps = static_cast<std::uint32_t>(pairs.size());
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      if (done[i]) continue;
      const cluster& domain = machine_.clusters()[to[i]];
      const auto first = living.begin() + domain.first;
      const auto target =
          static_cast<core_id>(std::min_element(first, first + domain.size) - living.begin());
      a.moves.push_back({leaving[i].thread, leaving[i].core, target, reason::load});
      --living[leaving[i].core];
      ++living[target];
    }
  }

  /// Who changes its domain, and to which. A thread that may not be moved keeps its place and
  /// counts where it is.
  void deal(std::span<const thread_view> threads, std::vector<thread_view>& leaving,
            std::vector<cluster_id>& to) const {
    const auto domains = machine_.clusters();
    // threads a core
    const std::size_t deep = (threads.size() + machine_.core_count() - 1) / machine_.core_count();
    std::vector<double> total(domains.size());
    std::vector<std::size_t> free(domains.size());
    for (const cluster& d : domains) free[d.id] = d.size * deep;
    std::vector<thread_view> order;
    for (const thread_view& t : threads) {
      if (t.movable) {
        order.push_back(t);
        continue;
      }
      total[domain_of(t)] += known_.at(t.thread).sorted_by;
      free[domain_of(t)] -= std::min<std::size_t>(1, free[domain_of(t)]);
    }
    std::stable_sort(order.begin(), order.end(), [&](const thread_view& x, const thread_view& y) {
      return known_.at(x.thread).sorted_by > known_.at(y.thread).sorted_by;
    });
    for (const thread_view& t : order) {
      std::size_t best = domain_of(t);
      for (std::size_t d = 0; d < domains.size(); ++d)
        if (free[d] > 0 && (free[best] == 0 || total[d] < total[best])) best = d;
      total[best] += known_.at(t.thread).sorted_by;
      free[best] -= std::min<std::size_t>(1, free[best]);
      if (best == domain_of(t)) continue;
      leaving.push_back(t);
      to.push_back(static_cast<cluster_id>(best));
    }
  }

  [[nodiscard]] cluster_id domain_of(const thread_view& t) const {
    return machine_.cores()[t.core].cluster;
  }

  const machine& machine_;
  double memory_above_, quantum_s_;
  std::map<thread_id, intensity> known_;
  std::uint32_t changes_ = 0;
};

}  // namespace

std::unique_ptr<scheduler> make_dio_original(const machine& m, const scheduler_options& options) {
  return std::make_unique<dio_original>(m, options);
}

}  // namespace kilter::balance
