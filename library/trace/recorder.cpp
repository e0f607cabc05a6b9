#include "trace/recorder.hpp"

#include <algorithm>
#include <new>

#include "kilter/error.hpp"

namespace kilter::trace {

recorder::recorder(std::uint32_t cores, const recorder_options& options)
    : limit_(options.limit_events_per_core) {
  if (cores == 0) throw input_error("trace: 0 cores; a recorder needs at least 1");
  if (limit_ == 0)
    throw input_error("trace: a limit of 0 events for each core; give at least 1, or no recorder");
  for (std::uint32_t i = 0; i <= cores; ++i) {
    lanes_.push_back(std::make_unique<core_lane>());
    lanes_.back()->chunks =
        std::make_unique<std::unique_ptr<chunk>[]>((limit_ - 1) / chunk_events + 1);
  }
  if (options.keeps_graph) graph_ = std::make_unique<graph_log>();
}

recorder::~recorder() = default;

void recorder::core_lane::append(const event& e, std::size_t limit) noexcept {
  const std::size_t i = size.load(sync::memory_order_relaxed);
  auto& home = chunks[std::min(i, limit - 1) / chunk_events];
  if (i < limit && !home) home.reset(new (std::nothrow) chunk);
  if (i >= limit || !home) {
    dropped.store(dropped.load(sync::memory_order_relaxed) + 1, sync::memory_order_relaxed);
    dropped_from_ns.store(std::min(dropped_from_ns.load(sync::memory_order_relaxed), e.start_ns),
                          sync::memory_order_relaxed);
    return;
  }
  home->events[i % chunk_events] = e;
  size.store(i + 1, sync::memory_order_release);
}

void recorder::append(core_id lane, const event& e) noexcept {
  if (lane >= cores()) {
    stray_.fetch_add(1, sync::memory_order_relaxed);
    return;
  }
  lanes_[lane]->append(e, limit_);
}

void recorder::append_outside(const event& e) {
  const sync::lock_guard lock(outside_);
  lanes_.back()->append(e, limit_);
}

std::uint16_t recorder::label(std::string_view text) {
  const sync::lock_guard lock(outside_);
  const auto known = std::find(labels_.begin(), labels_.end(), text);
  if (known != labels_.end()) return static_cast<std::uint16_t>(known - labels_.begin());
  if (labels_.size() < 65535) labels_.emplace_back(text);
  return static_cast<std::uint16_t>(labels_.size() - 1);
}

void recorder::name_type(std::uint16_t type, std::string_view text) {
  const sync::lock_guard lock(outside_);
  while (types_.size() <= type) types_.push_back("type " + std::to_string(types_.size()));
  types_[type] = text;
}

std::vector<std::string> recorder::labels() const {
  const sync::lock_guard lock(outside_);
  return labels_;
}

std::vector<std::string> recorder::type_names() const {
  const sync::lock_guard lock(outside_);
  return types_;
}

std::uint64_t recorder::size() const noexcept {
  std::uint64_t n = 0;
  for (const auto& lane : lanes_) n += lane->size.load(sync::memory_order_relaxed);
  return n;
}

std::vector<std::int64_t> recorder::dropped_from_ns() const {
  std::vector<std::int64_t> from;
  for (std::uint32_t core = 0; core < cores(); ++core)
    from.push_back(lanes_[core]->dropped_from_ns.load(sync::memory_order_relaxed));
  return from;
}

std::uint64_t recorder::dropped() const noexcept {
  std::uint64_t n = stray_.load(sync::memory_order_relaxed);
  for (const auto& lane : lanes_) n += lane->dropped.load(sync::memory_order_relaxed);
  return n;
}

std::vector<event> recorder::drain() {
  std::vector<event> all;
  all.reserve(size());
  for_each([&](const event& e) { all.push_back(e); });
  std::stable_sort(all.begin(), all.end(), [](const event& a, const event& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.core != b.core) return a.core < b.core;
    return a.end_ns > b.end_ns;
  });
  for (const auto& lane : lanes_) {
    lane->size.store(0, sync::memory_order_relaxed);
    lane->dropped.store(0, sync::memory_order_relaxed);
    lane->dropped_from_ns.store(never, sync::memory_order_relaxed);
    for (std::size_t c = 0; c <= (limit_ - 1) / chunk_events; ++c) lane->chunks[c].reset();
  }
  stray_.store(0, sync::memory_order_relaxed);
  return all;
}

}  // namespace kilter::trace
