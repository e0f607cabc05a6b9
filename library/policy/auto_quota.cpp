#include "policy/auto_quota.hpp"

#include <algorithm>

#include "policy/auto_situation.hpp"

namespace kilter::auto_parts {

namespace {

// Seconds. What is unspent at the end of Linux' period of 100 ms is lost, and nobody sees where in
// it the program is; a quarter loses little on average. Half and twice: under a quota the same in
// the mean, 2 of 100 cells differ by more than 3 % (docs/inside/decisions/constants.md).
constexpr double savings_last_s = 0.025;

}  // namespace

savings savings_at(double now_s, double paid, double spent_s) noexcept {
  const double saved_s = paid * now_s - spent_s, most_s = paid * savings_last_s;
  return {.saved_s = std::min(saved_s, most_s),
          .lapsed_s = saved_s > most_s ? saved_s - most_s : 0.0};
}

double charge_s(double task_s, std::uint32_t width) noexcept {
  return task_s * width * (1.0 + sooner_margin);
}

quota_claims::quota_claims(double paid, double mine_s) noexcept
    : paid_(paid), faster_s_(mine_s * (1.0 - sooner_margin)) {}

void quota_claims::add(double cpu_s, bool idle, double free_s) noexcept {
  if (faster(cpu_s) || !idle) used_ += 1.0;
  if (faster(cpu_s)) first_free_s_ = std::min(first_free_s_, free_s);
}

std::optional<double> quota_claims::used_up_until_s() const noexcept {
  if (used_ < paid_ || first_free_s_ == std::numeric_limits<double>::infinity())
    return std::nullopt;
  return first_free_s_;
}

}  // namespace kilter::auto_parts
