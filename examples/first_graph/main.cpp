// Sums the squares of a long array in parallel pieces, then joins them. The joining task is on the
// critical path.
#include <kilter/runtime.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<double> values(1 << 20, 0.5);
  std::vector<double> sums(64);
  double total = 0;

  kilter::graph g;
  const kilter::task_type square = g.type("square"), join = g.type("join");
  const kilter::task last = g.add({.type = join, .priority = kilter::priority::high}, [&] {
    for (const double s : sums) total += s;
  });
  for (std::size_t piece = 0; piece < sums.size(); ++piece) {
    const kilter::task t = g.add({.type = square}, [&, piece] {
      const std::size_t length = values.size() / sums.size();
      for (std::size_t i = piece * length; i < (piece + 1) * length; ++i)
        sums[piece] += values[i] * values[i];
    });
    g.edge(t, last);
  }
  // One body that may run on 1, 2, 4... cores: its members share the rows among themselves.
  const kilter::task scale = g.add({.type = g.type("scale")}, [&](kilter::team_member& me) {
    while (const kilter::chunk rows = me.next_chunk(values.size(), 4096))
      for (std::size_t i = rows.begin; i < rows.end; ++i) values[i] *= 2;
  });
  g.edge(last, scale);

  kilter::runtime rt;  // one pinned worker a core, policy auto, learning on
  const kilter::execution_stats s = rt.run(g);
  std::printf("total %.1f, first value %.1f, %llu tasks\n", total, values[0],
              static_cast<unsigned long long>(s.tasks));
  for (const auto& cell : rt.table())
    std::printf("%-8s on core %u, width %u: %.1f us\n", cell.type.c_str(), cell.where.leader,
                cell.where.width, cell.seconds * 1e6);
}
