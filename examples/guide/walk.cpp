// Visits all nodes of a tree. Nobody needs to wait for a child, so tasks are handed over and left.
#include <kilter/runtime.hpp>

#include <atomic>

void visit(kilter::task_context& here, int levels_below, std::atomic<int>& count) {
  ++count;
  kilter::batch added(here);
  for (int child = 0; child < 3 && levels_below > 0; ++child)
    added.add([levels_below, &count](kilter::task_context& inner) {
      visit(inner, levels_below - 1, count);
    });
  added.detach();  // without it the end of this function would wait for the children
}

int main() {
  std::atomic<int> count = 0;
  kilter::runtime rt;
  rt.run([&](kilter::task_context& here) { visit(here, 6, count); });  // detached tasks, too
  return count == 1 + 3 + 9 + 27 + 81 + 243 + 729 ? 0 : 1;
}
