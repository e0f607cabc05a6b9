#include "balance/os/targets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

namespace fs = std::filesystem;

std::uint64_t ticks_to_ns(std::uint64_t ticks) {
  static const auto per_s = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks * (1'000'000'000 / per_s);
}

bool has_ended(const host::thread_stat& s) { return s.state == 'Z' || s.state == 'X'; }

/// A main thread that ended before its process shows as a zombie beside threads that live.
bool whole_process_ended(pid_t pid, const host::thread_stat& leader) {
  return has_ended(leader) && host::threads_of(pid).size() <= 1;
}

}  // namespace

void watched_thread::read_times(const host::thread_stat& s) {
  char text[256];
  if (schedstat.read(text, sizeof text) == 0) {
    // a kernel without schedstat: coarse, and nothing on waiting
    ran_ns = ticks_to_ns(s.cpu_ticks);
  } else if (const auto times = host::parse_schedstat(text)) {
    ran_ns = times->ran_ns;
    waited_ns = times->waited_ns;
  }
}

bool watched_thread::still_there() const {
  // An open file of /proc belongs to the thread and not to its number, and this one is ten times
  // cheaper to read than `stat`. (A main thread that ended and that nobody has waited for still
  // counts; nobody else can have its number.)
  char text[64];
  if (schedstat.kept_open()) return schedstat.read(text, sizeof text) > 0;
  const auto s = host::stat_of(stat);
  return s && s->start == start && !has_ended(*s);
}

std::string cgroup_directory(const std::string& path) {
  std::vector<std::string> tried{path};
  for (const char* const mount :
       {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuset"})
    tried.push_back(std::string(mount) + "/" + path);
  for (const std::string& directory : tried) {
    std::error_code ignored;
    if (fs::exists(fs::path(directory) / "cgroup.procs", ignored)) return directory;
  }
  throw input_error(fmt::format(
      "--cgroup '{}': no such group; give its directory, as /sys/fs/cgroup/user.slice", path));
}

targets::targets(target_spec spec) : spec_(std::move(spec)) {
  for (const pid_t pid : spec_.pids) {
    const auto s = host::stat_of(pid, pid);
    if (!s || whole_process_ended(pid, *s)) {
      const pid_t owner = host::process_of(pid);
      throw input_error(
          owner > 0 && owner != pid
              ? fmt::format("--pid {}: is a thread of process {}; give that", pid, owner)
              : fmt::format("--pid {}: there is no such process", pid));
    }
    if (s->kernel_thread)
      throw input_error(
          fmt::format("--pid {}: is a thread of the kernel; only processes can be watched", pid));
    if (pid == ::getpid()) throw input_error(fmt::format("--pid {}: is Kilter itself", pid));
    admit(pid, *s);
  }
}

bool targets::look(double now_s) {
  appeared_.clear();
  const std::size_t before = ended_.size();
  drop_ended(now_s);
  const std::uint64_t number = host::last_number();
  // Now and then also without a sign, in case all numbers went round between two looks.
  const bool everything = number != last_number_ || number == 0 || looks_ % 16 == 0;
  ++looks_;
  if (everything) {
    if (!spec_.cgroup.empty())
      find_in_group();
    else
      find_processes();
    for (auto at = processes_.begin(); at != processes_.end();) {
      const auto s = host::stat_of(at->first, at->first);
      if (!s || s->start != at->second.start || whole_process_ended(at->first, *s)) {
        at = processes_.erase(at);
      } else {
        find_threads(at->first, at->second, now_s);
        ++at;
      }
    }
    last_number_ = number;
  }
  std::sort(appeared_.begin(), appeared_.end(), [](const auto* a, const auto* b) {
    return std::pair(a->start, a->tid) < std::pair(b->start, b->tid);
  });
  for (watched_thread* const t : appeared_) {
    t->id = next_id_++;
    alive_.push_back(t);
  }
  return !appeared_.empty() || ended_.size() != before;
}

void targets::find_processes() {
  if (looks_ % 16 == 1) strangers_.clear();  // a number may have been used again
  std::unordered_map<pid_t, host::thread_stat> fresh;
  for (const pid_t pid : host::all_processes()) {
    if (processes_.contains(pid) || strangers_.contains(pid)) continue;
    if (const auto s = host::stat_of(pid, pid); s && !s->kernel_thread) fresh.emplace(pid, *s);
  }
  // A child may be listed before its parent.
  for (bool found = true; found;) {
    found = false;
    for (auto at = fresh.begin(); at != fresh.end();) {
      const auto& [pid, s] = *at;
      const bool ours = (s.ppid == spec_.ancestor && s.ppid != 0) || still_watched(s.ppid);
      if (!ours || pid == ::getpid() || pid == spec_.ancestor) {
        ++at;
        continue;
      }
      admit(pid, s);
      at = fresh.erase(at);
      found = true;
    }
  }
  for (const auto& [pid, s] : fresh) strangers_.insert(pid);
}

/// Asked after a child was seen to have that parent: a parent that is still the same one now was so
/// then.
bool targets::still_watched(pid_t pid) const {
  const auto at = processes_.find(pid);
  if (at == processes_.end()) return false;
  const auto s = host::stat_of(pid, pid);
  return s && s->start == at->second.start;
}

void targets::find_in_group() {
  const auto read = [&](const fs::path& directory) {
    std::ifstream in(directory / "cgroup.procs");
    for (pid_t pid; in >> pid;) {
      if (pid <= 0 || pid == ::getpid() || pid == spec_.not_this || processes_.contains(pid))
        continue;
      if (const auto s = host::stat_of(pid, pid); s && !s->kernel_thread) admit(pid, *s);
    }
  };
  std::error_code error;
  if (!fs::is_directory(spec_.cgroup, error)) return;
  read(spec_.cgroup);
  for (fs::recursive_directory_iterator
           at(spec_.cgroup, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error))
    if (at->is_directory(error)) read(at->path());
}

void targets::admit(pid_t pid, const host::thread_stat& s) {
  if (has_ended(s)) return;
  const auto program = static_cast<program_id>(programs_.size());
  programs_.push_back({program, pid, s.start, s.name, 0, -1.0, -1.0});
  processes_[pid] = {program, s.ppid, s.start};
}

void targets::find_threads(pid_t pid, const process& p, double now_s) {
  for (const pid_t tid : host::threads_of(pid)) {
    if (by_tid_.contains(tid)) continue;
    auto t = std::make_unique<watched_thread>();
    t->stat = host::proc_file(host::stat_path(pid, tid));
    const auto s = host::stat_of(t->stat);
    if (!s || has_ended(*s)) continue;
    t->schedstat = host::proc_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) +
                                   "/schedstat");
    t->program = p.program;
    t->pid = pid;
    t->tid = tid;
    t->start = s->start;
    t->name = s->name;
    t->state = s->state;
    t->os_cpu = s->os_cpu;
    if (looks_ == 1) t->read_times(*s);  // it may have a past, which is not ours to count
    t->first_s = t->last_s = now_s;
    watched_program& program = programs_[p.program];
    ++program.threads;
    if (program.first_s < 0) program.first_s = now_s;
    program.last_s = now_s;
    appeared_.push_back(t.get());
    by_tid_[tid] = std::move(t);
  }
}

void targets::drop_ended(double now_s) {
  std::erase_if(alive_, [&](watched_thread* t) {
    if (!t->gone && t->still_there()) {
      t->last_s = programs_[t->program].last_s = now_s;
      return false;
    }
    t->gone = true;
    const auto at = by_tid_.find(t->tid);
    ended_.push_back(std::move(at->second));
    by_tid_.erase(at);
    return true;
  });
}

void targets::measure(double now_s) {
  for (watched_thread* const t : alive_) {
    const auto s = host::stat_of(t->stat);
    if (!s || s->start != t->start || has_ended(*s)) {
      t->gone = true;
      continue;
    }
    t->name = s->name;
    t->state = s->state;
    t->os_cpu = s->os_cpu;
    t->last_s = programs_[t->program].last_s = now_s;
    if (t->tid == t->pid) programs_[t->program].name = s->name;
    t->read_times(*s);
  }
}

pid_t targets::parent_of(pid_t pid) const {
  const auto at = processes_.find(pid);
  return at == processes_.end() ? 0 : at->second.ppid;
}

}  // namespace kilter::balance::os
