#pragma once
// Watching without counters: times only. It cannot tell a thread that waits for memory from one that computes, since both simply run; so the class stays
// unknown.

#include "balance/os/observer.hpp"

namespace kilter::balance::os {

class software_observer final : public observer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "software"; }
  [[nodiscard]] bool sees_rates() const noexcept override { return false; }
  [[nodiscard]] std::string limits() const override {
    return "sees when threads run and wait, but neither misses nor what limits a thread, so nothing is predicted";
  }
  void add(const watched_thread&) override {}
  void remove(const watched_thread&) override {}
  void fill(const watched_thread&, thread_sample&) override {}
};

}  // namespace kilter::balance::os
