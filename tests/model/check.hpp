#pragma once
// Runs a small program of two or three simulated threads in many orders, with every value that C++
// lets a load see.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>

#include "base/sync.hpp"
#include "mutant.hpp"

namespace kilter::model {

/// A program is a struct with `static constexpr int threads`, `thread(unsigned)` for each of them,
/// and `after()` for when all have ended.
template <class Program>
struct as_suite : rl::test_suite<as_suite<Program>, Program::threads> {
  std::unique_ptr<Program> here;  // Relacy's own memory is not aligned to cache lines
  void before() { here = std::make_unique<Program>(); }
  void thread(unsigned who) { here->thread(who); }
  void after() {
    here->after();
    here.reset();
  }
};

/// What one thread leaves for another without an atomic operation of its own: Relacy says so if
/// nothing orders the two.
class plain {
 public:
  void write(int v, sync::at_line at = sync::at_line::current()) { value_(sync::shown(at)) = v; }
  [[nodiscard]] int read(sync::at_line at = sync::at_line::current()) const {
    return value_(sync::shown(at));
  }

 private:
  rl::var<int> value_{0};
};

inline void check(bool holds, const char* what, sync::at_line at = sync::at_line::current()) {
  if (!holds) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, sync::shown(at));
}

inline bool full_size() {
  const char* size = std::getenv("KILTER_TEST_SIZE");
  return size && std::string_view(size) == "full";
}

/// What Relacy found. Says on `out` what happened when, if something went wrong.
template <class Program, class Scheduler>
rl::test_result_e run(rl::test_params p, std::ostream* out) {
  std::ostream nowhere(nullptr);
  p.output_stream = out ? out : &nowhere;
  p.progress_stream = &nowhere;
  p.execution_depth_limit = 10'000;
  rl::ostringstream where;
  const auto found = rl::run_test<as_suite<Program>, Scheduler>(p, where, false);
  if (out && found != rl::test_result_success) {
    p.initial_state = where.str();
    p.collect_history = true;
    rl::run_test<as_suite<Program>, Scheduler>(p, where, true);
  }
  return found;
}

template <class Program>
rl::test_result_e run_drawn(std::uint64_t orders, std::ostream* out) {
  rl::test_params p;
  p.search_type = rl::sched_random;
  p.iteration_count = orders;
  return run<Program, rl::random_scheduler<Program::threads>>(p, out);
}

/// Fails with the history of the first order in which the program goes wrong, of so many that are
/// drawn with each kind of fences; twenty times as many with KILTER_TEST_SIZE=full.
template <class Program>
void holds(std::uint64_t orders = 50'000) {
  for (const bool kind : {false, true}) {
    sync::asymmetric_fences = kind;
    const auto found = run_drawn<Program>(orders * (full_size() ? 20 : 1), &std::cout);
    EXPECT_EQ(found, rl::test_result_success)
        << rl::test_result_str(found) << (kind ? " with" : " without")
        << " membarrier; the history is above";
  }
}

/// The same for every order with at most so many preemptions, where a load sees the last value or
/// the one before; with one preemption more with KILTER_TEST_SIZE=full.
template <class Program>
void holds_in_all_orders(unsigned preemptions) {
  for (const bool kind : {false, true}) {
    sync::asymmetric_fences = kind;
    rl::test_params p;
    p.search_type = rl::sched_bound;
    p.context_bound = preemptions + (full_size() ? 1 : 0);
    const auto found = run<Program, rl::context_bound_scheduler<Program::threads>>(p, &std::cout);
    EXPECT_EQ(found, rl::test_result_success)
        << rl::test_result_str(found) << (kind ? " with" : " without")
        << " membarrier; the history is above";
  }
}

/// Fails unless the checker sees the mutant go wrong, with one kind of fences or the other. It is
/// drawn until it does, at most so often.
template <class Program>
void is_caught(const mutant& m, std::uint64_t at_most = 500'000) {
  mutation now(m);
  bool caught = false;
  for (const std::uint64_t orders :
       {std::uint64_t{5'000}, at_most})  // most are caught soon with the kind that they are for
    for (const bool kind : {false, true}) {
      sync::asymmetric_fences = kind;
      caught = caught || run_drawn<Program>(orders, nullptr) != rl::test_result_success;
    }
  EXPECT_TRUE(now.happened()) << "there is no '" << m.access << "' in " << m.function
                              << " of library/" << m.file << " that this program comes by";
  EXPECT_TRUE(caught) << "the checker does not see that '" << m.access << "' in " << m.function
                      << " of library/" << m.file
                      << (m.how == harm::torn ? " is torn" : " is too weak");
}

/// Fails if the checker sees nothing wrong: the program leaves out a step, to show that `why`
/// another has it.
template <class Program>
void goes_wrong(const char* why, std::uint64_t at_most = 500'000) {
  bool seen = false;
  for (const bool kind : {true, false}) {
    sync::asymmetric_fences = kind;
    seen = seen || run_drawn<Program>(at_most, nullptr) != rl::test_result_success;
  }
  EXPECT_TRUE(seen) << "the checker does not see that " << why;
}

}  // namespace kilter::model
