#pragma once
// What Kilter throws. The message is one line that names the value and what would be right.

#include <stdexcept>

#include "kilter/version.hpp"

namespace kilter {
inline namespace v0 {

/// Input that cannot be used: a file, a name, a number. The command line turns it into exit
/// status 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The library was called in a way that its contract forbids (a cycle, a wait where none may be).
struct usage_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// Comes out of `wait()` if the graph was cancelled and no task threw.
struct cancelled_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace v0
}  // namespace kilter
