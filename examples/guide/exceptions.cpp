// A task throws: what depends on it is left out, the exception comes out of run().
#include <kilter/runtime.hpp>

#include <stdexcept>
#include <string>

int main() {
  std::string file, told;
  bool used = false;
  kilter::graph g;
  const kilter::task load = g.add({.name = "load"}, [&] {
    if (file.empty()) throw std::runtime_error("no file is named");
  });
  const kilter::task use = g.add({.name = "use"}, [&] { used = true; });
  g.edge(load, use);

  kilter::runtime rt;
  try {
    rt.run(g);
  } catch (const std::runtime_error& e) {
    told = e.what();
  }
  if (told != "no file is named" || used) return 1;

  file = "input.txt";
  rt.run(g);  // runtime and graph are as good as before
  return used ? 0 : 1;
}
