#pragma once
// What the suites run. Graphs as plain data, so that every engine builds the same one with bodies
// of its own. And six policies that exist to test the contract: each needs something of it that
// none of the built-in ones does. All work on real threads: what workers share is in the view's
// cells.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kilter/graph.hpp"
#include "kilter/policy.hpp"

namespace kilter::conformance {

// ---- graphs -------------------------------------------------------------------------------------

struct task_spec {
  bool critical = false;
  std::uint32_t type = 0;               ///< "type 0", "type 1", ..
  std::vector<std::uint32_t> widths{};  ///< empty: all
  double work = 1.0;
};

struct edge_spec {
  std::uint32_t from = 0, to = 0;
  double cost_s = 0.0;
};

struct workload {
  std::string name;
  std::vector<task_spec> tasks;
  std::vector<edge_spec> edges;
};

/// A root, then layers of `parallelism` tasks; the first of each layer is critical and releases the
/// next layer (papers.md A1.3).
[[nodiscard]] workload layered(std::uint32_t tasks, std::uint32_t parallelism);
/// Every task waits for up to three of the forty before it; three types, one task in five critical;
/// one in eight restricted to width 1.
[[nodiscard]] workload tangled(std::uint32_t tasks, std::uint64_t seed);
[[nodiscard]] workload chain(std::uint32_t tasks);
/// No edges at all.
[[nodiscard]] workload independent(std::uint32_t tasks);

/// `make_body(i)` gives task i's callable.
template <class MakeBody>
std::vector<task> build(graph& g, const workload& w, MakeBody&& make_body) {
  std::vector<task> tasks;
  for (std::uint32_t i = 0; i < w.tasks.size(); ++i) {
    const task_spec& s = w.tasks[i];
    task_options o;
    o.type = g.type("type " + std::to_string(s.type));
    o.priority = s.critical ? priority::high : priority::low;
    o.widths = s.widths;
    o.work = s.work;
    tasks.push_back(g.add(o, make_body(i)));
  }
  for (const edge_spec& e : w.edges) g.edge(tasks[e.from], tasks[e.to], e.cost_s);
  return tasks;
}

// ---- policies -----------------------------------------------------------------------------------

using made = std::shared_ptr<const policy>;

/// Shared queues sorted by bottom level, re-keying of waiting tasks, 300 tries before the other
/// queue, never parking in between (CATS).
[[nodiscard]] made sorted_probe(const machine&);
/// A plan made at submission: a worker waits for exactly the task that is next in its plan (HEFT).
[[nodiscard]] made planned_probe(const machine&);
/// Each ready task is bound to the core that is estimated to be done first (dHEFT).
[[nodiscard]] made busy_probe(const machine&);
/// One shared first-in-first-out queue (breadth-first).
[[nodiscard]] made fifo_probe(const machine&);
/// Looks at a task and, now and then, leaves it to others.
[[nodiscard]] made declining_probe(const machine&);
/// Two shared queues, one of which only the first half of the cores may take from (CATS-2Q).
[[nodiscard]] made restricted_probe(const machine&);

[[nodiscard]] std::vector<made> probes(const machine&);

}  // namespace kilter::conformance
