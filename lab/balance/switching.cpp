#include "balance/switching.hpp"

#include <algorithm>

#include "balance/fast_cores.hpp"
#include "balance/seating.hpp"
#include "kilter/error.hpp"

namespace kilter::balance {

namespace {

/// Cores of which either the fast or the slow ones work.
struct switched_group {
  std::vector<core_id> fast, slow;
  bool on_fast = false;

  [[nodiscard]] std::span<const core_id> active() const { return on_fast ? fast : slow; }
  [[nodiscard]] bool holds(core_id c) const {
    return std::find(fast.begin(), fast.end(), c) != fast.end() ||
           std::find(slow.begin(), slow.end(), c) != slow.end();
  }
};

class switching final : public scheduler {
 public:
  switching(std::string_view name, std::vector<switched_group> groups, std::uint32_t cores,
            const scheduler_options& options)
      : name_(name),
        groups_(std::move(groups)),
        cores_(cores),
        up_(options.switch_up),
        down_(options.switch_down),
        quantum_s_(options.quantum_s) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] double first_s() const noexcept override { return quantum_s_; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t> taken) override {
    const auto active = active_cores();
    return *std::min_element(active.begin(), active.end(),
                             [&](core_id a, core_id b) { return taken[a] < taken[b]; });
  }

  [[nodiscard]] answer tick(const observation& o) override {
    for (switched_group& g : groups_) {
      double ran_s = 0.0;
      for (const thread_sample& t : o.threads)
        if (g.holds(t.core)) ran_s += t.ran_s;
      const double utilisation = ran_s / (o.length_s * static_cast<double>(g.active().size()));
      if (utilisation > up_) g.on_fast = true;
      if (utilisation < down_) g.on_fast = false;
    }
    seating seats(o, cores_);
    const auto active = active_cores();
    for (std::size_t i = 0; i < seats.threads(); ++i) {
      if (!seats.sample(i).movable ||
          std::find(active.begin(), active.end(), seats.core_of(i)) != active.end())
        continue;
      const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const switched_group& g) {
        return g.holds(seats.core_of(i));
      });
      seats.send(i, seats.emptiest(group == groups_.end() ? active : group->active()),
                 reason::load);
    }
    seats.even_out(active);
    answer a;
    a.moves = seats.take();
    a.next_s = quantum_s_;
    return a;
  }

 private:
  [[nodiscard]] std::vector<core_id> active_cores() const {
    std::vector<core_id> active;
    for (const switched_group& g : groups_)
      active.insert(active.end(), g.active().begin(), g.active().end());
    return active;
  }

  std::string_view name_;
  std::vector<switched_group> groups_;
  std::uint32_t cores_;
  double up_, down_, quantum_s_;
};

switched_group two_sides(std::string_view name, const machine& m,
                         const scheduler_options& options) {
  const auto fast = fast_flags(m, options.fast_cores);
  switched_group g;
  for (core_id c = 0; c < m.core_count(); ++c) (fast[c] != 0 ? g.fast : g.slow).push_back(c);
  if (g.slow.empty())
    throw input_error(std::string(name) + " needs fast and slow cores; on '" + m.name() +
                      "' all count as fast (name the fast ones)");
  return g;
}

}  // namespace

std::unique_ptr<scheduler> make_cluster_switch(const machine& m, const scheduler_options& options) {
  return std::make_unique<switching>("cs", std::vector{two_sides("cs", m, options)}, m.core_count(),
                                     options);
}

std::unique_ptr<scheduler> make_pair_switch(const machine& m, const scheduler_options& options) {
  const switched_group all = two_sides("iks", m, options);
  if (all.fast.size() != all.slow.size())
    throw input_error("iks pairs each fast core with a slow one; '" + m.name() + "' has " +
                      std::to_string(all.fast.size()) + " fast and " +
                      std::to_string(all.slow.size()) + " slow");
  std::vector<switched_group> pairs;
  for (std::size_t i = 0; i < all.fast.size(); ++i) pairs.push_back({{all.fast[i]}, {all.slow[i]}});
  return std::make_unique<switching>("iks", std::move(pairs), m.core_count(), options);
}

}  // namespace kilter::balance
