#include "balance/dio.hpp"

#include <limits>

#include "balance/migrator.hpp"
#include "balance/selector.hpp"

namespace kilter::balance {

namespace {

class dio final : public scheduler {
 public:
  explicit dio(const scheduler_options& options)
      : memory_above_(options.memory_above), quantum_s_(options.quantum_s) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "dio"; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t>) override {
    return no_core;
  }
  [[nodiscard]] double first_s() const noexcept override { return quantum_s_; }

  [[nodiscard]] answer tick(const observation& o) override {
    const auto pairs = pair_the_ends(view_threads(o, memory_above_), o.rates,
                                     std::numeric_limits<std::uint32_t>::max());
    return {.moves = exchange(pairs),
            .swaps = static_cast<std::uint32_t>(pairs.size()),
            .rejected = 0,
            .expected = {},
            .next_s = quantum_s_};
  }

 private:
  double memory_above_, quantum_s_;
};

}  // namespace

std::unique_ptr<scheduler> make_dio(const scheduler_options& options) {
  return std::make_unique<dio>(options);
}

}  // namespace kilter::balance
