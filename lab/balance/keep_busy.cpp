#include "balance/keep_busy.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "balance/seating.hpp"

namespace kilter::balance {

namespace {

thread_sample* sample_of(observation& o, thread_id thread) {
  const auto at =
      std::lower_bound(o.threads.begin(), o.threads.end(), thread,
                       [](const thread_sample& s, thread_id id) { return s.thread < id; });
  return at == o.threads.end() || at->thread != thread ? nullptr : &*at;
}

/// Carries the moves out on the observation, and drops those that a mask forbids; of an exchange
/// both.
void carry_out(answer& a, observation& o) {
  const auto allowed = [&](const move& m) {
    const thread_sample* const s = sample_of(o, m.thread);
    return s && (s->may_use.empty() || (m.to < s->may_use.size() && s->may_use[m.to] != 0));
  };
  std::vector<move> kept;
  for (std::size_t i = 0; i < a.moves.size(); ++i) {
    const bool pair = i + 1 < a.moves.size() && is_exchange(a.moves[i], a.moves[i + 1]);
    const std::size_t last = i + (pair ? 1 : 0);
    if (allowed(a.moves[i]) && allowed(a.moves[last])) {
      for (; i <= last; ++i) {
        sample_of(o, a.moves[i].thread)->core = a.moves[i].to;
        kept.push_back(a.moves[i]);
      }
    } else if (pair) {
      --a.swaps;
      ++a.rejected;
    }
    i = last;
  }
  a.moves = std::move(kept);
}

class busy final : public scheduler {
 public:
  busy(std::unique_ptr<scheduler> inner, std::uint32_t cores)
      : inner_(std::move(inner)), all_(cores) {
    std::iota(all_.begin(), all_.end(), core_id{0});
  }

  [[nodiscard]] std::string_view name() const noexcept override { return inner_->name(); }
  [[nodiscard]] core_id place(const newcomer& n, std::span<const std::uint32_t> taken) override {
    return inner_->place(n, taken);
  }
  [[nodiscard]] double first_s() const noexcept override { return inner_->first_s(); }

  [[nodiscard]] answer tick(const observation& o) override {
    answer a = inner_->tick(o);
    observation then = o;
    carry_out(a, then);
    seating seats(then, static_cast<std::uint32_t>(all_.size()));
    seats.even_out(all_);
    for (const move& m : seats.take()) a.moves.push_back(m);
    return a;
  }

 private:
  std::unique_ptr<scheduler> inner_;
  std::vector<core_id> all_;
};

}  // namespace

std::unique_ptr<scheduler> keep_busy(std::unique_ptr<scheduler> inner, std::uint32_t cores) {
  return std::make_unique<busy>(std::move(inner), cores);
}

}  // namespace kilter::balance
