// A policy of one's own: each ready task goes to the least loaded core, by the learned time of
// its type there.
#include <kilter/policy.hpp>
#include <kilter/runtime.hpp>

#include <iostream>
#include <memory>
#include <vector>

class least_loaded final : public kilter::policy {
 public:
  std::string_view name() const noexcept override { return "least-loaded"; }

  kilter::discipline queues(const kilter::machine&) const override {
    kilter::discipline d;
    d.asks_ready_low = d.asks_ready_high = true;  // I say where every ready task goes
    d.learns = true;                              // Kilter learns the times for me
    return d;
  }

  kilter::ready_decision on_ready(kilter::task_ref task, kilter::task_ref, kilter::core_id,
                                  kilter::view& see) const override {
    kilter::place_id best = see.machine().single(0);
    double best_s = 1e300, best_own_s = 0;
    for (const kilter::core& c : see.machine().cores()) {
      const kilter::place_id here = see.machine().single(c.id);
      const double own_s = see.time_s(task, here), end_s = see.busy_s(c.id) + own_s;
      if (end_s >= best_s) continue;
      best = here;
      best_s = end_s;
      best_own_s = own_s;
    }
    // The estimate counts as that core's load until the task is done.
    return kilter::ready_decision::bind_to(best, best_own_s);
  }
};

int main() {
  kilter::graph g;
  std::vector<int> seen(1000);
  for (int& s : seen) g.add([&s] { ++s; });
  kilter::runtime rt({.custom = std::make_shared<least_loaded>()});
  rt.run(g);
  int total = 0;
  for (const int s : seen) total += s;
  std::cout << rt.policy().name() << " ran " << total << " tasks\n";
  return total == 1000 ? 0 : 1;
}
