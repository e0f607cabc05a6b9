#include "conformance/runtime_variants.hpp"

#include <algorithm>
#include <atomic>

#include "conformance/engines.hpp"

namespace kilter::conformance {
namespace {

run_result run_on_threads(const run_request& r) {
  runtime rt({.machine = std::make_shared<const machine>(r.machine),
              .custom = r.asked,
              .table = r.table,
              .seed = r.seed,
              .record_decisions = r.record});
  const std::size_t count = r.work.tasks.size();
  std::vector<std::atomic<std::uint32_t>> runs(count), places(count);
  std::vector<std::uint32_t> order(count);
  std::atomic<std::uint32_t> finished{0};
  graph g;
  // Every task is one chunk: who gets it has run the task.
  build(g, r.work, [&](std::uint32_t i) {
    return [&, i](team_member& c) {
      if (!c.next_chunk(1)) return;
      runs[i].fetch_add(1, std::memory_order_relaxed);
      places[i].store(*rt.machine().find(c.place()), std::memory_order_relaxed);
      order[finished.fetch_add(1, std::memory_order_acq_rel) % count] = i;
    };
  });
  rt.run(g);
  run_result out;
  for (std::size_t i = 0; i < count; ++i) {
    out.runs.push_back(runs[i].load());
    out.where.push_back(places[i].load());
  }
  if (finished.load() == count) out.order = std::move(order);
  // A worker that never had anything to ask has nothing to replay.
  for (const tape* t : rt.tapes())
    if (!t->entries().empty()) out.tapes.push_back(t->entries());
  return out;
}

bool is_one_of(std::string_view name, auto& names) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<variant> plain() {
  std::vector<variant> all;
  for (const policy_info& p : policy_catalogue()) {
    variant v{.name = std::string(p.name) + "_paper",
              .policy = std::string(p.name),
              .table = table_options::paper(),
              .plain = true};
    all.push_back(v);
    v.name = std::string(p.name) + "_robust";
    v.table = table_options::robust();
    all.push_back(v);
  }
  const std::pair<const char*, made (*)(const machine&)> probes[] = {
      {"probe_sorted", sorted_probe},       {"probe_planned", planned_probe},
      {"probe_busy", busy_probe},           {"probe_fifo", fifo_probe},
      {"probe_declining", declining_probe}, {"probe_restricted", restricted_probe}};
  for (const auto& [name, make] : probes)
    all.push_back({.name = name, .probe = make, .one_static_graph = make == planned_probe});
  return all;
}

template <class Change>
policy_options with(Change&& change) {
  policy_options o;
  change(o);
  return o;
}

std::vector<variant> everything() {
  std::vector<variant> all = plain();
  const std::pair<const char*, criticality> sources[] = {
      {"user", criticality::user},   {"chain", criticality::chain},
      {"diff1", criticality::diff1}, {"chain_closed", criticality::chain_closed},
      {"hops", criticality::hops},   {"fanout", criticality::fanout},
      {"ranks", criticality::ranks}, {"online", criticality::online}};
  for (const char* p : {"dam-c", "perf", "fa", "cats-2q"})
    for (const auto& [name, source] : sources)
      all.push_back({.name = std::string(p) + "_critical_by_" + name,
                     .policy = p,
                     .settings = with([&](auto& o) { o.source = source; })});
  for (const char* p : {"fa", "fam-c", "da", "dam-c", "dam-p", "perf"})
    for (const bool paper : {true, false})
      all.push_back({.name = std::string(p) + (paper ? "_direct_paper" : "_direct_robust"),
                     .policy = p,
                     .settings = with([](auto& o) { o.direct_assembly = true; }),
                     .table = paper ? table_options::paper() : table_options::robust()});
  for (const char* p : {"rws", "rwsm-c", "dam-c"}) {
    all.push_back({.name = std::string(p) + "_from_richest",
                   .policy = p,
                   .settings = with([](auto& o) { o.steal_from = victims::richest; })});
    all.push_back({.name = std::string(p) + "_cluster_first",
                   .policy = p,
                   .settings = with([](auto& o) { o.steal_from = victims::cluster_first; })});
    all.push_back({.name = std::string(p) + "_queues_children",
                   .policy = p,
                   .settings = with([](auto& o) { o.forward_child = false; })});
    all.push_back({.name = std::string(p) + "_queues_children_richest",
                   .policy = p,
                   .settings = with([](auto& o) {
                     o.forward_child = false;
                     o.steal_from = victims::richest;
                   })});
  }
  all.push_back({.name = "cats_strict_each", .policy = "cats", .settings = with([](auto& o) {
                                                                 o.cats_strict = true;
                                                                 o.cats_update =
                                                                     policy_options::update::each;
                                                               })});
  all.push_back({.name = "da_row", .policy = "da", .settings = with([](auto& o) {
                                                     o.local_search = policy_options::local::row;
                                                   })});
  all.push_back({.name = "rwsm-c_row",
                 .policy = "rwsm-c",
                 .settings = with([](auto& o) { o.local_search = policy_options::local::row; })});
  table_options refreshed = table_options::paper();
  refreshed.refresh_every = 10;
  all.push_back({.name = "dam-c_refresh", .policy = "dam-c", .table = refreshed});
  for (const char* p : {"cats", "cats-2q", "bias"})
    all.push_back({.name = std::string(p) + "_two_sides",
                   .policy = p,
                   .settings = with([](auto& o) { o.cats_bidirectional = true; }),
                   .slow_cluster = true});
  all.push_back({.name = "cats_one_way", .policy = "cats", .slow_cluster = true});
  for (const char* p : {"perf", "dam-c", "fam-c"})
    all.push_back({.name = std::string(p) + "_slow_cluster",
                   .policy = p,
                   .settings = with([](auto& o) {
                     o.place_noncritical = policy_options::noncritical::slow_cluster;
                   }),
                   .slow_cluster = true});
  for (const char* p : {"rwsm-c", "fam-c", "dam-c", "perf"})
    all.push_back({.name = std::string(p) + "_search_when_ready",
                   .policy = p,
                   .settings = with([](auto& o) { o.search_when_ready = true; })});
  for (const char* p : {"fa", "fam-c"})
    all.push_back({.name = std::string(p) + "_random_fast",
                   .policy = p,
                   .settings = with([](auto& o) { o.random_fast = true; })});
  all.push_back({.name = "perf_x19",
                 .policy = "perf",
                 .settings = with([](auto& o) { o.local_search = policy_options::local::x19; })});
  for (variant& v : all) std::ranges::replace(v.name, '-', '_');
  return all;
}

}  // namespace

// Threads as an engine of the contract suite: this file takes the place of test_engine.cpp in the
// program that tests the runtime.
const std::vector<engine>& engines() {
  static const std::vector<engine> all = {{"threads", false, run_on_threads}};
  return all;
}

const std::vector<variant>& variants() {
  static const std::vector<variant> all = everything();
  return all;
}

std::shared_ptr<const machine> machine_of(std::uint32_t workers) {
  const std::uint32_t clusters = workers >= 64 ? 4 : workers >= 4 && workers % 2 == 0 ? 2 : 1;
  return std::make_shared<const machine>(machine::uniform(workers, clusters));
}

runtime_options options_for(const variant& v, std::uint32_t workers, std::uint64_t seed) {
  runtime_options o;
  o.machine = machine_of(workers);
  o.policy_settings = v.settings;
  if (v.slow_cluster)
    for (core_id c = 0; c < (workers + 1) / 2; ++c) o.policy_settings.fast.push_back(c);
  if (v.probe)
    o.custom = v.probe(*o.machine);
  else
    o.policy = v.policy;
  o.table = v.table;
  o.seed = seed;
  return o;
}

std::vector<std::uint32_t> worker_counts(const variant& v) {
  if (!stress::full_size() && !(v.plain && is_one_of(v.policy, at_every_size))) return {2};
  if (stress::sanitized) return {1, 2, 4};
  return {1, 2, 3, 4, 8, 16, 64};
}

std::vector<std::uint32_t> million_counts(const variant& v) {
  if (!stress::full_size() && (!v.plain || !is_one_of(v.policy, with_a_million))) return {};
  // The papers' table on 64 workers tries every place first, which took a minute and a half here.
  if (stress::sanitized || v.table.explore_first) return {2};
  return {2, 64};
}

std::uint32_t million(const variant& v) {
  if (stress::sanitized) return 10'000;
  return v.one_static_graph || is_one_of(v.policy, planned_policies) ? 100'000 : 1'000'000;
}

std::uint32_t ordinary_size(std::uint32_t workers) {
  if (stress::full_size() && !stress::sanitized) return workers == 2 ? 100'000 : 20'000;
  return workers == 2 && !stress::sanitized ? 10'000 : 3'000;
}

}  // namespace kilter::conformance
