#include "balance/os/pmu_observer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

constexpr std::uint64_t last_level(std::uint64_t result) {
  return PERF_COUNT_HW_CACHE_LL | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (result << 16);
}

/// Less than this part of a thread's time counted means that the counters were shared.
constexpr double whole = 0.995;

}  // namespace

pmu_observer::pmu_observer(std::unique_ptr<perf_calls> calls) : calls_(std::move(calls)) {
  const auto all = calls_->pmus();
  if (all.empty())
    throw input_error(
        "pmu: the kernel shows no counters of the processor, as in most virtual machines");
  int error = 0;
  for (const bool generic : {false, true}) {
    generic_ = generic;
    for (const cpu_pmu& p : all) {
      group g;
      if (const int e = open_group(p, 0, g); e == 0) {
        close_group(g);
        pmus_.push_back(p);
      } else {
        error = e;
      }
    }
    if (pmus_.size() == all.size()) return;
    if (pmus_.size() > 0 && generic) break;
    if (!generic) pmus_.clear();
  }
  if (pmus_.empty()) throw input_error("pmu: " + reason_of(error));
  throw input_error(fmt::format(
      "pmu: of {} kinds of cores only {} can be counted ({}), so threads could not be compared",
      all.size(), pmus_.size(), reason_of(error)));
}

pmu_observer::~pmu_observer() {
  for (auto& [id, all] : groups_)
    for (group& g : all) close_group(g);
}

std::string pmu_observer::limits() const {
  std::string text = generic_ ? "counts cache references and misses of each thread"
                              : "counts last-level loads and misses of each thread";
  if (pmus_.size() > 1) {
    text += ", added up over";
    for (const cpu_pmu& p : pmus_) text += " " + p.name;
  }
  return text + "; user mode only";
}

std::string pmu_observer::reason_of(int error) {
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    return "the processor's counters for cache misses are not there, as in most virtual machines";
  return perf_refusal(error);
}

perf_event_attr pmu_observer::attributes(const cpu_pmu& p, event e) const {
  perf_event_attr a{};
  a.size = sizeof a;
  a.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  a.exclude_kernel = 1;
  a.exclude_hv = 1;
  a.type = PERF_TYPE_HARDWARE;
  switch (e) {
    case cycles: a.config = PERF_COUNT_HW_CPU_CYCLES; break;
    case instructions: a.config = PERF_COUNT_HW_INSTRUCTIONS; break;
    case events: break;
    case loads:
    case misses: {
      const bool miss = e == misses;
      if (generic_) {
        a.config = miss ? PERF_COUNT_HW_CACHE_MISSES : PERF_COUNT_HW_CACHE_REFERENCES;
      } else {
        a.type = PERF_TYPE_HW_CACHE;
        a.config =
            last_level(miss ? PERF_COUNT_HW_CACHE_RESULT_MISS : PERF_COUNT_HW_CACHE_RESULT_ACCESS);
      }
    }
  }
  // which of several kinds of cores is meant
  if (p.name != "cpu") a.config |= static_cast<std::uint64_t>(p.type) << 32;
  return a;
}

int pmu_observer::open_group(const cpu_pmu& p, pid_t tid, group& g) {
  for (std::size_t e = 0; e < events; ++e) {
    const int fd = calls_->open(attributes(p, static_cast<event>(e)), tid, g.fds[cycles]);
    if (fd < 0) {
      close_group(g);
      return -fd;
    }
    g.fds[e] = fd;
  }
  return 0;
}

void pmu_observer::close_group(group& g) noexcept {
  for (int& fd : g.fds)
    if (fd >= 0) calls_->close(std::exchange(fd, -1));
}

bool pmu_observer::read_group(const group& g, totals& t) const {
  std::array<std::uint64_t, 3 + events> raw{};
  if (!calls_->read(g.fds[cycles], raw) || raw[0] != events) return false;
  t.enabled_ns = raw[1];
  t.running_ns = raw[2];
  for (std::size_t e = 0; e < events; ++e) t.counts[e] = raw[3 + e];
  return true;
}

void pmu_observer::add(const watched_thread& t) {
  std::vector<group> all(pmus_.size());
  int error = 0;
  for (std::size_t p = 0; p < pmus_.size() && error == 0; ++p)
    error = open_group(pmus_[p], t.tid, all[p]);
  // Its number may have passed to another thread just before the counters were opened.
  if (error == 0 && t.still_there()) {
    groups_[t.id] = std::move(all);
    return;
  }
  for (group& g : all) close_group(g);
  if (error != 0 && error != ESRCH) {
    ++refused_;
    refused_error_ = error;
  }
}

void pmu_observer::remove(const watched_thread& t) {
  const auto at = groups_.find(t.id);
  if (at == groups_.end()) return;
  for (group& g : at->second) close_group(g);
  groups_.erase(at);
}

void pmu_observer::fill(const watched_thread& t, thread_sample& s) {
  const auto at = groups_.find(t.id);
  if (at == groups_.end()) return;
  totals sum;
  for (group& g : at->second) {
    totals now;
    if (!read_group(g, now)) return;
    // A kind's clock runs while the thread is on another kind, too: times enabled are the same for
    // all, times running add up.
    sum.enabled_ns = std::max(sum.enabled_ns, now.enabled_ns - g.last.enabled_ns);
    sum.running_ns += now.running_ns - g.last.running_ns;
    for (std::size_t e = 0; e < events; ++e) sum.counts[e] += now.counts[e] - g.last.counts[e];
    g.last = now;
  }
  if (sum.enabled_ns == 0) {  // it did not run
    s.misses = s.instructions = 0.0;
    return;
  }
  ++samples_;
  if (sum.running_ns == 0) {
    ++uncounted_;
    return;
  }
  const double counted = static_cast<double>(sum.running_ns) / static_cast<double>(sum.enabled_ns);
  const double scale = counted < whole ? 1.0 / counted : 1.0;
  if (scale != 1.0) ++scaled_;
  s.misses = static_cast<double>(sum.counts[misses]) * scale;
  s.instructions = static_cast<double>(sum.counts[instructions]) * scale;
  if (sum.counts[loads] > 0)
    s.miss_ratio = std::min(
        1.0, static_cast<double>(sum.counts[misses]) / static_cast<double>(sum.counts[loads]));
}

std::vector<std::string> pmu_observer::remarks() const {
  std::vector<std::string> lines;
  if (scaled_ > 0)
    lines.push_back(
        fmt::format("counters were shared with others (multiplexing) in {} of {} samples: "
                    "those are scaled up from the part of the time that was counted",
                    scaled_, samples_));
  if (uncounted_ > 0)
    lines.push_back(fmt::format("{} of {} samples had no counter at all and are left out",
                                uncounted_, samples_));
  if (refused_ > 0)
    lines.push_back(
        fmt::format("{} threads could not be counted: {}", refused_, reason_of(refused_error_)));
  return lines;
}

}  // namespace kilter::balance::os
