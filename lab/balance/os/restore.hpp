#pragma once
// Gives every thread back the mask that it had: those in the ledger, and those that inherited a
// mask from them and that nobody has seen.

#include <cstdint>
#include <string>
#include <vector>

#include "balance/os/mask_ledger.hpp"

namespace kilter::balance::os {

struct restored {
  std::uint32_t threads = 0;  ///< that have their mask back
  /// that cannot have it now and may later: their ledger must stay
  std::uint32_t owed = 0;
  std::vector<std::string> failed;  ///< one line a thread that could not be restored
};

/// Repeats until a whole pass finds nothing to do, since a thread that is not restored yet may just
/// have made another. Threads that chose a mask of their own are left alone, and so is whoever has
/// a number that was used again.
[[nodiscard]] restored restore_masks(mask_ledger&);

struct mended {
  std::uint32_t files = 0, in_use = 0;
  restored masks;
};
/// `kilter lab balance --restore`: all ledgers of this user whose Kilter and guard are both gone.
/// Their files are removed, unless a mask is still owed. One that is no ledger is set aside under
/// another name, and one of another version is left to that.
[[nodiscard]] mended restore_all();

}  // namespace kilter::balance::os
