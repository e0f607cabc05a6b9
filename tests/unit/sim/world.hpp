#pragma once
// Small platforms whose times can be computed by hand.

#include <string>
#include <vector>

#include "sim/engine.hpp"
#include "unit/support.hpp"

namespace kilter::test {

inline const auto nothing = [](team_member&) {};
inline const std::vector<std::string> three = {"P1", "P2", "P3"};

inline constexpr double body_s = 1e-3;  ///< of a task of a `plain` platform

/// `tasks` tasks, each after the one before.
inline void add_chain(graph& g, int tasks, const task_options& o = {}) {
  task last;
  for (int i = 0; i < tasks; ++i) {
    const task t = g.add(o, nothing);
    if (last) g.edge(last, t);
    last = t;
  }
}

/// `cores` equal cores in `clusters` clusters; a task takes `seconds` at width 1 and scales
/// perfectly. No overheads, no noise, no limits.
inline sim::platform plain(std::uint32_t cores, std::uint32_t clusters = 1,
                           double seconds = body_s) {
  sim::platform p;
  p.name = "plain";
  p.cores = std::make_shared<const machine>(machine::uniform(cores, clusters));
  p.clocks.resize(1);
  p.core_bytes_per_s = p.cluster_bytes_per_s = {0.0};
  p.cache_bytes.assign(clusters, 0);
  p.core_cache_bytes = p.cache_bytes;
  p.costs = {.push_s = 0,
             .steal_try_s = 1e-9,
             .steal_s = 0,
             .search_all_s = 0,
             .search_own_s = 0,
             .assembly_s = 0,
             .wake_s = 0};
  sim::kernel_cost k;
  k.name = "work";
  k.size = 1;
  for (const place_id at : p.cores->led_by(0)) k.seconds.push_back(seconds / p.cores->at(at).width);
  p.kernels.push_back(k);
  return p;
}

inline std::vector<sim::type_work> works(const graph&) {
  return std::vector<sim::type_work>(8, {"work", 1.0});
}

inline sim::engine_options with(const std::string& policy, const sim::platform& p) {
  return {.policy = make_policy(policy, *p.cores)};
}

}  // namespace kilter::test
