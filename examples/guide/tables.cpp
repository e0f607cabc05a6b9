// Keeps what was learned for the next start of the program.
#include <kilter/error.hpp>
#include <kilter/runtime.hpp>

#include <cstdio>
#include <filesystem>
#include <vector>

constexpr const char* file = "learned.json";

void load(kilter::runtime& rt) {
  try {
    rt.load_table(file);
  } catch (const kilter::input_error& e) {  // the first start, or another machine
    std::printf("%s; learning anew\n", e.what());
  }
}

int main() {
  std::vector<double> sums(100);
  kilter::graph g;
  const kilter::task_type series = g.type("series");
  for (double& s : sums)
    g.add({.type = series}, [&s] {
      for (int k = 1; k < 10'000; ++k) s += 1.0 / k;
    });
  {
    kilter::runtime rt;
    load(rt);
    rt.run(g);
    rt.save_table(file);
  }
  kilter::runtime later;  // as after a new start
  load(later);
  const auto table = later.table();
  for (const auto& cell : table)
    std::printf("%s on core %u, %u wide: %.1f us\n", cell.type.c_str(), cell.where.leader,
                cell.where.width, cell.seconds * 1e6);
  std::filesystem::remove(file);
  return table.empty() ? 1 : 0;
}
