// A runtime on every second core, under the policy that is named on the command line.
#include <kilter/error.hpp>
#include <kilter/runtime.hpp>

#include <cstdio>
#include <memory>
#include <vector>

int main(int count, char** words) {
  kilter::graph g;
  for (int i = 0; i < 1000; ++i) g.add([] {});
  const kilter::machine whole = kilter::machine::local();
  std::vector<kilter::core_id> half;
  for (const kilter::core& c : whole.cores())
    if (c.id % 2 == 0) half.push_back(c.id);
  try {
    kilter::runtime rt({
        .machine = std::make_shared<kilter::machine>(whole.restricted_to(half)),
        .policy = count > 1 ? words[1] : "dam-c",
    });
    const kilter::execution_stats stats = rt.run(g);
    std::printf("%u workers, %.3f ms\n", rt.workers(), stats.seconds * 1e3);
    return stats.tasks == 1000 ? 0 : 1;
  } catch (const kilter::input_error& e) {  // names the policies that there are
    std::puts(e.what());
    return 2;
  }
}
