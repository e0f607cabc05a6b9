// libkilter_place.so: decides where a new thread of a program goes, and pins it. Loaded by
// libkilter_preload.so (interpose.cpp), which has what it interposes.
//
// A thread is pinned by itself, in `begin`, to one CPU out of the mask that its creator had. What
// goes wrong here costs the program nothing but the placement.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

#include "balance/preload/cpus.hpp"
#include "balance/preload/history.hpp"
#include "balance/preload/placement.hpp"
#include "balance/preload/placer.hpp"
#include "base/printable.hpp"
#include "guest/guest.hpp"
#include "kilter/error.hpp"
#include "kilter/hint.h"

namespace {

using namespace kilter;
using namespace kilter::balance::preload;
namespace guest = kilter::guest;

struct process_state {
  settings from_environment;
  std::string program;
  std::unique_ptr<placer> threads;  ///< none: misconfigured, everything is left alone
  pthread_key_t key = 0;
  std::mutex measured_lock;
  std::vector<double> measured_s;  ///< CPU seconds by index of the thread, for the history
};

/// Never destroyed: threads may still end while the process exits.
process_state* state = nullptr;
const first_half* program_side = nullptr;

own_mask& mask_of_this() { return *program_side->of_this_thread(); }

void say(const std::string& what) { guest::tell("%s", printable(what).c_str()); }

/// The mask that threads and processes of this thread are to begin from.
bool outer_mask(cpu_set_t& mask) {
  if (still_ours(mask_of_this())) {
    mask = mask_of_this().outer;
    return true;
  }
  return sched_getaffinity(0, sizeof mask, &mask) == 0;
}

std::vector<int> allowed_cpus() {
  cpu_set_t mask;
  if (!outer_mask(mask)) throw input_error("the CPU mask cannot be read (more than 1024 CPUs?)");
  std::vector<int> cpus;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(c, &mask)) cpus.push_back(c);
  return cpus;
}

std::vector<int> fast_of(const settings& s, const std::vector<int>& allowed) {
  if (s.fast_cpus.empty()) return fastest_cpus(allowed, "/sys");
  std::vector<int> fast;
  std::set_intersection(s.fast_cpus.begin(), s.fast_cpus.end(), allowed.begin(), allowed.end(),
                        std::back_inserter(fast));
  if (fast.empty())
    throw input_error("KILTER_FAST_CPUS: none of these CPUs is in this process's mask");
  return fast;
}

struct launch {
  void* (*start)(void*);
  void* argument;
  unsigned long index;
  long core;  ///< -1: not placed
  bool set_mask;
  cpu_set_t outer, ours;
};

void at_end(void* value) {
  std::unique_ptr<launch> l(static_cast<launch*>(value));
  if (l->core >= 0) state->threads->ended(static_cast<core_id>(l->core));
  if (state->from_environment.history.empty() || l->index >= 65536) return;
  timespec cpu;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0) return;
  const std::lock_guard hold(state->measured_lock);
  if (state->measured_s.size() <= l->index) state->measured_s.resize(l->index + 1);
  state->measured_s[l->index] =
      static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec);
}

/// No destructor and no handler may live here, nor in what is interposed below that is a point of
/// cancellation: who is cancelled or calls pthread_exit unwinds through it with the unwinder of the
/// program.
void* begin(void* value) {
  launch* l = static_cast<launch*>(value);
  if (l->set_mask && sched_setaffinity(0, sizeof l->ours, &l->ours) == 0 && l->core >= 0) {
    mask_of_this().pinned = true;
    mask_of_this().outer = l->outer;
    mask_of_this().ours = l->ours;
  }
  pthread_setspecific(state->key, l);
  return l->start(l->argument);
}

void before_fork() {
  state->measured_lock.lock();
  state->threads->lock().lock();
}
void after_fork() {
  state->threads->lock().unlock();
  state->measured_lock.unlock();
}
void in_child() {
  after_fork();
  state->measured_s.clear();
  if (still_ours(mask_of_this()))
    sched_setaffinity(0, sizeof mask_of_this().outer, &mask_of_this().outer);
  mask_of_this().pinned = false;
}

void set_up() noexcept {
  state = new (std::nothrow) process_state;
  if (state == nullptr) return;
  try {
    state->program = guest::name_of_program();
    std::replace_if(
        state->program.begin(), state->program.end(),
        [](unsigned char c) { return c <= ' ' || c > '~'; }, '_');
    settings& s = state->from_environment;
    s = read_settings([](const char* name) -> const char* { return getenv(name); });
    const auto allowed = allowed_cpus();
    std::vector<double> predicted;
    if (!s.history.empty()) {
      const known_history known = load_history(s.history);
      if (!known.left_out.empty()) say(known.left_out + "; the rest is used");
      predicted = predicted_lengths(known.lengths, state->program);
    }
    if (const int error = pthread_key_create(&state->key, at_end); error != 0)
      throw input_error(std::string("no thread key: ") + strerror(error));
    state->threads = std::make_unique<placer>(s, allowed, fast_of(s, allowed), predicted);
    pthread_atfork(before_fork, after_fork, in_child);
    if (s.verbose && !state->threads->active())
      say("all CPUs of " + state->program +
          " are alike; threads are left alone (KILTER_FAST_CPUS names the fast ones)");
  } catch (const std::exception& e) {
    say(std::string(e.what()) + "; threads are left alone");
    state->threads.reset();
  }
}

/// Whether the attributes hold a mask: glibc gives one of all CPUs where none was set.
bool has_mask(const pthread_attr_t* attributes) {
  cpu_set_t mask;
  if (attributes == nullptr) return false;
  if (pthread_attr_getaffinity_np(attributes, sizeof mask, &mask) != 0) return true;
  return CPU_COUNT(&mask) != CPU_SETSIZE;
}

/// A launch for the next thread, or null where it is to be created as if we were not there.
launch* prepare(placer& threads, const pthread_attr_t* attributes, void* (*start)(void*),
                void* argument) noexcept {
  try {
    auto l = std::make_unique<launch>();
    const bool free = !has_mask(attributes) && outer_mask(l->outer);
    const placer::choice c = threads.next(free);
    // unplaced threads of a pinned one get its outer mask back
    *l = {start, argument, c.index, -1, free && still_ours(mask_of_this()), l->outer, l->outer};
    if (c.core && CPU_ISSET(threads.cpu_of(*c.core), &l->outer)) {
      l->core = static_cast<long>(*c.core);
      l->set_mask = true;
      CPU_ZERO(&l->ours);
      CPU_SET(threads.cpu_of(*c.core), &l->ours);
    } else if (c.core) {
      threads.ended(*c.core);  // its creator's mask has been changed since we looked
    }
    if (state->from_environment.verbose) {
      std::string line = "thread " + std::to_string(c.index) + " of " + state->program;
      char length[40] = "";
      if (c.length > 0.0) snprintf(length, sizeof length, ", length %g", c.length);
      line += length;
      line += l->core < 0 ? ": left alone"
                          : ": CPU " + std::to_string(threads.cpu_of(*c.core)) +
                                (threads.fast(*c.core) ? ", fast" : "");
      say(line);
    }
    return l.release();
  } catch (const std::exception&) {  // no memory
    return nullptr;
  }
}

__attribute__((destructor)) void leave() {
  if (state == nullptr || !state->threads || state->from_environment.history.empty()) return;
  try {
    const std::lock_guard hold(state->measured_lock);
    if (!state->measured_s.empty())
      save_run(state->from_environment.history, state->program, state->measured_s);
  } catch (const std::exception& e) {
    say(std::string(e.what()) + "; this run is not remembered");
  }
}

int listen(int kind, const double* values, size_t count) {
  try {
    return state->threads->announce(kind == kilter_hint_kind_critical_length, values, count) ? 1
                                                                                             : 0;
  } catch (const std::exception&) {  // no memory
    return 0;
  }
}

int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
           void* argument) {
  launch* l = prepare(*state->threads, attributes, start, argument);
  if (l == nullptr) return program_side->create(thread, attributes, start, argument);
  const int error = program_side->create(thread, attributes, begin, l);
  if (error != 0) {
    if (l->core >= 0) state->threads->ended(static_cast<core_id>(l->core));
    delete l;
  }
  return error;
}

}  // namespace

KILTER_EXPORTED second_half kilter_placement(const first_half* program) noexcept {
  static first_half kept;
  kept = *program;
  program_side = &kept;
  set_up();
  return state != nullptr && state->threads ? second_half{create, listen} : second_half{};
}
