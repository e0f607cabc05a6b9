// Graphs that are drawn. Only whole numbers and correctly rounded operations go into a draw, so a
// seed means the same graph everywhere.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "graph/generator.hpp"
#include "graph/random_shape.hpp"

namespace kilter::dags {

// The algorithm: random_shape.cpp.
dag make_random(generator_options& o) {
  random_shape shape;
  shape.tasks = static_cast<std::uint32_t>(o.count("tasks", 4000, 1, most_random_tasks));
  shape.parallelism = static_cast<std::uint32_t>(o.count("width", 16, 1, most_random_tasks));
  shape.edge_rate = o.number("rate", 1.0, 0.0, 1.0);
  shape.kernels = static_cast<std::uint32_t>(o.count("types", 3, 1, 100));
  shape.seed = o.count("seed", 1, 0, ~std::uint64_t{0});
  dag_maker made(o);
  for (std::uint32_t k = 0; k < shape.kernels; ++k) made.type(task_id("type", {k}));
  for (const random_node& node : nodes_of(shape)) {
    const std::uint32_t t = made.task(node.kernel, std::to_string(made.graph().tasks.size()));
    for (const std::uint32_t parent : node.parents) made.edge(parent, t);
  }
  return made.finish();
}

namespace {

/// Uniform in 1 .. 2 mean - 1, rounded; 1 if the mean is no more.
std::uint32_t draw_about(random_stream& random, double mean) {
  const auto twice = static_cast<std::uint32_t>(std::llround(2.0 * mean));
  return twice <= 2 ? 1 : 1 + random.below(twice - 1);
}

/// Sizes of levels as drawn, then mended in drawn levels until they have `tasks` tasks, none of
/// them empty.
std::vector<std::uint32_t> draw_levels(random_stream& random, std::uint32_t tasks, double alpha) {
  const double root = std::sqrt(static_cast<double>(tasks));
  std::vector<std::uint32_t> sizes(std::min(tasks, draw_about(random, root / alpha)));
  const auto levels = static_cast<std::uint32_t>(sizes.size());
  std::uint64_t sum = 0;
  for (std::uint32_t& size : sizes) sum += size = std::min(tasks, draw_about(random, alpha * root));
  for (; sum < tasks; ++sum) ++sizes[random.below(levels)];
  while (sum > tasks)
    if (std::uint32_t& size = sizes[random.below(levels)]; size > 1) {
      --size;
      --sum;
    }
  return sizes;
}

}  // namespace

// Topcuoglu, Hariri, Wu, "Performance-effective and low-complexity task scheduling for
// heterogeneous computing", IEEE TPDS 13 (2002), section 5.2 (papers.md A6.6). What the paper
// leaves open: a task has 1 .. out successors; half of them, drawn, come from the next level, the
// others from all later ones; a task of a later level that nobody chose gets a parent in the level
// before, which may then have more than `out`.
dag make_topcuoglu(generator_options& o) {
  const auto tasks = static_cast<std::uint32_t>(o.count("tasks", 100, 1, 100'000));
  const double alpha = o.number("alpha", 1.0, 0.01, 100.0);
  const auto out_degree = static_cast<std::uint32_t>(o.count("out", 3, 1, 1'000));
  if (std::uint64_t{tasks} * out_degree > most_edges / 5)
    o.refuse("tasks x out may be at most " + std::to_string(most_edges / 5));
  const double ccr = o.number("ccr", 1.0, 0.0, 1e6);
  const double beta = o.number("beta", 0.5, 0.0, 2.0);
  const auto processors = static_cast<std::uint32_t>(o.count("processors", 4, 1, 1000));
  const std::uint64_t seed = o.count("seed", 1, 0, ~std::uint64_t{0});
  dag_maker made(o);
  random_stream shape(seed, "topcuoglu shape"), costs(seed, "topcuoglu costs");
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * costs.uniform();
  };

  const std::uint32_t type = made.type("task");
  for (std::uint32_t p = 1; p <= processors; ++p)
    made.graph().processors.push_back("P" + std::to_string(p));
  std::vector<double>& on = made.graph().seconds_on;
  for (std::uint32_t t = 0; t < tasks; ++t) {
    const double mean_s = uniform(0.0, 2.0 * made.seconds());
    for (std::uint32_t p = 0; p < processors; ++p)
      on.push_back(uniform(mean_s * (1.0 - beta / 2.0), mean_s * (1.0 + beta / 2.0)));
    made.task(type, std::to_string(t));
    made.graph().tasks.back().seconds = *std::min_element(on.end() - processors, on.end());
  }

  const std::vector<std::uint32_t> sizes = draw_levels(shape, tasks, alpha);
  std::vector<bool> has_parent(tasks);
  const auto join = [&](std::uint32_t from, std::uint32_t to) {
    made.edge(from, to, uniform(0.0, 2.0 * ccr * made.seconds()));
    has_parent[to] = true;
  };
  std::uint32_t first = 0;
  std::vector<std::uint32_t> chosen;
  for (std::size_t level = 0; level + 1 < sizes.size(); ++level) {
    const std::uint32_t next = first + sizes[level], after = next + sizes[level + 1];
    for (std::uint32_t t = first; t < next; ++t) {
      chosen.clear();
      for (std::uint32_t left = 1 + shape.below(out_degree);
           left > 0 && chosen.size() < tasks - next; --left) {
        const std::uint32_t to =
            next + shape.below(shape.below(2) == 0 ? after - next : tasks - next);
        if (std::ranges::find(chosen, to) == chosen.end()) chosen.push_back(to);
      }
      for (const std::uint32_t to : chosen) join(t, to);
    }
    for (std::uint32_t to = next; to < after; ++to)
      if (!has_parent[to]) join(first + shape.below(sizes[level]), to);
    first = next;
  }
  return made.finish();
}

}  // namespace kilter::dags
