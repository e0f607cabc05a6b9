// Shows a rough result as soon as it is there, and stops what makes it better when time is up.
#include <kilter/runtime.hpp>

#include <chrono>
#include <cstdio>

int main() {
  using namespace std::chrono_literals;
  double rough = 0, better = 0;
  kilter::graph g;
  const kilter::task first = g.add([&] { rough = better = 3; });
  const kilter::task refine = g.add([&](kilter::task_context& here) {
    while (!here.cancelled()) better += (3.14159 - better) / 2;
  });
  const kilter::task report = g.add([&] { std::puts("done in time"); });
  g.edge(first, refine);
  g.edge(refine, report);

  kilter::runtime rt;
  kilter::execution run = rt.submit(g);  // returns at once
  run.wait(first);
  std::printf("about %g\n", rough);
  if (!run.wait_for(refine, 50ms)) run.cancel(refine);  // and report, which depends on it
  run.wait();  // g must live until here; a cancelled task throws nothing
  std::printf("in the end %g\n", better);
  return rough == 3 && run.done(report) && run.stats().tasks < 3 ? 0 : 1;
}
