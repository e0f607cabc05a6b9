#pragma once
// Numbers that one thread writes and others read whenever they like: no order is meant.

#include <type_traits>

#include "base/sync.hpp"

namespace kilter::model {

template <class T>
T get(const sync::atomic<T>& a) noexcept {
  return a.load(sync::memory_order_relaxed);
}
template <class T>
void put(sync::atomic<T>& a, std::type_identity_t<T> v) noexcept {
  a.store(v, sync::memory_order_relaxed);
}

}  // namespace kilter::model
