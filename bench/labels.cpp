// What CATS' labels and sorted queues cost a task as graphs grow: ns a task at 10^4 to 10^6 tasks,
// against work stealing in the same run. A curve that stays level is what is wanted; one that grows
// with the size would be a quadratic step. With one look into the critical queue instead of 300:
// those cost a wide graph some 25 us a task, and are no part of the labels.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "kilter/runtime.hpp"

namespace {

using namespace kilter;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Builds a graph of about `n` tasks that ends up with exactly as many as the run counts.
struct shape {
  const char* name;
  std::function<void(graph&, std::uint32_t n)> build;
};

void chain(graph& g, std::uint32_t n) {
  task last;
  for (std::uint32_t i = 0; i < n; ++i) {
    const task t = g.add([] {});
    if (i > 0) g.edge(last, t);
    last = t;
  }
}

void wide(graph& g, std::uint32_t n) {
  const task root = g.add([] {});
  for (std::uint32_t i = 1; i < n; ++i) g.edge(root, g.add([] {}));
}

void backwards(graph& g, std::uint32_t n) {
  task next = g.add([] {});
  for (std::uint32_t i = 1; i < n; ++i) {
    const task t = g.add([] {});
    g.edge(t, next);
    next = t;
  }
}

/// Each task adds the next one.
struct growing_chain {
  std::uint32_t left;
  void operator()(task_context& c) const {
    if (left <= 1) return;
    batch b(c);
    b.add(growing_chain{left - 1});
    b.detach();
  }
};

/// One task adds all others: one before them, and the rest behind it.
void wide_batch(graph& g, std::uint32_t n) {
  g.add([n](task_context& c) {
    batch b(c);
    const task head = b.add([] {});
    for (std::uint32_t i = 2; i < n; ++i) b.edge(head, b.add([] {}));
    b.detach();
  });
}

/// Batches of a thousand tasks in a chain, each batch added by the last task of the one before.
struct chain_of_batches {
  std::uint32_t left;
  void operator()(task_context& c) const {
    if (left <= 1) return;
    batch b(c);
    const std::uint32_t now = std::min(left - 1, 1000u);
    task last;
    for (std::uint32_t i = 0; i < now; ++i) {
      const task t = i + 1 == now ? b.add(chain_of_batches{left - now}) : b.add([] {});
      if (i > 0) b.edge(last, t);
      last = t;
    }
    b.detach();
  }
};

double ns_a_task(const char* policy, const shape& s, std::uint32_t n) {
  std::vector<double> rounds;
  for (int round = 0; round < 3; ++round) {
    runtime_options o{.policy = policy};
    o.policy_settings.cats_tries = 1;
    runtime rt(o);
    graph g;
    s.build(g, n);
    const auto begin = std::chrono::steady_clock::now();
    const execution_stats stats = rt.run(g);
    rounds.push_back(seconds_since(begin) * 1e9 / static_cast<double>(stats.tasks));
  }
  std::ranges::sort(rounds);
  return rounds[rounds.size() / 2];
}

}  // namespace

int main() {
  const std::vector<shape> shapes = {
      {"static chain", chain},
      {"static chain, built from its end", backwards},
      {"static, all behind one", wide},
      {"growing chain, a task a batch", [](graph& g, std::uint32_t n) { g.add(growing_chain{n}); }},
      {"growing chain, 1000 tasks a batch",
       [](graph& g, std::uint32_t n) { g.add(chain_of_batches{n}); }},
      {"one wide batch", wide_batch}};
  std::printf("ns a task, medians of 3; empty bodies\n%-36s %9s %9s %9s %7s\n", "shape", "tasks",
              "rws", "cats", "ratio");
  for (const shape& s : shapes)
    for (const std::uint32_t n : {10'000u, 30'000u, 100'000u, 300'000u, 1'000'000u}) {
      const double rws = ns_a_task("rws", s, n), cats = ns_a_task("cats", s, n);
      std::printf("%-36s %9u %9.0f %9.0f %7.1f\n", s.name, n, rws, cats, cats / rws);
    }
}
