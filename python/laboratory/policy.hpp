#pragma once
// A policy whose answers are Python's: kilter.Policy to an engine. All its questions are asked on
// the thread that made it, which holds the interpreter's lock.

#include <memory>
#include <string>

#include "core/objects.hpp"
#include "kilter/policy.hpp"

namespace kilter::python {

/// The Python exception that ended a run, on its way past the engine.
class failure {
 public:
  /// Takes the one that is set, unless there is one already; C++ goes on with an exception.
  [[noreturn]] void keep();
  /// Sets it again; false if there is none.
  bool restore() noexcept;

 private:
  object type_, value_, traceback_;
};

/// `answers` is a kilter.Policy.
[[nodiscard]] std::shared_ptr<const policy> policy_in_python(const object& answers,
                                                             std::shared_ptr<failure>,
                                                             const machine&, const policy_options&);

}  // namespace kilter::python
