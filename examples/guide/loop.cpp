// y = 2 x + y, then the sum of y, then the same loop as a task of a graph.
#include <kilter/parallel.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

int main() {
  const std::size_t n = 1'000'000;
  std::vector<double> x(n, 1.0), y(n, 1.0);
  kilter::runtime rt;

  kilter::parallel_for(rt, 0, n, [&](std::size_t i) { y[i] += 2 * x[i]; });
  const double sum = kilter::parallel_reduce(
      rt, y, 0.0, [](double v) { return v; }, std::plus<>());

  double mean = 0, highest = 0;
  kilter::graph g;
  const kilter::task centre = g.add([&] { mean = sum / static_cast<double>(n); });
  const kilter::task shift = kilter::add_parallel_for(  // the body gets a piece at once
      g, {.name = "shift"}, 0, n, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) y[i] -= mean;
      });
  const kilter::task check = g.add([&](kilter::task_context& here) {  // a loop inside a task
    highest = kilter::parallel_reduce(
        here, 0, n, std::numeric_limits<double>::lowest(), [&](std::size_t i) { return y[i]; },
        [](double a, double b) { return a > b ? a : b; });
  });
  g.edge(centre, shift);
  g.edge(shift, check);
  rt.run(g);
  return sum == 3e6 && highest == 0 ? 0 : 1;
}
