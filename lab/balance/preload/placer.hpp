#pragma once
// Where the next thread of this process begins: a scheduler of the catalogue, asked with what was
// announced.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "balance/catalogue.hpp"
#include "balance/preload/settings.hpp"

namespace kilter::balance::preload {

/// All members may be called by any thread.
class placer {
 public:
  /// `predicted` are lengths of earlier runs; what the environment or the program announces goes
  /// before them. input_error if a fast CPU is not allowed.
  placer(const settings&, const std::vector<int>& allowed, const std::vector<int>& fast,
         const std::vector<double>& predicted);

  struct choice {
    unsigned long index = 0;      ///< in order of creation
    double length = 0.0;          ///< 0: not announced
    std::optional<core_id> core;  ///< none: left where it is
  };
  /// Counts the thread where it begins. `free` false: the program chose its mask itself, so that
  /// only its announcement is used up.
  [[nodiscard]] choice next(bool free);
  void ended(core_id);

  /// Announced by the program for the threads it creates next. False if they are of no use here.
  bool announce(bool critical, const double* values, std::size_t count);

  [[nodiscard]] int cpu_of(core_id c) const { return machine_.cores()[c].os_index; }
  [[nodiscard]] bool fast(core_id c) const {
    return machine_.kinds().size() > 1 && machine_.cores()[c].kind == 0;
  }
  /// False: all CPUs are alike and the policy is about differences, so threads are left alone.
  [[nodiscard]] bool active() const { return active_; }

  /// Held over a fork, so that the child's copy is not locked for ever.
  std::mutex& lock() { return mutex_; }

 private:
  machine machine_;
  bool critical_, active_;
  std::unique_ptr<scheduler> scheduler_;
  std::mutex mutex_;
  std::vector<double> group_;  ///< lengths announced for the group that is being created
  std::uint32_t next_in_group_ = 0;
  unsigned long created_ = 0;
  std::vector<std::uint32_t> taken_;
};

}  // namespace kilter::balance::preload
