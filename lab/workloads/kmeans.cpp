#include "workloads/kmeans.hpp"

#include "base/random.hpp"
#include "workloads/products.hpp"

namespace kilter::lab {

double points_of_a_task(const kmeans& k) noexcept {
  return static_cast<double>(k.points) /
         (static_cast<double>(k.tasks_per_iteration - 1) + k.critical_factor);
}

task_graph build(graph& g, const kmeans& k, const sim::platform&, body_runner* bodies) {
  task_graph made(g);
  const task_type type = made.type(g, "kmeans", one_product());
  // A difference, its square and a sum for each coordinate of each distance.
  const double work = products(3.0 * points_of_a_task(k) * k.features * k.clusters);
  random_stream positions(k.seed, "k-means critical position");
  std::vector<task> before, now;
  for (std::uint32_t i = 0; i < k.iterations; ++i) {
    const std::uint32_t critical = positions.below(k.tasks_per_iteration);
    for (std::uint32_t t = 0; t < k.tasks_per_iteration; ++t) {
      const bool largest = t == critical;
      now.push_back(g.add({.type = type,
                           .priority = largest ? priority::high : priority::low,
                           .work = largest ? work * k.critical_factor : work},
                          body_of(bodies)));
      for (const task b : before) g.edge(b, now.back());
      made.iteration.push_back(i);
    }
    before.swap(now);
    now.clear();
  }
  return made;
}

}  // namespace kilter::lab
