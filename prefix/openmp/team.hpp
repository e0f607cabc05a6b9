#pragma once
// A region that runs on threads of ours: its members, who has begun, and what its work-sharing
// constructs need. docs/inside/openmp.md tells how a member is handed out.

#include <atomic>

#include "openmp/task.hpp"

namespace kilter::regions {

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// A lock for moments: whoever finds it taken looks again, and gives the CPU away in between.
class moment {
 public:
  void lock() noexcept;
  [[nodiscard]] bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

class hold {
 public:
  explicit hold(moment& m) noexcept : m_(m) { m_.lock(); }
  ~hold() { m_.unlock(); }
  hold(const hold&) = delete;
  hold& operator=(const hold&) = delete;

 private:
  moment& m_;
};

/// A number that threads wait for. Whoever waits spins a little and then sleeps.
class waited_number {
 public:
  [[nodiscard]] std::uint32_t load() const noexcept {
    return value_.load(std::memory_order_acquire);
  }
  /// Wakes all who wait.
  void store(std::uint32_t) noexcept;
  void add(std::uint32_t) noexcept;
  /// To `next` if it is `old`; wakes nobody.
  [[nodiscard]] bool change(std::uint32_t old, std::uint32_t next) noexcept {
    return value_.compare_exchange_strong(old, next, std::memory_order_acq_rel);
  }
  /// Until it is not `old` any more, or `limit_ns` are over; 0: no limit. Sleeps at once.
  void sleep_while(std::uint32_t old, std::int64_t limit_ns = 0) noexcept;
  /// The same, and spins `spin_ns` first.
  void wait_while(std::uint32_t old, std::int64_t spin_ns) noexcept;

 private:
  void wake() noexcept;
  std::atomic<std::uint32_t> value_{0}, sleepers_{0};
};

/// What somebody waits for.
struct awaited {
  const waited_number& number;
  std::uint32_t old;
  [[nodiscard]] bool came() const noexcept { return number.load() != old; }
};

enum class schedule : std::uint32_t {
  run_time = 0,
  fixed = 1,
  dynamic = 2,
  guided = 3,
  automatic = 4
};

/// One work-sharing construct of a team: a loop or sections. Iterations are counted from 0, and
/// turned into the program's own at the end.
struct alignas(64) work_share {
  /// 3g: free for its use number g; 3g + 1: being set up; 3g + 2: open, until all members have
  /// ended it
  waited_number phase;
  std::atomic<std::uint32_t> ended{0};  ///< members that have, of the use that is open
  /// for an ordered loop's chunks, and for `memory`
  moment lock;
  schedule how = schedule::fixed;
  /// of the program's iterations; `step` may be negative, modulo 2^64
  std::uint64_t first = 0, step = 1, count = 0;
  std::uint64_t chunk = 1;             ///< of a fixed schedule 0: one share each
  std::atomic<std::uint64_t> next{0};  ///< iteration that nobody has yet
  std::uint64_t issued = 0;            ///< chunks, for `ordered`
  waited_number turn;                  ///< chunks that are done, in their order
  void* memory = nullptr;              ///< that all members share
};
/// A member that is further ahead of another waits for it. (LLVM's runtime has seven.)
constexpr std::uint32_t shares_at_once = 16;

struct member;

/// What members need for a call that they make: nothing of one another; a thread each, or to be
/// folded; to be folded; their library.
enum class team_need : std::uint8_t { none, members, order, library };

struct team {
  body* run = nullptr;
  void* data = nullptr;
  std::uint32_t members = 1, level = 1;
  runtime library = runtime::libgomp;  ///< whose calls are about this team
  member* parent = nullptr;            ///< of the region around it, null at the top
  member_settings settings;            ///< with which its members begin
  /// it has more members than threads, and those that wait make room for others (folded.hpp)
  bool folds = false;
  /// its members wait for one another at its end: they are expected to make tasks
  bool ends_together = false;
  /// it is a `parallel for`: `first_loop` is set up before anybody begins
  bool folds_loop = false;
  work_share first_loop;

  /// a member may wait for others: whoever has not begun needs a thread of its own
  std::atomic<bool> waits{false};
  /// they are more than our threads, and some have one of their own now
  std::atomic<bool> surprised{false};
  /// the most that a member's calls have shown, and
  std::atomic<team_need> needs{team_need::none};
  std::atomic<std::uint32_t> call{0};  ///< which
  waited_number left;                  ///< members that have not ended
  alignas(64) std::atomic<std::uint32_t> at_barrier{0};
  std::atomic<std::uint32_t> rounds{0};  ///< barriers that are over
  /// with `rounds`, and where a member that waits may have a task to run, unless the team is folded
  alignas(64) waited_number changes;
  std::atomic<bool> has_tasks{false};  ///< some were made for later
  /// members that look for tasks in vain, or, of a folded team, threads
  std::atomic<std::uint32_t> searchers{0};
  std::atomic<std::uint32_t> singles{0};  ///< that somebody has taken
  /// that singles have made of what all others take over
  waited_number copies;
  void* copy = nullptr;  ///< the latest; a barrier follows each
  /// a member's construct number n is in n modulo their number
  work_share shares[shares_at_once];
  /// held by `reducer`, where members add up what they have one after another
  moment reducing;
  std::atomic<const member*> reducer{nullptr};
  /// of what tasks of the team, and of a loop of it, add up (clang)
  std::atomic<void*> parts_of_members[2] = {};

  void reset(body* f, void* d, std::uint32_t n, member* around) noexcept;
  /// Of a team that is given up.
  void drop_shares() noexcept;
};

/// What a thread does for a team now.
struct member {
  team* of = nullptr;
  std::uint32_t number = 0;
  member_settings settings{};
  /// work shares that it has come to, without the loop that the region itself is
  std::uint32_t constructs = 0;
  std::uint32_t singles = 0, copies = 0;  ///< that it has come to
  work_share* share = nullptr;            ///< the one that it is in
  std::uint64_t trip = 0;                 ///< chunks of a fixed schedule that it had
  std::uint64_t chunk_number = 0;         ///< of an ordered loop: the chunk that it has
  bool has_chunk = false, ordered = false;
  /// of a loop whose iterations wait for others of it
  work_share* doacross = nullptr;
  task* doing = nullptr;  ///< its task, which may be the implicit one
  task alone{};           ///< the implicit one, of a team of one
};

/// Null: this thread runs nothing of ours.
extern constinit __attribute__((tls_model("initial-exec"))) thread_local member* current;

/// The member that this thread runs, as calls of that library see it: in a region of another
/// library it is none of its threads.
[[nodiscard]] inline member* member_for(runtime library) noexcept {
  return current && (current->of->library == library || one_for_both()) ? current : nullptr;
}

/// Runs member `number` of the team on this thread, inside of whatever it runs already.
void run_member(team&, std::uint32_t number) noexcept;

/// Before a member may wait for others: all of them have threads, or get some. Defined with the
/// pool, which knows who has begun.
void begin_all(team&) noexcept;

/// A member waits until the number is not `old` any more. It spins a little, then looks whether
/// another one is held up and takes it in, then sleeps. Defined with the pool.
void await(waited_number&, std::uint32_t old) noexcept;
/// What a member of this team may wait for has changed. Defined with the pool.
void tell_change(const team&) noexcept;
/// The last member has come to a barrier, on this thread. Defined with the pool.
void note_last_to_come() noexcept;
/// A member has come to where it may leave a CPU that it was moved to. Defined with the pool.
void may_go_home() noexcept;

/// A member of the region that runs made a call that needs so much; the first of those that need
/// most is kept.
void note_need(team_need, std::uint32_t call) noexcept;

}  // namespace kilter::regions
