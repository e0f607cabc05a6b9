#include "balance/placed_once.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace kilter::balance {

namespace {

class placed_once : public scheduler {
 public:
  placed_once(std::string_view name, double quantum_s) : name_(name), quantum_s_(quantum_s) {}
  [[nodiscard]] std::string_view name() const noexcept final { return name_; }
  [[nodiscard]] double first_s() const noexcept final { return quantum_s_; }
  [[nodiscard]] answer tick(const observation&) final {
    answer nothing;
    nothing.next_s = quantum_s_;
    return nothing;
  }

 private:
  std::string_view name_;
  double quantum_s_;
};

class none final : public placed_once {
 public:
  using placed_once::placed_once;
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    return no_core;
  }
};

class round_robin final : public placed_once {
 public:
  round_robin(const machine& m, double quantum_s)
      : placed_once("rr", quantum_s), order_(m.core_count()) {
    std::iota(order_.begin(), order_.end(), core_id{0});
    std::sort(order_.begin(), order_.end(),
              [&](core_id a, core_id b) { return m.cores()[a].os_index < m.cores()[b].os_index; });
  }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    return order_[next_++ % order_.size()];
  }

 private:
  std::vector<core_id> order_;
  std::size_t next_ = 0;
};

class random_order final : public placed_once {
 public:
  random_order(const machine& m, double quantum_s, std::uint64_t seed)
      : placed_once("random", quantum_s),
        order_(m.core_count()),
        next_(order_.size()),
        draws_(seed, "placement") {
    std::iota(order_.begin(), order_.end(), core_id{0});
  }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    if (next_ == order_.size()) {
      for (std::uint32_t i = static_cast<std::uint32_t>(order_.size()); i > 1; --i)
        std::swap(order_[i - 1], order_[draws_.below(i)]);
      next_ = 0;
    }
    return order_[next_++];
  }

 private:
  std::vector<core_id> order_;
  std::size_t next_;
  random_stream draws_;
};

class pinned final : public placed_once {
 public:
  using placed_once::placed_once;
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t> taken) override {
    return static_cast<core_id>(std::min_element(taken.begin(), taken.end()) - taken.begin());
  }
};

}  // namespace

std::unique_ptr<scheduler> make_none(const scheduler_options& o) {
  return std::make_unique<none>("none", o.quantum_s);
}
std::unique_ptr<scheduler> make_round_robin(const machine& m, const scheduler_options& o) {
  return std::make_unique<round_robin>(m, o.quantum_s);
}
std::unique_ptr<scheduler> make_random(const machine& m, const scheduler_options& o) {
  return std::make_unique<random_order>(m, o.quantum_s, o.seed);
}
std::unique_ptr<scheduler> make_pinned(const machine&, const scheduler_options& o) {
  return std::make_unique<pinned>("pinned", o.quantum_s);
}

}  // namespace kilter::balance
