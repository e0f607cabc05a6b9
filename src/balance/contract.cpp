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

}  // namespace kilter::balance
