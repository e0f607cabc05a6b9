// One task that may run on several cores at once; Kilter learns which width pays.
#include <kilter/runtime.hpp>

#include <atomic>
#include <cstdio>
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
  const kilter::execution_stats stats = rt.run(g);
  for (kilter::place_id id = 0; id < stats.places.size(); ++id) {
    const int tasks = static_cast<int>(stats.places[id].critical + stats.places[id].other);
    const kilter::place where = rt.machine().at(id);
    if (tasks > 0)
      std::printf("%d ran on %u cores, from core %u on\n", tasks, where.width, where.leader);
  }
  return above == 1'000'000 ? 0 : 1;
}
