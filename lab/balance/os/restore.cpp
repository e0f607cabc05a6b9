#include "balance/os/restore.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "balance/os/cpuset.hpp"
#include "balance/os/guard.hpp"
#include "host/proc.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

struct process_seen {
  pid_t ppid = 0, session = 0;
  std::uint64_t start = 0;
  bool guard = false;
};

/// All processes there are.
std::unordered_map<pid_t, process_seen> processes_now() {
  std::unordered_map<pid_t, process_seen> all;
  for (const pid_t pid : host::all_processes())
    if (const auto s = host::stat_of(pid, pid); s && !s->kernel_thread)
      all[pid] = {s->ppid, s->session, s->start, s->name == guard::name};
  return all;
}

/// Processes in which a mask of ours may be: recorded ones, what descends from them or from the
/// ancestor, and orphans.
class family {
 public:
  family(mask_ledger& ledger, const std::unordered_map<pid_t, process_seen>& all)
      : ledger_(ledger), all_(all) {
    for (const mask_record& r : ledger.records()) {
      if (r.state == mask_record::unused) continue;
      const auto at = all.find(r.pid);
      if (at == all.end()) continue;
      sessions_.insert(at->second.session);
      // A thread's number does not tell whether its process is still the one that was recorded, a
      // thread of it that lives does, and so does its age.
      if (at->second.start <= r.start) recorded_.insert(r.pid);
    }
  }

  [[nodiscard]] bool has(pid_t pid) {
    if (pid == ::getpid() || pid == ledger_.owner() || pid == ledger_.ancestor()) return false;
    // While whoever adopts the orphans of our program lives, an orphan elsewhere is somebody
    // else's.
    const bool adopter_lives = ledger_.ancestor() != 0 && all_.contains(ledger_.ancestor());
    return recorded_.contains(pid) || descends(pid) || (!adopter_lives && orphan(pid));
  }

 private:
  bool descends(pid_t pid) const {
    auto at = all_.find(pid);
    for (int depth = 0; at != all_.end() && depth < 1000; ++depth) {
      const pid_t parent = at->second.ppid;
      if (parent == ledger_.ancestor() && parent != 0) return true;
      if (recorded_.contains(parent)) return true;
      at = all_.find(parent);
    }
    return false;
  }

  /// Made since we began, its parent gone, in a session of ours or in one whose leader is gone as
  /// well: what a program leaves behind when it detaches a child. What a guard has adopted belongs
  /// to the run of that guard. (Our own guard, if it adopts, lives, and then nobody asks.)
  bool orphan(pid_t pid) const {
    const process_seen& p = all_.at(pid);
    if (p.start < ledger_.begun()) return false;
    const auto parent = all_.find(p.ppid);
    if (parent != all_.end() && parent->second.guard) return false;
    const bool adopted = p.ppid == 1 || parent == all_.end() || parent->second.session != p.session;
    return adopted && (sessions_.contains(p.session) || !all_.contains(p.session));
  }

  mask_ledger& ledger_;
  const std::unordered_map<pid_t, process_seen>& all_;
  std::unordered_set<pid_t> recorded_, sessions_;
};

class restorer {
 public:
  explicit restorer(mask_ledger& ledger) : ledger_(ledger) {}

  restored run() {
    if (ledger_.records().empty()) return {};
    constexpr int most_passes = 1000;
    for (int pass = 0; pass < most_passes; ++pass)
      if (!recorded_threads() && !unseen_threads()) break;
    return std::move(done_);
  }

 private:
  bool give_back(pid_t pid, pid_t tid, std::uint64_t start, const host::cpu_mask& original,
                 const host::cpu_mask& now) {
    if (now == original || done_with_.contains({tid, start})) return false;
    const auto s = host::stat_of(pid, tid);
    if (!s || s->start != start) return false;
    const int error = host::set_affinity(tid, asking_for(original));
    if (error == 0) {
      ++done_.threads;
      // Where its cpuset decides, the next pass would see no difference.
      if (const auto after = host::affinity_of(tid); !after || *after == now)
        done_with_.insert({tid, start});
      return true;
    }
    if (error == ESRCH) return false;
    done_with_.insert({tid, start});
    if (error == EINVAL) ++done_.owed;
    done_.failed.push_back(fmt::format(
        "thread {} ({}) keeps the mask {} and should have {}: {}", tid, s->name, to_text(now),
        to_text(original),
        error == EINVAL
            ? "its cpuset allows none of them now; when it does, run kilter lab balance --restore"
            : std::strerror(error)));
    return false;
  }

  bool recorded_threads() {
    bool changed = false;
    for (const mask_record& r : ledger_.records()) {
      if (r.state != mask_record::ours) continue;
      const auto s = host::stat_of(r.pid, r.tid);
      if (!s || s->start != r.start) continue;
      const auto now = host::affinity_of(r.tid);
      if (now && has_mask_of_ours(r, *now))
        changed |= give_back(r.pid, r.tid, r.start, r.original, *now);
    }
    return changed;
  }

  /// Seen, or hidden by a cpuset that has taken the CPU away for now.
  bool has_mask_of_ours(const mask_record& r, const host::cpu_mask& now) {
    if (r.has(now.single()) || ledger_.brought_by_exec(r, now.single())) return true;
    if (r.given < 0 && r.next < 0) return false;
    const auto allowed = cpuset_of(r.tid);
    return allowed &&
           (was_displaced(r.given, now, *allowed) || was_displaced(r.next, now, *allowed));
  }

  bool recorded(pid_t tid, std::uint64_t start) {
    for (const mask_record& r : ledger_.records())
      if (r.state != mask_record::unused && r.tid == tid && r.start == start) return true;
    return false;
  }

  bool unseen_threads() {
    bool changed = false;
    const auto all = processes_now();
    family ours(ledger_, all);
    const host::cpu_mask everywhere = host::online_cpus();
    for (const auto& [pid, p] : all) {
      if (!ours.has(pid)) continue;
      for (const pid_t tid : host::threads_of(pid)) {
        const auto now = host::affinity_of(tid);
        if (!now || (now->single() < 0 && *now == everywhere)) continue;
        const auto s = host::stat_of(pid, tid);
        if (!s || recorded(tid, s->start)) continue;
        if (const mask_record* const from = ledger_.inherited_from(pid, p.ppid, tid, *now))
          changed |= give_back(pid, tid, s->start, from->original, *now);
      }
    }
    return changed;
  }

  mask_ledger& ledger_;
  restored done_;
  /// thread and start: not to be tried again
  std::set<std::pair<pid_t, std::uint64_t>> done_with_;
};

}  // namespace

restored restore_masks(mask_ledger& ledger) { return restorer(ledger).run(); }

namespace {

/// Under a name that nobody looks for, so that it is said once and nothing is lost. What became of
/// it, as the end of a sentence.
std::string set_aside(const std::string& path) {
  for (int n = 0; n < 100; ++n) {
    const std::string to =
        fmt::format("{}.set-aside{}", path, n == 0 ? "" : "-" + std::to_string(n));
    if (::access(to.c_str(), F_OK) == 0) continue;
    return std::rename(path.c_str(), to.c_str()) == 0
               ? "set aside as " + to
               : fmt::format("and it cannot be set aside: {}", std::strerror(errno));
  }
  return "and it is left where it is";
}

/// A file without anything in it whose process lives is being written.
bool being_written(const std::string& path) {
  const pid_t pid = mask_ledger::process_in_name(path);
  return pid > 0 && ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0;
}

}  // namespace

mended restore_all() {
  mended m;
  for (const std::string& path : mask_ledger::files()) {
    try {
      mask_ledger ledger(path);
      if (ledger.of_this_system() && ledger.in_use()) {
        ++m.in_use;
        continue;
      }
      if (ledger.of_this_system()) {
        restored r = restore_masks(ledger);
        m.masks.threads += r.threads;
        m.masks.failed.insert(m.masks.failed.end(), r.failed.begin(), r.failed.end());
        if (r.owed > 0) continue;
        if (ledger.cut_off()) {
          m.masks.failed.push_back(
              fmt::format("{}: records are missing at its end; those that are there were used; {}",
                          path, set_aside(path)));
          continue;
        }
      }
      ++m.files;
      ledger.remove_files();
    } catch (const not_a_ledger& e) {
      if (being_written(path))
        ++m.in_use;
      else
        m.masks.failed.push_back(fmt::format("{}; {}", e.what(), set_aside(path)));
    } catch (const input_error& e) {
      m.masks.failed.emplace_back(e.what());
    }
  }
  return m;
}

}  // namespace kilter::balance::os
