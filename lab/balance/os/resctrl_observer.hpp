#pragma once
// Memory traffic of the whole machine as the processor's resource monitoring tells it (a mounted
// resctrl). It knows groups, not threads: it says how busy memory was, for judging a run, and
// nothing from which a thread could be told from another.

#include <chrono>
#include <cstdint>
#include <optional>

#include "balance/os/observer.hpp"

namespace kilter::balance::os {

class resctrl_observer final : public observer {
 public:
  /// `root`: where it is mounted. Throws input_error if nothing can be read there.
  explicit resctrl_observer(std::string root = "/sys/fs/resctrl");

  [[nodiscard]] std::string_view name() const noexcept override { return "resctrl"; }
  [[nodiscard]] bool sees_rates() const noexcept override { return false; }
  [[nodiscard]] std::string limits() const override {
    return "sees the memory traffic of the whole machine, but nothing of single threads beyond "
           "their times, so nothing is predicted";
  }
  void add(const watched_thread&) override {}
  void remove(const watched_thread&) override {}
  void fill(const watched_thread&, thread_sample&) override {}
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  /// Bytes since the counters began, over all parts of the machine.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const;

  std::string root_;
  std::uint64_t first_bytes_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace kilter::balance::os
