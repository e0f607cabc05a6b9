#pragma once
// A recording of the questions that one worker asked and of every value that the policy read or
// wrote while it answered. Since a policy has no other source, feeding it the same values gives the
// same answers, whatever the other workers did.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kilter/policy.hpp"

namespace kilter {
inline namespace v0 {

enum class tape_item : std::uint8_t {
  // questions, and the end of an answer
  submit,
  ready,
  next,
  take,
  done,
  machine,
  answer,
  // reads
  now,
  random,
  online,
  idle,
  length,
  busy,
  paid,
  home,
  id,
  critical,
  user_priority,
  allows,
  work,
  cost,
  state_a,
  state_b,
  batch_size,
  batch_task,
  batch_whole,
  successors,
  successor,
  successor_cost,
  predecessors,
  predecessor,
  predecessor_cost,
  data_ready,
  time,
  known,
  best,
  slowdown,
  gap,
  settle,
  load,
  fetch_add,
  exchange_if,
  type_load,
  type_fetch_add,
  word_of,
  task_of,
  data_core,
  elsewhere,
  slowed_lately,
  // writes
  set_critical,
  set_state_a,
  set_state_b,
  rekey,
  learn,
  store,
  // the table options of the recorded engine, once, before the first question; and the sum over all
  // entries before this one
  table_option,
  seal,
};

[[nodiscard]] std::string_view tape_item_name(tape_item) noexcept;

struct tape_entry {
  tape_item item;
  std::uint64_t key;    ///< what was asked about
  std::uint64_t value;  ///< what was read or written
  friend bool operator==(const tape_entry&, const tape_entry&) = default;
};

/// Thrown inside a replay when the policy asks or writes something else than the recording has; the
/// message says what and where.
struct replay_mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Records when it is given no entries, replays when it is. One a worker; not thread-safe.
class tape {
 public:
  tape() = default;
  explicit tape(std::vector<tape_entry> recorded)
      : entries_(std::move(recorded)), replaying_(true) {}

  [[nodiscard]] bool replaying() const noexcept { return replaying_; }
  /// Recording: appends and returns `value`. Replaying: checks item and key (a write: also the
  /// value), returns the recorded value. Never throws into a policy's noexcept path: a mismatch is
  /// remembered, and `mismatch()` tells it.
  std::uint64_t exchange(tape_item, std::uint64_t key, std::uint64_t value,
                         bool write = false) noexcept;
  [[nodiscard]] const std::vector<tape_entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::vector<tape_entry>& entries() noexcept { return entries_; }
  [[nodiscard]] bool at_end() const noexcept { return position_ == entries_.size(); }
  [[nodiscard]] const std::string& mismatch() const noexcept { return mismatch_; }
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

  /// Replaying: the next entry, passed over; null at the end.
  [[nodiscard]] const tape_entry* take() noexcept;
  /// Recording: appends the sum over all entries so far. Replaying: compares it, so that no
  /// recorded value can be altered unseen, also one that would not have changed an answer. Put
  /// after every answer.
  void seal() noexcept;
  /// Replaying: the value just read is none that an engine could have given; remembered as a
  /// mismatch.
  void reject(tape_item, std::uint64_t value) noexcept;
  /// Position of the first seal that is not the sum of what is before it; the number of entries if
  /// there is none.
  [[nodiscard]] static std::size_t first_broken_seal(const std::vector<tape_entry>&) noexcept;
  /// Computes every seal anew, after entries were altered on purpose: what a replay then finds, it
  /// finds by the answers.
  static void reseal(std::vector<tape_entry>&) noexcept;
  /// Options of the recorded engine's trace table. Recording: set at the first question. Replaying:
  /// read from the entries.
  table_options table{};

 private:
  void count(const tape_entry&) noexcept;
  void differs(tape_item, std::uint64_t key, std::uint64_t value) noexcept;
  std::uint64_t sum_ = 0;
  std::vector<tape_entry> entries_;
  std::size_t position_ = 0;
  bool replaying_ = false;
  std::string mismatch_;
};

}  // namespace v0
}  // namespace kilter
