#include "balance/os/mask_ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "balance/os/cannot_balance.hpp"
#include "balance/os/cpuset.hpp"
#include "host/proc.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

namespace fs = std::filesystem;

constexpr char magic[16] = "kilter masks 1\n";
constexpr std::size_t family_bytes = 13;  // "kilter masks ", of every version
constexpr std::string_view prefix = "kilter-balance-";
constexpr std::uint32_t most_records = 1 << 16, grown_by = 64, kept_when_ended = 256;

}  // namespace

struct ledger_header {
  char magic[16] = {};
  std::uint32_t record_bytes = 0, used = 0, room = 0;
  pid_t owner = 0, guard = 0, ancestor = 0;
  std::uint64_t owner_start = 0, guard_start = 0, begun = 0, pid_namespace = 0;
  char boot[40] = {};
};

namespace {

constexpr std::size_t header_bytes = 256;
constexpr std::size_t mapped_bytes = header_bytes + most_records * sizeof(mask_record);
static_assert(sizeof(ledger_header) <= header_bytes && header_bytes % alignof(mask_record) == 0);

/// What is stored before must be in the file before what is stored after, as seen by a process that
/// reads it after this one was killed.
void in_order() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

std::uint64_t ticks_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto per_s = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * per_s +
         static_cast<std::uint64_t>(now.tv_nsec) * per_s / 1'000'000'000;
}

bool lives(pid_t pid, std::uint64_t start) {
  if (pid <= 0) return false;
  const auto s = host::stat_of(pid, pid);
  return s && s->start == start && s->state != 'Z' && s->state != 'X';
}

}  // namespace

std::vector<std::string> mask_ledger::directories() {
  std::vector<std::string> found;
  const auto add = [&](const char* path) {
    std::error_code ignored;
    if (path && *path && fs::is_directory(path, ignored) &&
        std::find(found.begin(), found.end(), path) == found.end())
      found.emplace_back(path);
  };
  add(std::getenv("XDG_RUNTIME_DIR"));
  add(("/run/user/" + std::to_string(::geteuid())).c_str());
  add(std::getenv("TMPDIR"));
  add("/tmp");
  return found;
}

std::vector<std::string> mask_ledger::files(std::string_view suffix) {
  std::vector<std::string> found;
  for (const std::string& directory : directories()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename().string();
      struct stat s {};
      if (name.starts_with(prefix) && name.ends_with(suffix) &&
          ::lstat(entry.path().c_str(), &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid())
        found.push_back(entry.path().string());
    }
  }
  return found;
}

int mask_ledger::open_own(const std::string& path, int how) {
  const int fd = ::open(path.c_str(), how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat s {};
  if (fd < 0 || (::fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid())) return fd;
  ::close(fd);
  errno = EPERM;
  return -1;
}

void mask_ledger::map(int fd) {
  void* const at =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED)
    throw cannot_balance(fmt::format("{}: cannot be mapped: {}", path_, std::strerror(errno)));
  fd_ = fd;
  header_ = static_cast<ledger_header*>(at);
  first_ = reinterpret_cast<mask_record*>(static_cast<char*>(at) + header_bytes);
}

mask_ledger::mask_ledger() {
  std::string tried;
  int fd = -1;
  for (const std::string& directory : directories()) {
    // Also after a reused number of a process a name is new: whoever left the old file may still
    // want it.
    for (int n = 0; n < 100 && fd < 0; ++n) {
      path_ = fmt::format("{}/{}{}{}{}", directory, prefix, ::getpid(),
                          n == 0 ? "" : "-" + std::to_string(n), masks_suffix);
      fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (fd < 0 && errno != EEXIST) break;
    }
    if (fd >= 0 && ::posix_fallocate(fd, 0, header_bytes) != 0) {
      ::close(fd);
      ::unlink(path_.c_str());
      fd = -1;
    }
    if (fd >= 0) break;
    tried += (tried.empty() ? "" : ", ") + directory;
  }
  if (fd < 0)
    throw cannot_balance(
        fmt::format("the original masks cannot be written down, so none may be changed: no file "
                    "can be made in {}; "
                    "set XDG_RUNTIME_DIR to a folder that can be written",
                    tried.empty() ? "/tmp" : tried));
  try {
    map(fd);
  } catch (...) {
    ::close(fd);
    ::unlink(path_.c_str());
    throw;
  }
  *header_ = {};
  header_->record_bytes = sizeof(mask_record);
  header_->owner = ::getpid();
  if (const auto self = host::stat_of(header_->owner, header_->owner))
    header_->owner_start = self->start;
  header_->begun = ticks_since_boot();
  header_->pid_namespace = host::pid_namespace();
  const std::string boot = host::boot_id();
  std::memcpy(header_->boot, boot.data(), std::min(boot.size(), sizeof header_->boot - 1));
  in_order();
  std::memcpy(header_->magic, magic, sizeof magic);
}

mask_ledger::mask_ledger(const std::string& path) : path_(path) {
  const int fd = open_own(path, O_RDWR);
  struct stat s {};
  if (fd < 0 || ::fstat(fd, &s) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    throw input_error(fmt::format("{}: cannot be opened: {}", path, std::strerror(error)));
  }
  const auto bytes = static_cast<std::size_t>(s.st_size);
  const auto refuse = [&]<class error>(error, const std::string& what) {
    ::close(fd);
    throw error(fmt::format("{}: {}", path, what));
  };
  ledger_header h;
  if (bytes < header_bytes || ::pread(fd, &h, sizeof h, 0) != sizeof h)
    refuse(not_a_ledger(""), fmt::format("no file of masks: it has {} bytes, and a header has {}",
                                         bytes, header_bytes));
  if (std::memcmp(h.magic, magic, family_bytes) != 0)
    refuse(not_a_ledger(""),
           fmt::format("no file of masks: it does not begin with '{:.{}}'", magic, family_bytes));
  if (std::memcmp(h.magic, magic, sizeof magic) != 0 || h.record_bytes != sizeof(mask_record))
    refuse(input_error(""),
           "was written by another version of Kilter; run that one's kilter lab balance --restore");
  if (h.used > h.room || h.room > most_records)
    refuse(not_a_ledger(""),
           fmt::format("no file of masks: it says that {} of {} records are used, of at most {}",
                       h.used, h.room, most_records));
  map(fd);
  present_ = static_cast<std::uint32_t>(
      std::min<std::size_t>((bytes - header_bytes) / sizeof(mask_record), most_records));
}

pid_t mask_ledger::process_in_name(const std::string& path) {
  const std::size_t at = path.rfind(prefix);
  return at == std::string::npos
             ? 0
             : static_cast<pid_t>(std::strtol(path.c_str() + at + prefix.size(), nullptr, 10));
}

bool mask_ledger::cut_off() const noexcept { return header_->used > present_; }

mask_ledger::~mask_ledger() {
  if (header_) ::munmap(header_, mapped_bytes);
  if (fd_ >= 0) ::close(fd_);
}

pid_t mask_ledger::owner() const noexcept { return header_->owner; }
std::uint64_t mask_ledger::begun() const noexcept { return header_->begun; }
pid_t mask_ledger::ancestor() const noexcept { return header_->ancestor; }
void mask_ledger::set_ancestor(pid_t pid) noexcept { header_->ancestor = pid; }

bool mask_ledger::in_use() const {
  return lives(header_->owner, header_->owner_start) || lives(header_->guard, header_->guard_start);
}

bool mask_ledger::of_this_system() const {
  return std::string(header_->boot, ::strnlen(header_->boot, sizeof header_->boot)) ==
             host::boot_id() &&
         header_->pid_namespace == host::pid_namespace();
}

void mask_ledger::set_guard(pid_t pid) noexcept {
  header_->guard = 0;
  if (const auto s = host::stat_of(pid, pid)) header_->guard_start = s->start;
  in_order();
  header_->guard = pid;
}

std::span<mask_record> mask_ledger::records() noexcept {
  return {first_, std::min(header_->used, present_)};
}

mask_record* mask_ledger::claim(pid_t pid, pid_t tid, std::uint64_t start,
                                const host::cpu_mask& original, int given) noexcept {
  mask_record* r = nullptr;
  if (free_.size() > kept_when_ended) {
    r = first_ + free_.front();
    free_.pop_front();
    r->state = mask_record::unused;
    in_order();
  } else {
    if (header_->used == header_->room) {
      const std::uint32_t room = header_->room + grown_by;
      if (room > most_records ||
          ::posix_fallocate(fd_, 0,
                            static_cast<off_t>(header_bytes + room * sizeof(mask_record))) != 0)
        return nullptr;
      header_->room = room;
    }
    r = first_ + header_->used;
    r->state = mask_record::unused;
    in_order();
    ++header_->used;
  }
  r->pid = pid;
  r->tid = tid;
  r->start = start;
  r->given = r->next = r->before = given;
  r->original = original;
  in_order();
  r->state = mask_record::ours;
  return r;
}

void mask_ledger::release(mask_record& r) noexcept {
  free_.push_back(static_cast<std::uint32_t>(&r - first_));
}

mask_record* mask_ledger::inherited_from(pid_t pid, pid_t parent, pid_t tid,
                                         const host::cpu_mask& now) {
  const int cpu = now.single();
  mask_record *in_process = nullptr, *in_parent = nullptr, *anywhere = nullptr,
              *displaced = nullptr;
  bool known = false;
  for (mask_record& r : records()) {
    const bool process = r.pid == pid, made_it = r.pid == parent;
    if (r.state == mask_record::theirs && (process || made_it)) {
      known = true;
      // Who made it chose this very mask itself: then it is inherited from that, not from us.
      if (const auto mask = host::affinity_of(r.tid); mask && *mask == now) return nullptr;
    }
    if (r.state != mask_record::ours) continue;
    known |= process || made_it;
    if ((process || made_it) && r.given >= 0 && !now.has(r.given) && !displaced) displaced = &r;
    if (!r.gave(cpu)) continue;
    if (process && !in_process) in_process = &r;
    if (made_it && !in_parent) in_parent = &r;
    if (!anywhere) anywhere = &r;
  }
  if (in_process) return in_process;
  if (in_parent) return in_parent;
  if (displaced)
    if (const auto allowed = cpuset_of(tid);
        allowed && was_displaced(displaced->given, now, *allowed))
      return displaced;
  return known ? nullptr : anywhere;
}

bool mask_ledger::brought_by_exec(const mask_record& main_thread, int cpu) noexcept {
  if (main_thread.tid != main_thread.pid || cpu < 0) return false;
  for (const mask_record& other : records())
    if (other.state == mask_record::ours && other.pid == main_thread.pid &&
        other.tid != main_thread.tid && other.gave(cpu) && !host::stat_of(other.pid, other.tid))
      return true;
  return false;
}

std::string mask_ledger::board_path() const {
  return path_.substr(0, path_.size() - masks_suffix.size()) + ".board";
}

void mask_ledger::remove_files() {
  ::unlink(path_.c_str());
  ::unlink(board_path().c_str());
  ::unlink((board_path() + "~").c_str());
}

}  // namespace kilter::balance::os
