#pragma once
// A region that runs on threads of ours: its members, who has begun, and what its work-sharing constructs need. docs/openmp.md tells how a member is handed out.

#include <atomic>

#include "regions/openmp/runtime.hpp"

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
  [[nodiscard]] std::uint32_t load() const noexcept { return value_.load(std::memory_order_acquire); }
  /// Wakes all who wait.
  void store(std::uint32_t) noexcept;
  void add(std::uint32_t) noexcept;
  /// Until it is not `old` any more, or `limit_ns` are over; 0: no limit. Sleeps at once.
  void sleep_while(std::uint32_t old, std::int64_t limit_ns = 0) noexcept;
  /// The same, and spins `spin_ns` first.
  void wait_while(std::uint32_t old, std::int64_t spin_ns) noexcept;

 private:
  void wake() noexcept;
  std::atomic<std::uint32_t> value_{0}, sleepers_{0};
};

enum class schedule : std::uint32_t { run_time = 0, fixed = 1, dynamic = 2, guided = 3, automatic = 4 };

/// One work-sharing construct of a team: a loop, sections, a single. Iterations are counted from 0, and turned into the program's own at the end.
struct work_share {
  moment lock;
  bool set_up = false;
  schedule how = schedule::fixed;
  std::uint64_t first = 0, step = 1, count = 0;   ///< of the program's iterations; `step` may be negative, modulo 2^64
  std::uint64_t chunk = 1;                        ///< of a fixed schedule 0: one share each
  std::atomic<std::uint64_t> next{0};             ///< iteration that nobody has yet
  std::uint64_t issued = 0;                       ///< chunks, for `ordered`
  waited_number turn;                             ///< chunks that are done, in their order
  waited_number copied;                           ///< 1: `copy` is there
  void* copy = nullptr;
  std::atomic<std::uint32_t> left{0};             ///< members that have not ended it
  work_share* before = nullptr;                   ///< in the team's list
};

struct member;

struct team {
  body* run = nullptr;
  void* data = nullptr;
  std::uint32_t members = 1, level = 1;
  runtime library = runtime::libgomp;             ///< whose calls are about this team
  member* parent = nullptr;                       ///< of the region around it, null at the top
  bool folds_loop = false;                        ///< it is a `parallel for`: `first_loop` is set up before anybody begins
  work_share first_loop;

  std::atomic<bool> surprised{false};             ///< a member may wait for others: each has a thread of its own now
  std::atomic<std::uint32_t> surprise{0};         ///< 1 + the first call of a team
  waited_number left;                             ///< members that have not ended
  waited_number round;                            ///< barriers that are over
  std::atomic<std::uint32_t> at_barrier{0};

  moment shares_lock;
  work_share* shares = nullptr;                   ///< the latest first
  std::uint32_t share_count = 0;
  moment reducing;                                ///< held by `reducer`, where members add up what they have one after another
  std::atomic<const member*> reducer{nullptr};

  void reset(body* f, void* d, std::uint32_t n, member* around) noexcept;
  /// Of a region that has ended.
  void drop_shares() noexcept;
};

/// What a thread does for a team now.
struct member {
  team* of = nullptr;
  std::uint32_t number = 0;
  std::uint32_t constructs = 0;                   ///< work shares that it has come to
  work_share* share = nullptr;                    ///< the one that it is in
  std::uint64_t trip = 0;                         ///< chunks of a fixed schedule that it had
  std::uint64_t chunk_number = 0;                 ///< of an ordered loop: the chunk that it has
  bool has_chunk = false, ordered = false;
  work_share* doacross = nullptr;                 ///< of a loop whose iterations wait for others of it
};

/// Null: this thread runs nothing of ours.
extern constinit __attribute__((tls_model("initial-exec"))) thread_local member* current;

/// The member that this thread runs, as calls of that library see it: in a region of another library it is none of its threads.
[[nodiscard]] inline member* member_for(runtime library) noexcept { return current && (current->of->library == library || one_for_both()) ? current : nullptr; }

/// Runs member `number` of the team on this thread, inside of whatever it runs already.
void run_member(team&, std::uint32_t number) noexcept;

/// Before a member may wait for others: those that nobody has begun get threads. Defined with the pool, which knows who has begun.
void begin_all(team&) noexcept;

/// A member made a call of a team where none was expected; the first one is kept, for the region that runs now.
void note_surprise(unsigned call) noexcept;
[[nodiscard]] bool work_surprised() noexcept;
[[nodiscard]] unsigned surprised_by() noexcept;

}  // namespace kilter::regions
