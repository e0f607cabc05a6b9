#include <kilter/runtime.hpp>

int main() {
  double left = 0, right = 0, sum = 0;
  kilter::graph g;
  const kilter::task_type part = g.type("part"), join = g.type("join");
  const kilter::task a = g.add({.type = part}, [&] { left = 1; });
  const kilter::task b = g.add({.type = part}, [&] { right = 2; });
  const kilter::task c = g.add({.type = join}, [&] { sum = left + right; });
  g.edge(a, c);  // c waits for a and b
  g.edge(b, c);
  kilter::runtime rt;  // one worker a core, policy auto, learning on
  rt.run(g);
  return sum == 3 ? 0 : 1;
}
