// The whole-table search that a critical task starts with, asked through the contract: dam-c's
// on_ready on the Jetson TX2's ten places.

#include <fmt/format.h>

#include "base/random.hpp"
#include "graph/node.hpp"
#include "policy/asking.hpp"
#include "policy/view_source.hpp"
#include "session/interrupt.hpp"
#include "speed/rows.hpp"
#include "statistics/stats.hpp"

namespace kilter::bench {

namespace {

/// An engine with a clock and a table, and nothing to schedule.
class idle_engine final : public view_source {
 public:
  idle_engine(model::tables& t, model::shared_cells& c)
      : view_source(t, c), start_(sync::cycles()), tick_s_(1.0 / sync::cycles_per_second()) {}
  double now_s() noexcept override {
    return static_cast<double>(sync::cycles() - start_) * tick_s_;
  }
  std::uint32_t random(core_id, std::uint32_t n) noexcept override { return random_.below(n); }
  bool online(core_id) noexcept override { return true; }
  bool idle(core_id) noexcept override { return true; }
  std::uint32_t length(queue_id) noexcept override { return 0; }
  double busy_s(core_id) noexcept override { return 0.0; }
  double modelled_s(task_ref, place_id) noexcept override { return 0.0; }
  double data_ready_s(task_ref, core_id) noexcept override { return now_s(); }
  void rekey(task_ref, std::uint64_t) noexcept override {}
  std::uint32_t batch_size(core_id) noexcept override { return 0; }
  task_ref batch_task(core_id, std::uint32_t) noexcept override { return {}; }
  bool batch_is_whole_graph(core_id) noexcept override { return false; }

 private:
  std::uint64_t start_;
  double tick_s_;
  random_stream random_{1};
};

/// The papers' table on machines of 32-core clusters: a sample somewhere, then a search that looks
/// at that cluster alone, against one that looks everywhere.
void add_large(rows& all, const plan& p) {
  constexpr std::uint32_t asked = 20'000;
  for (const std::uint32_t clusters : {1u, 4u, 16u}) {
    const machine m = machine::uniform(32 * clusters, clusters);
    model::tables tables(m, table_options::paper());
    const model::row_id row = tables.row("searched", 0);
    const auto places = static_cast<std::uint32_t>(m.places().size());
    for (place_id at = 0; at < places; ++at) tables.preset(row, at, 1e-5 * (1.0 + 0.1 * (at % 97)));
    std::uint64_t sum = 0;
    const auto each_s = [&](auto&& search) {
      const std::int64_t start = sync::nanoseconds();
      for (std::uint32_t i = 0; i < asked; ++i) {
        measured one;
        one.sample_s = one.leader_s = one.span_s = 1e-5 * (1.0 + 0.01 * (i % 7));
        tables.learn(row, i * 31 % places, one, 0.0);
        sum += search() + 1;
      }
      return static_cast<double>(sync::nanoseconds() - start) * 1e-9 / asked;
    };
    std::vector<double> kept, scanned;
    for (std::uint32_t round = 0; round <= p.rounds && !lab::interrupted(); ++round) {
      p.shown->step(fmt::format("search over {} places", places));
      const double kept_s =
          each_s([&] { return tables.best(row, objective::cost, model::widths::all); });
      const double scanned_s =
          each_s([&] { return tables.best(row, objective::cost, model::allowed{}); });
      if (round == 0 || sum == 0) continue;  // the sum keeps the searches from being left out
      kept.push_back(kept_s);
      scanned.push_back(scanned_s);
    }
    if (auto r = compare(fmt::format("sample and search, papers' table, {} places", places),
                         {"kept", nullptr}, kept, "full scan", scanned, 1.0, 1.0))
      all.push_back(std::move(*r));
  }
}

}  // namespace

rows search_rows(const plan& p) {
  constexpr double limit_s = 100e-9;
  constexpr std::uint32_t asked = 200'000;
  const machine tx2 = machine::from_platform("jetson-tx2");
  const auto asking = make_policy("dam-c", tx2);
  model::tables tables(tx2, table_options::robust());
  model::shared_cells cells(asking->queues(tx2).cells);
  graph g;
  task_options options;
  options.type = g.type("searched");
  options.priority = priority::high;
  const task_ref searched =
      detail::ref(detail::task_access::get(g.add(options, [](team_member&) {})));
  const task_ref parent =
      detail::ref(detail::task_access::get(g.add(options, [](team_member&) {})));
  const model::row_id filled = tables.row("searched", 0);
  auto& kind = detail::graph_of(detail::node_of(searched)).kinds[detail::node_of(searched)->kind];
  kind.row = filled;
  for (place_id at = 0; at < tx2.places().size(); ++at)
    tables.preset(filled, at, 1e-5 * (1.0 + 0.1 * at));
  detail::node_of(searched)->flags |= detail::flag_critical;

  idle_engine engine(tables, cells);
  const auto each_s = [&](bool changes, bool asks) {
    const std::int64_t start = sync::nanoseconds();
    for (std::uint32_t i = 0; i < asked; ++i) {
      if (changes) tables.preset(filled, 9, 1.9e-5 + 1e-8 * (i % 2));
      if (!asks) continue;
      detail::asked_view v(tx2, &engine, i % tx2.core_count(), nullptr);
      // a virtual call of another archive: cannot be left out
      (void)asking->on_ready(searched, parent, i % tx2.core_count(), v);
    }
    return static_cast<double>(sync::nanoseconds() - start) * 1e-9 / asked;
  };
  std::vector<double> kept, fresh, limit;
  for (std::uint32_t round = 0; round <= p.rounds && !lab::interrupted(); ++round) {
    p.shown->step("search over ten places");
    const double nothing_changed_s = each_s(false, true),
                 changed_s = each_s(true, true) - each_s(true, false);
    if (round == 0) continue;
    kept.push_back(nothing_changed_s);
    fresh.push_back(changed_s);
    limit.push_back(limit_s);
  }
  rows all;
  if (auto r = compare("search, ten places, nothing changed", {"dam-c", nullptr}, kept, "limit",
                       limit, 1.0, 1.0))
    all.push_back(std::move(*r));
  if (auto r = compare("search, ten places, after a change", {"dam-c", nullptr}, fresh, "limit",
                       limit, 1.0, 1.0))
    all.push_back(std::move(*r));
  add_large(all, p);
  return all;
}

}  // namespace kilter::bench
