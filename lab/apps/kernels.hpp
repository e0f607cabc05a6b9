#pragma once
// The four kernels that the papers' DAGs are made of (S0, section 4.2.2; S2, section 5.1): plain
// functions over ranges, and an object that gives every task of a run its own buffers. Nothing here
// knows a runtime.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kilter::apps {

// ---- plain functions: any row range may be computed by any thread, ranges in any order ----------

/// Rows [row_begin, row_end) of C = A * B for n x n floats; `bt` is B transposed. The ranges must
/// not overlap memory.
void matmul_rows(const float* a, const float* bt, float* c, std::size_t n, std::size_t row_begin,
                 std::size_t row_end) noexcept;

/// Rows [row_begin, row_end) of an n x n float tile, copied row by row.
void copy_rows(const float* in, float* out, std::size_t n, std::size_t row_begin,
               std::size_t row_end) noexcept;

/// Weight of a neighbour in the stencil.
inline constexpr float stencil_k = 0.001f;

/// One sweep of the 5-point stencil, out = a + k (up + down + left + right - 4 a), over rows
/// [row_begin, row_end) of an n x n tile. Rows must be interior: 1 <= row_begin, row_end <= n - 1.
/// The border of `out` is left untouched.
void stencil_rows(const float* in, float* out, std::size_t n, std::size_t row_begin,
                  std::size_t row_end) noexcept;

/// Sorts keys in place by quicksort (median of three; short ranges by insertion). Expected n log n.
void quicksort(std::span<std::uint32_t> keys) noexcept;

/// Writes elements [out_begin, out_end) of the merge of two sorted runs to out[out_begin ..]. Finds
/// its own start in both runs by bisection, so parts of one merge are independent of each other.
void merge_range(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                 std::uint32_t* out, std::size_t out_begin, std::size_t out_end) noexcept;

// ---- kernels as a workload ----------------------------------------------------------------------

struct kernel_options {
  /// stencil only: updates of the tile in one task, 1..1000
  std::uint32_t sweeps = 1;
  /// tasks that may run at once without waiting for buffers, 1..4096
  std::uint32_t concurrency = 16;
  /// memory that the tasks walk through; more if `concurrency` needs it
  std::size_t pool_bytes = std::size_t{256} << 20;
};

/// A kernel with its pool of buffers. Task i works on the buffers i modulo `slots()`, so that
/// consecutive tasks touch new memory; two tasks that run at once never share an output, because a
/// task waits (and yields) while another one holds its buffers.
///
/// A task is split into `parts(width)` parts. Parts belong to phases (`phase_begin`); matmul, copy
/// and a stencil of one sweep have one phase, sort has three (four quicksorts, four half merges,
/// two half merges) and a stencil of s sweeps has s. Inside a phase parts are independent; a phase
/// needs all parts of the earlier ones.
///
/// Protocol for runtimes that hand out parts by an atomic counter:
///  - Hand out 0, 1, 2, ... in ascending order, to any number of members, each part once; a part
///  that was handed out is
///    run by the member that took it. That is all: `run_part` itself waits until the earlier phases
///    are complete.
///  - The wait ends: when part p of phase f is taken, every part of the phases before f has been
///  taken by somebody, and the
///    earliest part that is not complete never waits. A preempted owner delays the others, no more;
///    they yield.
///  - With one member the order alone is enough and nothing ever waits.
///  - The member that completes the last part resets the task's counters and gives the buffers
///  back, before it returns.
///    Nobody else can be inside the task then, so a task may be run any number of times, one run
///    after the other.
///  - Phases are told apart by *one* count of completed parts: no part of a phase completes before
///  all earlier phases are
///    complete, so the count reaches `phase_begin(p)` exactly when the phases before p's are
///    complete.
///  - A task that was begun and never completed (a cancelled graph) keeps its buffers; call
///  `reset()` before the next run.
class kernel_instance {
 public:
  virtual ~kernel_instance();
  kernel_instance(const kernel_instance&) = delete;
  kernel_instance& operator=(const kernel_instance&) = delete;

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// Side of the tile in floats; for sort the number of keys.
  [[nodiscard]] std::uint32_t tile() const noexcept { return tile_; }
  [[nodiscard]] std::uint32_t slots() const noexcept {
    return static_cast<std::uint32_t>(slots_.size());
  }
  /// Memory that one task reads and writes.
  [[nodiscard]] std::size_t bytes_per_task() const noexcept { return slot_bytes_; }

  /// Number of parts at `width` members: 1 at width 1; rows in chunks of n / (8 width), at least
  /// one row (papers.md A1.3), times `sweeps`; 10 for sort.
  [[nodiscard]] virtual std::uint32_t parts(std::uint32_t width) const noexcept = 0;
  /// First part of the phase that `part` belongs to: how many parts must be complete before it may
  /// start.
  [[nodiscard]] virtual std::uint32_t phase_begin(std::uint32_t part,
                                                  std::uint32_t parts) const noexcept;

  /// Runs one part. `parts` is a value that `parts()` returned, the same for all parts of one run
  /// of the task. A task index may be in flight once at a time. See the protocol above for the
  /// order.
  void run_part(std::uint64_t task, std::uint32_t part, std::uint32_t parts) noexcept;
  /// The whole task on the calling thread.
  void run(std::uint64_t task) noexcept { run_part(task, 0, 1); }

  /// Forgets tasks that were begun and not completed. No part may be running.
  void reset() noexcept;

  /// True if the output in the task's buffers is what a plain reference gives. Buffers that no task
  /// has run on are wrong. The task must not be running. As slow as the reference.
  [[nodiscard]] virtual bool check(std::uint64_t task) const = 0;

 protected:
  kernel_instance(std::string_view name, std::uint32_t tile, std::size_t slot_bytes,
                  const kernel_options&);
  /// Fresh, 64-byte aligned memory of the task's slot.
  [[nodiscard]] std::byte* slot_memory(std::size_t slot) const noexcept {
    return memory_.get() + slot * slot_bytes_;
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t task) const noexcept {
    return task % slots_.size();
  }

 private:
  virtual void body(std::size_t slot, std::uint32_t part, std::uint32_t parts) noexcept = 0;

  struct alignas(64) slot_state {
    std::atomic<std::uint64_t> owner{0};  // task + 1, or 0 if free
    std::atomic<std::uint32_t> done{0};   // completed parts of the present run
  };
  struct release_memory {
    void operator()(std::byte* p) const noexcept;
  };

  std::string_view name_;
  std::uint32_t tile_;
  std::size_t slot_bytes_;
  std::vector<slot_state> slots_;
  std::unique_ptr<std::byte, release_memory> memory_;
};

/// "matmul", "copy", "stencil", "sort".
[[nodiscard]] std::span<const std::string_view> kernel_names() noexcept;

/// Tile of the papers: matmul 64, copy 1024, stencil 1024 (sides), sort 65536 (keys). Throws
/// input_error for other names.
[[nodiscard]] std::uint32_t default_tile(std::string_view kernel);

/// Builds the kernel and fills its pool (about a second for 1 GiB). Throws input_error for an
/// unknown name, a tile that is zero, too large for four tasks in 2 GiB, below 3 (stencil), not a
/// multiple of 4 (sort), and for sweeps where there are none.
[[nodiscard]] std::unique_ptr<kernel_instance> make_kernel(std::string_view kernel,
                                                           std::uint64_t tile,
                                                           const kernel_options& = {});

}  // namespace kilter::apps
