// Where what a worker had in hand goes. What it counted and timed goes where that is done: hand_in
// in worker.cpp, learn_row in run.cpp, share in ready.cpp.

#include "runtime/in_hand.hpp"

#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {

void worker::stop_looking(const execution_state* mine) noexcept {
  if (sleeping_.searches()) search_ends();
  let_go(mine);
}

// It may have taken the task itself meanwhile.
void worker::tell(const declared_queue& q) noexcept {
  if (q.size() > 0) owner.workers.notify_takers(q);
}

void worker::notify_any() noexcept { owner.workers.notify_any(); }

void worker::put_back(node* n, const origin& from) {
  if (from.queue) {
    from.queue->push(n, from.key);
    owner.workers.notify_other_takers(*from.queue);
  } else {
    declined_.push(n);
    owner.workers.notify_any();
  }
  sync::relax();
}

void worker::decline(node* n, const origin& from) noexcept try { put_back(n, from); } catch (...) {
  give_up(n);
}

void worker::hand_out() noexcept { hand_.hand_out(*this); }

}  // namespace kilter::inline v0::detail
