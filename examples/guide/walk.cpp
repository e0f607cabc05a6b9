// Visits all nodes of a tree. Nobody needs to wait for a child, so tasks are handed over and left.
#include <kilter/runtime.hpp>

#include <atomic>
#include <memory>
#include <vector>

struct node {
  std::vector<std::unique_ptr<node>> children;
};

std::unique_ptr<node> tree(int depth) {
  auto n = std::make_unique<node>();
  for (int i = 0; i < 3 && depth > 0; ++i) n->children.push_back(tree(depth - 1));
  return n;
}

void visit(kilter::task_context& here, const node& n, std::atomic<int>& count) {
  ++count;
  kilter::batch added(here);
  for (const auto& child : n.children)
    added.add([&next = *child, &count](kilter::task_context& inner) { visit(inner, next, count); });
  added.detach();  // without it the end of this function would wait for the children
}

int main() {
  const std::unique_ptr<node> root = tree(6);
  std::atomic<int> count = 0;
  kilter::runtime rt;
  rt.run([&](kilter::task_context& here) { visit(here, *root, count); });  // detached tasks, too
  return count == 1 + 3 + 9 + 27 + 81 + 243 + 729 ? 0 : 1;
}
