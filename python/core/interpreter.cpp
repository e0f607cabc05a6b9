#include "core/interpreter.hpp"

#include "base/sync.hpp"
#include "core/call.hpp"

namespace kilter::python::interpreter {
namespace {

// Less than engine_clock::long_body(), so that none of those ends with the lock
// (docs/inside/decisions/python.md).
constexpr std::int64_t keeps_at_most_ns = 900'000;

struct hold {
  PyThreadState* state = nullptr;
  PyGILState_STATE before{};
  bool keeps = false;
  std::int64_t since_ns = 0;

  ~hold() {
    if (!state) return;
    into_python([&] {
      if (!keeps) PyEval_RestoreThread(state);
      PyGILState_Release(before);
    });
  }
};

thread_local hold mine;

}  // namespace

void enter() noexcept {
  if (mine.keeps) return wake_waiting();
  if (mine.state) {
    take_lock(mine.state);
  } else {
    into_python([] { mine.before = PyGILState_Ensure(); });
    mine.state = PyThreadState_Get();
  }
  mine.keeps = true;
  mine.since_ns = sync::nanoseconds();
}

void breathe() noexcept {
  if (mine.keeps && sync::nanoseconds() - mine.since_ns > keeps_at_most_ns) let_go();
}

aside::aside() noexcept {
  if (mine.keeps)
    let_go();
  else
    state_ = PyEval_SaveThread();
}

aside::~aside() {
  if (state_)
    take_lock(state_);
  else
    enter();
}

void let_go() noexcept {
  if (!mine.keeps) return;
  mine.keeps = false;
  PyEval_SaveThread();
  wake_waiting();
}

}  // namespace kilter::python::interpreter
