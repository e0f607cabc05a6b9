#include "openmp/live_account.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <utility>

#include "openmp/account.hpp"
#include "regions/live_account.hpp"

namespace kilter::regions {

namespace {

std::atomic<std::int64_t> shown_ns{0};
std::atomic<bool> showing{false};
bool tried = false;  // the rest is whose who shows
live_account* shown = nullptr;

/// Goes when the process goes, however that ends. It is written by its mapping alone: a program
/// that closes files which it did not open may get their numbers for its own.
live_account* make_shown() noexcept {
  constexpr int above_the_programs_own = 900;
  const int made = static_cast<int>(
      syscall(SYS_memfd_create, live_account_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (made < 0) return nullptr;
  const int higher = fcntl(made, F_DUPFD_CLOEXEC, above_the_programs_own);
  if (higher >= 0) close(made);
  const int file = higher >= 0 ? higher : made;
  // Who may open it could shrink it, and end us by that.
  const bool keeps_its_size =
      ftruncate(file, sizeof(live_account)) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  void* const at = keeps_its_size ? mmap(nullptr, sizeof(live_account), PROT_READ | PROT_WRITE,
                                         MAP_SHARED, file, 0)
                                  : MAP_FAILED;
  if (at != MAP_FAILED) return static_cast<live_account*>(at);
  close(file);
  return nullptr;
}

}  // namespace

void refresh_live_account(std::int64_t now_ns) noexcept {
  constexpr std::int64_t every_ns = 1'000'000'000;
  const std::int64_t before = shown_ns.load(std::memory_order_relaxed);
  if (before != 0 && now_ns - before < every_ns) return;
  if (!gives_account() || showing.exchange(true, std::memory_order_acquire)) return;
  shown_ns.store(now_ns, std::memory_order_relaxed);
  if (!std::exchange(tried, true)) shown = make_shown();
  if (shown) {
    shown->version.fetch_add(1, std::memory_order_acq_rel);
    sink to(shown->text, live_account::room);
    if (write_account(to)) shown->length = static_cast<std::uint32_t>(to.length());
    shown->version.fetch_add(1, std::memory_order_release);
  }
  showing.store(false, std::memory_order_release);
}

}  // namespace kilter::regions
