// The simulator as an engine of the contract suite. This file takes the place of test_engine.cpp in
// the program that tests it.

#include <map>

#include "conformance/engines.hpp"
#include "sim/engine.hpp"

namespace kilter::conformance {
namespace {

/// The cores of `m`; kinds differ by a factor of two, wide is quicker but dearer, and the last
/// cluster's memory is slow.
sim::platform platform_of(const machine& m) {
  sim::platform p;
  p.name = m.name();
  p.cores = std::make_shared<const machine>(m);
  p.clocks.resize(m.kinds().size());
  p.core_bytes_per_s.assign(m.kinds().size(), 4e9);
  p.cluster_bytes_per_s.assign(m.kinds().size(), 6e9);
  p.chip_bytes_per_s = 9e9;
  p.cache_bytes.assign(m.clusters().size(), 1 << 20);
  p.noise_sigma = 0.05;
  for (const cluster& c : m.clusters()) {
    sim::kernel_cost k{.name = "work",
                       .size = 1,
                       .kind = c.kind,
                       .mhz = 0,
                       .seconds = {},
                       .bytes = 60e3,
                       .working_set = 400e3,
                       .bytes_beyond_cache = 120e3};
    for (const place_id at : m.led_by(c.first))
      k.seconds.push_back(20e-6 * (1 + c.kind) / (1.0 + 0.8 * (m.at(at).width - 1)));
    p.kernels.push_back(k);
  }
  return p;
}

run_result run_simulated(const run_request& r) {
  const sim::platform p = platform_of(r.machine);
  run_result out;
  const std::size_t count = r.work.tasks.size();
  out.runs.assign(count, 0);
  out.where.assign(count, no_place);
  sim::engine_options o{
      .policy = r.asked, .table = r.table, .seed = r.seed, .record_decisions = r.record};
  // A co-runner on core 0, and a wave on the last core.
  const core_id last = r.machine.core_count() - 1;
  o.disturbances.push_back({.what = sim::disturbance::kind::sliced,
                            .cores = {0},
                            .slice_s = 1e-3,
                            .offset_s = 2e-4,
                            .traffic = 1e9,
                            .working_set = 3e5});
  if (last > 0)
    o.disturbances.push_back({.what = sim::disturbance::kind::capacity,
                              .cores = {last},
                              .left = 0.3,
                              .half_period_s = 2e-3});
  o.finished = [&](const sim::sim_assembly& a, core_id) {
    const auto id = static_cast<std::uint32_t>(detail::id_of(a.task));
    ++out.runs[id];
    out.where[id] = a.where;
    out.order.push_back(id);
  };
  sim::engine engine(p, o);
  graph g;
  build(g, r.work, [](std::uint32_t) { return [](team_member&) {}; });
  std::uint32_t types = 0;
  for (const task_spec& t : r.work.tasks) types = std::max(types, t.type + 1);
  engine.run(g, std::vector<sim::type_work>(types + 1, {"work", 1.0}));
  for (const tape* t : engine.tapes())
    if (!t->entries().empty()) out.tapes.push_back(t->entries());
  return out;
}

}  // namespace

const std::vector<engine>& engines() {
  static const std::vector<engine> all = {{"simulated", true, run_simulated}};
  return all;
}

}  // namespace kilter::conformance
