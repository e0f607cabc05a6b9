// Threads as an engine of the contract suite. This file takes the place of engines.cpp in the
// program that tests the runtime.

#include <atomic>

#include "conformance/engines.hpp"
#include "kilter/runtime.hpp"
#include "stress/watchdog.hpp"

namespace kilter::conformance {
namespace {

run_result run_on_threads(const run_request& r) {
  runtime rt({.machine = std::make_shared<const machine>(r.machine),
              .custom = r.asked,
              .table = r.table,
              .seed = r.seed,
              .record_decisions = r.record});
  const std::size_t count = r.work.tasks.size();
  std::vector<std::atomic<std::uint32_t>> runs(count), places(count);
  std::vector<std::uint32_t> order(count);
  std::atomic<std::uint32_t> finished{0};
  graph g;
  // Every task is one chunk: who gets it has run the task.
  build(g, r.work, [&](std::uint32_t i) {
    return [&, i](team_member& c) {
      if (!c.next_chunk(1)) return;
      runs[i].fetch_add(1, std::memory_order_relaxed);
      places[i].store(*rt.machine().find(c.place()), std::memory_order_relaxed);
      order[finished.fetch_add(1, std::memory_order_acq_rel) % count] = i;
    };
  });
  rt.run(g);
  run_result out;
  for (std::size_t i = 0; i < count; ++i) {
    out.runs.push_back(runs[i].load());
    out.where.push_back(places[i].load());
  }
  if (finished.load() == count) out.order = std::move(order);
  // A worker that never had anything to ask has nothing to replay.
  for (const tape* t : rt.tapes())
    if (!t->entries().empty()) out.tapes.push_back(t->entries());
  return out;
}

}  // namespace

const std::vector<engine>& engines() {
  static const std::vector<engine> all = {{"threads", false, run_on_threads}};
  return all;
}

}  // namespace kilter::conformance
