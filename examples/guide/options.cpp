// A runtime on every second core, under the policy that is named on the command line.
#include <kilter/error.hpp>
#include <kilter/runtime.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

int main(int count, char** words) {
  std::vector<int> seen(1000);
  kilter::graph g;
  for (int& s : seen) g.add([&s] { ++s; });
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
    std::printf("%llu tasks on %u workers in %.3f ms\n",
                static_cast<unsigned long long>(stats.tasks), rt.workers(), stats.seconds * 1e3);
  } catch (const kilter::input_error& e) {  // names the policies that there are
    std::puts(e.what());
    return 2;
  }
  for (const int s : seen)
    if (s != 1) return 1;
  return 0;
}
