// Adds up an array in eight pieces, then joins them.
#include <kilter/runtime.hpp>

#include <numeric>
#include <vector>

int main() {
  std::vector<double> values(1'000'000, 0.5), sums(8);
  double total = 0;

  kilter::graph g;
  const kilter::task_type piece = g.type("piece"), join = g.type("join");
  const kilter::task last =
      g.add({.type = join}, [&] { total = std::accumulate(sums.begin(), sums.end(), 0.0); });
  const std::size_t length = values.size() / sums.size();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const kilter::task t = g.add({.type = piece}, [&, i] {
      const double* first = &values[i * length];
      sums[i] = std::accumulate(first, first + length, 0.0);
    });
    g.edge(t, last);  // t ends before last begins
  }

  kilter::runtime rt;  // its workers wait for work from here on
  rt.run(g);           // returns when all tasks are done
  values.assign(values.size(), 0.25);
  rt.run(g);  // the same graph again, with other data
  return total == 250'000 ? 0 : 1;
}
