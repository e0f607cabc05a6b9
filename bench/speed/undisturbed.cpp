// Matrix products of about 20 us on an undisturbed machine: what any policy may cost beside plain
// stealing, and stealing beside oneTBB.

#include "speed/rows.hpp"

namespace kilter::bench {

rows undisturbed_rows(const plan& p) {
  const auto kernel =
      apps::make_kernel("matmul", 64, {.concurrency = std::max(16u, 4 * p.where->core_count())});
  const workload products{.kernel = kernel.get()};
  const std::uint32_t tasks = std::max(2'000u, 16'000 / p.scale);
  rows all;
  for (const std::uint32_t parallelism : {4u, 8u}) {
    const std::string shape = "64 x 64 products, layered P=" + std::to_string(parallelism);
    const dag d = layered({.tasks = tasks, .parallelism = parallelism});
    std::vector<std::unique_ptr<contender>> owners;
    std::vector<entrant> entrants;
    const auto enter = [&](std::string name, std::unique_ptr<contender> who) {
      entrants.push_back({std::move(name), who.get()});
      owners.push_back(std::move(who));
    };
    for (const policy_info& info : policy_catalogue())
      enter(std::string(info.name), make_kilter(options_of(p, std::string(info.name))));
    enter("oneTBB flow graph", make_onetbb(threads_of(p, false)));
    const std::size_t peer = entrants.size() - 1;
    const auto t = race(p, shape, d, products, entrants, true);
    const auto add = [&](std::size_t ours, std::size_t than, double goal) {
      if (auto r = compare(shape + ": run", entrants[ours], t[ours].first_s, entrants[than].name,
                           t[than].first_s, tasks, goal))
        all.push_back(std::move(*r));
    };
    add(0, peer, 1.05);
    for (std::size_t i = 1; i < peer; ++i) add(i, 0, 1.03);
  }
  return all;
}

}  // namespace kilter::bench
