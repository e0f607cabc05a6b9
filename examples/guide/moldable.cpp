// One task that may run on several cores at once; Kilter learns which width pays.
#include <kilter/runtime.hpp>

#include <atomic>
#include <vector>

int main() {
  std::vector<float> values(1'000'000, 1.0f);
  std::atomic<long> above = 0;
  kilter::graph g;
  const kilter::task scale =
      g.add({.type = g.type("scale"), .widths = {1, 2, 4}}, [&](kilter::team_member& me) {
        while (const kilter::chunk part = me.next_chunk(values.size()))
          for (std::size_t i = part.begin; i < part.end; ++i) values[i] *= 3;
      });
  const kilter::task count = g.add({.type = g.type("count")}, [&](kilter::team_member& me) {
    long mine = 0;  // of this member alone
    while (const kilter::chunk part = me.next_chunk(values.size()))
      for (std::size_t i = part.begin; i < part.end; ++i) mine += values[i] > 2;
    above += mine;
  });
  g.edge(scale, count);

  kilter::runtime rt;
  rt.run(g);
  return above == 1'000'000 ? 0 : 1;
}
