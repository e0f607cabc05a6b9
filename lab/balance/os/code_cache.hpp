#pragma once
// What was decoded of the code of processes. Samples come to the same few instructions again and
// again, and decoding one way ahead costs microseconds.

#include <sys/types.h>

#include <cstdint>
#include <unordered_map>

#include "balance/os/operand_decoder.hpp"
#include "balance/os/sampling_calls.hpp"

namespace kilter::balance::os {

class code_cache {
 public:
  code_cache(const operand_decoder& decoder, sampling_calls& calls)
      : decoder_(decoder), calls_(calls) {}

  /// Where the process goes next from there; `forbidden` becomes true if its code may not be read.
  [[nodiscard]] operand_form next(pid_t, std::uint64_t ip, bool& forbidden);
  /// The process has other code now, or its number belongs to another one.
  void forget(pid_t pid) { known_.erase(pid); }
  /// To be called regularly: forgets everything at every 64th call, since a process may make or
  /// load new code where there was other code. So it has never more entries than there are samples
  /// meanwhile.
  void grow_old();

 private:
  const operand_decoder& decoder_;
  sampling_calls& calls_;
  std::unordered_map<pid_t, std::unordered_map<std::uint64_t, operand_form>> known_;
  std::uint32_t age_ = 0;
};

}  // namespace kilter::balance::os
