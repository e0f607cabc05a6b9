#pragma once
// Where engines put events while they run. Off means: the engine holds no recorder and tests one
// pointer.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.hpp"
#include "trace/event.hpp"
#include "trace/graph_log.hpp"

namespace kilter::trace {

struct recorder_options {
  /// Events kept for each core (48 bytes each, in chunks allocated on demand); later ones are
  /// counted as dropped.
  std::size_t limit_events_per_core = std::size_t{1} << 20;
  bool keeps_graph = false;  ///< also what the tasks were and waited for
};

/// One lane a core with a single writer, and one shared lane for everybody else.
class recorder {
 public:
  /// Throws input_error if `cores` or the limit is 0.
  explicit recorder(std::uint32_t cores, const recorder_options& options = {});
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// For the one thread that serves core `lane`. Wait-free; allocates once in `chunk_events` calls.
  /// `e.core` may be another core than `lane` (a worker that updates another core's estimate). A
  /// lane that does not exist counts as dropped.
  void append(core_id lane, const event& e) noexcept;
  /// For any other thread: the lab's markers, a disturber's spans. Takes a lock.
  void append_outside(const event& e);

  /// The number of a name, the same for the same text; safe from any thread, takes a lock. At most
  /// 65535 names; further ones share the last number.
  std::uint16_t label(std::string_view text);
  /// Names type `type` of the engine's numbering.
  void name_type(std::uint16_t type, std::string_view text);
  /// Both indexed by `event::type`, depending on the kind; a type without a name is "type N".
  [[nodiscard]] std::vector<std::string> labels() const;
  [[nodiscard]] std::vector<std::string> type_names() const;

  /// Null unless the options ask for it.
  [[nodiscard]] graph_log* graph() noexcept { return graph_.get(); }

  [[nodiscard]] std::uint32_t cores() const noexcept {
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }
  /// Events kept so far, and events that found no room. Safe while the engine runs.
  [[nodiscard]] std::uint64_t size() const noexcept;
  [[nodiscard]] std::uint64_t dropped() const noexcept;
  /// By core: from when on its own events are missing, in their clock; `never` while all of them
  /// are there.
  [[nodiscard]] std::vector<std::int64_t> dropped_from_ns() const;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// Calls `f(const event&)` for every event: lane by lane, each in the order of its writer. Safe
  /// while the engine runs; then it sees what had been written when it reached the lane.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& lane : lanes_) {
      const std::size_t n = lane->size.load(sync::memory_order_acquire);
      for (std::size_t i = 0; i < n; ++i)
        f(static_cast<const event&>(lane->chunks[i / chunk_events]->events[i % chunk_events]));
    }
  }

  /// All events by start, then core, then longest first (so that an enclosing span precedes what it
  /// encloses); the recorder is empty afterwards, the count of dropped events included. No writer
  /// may be active.
  [[nodiscard]] std::vector<event> drain();

  static constexpr std::size_t chunk_events = 4096;

 private:
  struct chunk {
    event events[chunk_events];
  };
  struct alignas(sync::cache_line) core_lane {
    sync::atomic<std::size_t> size{0};
    sync::atomic<std::uint64_t> dropped{0};
    sync::atomic<std::int64_t> dropped_from_ns{never};  // the start of the first one
    // full length from the start: a reader never sees it move
    std::unique_ptr<std::unique_ptr<chunk>[]> chunks;
    void append(const event& e, std::size_t limit) noexcept;
  };

  std::size_t limit_;
  std::vector<std::unique_ptr<core_lane>> lanes_;
  sync::atomic<std::uint64_t> stray_{0};
  mutable sync::mutex outside_;
  std::vector<std::string> labels_, types_;
  std::unique_ptr<graph_log> graph_;
};

}  // namespace kilter::trace
