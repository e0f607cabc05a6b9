// Random work stealing (papers.md S0, Table 1: RWS; "homogeneous" in S2, section 4; Blumofe and
// Leiserson 1999)
//
//   The yardstick: no priorities, no trace table, one core a task.
//
//   ready:  push to the waking core's deque; the first child made ready runs next on its waker
//   idle:   pop the own deque, newest first; else steal the oldest task of a random victim
//   taken:  width 1, where it was taken
//
// All of that is the engines' standard way, so this policy asks for nothing and nothing is asked.

#include "policy/builtin.hpp"

namespace kilter::builtin {

namespace {

class rws_policy final : public policy {
 public:
  explicit rws_policy(const policy_options& o) : start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "rws"; }
  discipline queues(const machine&) const override { return start_; }

 private:
  discipline start_;
};

}  // namespace

made rws(const machine&, const policy_options& o) { return std::make_shared<rws_policy>(o); }

}  // namespace kilter::builtin
