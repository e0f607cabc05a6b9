#include "runtime/parallel.hpp"

#include <algorithm>

#include "runtime/engine.hpp"
#include "runtime/loop_shares.hpp"

namespace kilter::inline v0::detail {

namespace {

// Taking a piece costs some 50 ns and ends the compiler's loop, so 100 us of work make it free; a
// thief is content with less.
constexpr double piece_s = 100e-6, least_piece_s = 5e-6;
// Slices of the operating system are longer than this.
constexpr double gap_s = 0.5e-3;
// Before the caller helps with other work, it waits for those who are in their last piece: for two
// pieces, and as long for the others who have none left. Where a single block is longer than a
// piece, for two blocks, but not for as long as a core should stand idle.
constexpr double last_pieces_s = 2 * piece_s, longest_last_pieces_s = 2e-3;

constexpr std::uint64_t most_blocks = std::uint64_t{1} << 31, usual_blocks = std::uint64_t{1} << 20,
                        reduce_parts = 4096;
// of a long loop: the pieces of neighbours then rarely share a cache line
constexpr std::uint64_t lines = 64;

std::uint64_t divided(std::uint64_t n, std::uint64_t by) noexcept {
  return n == 0 ? 0 : (n - 1) / by + 1;
}

std::uint64_t multiple_of(std::uint64_t grain, std::uint64_t count) noexcept {
  return grain * std::max<std::uint64_t>(1, divided(divided(count, grain), most_blocks));
}

}  // namespace

std::uint64_t for_block(std::uint64_t count, std::uint64_t grain) noexcept {
  if (grain != 0) return multiple_of(std::min(grain, count), count);
  return count <= usual_blocks ? 1 : divided(divided(count, usual_blocks), lines) * lines;
}

std::uint64_t reduce_block(std::uint64_t count, std::uint64_t grain) noexcept {
  return grain != 0 ? multiple_of(std::min(grain, count), count) : divided(count, reduce_parts);
}

std::string loop_name(const loop_options& o, call_site at) {
  if (!o.type.empty()) return "loop:" + std::string(o.type);
  const std::string_view file = at.file;
  return "loop:" + std::string(file.substr(file.find_last_of('/') + 1)) + ":" +
         std::to_string(at.line);
}

// ---- one member's speed -------------------------------------------------------------------------

std::uint32_t loop_pace::wanted(std::uint32_t left) const noexcept {
  if (block_cycles <= 0.0) return 1;
  // The end of a range is left to whoever comes for it until it is not worth that.
  const double most = std::max<double>(least(), left / 2);
  return static_cast<std::uint32_t>(std::clamp(piece_cycles / block_cycles, 1.0, most));
}

std::uint32_t loop_pace::least() const noexcept {
  if (block_cycles <= 0.0) return 1;
  return static_cast<std::uint32_t>(
      std::clamp(piece_cycles * (least_piece_s / piece_s) / block_cycles, 1.0, 1e9));
}

void loop_pace::add(std::uint32_t blocks, std::uint64_t cycles) noexcept {
  const double each = static_cast<double>(cycles) / blocks;
  const double expected = block_cycles * blocks;
  if (block_cycles > 0.0 && static_cast<double>(cycles) > 2.0 * expected + gap_cycles) {
    lost_cycles += cycles - static_cast<std::uint64_t>(expected);
    // iterations that became that much heavier are believed in the end
    block_cycles += (each - block_cycles) / 16;
  } else {
    block_cycles = block_cycles <= 0.0 || each < block_cycles
                       ? each
                       : block_cycles + (each - block_cycles) / 4;
  }
}

// ---- the loop -----------------------------------------------------------------------------------

shared_loop::shared_loop(const loop_work& w, std::uint32_t r, execution_state* e, worker& who,
                         const std::vector<double>& weights)
    : loop_ranges(static_cast<std::uint32_t>(divided(w.count, w.block)), weights),
      work(w),
      row(r),
      run(e),
      caller(who) {}

void shared_loop::reuse(const loop_work& w, std::uint32_t r, execution_state* e,
                        const std::vector<double>& weights) noexcept {
  deal(static_cast<std::uint32_t>(divided(w.count, w.block)), weights);
  work = w;
  row = r;
  run = e;
  failed_.store(false, sync::memory_order_relaxed);
  stopped_.store(false, sync::memory_order_relaxed);
  open();
}

void shared_loop::fail(std::exception_ptr e) noexcept {
  if (!failed_.exchange(true, sync::memory_order_acq_rel)) thrown_ = std::move(e);
  stopped_.store(true, sync::memory_order_release);
}

bool shared_loop::stopped() const noexcept {
  return stopped_.load(sync::memory_order_acquire) ||
         (run && run->cancelled.load(sync::memory_order_relaxed)) ||
         (work.stop && work.stop->stop_requested());
}

shared_loop* kept_loops::get(const loop_work& w, std::uint32_t row, execution_state* run,
                             worker& caller, const std::vector<double>& weights) {
  for (shared_loop* const kept : all_) {
    if (!kept->unused()) continue;
    kept->hold();
    kept->reuse(w, row, run, weights);
    return kept;
  }
  auto* const made = new shared_loop(w, row, run, caller, weights);
  if (all_.size() < most) {
    all_.push_back(made);
    made->hold();
  }
  return made;
}

// ---- what a worker does in it -------------------------------------------------------------------

void worker::run_loop(const loop_work& w, std::uint32_t row, execution_state* run) {
  hand_.row.spoil();  // by what follows
  stop_looking(run);
  const std::uint64_t nested_before = body_.nested_cycles, begin = sync::cycles();

  std::vector<std::uint8_t> looks;
  for (const auto& other : owner.workers) looks.push_back(other->parking_.searches());
  const std::vector<std::uint8_t> away = owner.cores.without_loops(core);
  const loop_shares shares = shares_of_loop(owner.tables, *owner.settings.machine, row, w.count,
                                            divided(w.count, w.block), core, looks, away);
  const auto given = owner.cores.given();
  if (shares.worth_waking + given > owner.workers.size()) owner.cores.lack();
  shared_loop* const l = loops_.get(w, row, run, *this, shares.weights);
  for (const core_id c : shares.invited) {
    l->hold();
    try {
      owner.workers[c]->bind({assembly_entry::kind::loop, nullptr, nullptr, l});
    } catch (const std::bad_alloc&) {
      l->let_go();  // one fewer takes part
    }
  }
  const std::uint64_t patience = take_pieces(*l);
  l->close();
  for (const std::uint64_t since = sync::cycles();
       !l->everybody_left() && sync::cycles() - since < patience;)
    sync::relax();
  help_until([&] { return l->everybody_left(); }, run, nullptr);
  // Somebody had just taken it over from another when this worker saw nothing left, and lost its
  // core.
  if (l->anything_left()) take_pieces(*l);
  const std::exception_ptr thrown = l->take_thrown();
  const bool unfinished = l->anything_left();
  l->let_go();
  body_.nested_cycles = nested_before + (sync::cycles() - begin);
  if (thrown) std::rethrow_exception(thrown);
  if (unfinished)
    throw cancelled_error(w.stop && w.stop->stop_requested()
                              ? "a stop of the loop was requested before all of it was done"
                              : "the graph was cancelled while a loop of it ran");
}

void worker::join_loop(shared_loop& l) {
  if (!ours() || !l.enter()) return;
  const std::uint64_t patience = take_pieces(l);
  for (const std::uint64_t since = sync::cycles();
       l.working(l.caller.core) && !something_to_take() && sync::cycles() - since < patience;)
    sync::relax();
  if (l.leave()) l.caller.wake();
}

std::uint64_t worker::take_pieces(shared_loop& l) {
  const double cycles_per_s = owner.clock.cycles_per_second();
  loop_pace pace{.piece_cycles = piece_s * cycles_per_s, .gap_cycles = gap_s * cycles_per_s};
  if (owner.tables.seen(l.row))
    pace.block_cycles = owner.tables.time_s(l.row, owner.settings.machine->single(core)) /
                        owner.tables.slowdown(core) * static_cast<double>(l.work.block) *
                        cycles_per_s;
  cpu_time_.look(owner.clock);
  const std::uint64_t begin = sync::cycles();
  std::uint64_t at = begin;
  l.works(core, true);
  released_ = nullptr;
  const body_on_stack outer = std::exchange(body_, {});
  while (!l.stopped() && (ours() || &l.caller == this)) {
    const block_range piece = l.take(core, pace.wanted(l.left(core)));
    if (!piece) {
      if (!l.steal(core, pace.least())) break;
      continue;
    }
    try {
      l.work.run(l.work.body, l.begin_of(piece), l.end_of(piece));
    } catch (...) {
      l.fail(std::current_exception());
    }
    const std::uint64_t now = clock_seen_ = sync::cycles();
    pace.add(piece.size(), now - at);
    pace.items += l.end_of(piece) - l.begin_of(piece);
    at = now;
  }
  const std::uint64_t nested = std::exchange(body_, outer).nested_cycles;
  l.works(core, false);
  const std::uint64_t span = at - begin;
  if (l.run) tally(*l.run).work_cycles += span - std::min(nested, span);
  // Part of it may have run on a core that was lent: that says nothing about its own.
  if (pace.items > 0 && nested == 0 && ours() && thread_.stayed() && !l.stopped())
    learn_loop(l, pace, span);
  return static_cast<std::uint64_t>(std::clamp(
      2.0 * pace.block_cycles, last_pieces_s * cycles_per_s, longest_last_pieces_s * cycles_per_s));
}

// A gap must be seen by both clocks: iterations that differ look like gaps to the one, a body that
// blocks to the other.
void worker::learn_loop(const shared_loop& l, const loop_pace& pace, std::uint64_t span) {
  const double wall_s = owner.clock.seconds(span);
  double lost_s = 0.0;
  if (pace.lost_cycles > 0) {
    lost_s = std::min({owner.clock.seconds(pace.lost_cycles), wall_s,
                       std::max(0.0, cpu_time_.off_core_s(owner.clock))});
  }
  owner.tables.learn_loop(l.row, core, static_cast<double>(pace.items), wall_s - lost_s, wall_s,
                          owner.clock.at_s(clock_seen_));
}

// ---- from outside -------------------------------------------------------------------------------

void run_loop(runtime& rt, const loop_work& w, std::string_view name) {
  engine& e = runtime_access::of(rt);
  worker::refuse_in_team("a loop");
  if (worker* here = worker::current(); here && &here->owner == &e) {
    here->run_loop(w, e.tables.row(name, 0), nullptr);
    return;
  }
  graph g;
  g.add({.type = g.type("loop")}, [&](task_context& here) { run_loop(here, w, name); });
  rt.submit(g).wait();
}

void run_loop(task_context& context, const loop_work& w, std::string_view name) {
  worker* here = worker::running(context, "runs a loop");
  const node* n = task_access::call_of(context)->task;
  auto* run = static_cast<execution_state*>(graph_of(n).execution.load(sync::memory_order_relaxed));
  here->run_loop(w, here->owner.tables.row(name, 0), run);
}

}  // namespace kilter::inline v0::detail
