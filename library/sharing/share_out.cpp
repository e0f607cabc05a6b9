#include "sharing/share_out.hpp"

namespace kilter::sharing {

namespace {

class shares {
 public:
  shares(const participant* const* all, std::uint32_t count) noexcept : all_(all), count_(count) {
    for (std::uint8_t& o : owner_) o = nobody;
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint32_t cpus = all[n]->allowed.count(),
                          wanted = (all[n]->could_use_percent + percent - 1) / percent;
      needs_[n] = wanted < cpus ? wanted : cpus;
      (all[n]->takes & all[n]->allowed).each_while([&](std::uint32_t cpu) {
        if (has_[n] == needs_[n]) return false;
        if (owner_[cpu] == nobody) give(cpu, n);
        return true;
      });
    }
    while (give_to_poorest()) {
    }
  }

  [[nodiscard]] cpu_bits of(std::uint32_t own) const noexcept {
    cpu_bits cpus;
    if (has_[own] == 0) {
      cpus.add(shared_by(own));
      return cpus;
    }
    for (std::uint32_t cpu = 0; cpu < most_cpus; ++cpu)
      if (owner_[cpu] == own) cpus.add(cpu);
    return cpus;
  }

 private:
  static constexpr std::uint8_t nobody = 255;
  static constexpr std::uint32_t no_cpu = most_cpus;

  void give(std::uint32_t cpu, std::uint32_t to) noexcept {
    if (owner_[cpu] != nobody) --has_[owner_[cpu]];
    owner_[cpu] = static_cast<std::uint8_t>(to);
    ++has_[to];
  }

  /// False: nobody who lacks one can have one more.
  bool give_to_poorest() noexcept {
    bool tried[most_participants] = {};
    for (;;) {
      std::uint32_t poorest = count_;
      for (std::uint32_t n = 0; n < count_; ++n)
        if (!tried[n] && has_[n] < needs_[n] && (poorest == count_ || has_[n] < has_[poorest]))
          poorest = n;
      if (poorest == count_) return false;
      if (give_one_to(poorest)) return true;
      tried[poorest] = true;
    }
  }

  /// One that nobody has, else one of somebody richer; if need be by a chain of others, each of
  /// which gets one for the one that it gives.
  bool give_one_to(std::uint32_t taker) noexcept {
    std::uint32_t queue[most_participants], from[most_participants], waiting = 1;
    bool reached[most_participants] = {};
    queue[0] = taker;
    reached[taker] = true;
    for (std::uint32_t at = 0; at < waiting; ++at) {
      const std::uint32_t one = queue[at];
      // it reaches nobody whom the taker does not
      if (one != taker && all_[one]->allowed == all_[taker]->allowed) continue;
      if (const std::uint32_t cpu = best_of(one, nobody); cpu != no_cpu)
        return hand_on(cpu, one, from, taker);
      std::uint32_t richest = count_;
      all_[one]->allowed.each_while([&](std::uint32_t cpu) {
        const std::uint32_t has_it = owner_[cpu];
        if (reached[has_it]) return true;
        reached[has_it] = true;
        from[has_it] = one;
        queue[waiting++] = has_it;
        if (richest == count_ || has_[has_it] > has_[richest]) richest = has_it;
        return true;
      });
      if (richest != count_ && has_[richest] >= has_[taker] + 2)
        return hand_on(best_of(one, richest), one, from, taker);
    }
    return false;
  }

  /// `one` gets the CPU, and for it each of the chain gives one to whom it was reached from.
  bool hand_on(std::uint32_t cpu, std::uint32_t one, const std::uint32_t* from,
               std::uint32_t taker) noexcept {
    for (;; one = from[one]) {
      const std::uint32_t passed_on = one == taker ? no_cpu : best_of(from[one], one);
      give(cpu, one);
      if (one == taker) return true;
      cpu = passed_on;
    }
  }

  /// Of the CPUs of `owner`, one that `taker` uses already, else any: of those that nobody has the
  /// first, and of another one's the last, so that both have neighbours.
  [[nodiscard]] std::uint32_t best_of(std::uint32_t taker, std::uint32_t owner) const noexcept {
    std::uint32_t best = no_cpu;
    bool best_is_used = false;
    all_[taker]->allowed.each_while([&](std::uint32_t cpu) {
      if (owner_[cpu] != owner) return true;
      const bool used = all_[taker]->takes.has(cpu);
      if (best == no_cpu || (used && !best_is_used) || (owner != nobody && used == best_is_used)) {
        best = cpu;
        best_is_used = used;
      }
      return true;
    });
    return best;
  }

  /// Where it is with as few others as possible, if there is no CPU that it can have to itself. Who
  /// has nothing to do is counted for itself alone.
  [[nodiscard]] std::uint32_t shared_by(std::uint32_t own) const noexcept {
    std::uint32_t users[most_cpus], at[most_participants];
    for (std::uint32_t cpu = 0; cpu < most_cpus; ++cpu) users[cpu] = owner_[cpu] != nobody;
    const auto shares = [&](std::uint32_t n) {
      return has_[n] == 0 && (needs_[n] != 0 || n == own);
    };
    for (std::uint32_t n = 0; n < count_; ++n)
      if (shares(n)) ++users[at[n] = emptiest_of(all_[n]->takes & all_[n]->allowed, n, nullptr)];
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t n = 0; n < count_; ++n) {
        if (!shares(n)) continue;
        const std::uint32_t better = emptiest_of(all_[n]->allowed, n, users);
        if (users[better] + 1 >= users[at[n]]) continue;
        --users[at[n]];
        ++users[at[n] = better];
        moved = true;
      }
    }
    return at[own];
  }

  /// The first of those with the fewest users; null: of all. If `cpus` is empty, the first that `n`
  /// may use.
  [[nodiscard]] std::uint32_t emptiest_of(const cpu_bits& cpus, std::uint32_t n,
                                          const std::uint32_t* users) const noexcept {
    std::uint32_t best = no_cpu;
    (cpus.empty() ? all_[n]->allowed : cpus).each_while([&](std::uint32_t cpu) {
      if (best == no_cpu || (users && users[cpu] < users[best])) best = cpu;
      return true;
    });
    return best;
  }

  const participant* const* all_;
  std::uint32_t count_;
  std::uint32_t needs_[most_participants] = {}, has_[most_participants] = {};
  std::uint8_t owner_[most_cpus];
};

}  // namespace

cpu_bits share_out(const participant* const* all, std::uint32_t count, std::uint32_t own) noexcept {
  bool alone = true;
  for (std::uint32_t n = 0; n < count; ++n)
    alone = alone && (n == own || all[n]->could_use_percent == 0);
  return alone ? all[own]->allowed : shares(all, count).of(own);
}

}  // namespace kilter::sharing
