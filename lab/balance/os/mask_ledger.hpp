#pragma once
// The masks that were there before we changed any, in a file that outlives this process: a thread's
// original mask is in it before the thread is touched. The file is mapped and shared, so that
// writing to it costs a few stores, and what is written is there however the process ends.

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "host/cpu_mask.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

/// A thread whose mask is ours to put back, or was.
struct mask_record {
  enum state : std::uint32_t {
    unused,
    ours,   ///< it has, had when it ended, or may have handed down a mask from us
    theirs  ///< it chose a mask of its own since; left alone for good
  };
  std::uint32_t state = unused;
  pid_t pid = 0, tid = 0;
  std::int32_t given = -1;  ///< CPU that it has from us; -1: its own mask is back
  /// CPU that it is being given; equal to `given` when that is done
  std::int32_t next = -1;
  /// CPU given before `given`: what a thread may have inherited that nobody has seen yet
  std::int32_t before = -1;
  std::uint64_t start = 0;
  host::cpu_mask original;  ///< to be asked for; all CPUs if the thread follows its cpuset

  /// Whether it has that CPU from us now.
  [[nodiscard]] bool has(int cpu) const noexcept {
    return cpu >= 0 && (cpu == given || cpu == next);
  }
  /// Whether one that it made may have it from us.
  [[nodiscard]] bool gave(int cpu) const noexcept {
    return cpu >= 0 && (cpu == given || cpu == next || cpu == before);
  }
};

struct ledger_header;

class not_a_ledger : public input_error {
 public:
  using input_error::input_error;
};

class mask_ledger {
 public:
  /// Where such files lie, best first: $XDG_RUNTIME_DIR, /run/user/UID, $TMPDIR, /tmp; those that
  /// exist.
  [[nodiscard]] static std::vector<std::string> directories();
  static constexpr std::string_view masks_suffix = ".masks";
  /// Files of this user in them whose names begin as ours do and end with `suffix`.
  [[nodiscard]] static std::vector<std::string> files(std::string_view suffix = masks_suffix);

  /// Opens one of them. -1 if it is no regular file of this user by now: no link is followed, and
  /// nobody waited for.
  [[nodiscard]] static int open_own(const std::string& path, int how);

  /// A new file of mode 0600. Throws input_error if none can be written.
  mask_ledger();
  /// An existing one. Throws not_a_ledger if that is what it is, input_error if it cannot be opened
  /// or is one of another version. Of one that was cut off, the records that are there are used.
  explicit mask_ledger(const std::string& path);
  /// The process in the name of such a file; 0 if there is none.
  [[nodiscard]] static pid_t process_in_name(const std::string& path);
  ~mask_ledger();
  mask_ledger(const mask_ledger&) = delete;
  mask_ledger& operator=(const mask_ledger&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] pid_t owner() const noexcept;
  /// True if the process that wrote it, or its guard, lives.
  [[nodiscard]] bool in_use() const;
  /// True if it was written since this boot and in this namespace of process numbers; else its
  /// numbers mean nothing here.
  [[nodiscard]] bool of_this_system() const;
  /// Clock ticks since boot when it was made.
  [[nodiscard]] std::uint64_t begun() const noexcept;

  void set_guard(pid_t) noexcept;
  /// The process whose descendants are all ours to look after; 0 if there is none.
  [[nodiscard]] pid_t ancestor() const noexcept;
  void set_ancestor(pid_t) noexcept;

  /// True if records are missing that were written.
  [[nodiscard]] bool cut_off() const noexcept;
  /// All records so far, those of threads that have ended included.
  [[nodiscard]] std::span<mask_record> records() noexcept;
  /// A record for a thread, complete before it counts. nullptr if the file cannot grow: then the
  /// thread must not be touched.
  [[nodiscard]] mask_record* claim(pid_t pid, pid_t tid, std::uint64_t start,
                                   const host::cpu_mask& original, int given = -1) noexcept;
  /// The thread has ended. Its record is used again, but late: what it handed down may not have
  /// been seen yet.
  void release(mask_record&) noexcept;

  /// The record that explains the mask of a thread that nobody recorded: it, or who made it, got
  /// one CPU from us, which its cpuset may have taken away since. Looks at its own process, then
  /// its parent; if neither is recorded (it lost its parent before anybody looked), at all.
  /// nullptr: the mask is its own.
  [[nodiscard]] mask_record* inherited_from(pid_t pid, pid_t parent, pid_t tid,
                                            const host::cpu_mask& now);

  /// Whether the mask of a main thread is one that another thread of its process brought along:
  /// when any thread calls exec, it goes on under the main thread's number.
  [[nodiscard]] bool brought_by_exec(const mask_record& main_thread, int cpu) noexcept;

  /// Where the same run shows what it does (board.hpp).
  [[nodiscard]] std::string board_path() const;
  /// Both.
  void remove_files();

 private:
  void map(int fd);
  std::string path_;
  int fd_ = -1;
  ledger_header* header_ = nullptr;
  /// records that a file had room for when it was opened; of one that was cut off fewer than its
  /// header says
  std::uint32_t present_ = ~0u;
  mask_record* first_ = nullptr;
  std::deque<std::uint32_t> free_;  ///< longest ago first
};

}  // namespace kilter::balance::os
