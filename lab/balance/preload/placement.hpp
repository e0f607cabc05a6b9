#pragma once
// Between the two halves of the preload library. libkilter_preload.so is in every program and all
// of its children, whatever their C library, and only passes on what it interposes.
// libkilter_place.so decides where threads go; the first half loads it when a program of glibc
// creates its first thread.

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

namespace kilter::balance::preload {

/// What we did to the mask of a thread. Plain data, so that it needs no constructor.
struct own_mask {
  bool pinned;
  cpu_set_t outer;  ///< what it would be without us
  cpu_set_t ours;
};

/// True while the mask of this thread is the one that we set, and not changed by the program since.
inline bool still_ours(const own_mask& of_this) noexcept {
  cpu_set_t now;
  return of_this.pinned && sched_getaffinity(0, sizeof now, &now) == 0 &&
         CPU_EQUAL(&now, &of_this.ours);
}

using create_function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

struct first_half {
  own_mask* (*of_this_thread)() noexcept;
  create_function* create;  ///< what pthread_create would be without us
};

struct second_half {
  /// places the thread; null: misconfigured, everything is left alone
  create_function* create;
  int (*listen)(int kind, const double* values, size_t count);
};

/// What libkilter_place.so exports, and its name. Called once.
using placement_function = second_half(const first_half*) noexcept;
inline constexpr const char* placement_name = "kilter_placement";

}  // namespace kilter::balance::preload
