#include "openmp/shown.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <utility>

#include "openmp/explain.hpp"
#include "regions/shown_text.hpp"

namespace kilter::regions {

namespace {

std::atomic<std::int64_t> shown_ns{0};
std::atomic<bool> showing{false};
bool tried = false;  // the rest is whose who shows
shown_text* shown = nullptr;

/// Goes when the process goes, however that ends. It is written by its mapping alone: a program
/// that closes files which it did not open may get their numbers for its own.
shown_text* make_shown() noexcept {
  constexpr int above_the_programs_own = 900;
  const int made =
      static_cast<int>(syscall(SYS_memfd_create, shown_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (made < 0) return nullptr;
  const int higher = fcntl(made, F_DUPFD_CLOEXEC, above_the_programs_own);
  if (higher >= 0) close(made);
  const int file = higher >= 0 ? higher : made;
  // Who may open it could shrink it, and end us by that.
  const bool keeps_its_size =
      ftruncate(file, sizeof(shown_text)) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  void* const at = keeps_its_size ? mmap(nullptr, sizeof(shown_text), PROT_READ | PROT_WRITE,
                                         MAP_SHARED, file, 0)
                                  : MAP_FAILED;
  if (at != MAP_FAILED) return static_cast<shown_text*>(at);
  close(file);
  return nullptr;
}

}  // namespace

void show_now_and_then(std::int64_t now_ns) noexcept {
  constexpr std::int64_t every_ns = 1'000'000'000;
  const std::int64_t before = shown_ns.load(std::memory_order_relaxed);
  if (before != 0 && now_ns - before < every_ns) return;
  if (!tells() || showing.exchange(true, std::memory_order_acquire)) return;
  shown_ns.store(now_ns, std::memory_order_relaxed);
  if (!std::exchange(tried, true)) shown = make_shown();
  if (shown) {
    shown->version.fetch_add(1, std::memory_order_acq_rel);
    sink to(shown->text, shown_text::room);
    if (write_told(to)) shown->length = static_cast<std::uint32_t>(to.length());
    shown->version.fetch_add(1, std::memory_order_release);
  }
  showing.store(false, std::memory_order_release);
}

}  // namespace kilter::regions
