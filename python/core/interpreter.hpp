#pragma once
// A worker and the interpreter's lock. A worker has one thread state for its life. It keeps the
// lock from one body to the next, since handing it over costs more than many a body, and lets go
// once it has no task at hand.

#include "core/objects.hpp"

namespace kilter::python::interpreter {

/// Before a body, on any worker: holds the lock when it returns.
void enter() noexcept;
/// Between two bodies: lets go of a lock that it has had for about a millisecond.
void breathe() noexcept;
/// Others may hold the lock as long as this lives, bodies among them that this worker runs
/// meanwhile because it helps.
class aside {
 public:
  aside() noexcept;
  ~aside();
  aside(const aside&) = delete;
  aside& operator=(const aside&) = delete;

 private:
  PyThreadState* state_ = nullptr;  // of a thread that is no worker
};
/// Lets go of the lock if this worker keeps it (attachments::nothing_at_hand).
void let_go() noexcept;

}  // namespace kilter::python::interpreter
