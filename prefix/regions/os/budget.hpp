#pragma once
// How many threads make sense for this process now.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "regions/environment.hpp"
#include "regions/threads_beside.hpp"
#include "sharing/page.hpp"

namespace kilter::regions::os {

struct thread_budget {
  team_sizes threads;      ///< what follows from all of the rest
  std::uint32_t cpus = 1;  ///< that mask and cpuset allow
  std::optional<double> quota;
  std::uint32_t paid = 1;     ///< CPUs
  double others = 0.0;        ///< CPUs that others used
  std::uint32_t left = 1;     ///< threads that make sense beside them
  std::uint32_t sharing = 0;  ///< other programs of Kilter that have something to do
  std::uint32_t share = 1;    ///< CPUs that are ours beside them
};

/// For how long threads of this process have waited for a CPU so far, the first 64 that the system
/// names.
[[nodiscard]] std::int64_t own_waiting_ns();

/// Of one thread's mask, which may change. Not for two threads at once.
class budget_watch {
 public:
  /// Of the calling thread. What others use counts from now on.
  budget_watch();

  /// `could_use`: threads, which other programs of Kilter are told of while this process works; 0:
  /// they are not told. What others used is of the while since the look before. Below .04 s it is
  /// what it was before; at first, and after two seconds, by who runs at this moment. Throws
  /// input_error if the computer cannot be read.
  [[nodiscard]] thread_budget look(std::uint32_t could_use);
  /// Other programs hear that this one needs nothing.
  void leave() noexcept;
  /// In the child of a fork.
  void forget_after_fork() noexcept;

 private:
  struct sample {
    std::int64_t at_ns = -1, ticks = -1, own_ns = 0;
    std::map<pid_t, std::int64_t> sharing;  // CPU time of other programs of Kilter
  };
  /// What the page says of those that have something to do where we may work.
  struct page_view {
    std::vector<sharing::onlooked> others;
    sharing::cpu_bits ours;     // CPUs that are told of as this process's
    std::uint32_t of_ours = 0;  // who tells that
  };
  [[nodiscard]] page_view look_at_page() const;
  void follow_mask();
  void begin_anew();
  [[nodiscard]] sample take(const std::vector<sharing::onlooked>& others) const;
  [[nodiscard]] double others_since_before(const sample& now) const;
  std::uint32_t share_of(const page_view&, std::uint32_t could_use, bool tells);

  pid_t thread_;
  surroundings here_;
  sharing::cpu_bits allowed_;
  bool shares_;
  std::int64_t quota_at_ns_;
  threads_beside beside_;
  std::uint32_t left_;
  double others_ = -1.0;  // negative: not known
  bool told_ = false;     // the page says that we could use CPUs
  sample before_;
  sharing::page page_;
};

}  // namespace kilter::regions::os
