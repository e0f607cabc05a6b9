// Running sums, block by block. Each task names its data; Kilter works out who waits for whom.
#include <kilter/runtime.hpp>

#include <array>
#include <numeric>
#include <vector>

int main() {
  using block = std::array<int, 1000>;
  std::vector<block> blocks(8);
  long total = 0;
  kilter::graph g;
  const kilter::task_type fill = g.type("fill"), scan = g.type("scan");

  for (block& b : blocks) g.add({.type = fill}, {.out = {&b}}, [&b] { b.fill(1); });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto sums = [&blocks, i] {
      if (i > 0) blocks[i][0] += blocks[i - 1].back();
      std::partial_sum(blocks[i].begin(), blocks[i].end(), blocks[i].begin());
    };
    if (i == 0)
      g.add({.type = scan}, {.inout = {&blocks[i]}}, sums);
    else
      g.add({.type = scan}, {.in = {&blocks[i - 1]}, .inout = {&blocks[i]}}, sums);
  }
  std::vector<const void*> all;
  for (const block& b : blocks) all.push_back(&b);
  g.add({.in = all, .inout = {&total}}, [&] {
    for (const block& b : blocks) total += b.back();
  });

  kilter::runtime rt;
  rt.run(g);
  return total == 1000 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) ? 0 : 1;
}
