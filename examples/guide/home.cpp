// Each part of an array is filled and read on the same core, where it lies in the cache.
#include <kilter/runtime.hpp>

#include <numeric>
#include <vector>

int main() {
  kilter::runtime rt;
  const std::uint32_t cores = rt.machine().core_count();
  std::vector<std::vector<int>> parts(4 * cores);
  std::vector<int> sums(parts.size());

  kilter::graph g;
  const kilter::task_type fill = g.type("fill"), add_up = g.type("add up");
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const kilter::core_id home = i % cores;
    g.add({.type = fill, .home = home}, {.out = {&parts[i]}},
          [&parts, i] { parts[i].assign(10'000, 1); });
    g.add({.type = add_up, .home = home}, {.in = {&parts[i]}},
          [&parts, &sums, i] { sums[i] = std::accumulate(parts[i].begin(), parts[i].end(), 0); });
  }
  rt.run(g);
  for (const int s : sums)
    if (s != 10'000) return 1;
  return 0;
}
