#pragma once
// Sees nothing of a thread but when it runs and waits, which every back end sees anyway. It costs
// the program nothing.

#include "balance/os/observer.hpp"

namespace kilter::balance::os {

class times_observer final : public observer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "times"; }
  [[nodiscard]] bool sees_rates() const noexcept override { return false; }
  [[nodiscard]] std::string limits() const override {
    return "sees when threads run and wait, and nothing else";
  }
  void add(const watched_thread&) override {}
  void remove(const watched_thread&) override {}
  void fill(const watched_thread&, thread_sample&) override {}
};

}  // namespace kilter::balance::os
