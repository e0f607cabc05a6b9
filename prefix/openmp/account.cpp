#include "openmp/account.hpp"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/guest.hpp"
#include "openmp/extra.hpp"
#include "openmp/openblas.hpp"
#include "openmp/pool.hpp"
#include "openmp/region.hpp"
#include "openmp/rescue.hpp"

namespace kilter::regions {

namespace {

char path[PATH_MAX];
pid_t reporting = 0;  // the process that began; a fork's child is another one
const char* nothing_done_for = nullptr;

/// A path as JSON text; what would need a longer escape is left out.
void quoted(char (&to)[PATH_MAX], const char* from) noexcept {
  size_t n = 0;
  for (; *from && n + 3 < sizeof to; ++from) {
    const auto c = static_cast<unsigned char>(*from);
    if (c == '"' || c == '\\') to[n++] = '\\';
    if (c >= ' ') to[n++] = *from;
  }
  to[n] = '\0';
}

/// Why its library had it lately; empty if it had not.
const char* left_for(const region& r, reason why) noexcept {
  if (r.is_ours.load(std::memory_order_relaxed)) return "";
  if (why == reason::nested) return "nested";
  if (why == reason::own_data) return "thread-local data";
  if (why == reason::task_reductions) return "reductions of tasks in loops";
  if (r.needs.load(std::memory_order_relaxed) != team_need::none)
    return team_call_name(r.call.load(std::memory_order_relaxed));
  if (why == reason::others_spin) return "threads that spin after other regions";
  return r.on_pool.load(std::memory_order_relaxed) > 0 ? "faster there" : "";
}

void write_region(sink& to, const region& r) noexcept {
  static char line[PATH_MAX + 512], name[PATH_MAX];
  const module_at where =
      module_of(reinterpret_cast<const void*>(r.run.load(std::memory_order_relaxed)));
  quoted(name, *where.path ? where.path : "");
  const reason why = r.why.load(std::memory_order_relaxed);
  const char* const left = left_for(r, why);
  const std::uint32_t members = r.members.load(std::memory_order_relaxed);
  const std::uint32_t threads =
      r.on_pool.load(std::memory_order_relaxed) > 0 && members > pool_size() ? pool_size()
                                                                             : members;
  to.put(line,
         snprintf(
             line, sizeof line,
             "{\"module\":\"%s\",\"offset\":%llu,\"calls\":%llu,\"on_pool\":%llu,\"members\":%u,"
             "\"threads\":%u,\"seconds\":%.6f,\"left_for\":\"%s\",\"library\":\"%s\",\"waited\":[",
             name, static_cast<unsigned long long>(where.offset),
             static_cast<unsigned long long>(r.times.load(std::memory_order_relaxed)),
             static_cast<unsigned long long>(r.on_pool.load(std::memory_order_relaxed)), members,
             threads, static_cast<double>(r.ns.load(std::memory_order_relaxed)) * 1e-9, left,
             name_of(r.library)));
  const char* between = "";
  r.waited.each([&](int cpu, std::uint64_t ns) {
    to.put(line,
           snprintf(line, sizeof line, "%s{\"cpu\":%d,\"seconds\":%.6f}", between,
                    cpu == waited_times::other_cpus ? -1 : cpu, static_cast<double>(ns) * 1e-9));
    between = ",";
  });
  to.put("]}\n", 3);
}

void write_all(sink& to) noexcept {
  char line[512];
  const rescue_numbers told = rescues_so_far();
  const blas_numbers blas = blas_so_far();
  to.put(line, snprintf(line, sizeof line,
                        "{\"schema\":\"kilter.regions/"
                        "1\",\"pid\":%d,\"passed_on_for\":\"%s\",\"rescues\":%llu,\"exchanges\":%"
                        "llu,\"alone\":%llu",
                        static_cast<int>(getpid()), nothing_done_for ? nothing_done_for : "",
                        static_cast<unsigned long long>(told.rescues),
                        static_cast<unsigned long long>(told.exchanges),
                        static_cast<unsigned long long>(times_alone())));
  if (blas.libraries > 0)
    to.put(
        line,
        snprintf(line, sizeof line,
                 ",\"openblas\":{\"libraries\":%u,\"threads\":%u,\"fewest\":%u,\"changes\":%llu}",
                 blas.libraries, blas.threads, blas.fewest,
                 static_cast<unsigned long long>(blas.changes)));
  to.put("}\n", 2);
  for (std::uint32_t n = 0; n < region_count(); ++n) write_region(to, region_at(n));
}

// The lines are made in one place of memory.
std::atomic<bool> writing{false};

__attribute__((destructor)) void write_it() {
  if (!gives_account()) return;
  const int file = guest::open_told(path, O_WRONLY | O_APPEND);
  if (file < 0) return;
  sink to(file);
  while (!write_account(to)) sched_yield();
  close(file);
}

}  // namespace

bool account_is_wanted() noexcept { return reporting != 0; }
bool gives_account() noexcept { return reporting != 0 && reporting == getpid(); }

bool write_account(sink& to) noexcept {
  if (writing.exchange(true, std::memory_order_acquire)) return false;
  write_all(to);
  writing.store(false, std::memory_order_release);
  return true;
}

void begin_account() noexcept {
  const char* const wanted = getenv("KILTER_EXPLAIN");
  if (!wanted || !*wanted || strlen(wanted) >= sizeof path) return;
  strcpy(path, wanted);
  reporting = getpid();
}

void account_for_nothing(const char* variable) noexcept {
  nothing_done_for = variable;
  begin_account();
}

}  // namespace kilter::regions
