#pragma once
// A temporary CPU control group for this process: version 1 (`cpu.cfs_quota_us`) or 2 (`cpu.max`).

#include <string>

namespace kilter::lab {

/// Created next to the process's present group, entered, given a limit, left and removed. Moves no
/// other process. If the process is killed in between, the empty group stays; the next one that is
/// created here removes it.
class quota_group {
 public:
  /// Makes the group. Throws input_error if no cpu controller is mounted or making groups is not
  /// permitted.
  quota_group();
  /// Leaves and removes the group.
  ~quota_group();
  quota_group(const quota_group&) = delete;
  quota_group& operator=(const quota_group&) = delete;

  /// Moves the whole process in, without a limit yet. Throws input_error if that is not permitted.
  void enter();
  /// Limits the group to so many cores' worth of time. False if the kernel refuses (a tighter limit
  /// above it).
  bool limit(double cores) noexcept;
  void lift_limit() noexcept;
  /// Moves the whole process back where it was.
  void leave() noexcept;
  /// Takes the calling thread out of the limit. Possible in version 1 only.
  bool release_this_thread() noexcept;

  [[nodiscard]] bool version_2() const noexcept { return version_2_; }

 private:
  bool version_2_ = false;
  bool entered_ = false;
  std::string origin_;  // the group that the process was in
  std::string path_;    // the group made here
};

}  // namespace kilter::lab
