#include "policy/tape.hpp"

#include <array>

#include "base/random.hpp"

namespace kilter {
inline namespace v0 {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(tape_item::seal) + 1> names = {
    "submit",
    "ready",
    "next",
    "take",
    "done",
    "machine",
    "answer",
    "now",
    "random",
    "online",
    "idle",
    "length",
    "busy",
    "paid",
    "home",
    "id",
    "critical",
    "user_priority",
    "allows",
    "work",
    "cost",
    "state_a",
    "state_b",
    "batch_size",
    "batch_task",
    "batch_whole",
    "successors",
    "successor",
    "successor_cost",
    "predecessors",
    "predecessor",
    "predecessor_cost",
    "data_ready",
    "time",
    "known",
    "best",
    "slowdown",
    "gap",
    "settle",
    "load",
    "fetch_add",
    "exchange_if",
    "type_load",
    "type_fetch_add",
    "word_of",
    "task_of",
    "data_core",
    "elsewhere",
    "slowed_lately",
    "set_critical",
    "set_state_a",
    "set_state_b",
    "rekey",
    "learn",
    "store",
    "table_option",
    "seal"};

constexpr std::uint64_t added(std::uint64_t sum, const tape_entry& e) noexcept {
  return mix64(mix64(mix64(sum ^ static_cast<std::uint64_t>(e.item)) ^ e.key) ^ e.value);
}

std::string described(tape_item item, std::uint64_t key, std::uint64_t value) {
  return std::string(tape_item_name(item)) + "(" + std::to_string(key) +
         ") = " + std::to_string(value);
}

}  // namespace

std::string_view tape_item_name(tape_item item) noexcept {
  const auto i = static_cast<std::size_t>(item);
  return i < names.size() ? names[i] : "unknown";
}

void tape::count(const tape_entry& e) noexcept { sum_ = added(sum_, e); }

const tape_entry* tape::take() noexcept {
  if (at_end()) return nullptr;
  count(entries_[position_]);
  return &entries_[position_++];
}

void tape::differs(tape_item item, std::uint64_t key, std::uint64_t value) noexcept {
  if (!mismatch_.empty()) return;
  mismatch_ = "entry " + std::to_string(position_) + ": the policy has " +
              described(item, key, value) + ", the recording ";
  if (at_end()) {
    mismatch_ += "ends there";
  } else {
    const tape_entry& e = entries_[position_];
    mismatch_ += "has " + described(e.item, e.key, e.value);
  }
}

std::uint64_t tape::exchange(tape_item item, std::uint64_t key, std::uint64_t value,
                             bool write) noexcept {
  if (!replaying_) {
    entries_.push_back({item, key, value});
    count(entries_.back());
    return value;
  }
  // After a difference the policy still has to come to its end: it gets zeros, and what it then
  // does is of no interest.
  if (!mismatch_.empty()) return 0;
  if (at_end() || entries_[position_].item != item || entries_[position_].key != key ||
      (write && entries_[position_].value != value)) {
    differs(item, key, value);
    return 0;
  }
  return take()->value;
}

void tape::seal() noexcept {
  const std::uint64_t sum = sum_;
  exchange(tape_item::seal, 0, sum, true);
}

void tape::reject(tape_item item, std::uint64_t value) noexcept {
  if (!mismatch_.empty()) return;
  mismatch_ = "entry " + std::to_string(position_ - 1) + ": " + std::to_string(value) +
              " is no possible value of '" + std::string(tape_item_name(item)) +
              "' on this machine";
}

std::size_t tape::first_broken_seal(const std::vector<tape_entry>& entries) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].item == tape_item::seal && entries[i].value != sum) return i;
    sum = added(sum, entries[i]);
  }
  return entries.size();
}

void tape::reseal(std::vector<tape_entry>& entries) noexcept {
  std::uint64_t sum = 0;
  for (tape_entry& e : entries) {
    if (e.item == tape_item::seal) e.value = sum;
    sum = added(sum, e);
  }
}

}  // namespace v0
}  // namespace kilter
