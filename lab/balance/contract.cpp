#include "balance/contract.hpp"

namespace kilter::balance {

std::string_view name_of(reason r) noexcept {
  switch (r) {
    case reason::placement: return "placement";
    case reason::swap: return "swap";
    case reason::class_rule: return "class";
    case reason::rotation: return "rotation";
    case reason::idle_core: return "idle-core";
    case reason::load: return "load";
  }
  return "";
}

bool is_exchange(const move& a, const move& b) noexcept {
  const bool of_two =
      a.why == reason::swap || a.why == reason::class_rule || a.why == reason::rotation;
  return of_two && a.why == b.why && a.from == b.to && a.to == b.from && a.from != a.to;
}

}  // namespace kilter::balance
