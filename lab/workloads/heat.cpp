#include "workloads/heat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

constexpr double bytes_of_value = 4.0;

std::uint32_t blocks_of(const heat& h) noexcept { return h.ranks * h.tasks_per_rank; }

std::uint64_t rows_of_block(const heat& h, std::uint64_t b) noexcept {
  const std::uint64_t blocks = blocks_of(h);
  return h.rows * (b + 1) / blocks - h.rows * b / blocks;
}

/// An edge from each task, once.
void follow(graph& g, std::vector<task> before, task after) {
  for (auto at = before.begin(); at != before.end(); ++at)
    if (std::find(before.begin(), at, *at) == at) g.edge(*at, after);
}

/// The tasks of one iteration.
struct sweep {
  std::vector<task> blocks, exchanges;
};

/// Block `b` needs itself and its neighbours inside the rank, and at the rank's borders what was
/// exchanged.
std::vector<task> needs_of_block(const heat& h, const sweep& last, std::uint32_t b) {
  const std::uint32_t rank = b / h.tasks_per_rank, in_rank = b % h.tasks_per_rank;
  const bool top = in_rank == 0, bottom = in_rank + 1 == h.tasks_per_rank;
  std::vector<task> needs{last.blocks[b]};
  if (!top) needs.push_back(last.blocks[b - 1]);
  if (!bottom) needs.push_back(last.blocks[b + 1]);
  if ((top || bottom) && h.ranks > 1) needs.push_back(last.exchanges[rank]);
  return needs;
}

/// The exchange of a rank needs its own border blocks and those that face them.
std::vector<task> needs_of_exchange(const heat& h, const sweep& now, std::uint32_t rank) {
  const std::uint32_t top = rank * h.tasks_per_rank, bottom = top + h.tasks_per_rank - 1;
  std::vector<task> needs{now.blocks[top], now.blocks[bottom]};
  if (rank > 0) needs.push_back(now.blocks[top - 1]);
  if (rank + 1 < h.ranks) needs.push_back(now.blocks[bottom + 1]);
  return needs;
}

/// What the tasks of a rank are.
struct rank_kind {
  task_type block{}, exchange{};
  home_cores home{};
};

/// The cores of each node.
std::vector<home_cores> nodes_of(const sim::platform& p) {
  const auto clusters = p.cores->clusters();
  std::vector<home_cores> nodes;
  for (std::size_t first = 0; first < clusters.size(); first += p.network->clusters_per_node) {
    const cluster& last =
        clusters[std::min(first + p.network->clusters_per_node, clusters.size()) - 1];
    nodes.emplace_back(clusters[first].first, last.first + last.size - clusters[first].first);
  }
  return nodes;
}

/// Fills `apart` if ranks are.
std::vector<rank_kind> kinds_of(task_graph& made, graph& g, const heat& h, const sim::platform& p) {
  const double mean_rows = static_cast<double>(h.rows) / blocks_of(h);
  // A square tile of as many points as a block has on average, so that traffic and working set are
  // those of a block too.
  const sim::type_work block{.kernel = "stencil", .size = std::sqrt(mean_rows * h.columns)};
  const bool alone = h.ranks == 1 && !h.apart;
  const sim::type_work exchange{
      .kernel = {}, .size = 0.0, .fixed_s = alone ? 0.0 : exchange_s(h, p)};
  if (!h.apart) {
    rank_kind all;
    all.block = made.type(g, "heat", block);
    if (alone) return {all};
    all.exchange = made.type(g, "exchange", exchange);
    return std::vector(h.ranks, all);
  }
  made.apart = nodes_of(p);
  if (made.apart.size() != h.ranks)
    throw input_error("--nodes apart: " + std::to_string(h.ranks) +
                      " ranks need as many nodes, one each; platform " + p.name + " has " +
                      std::to_string(made.apart.size()));
  std::vector<rank_kind> kinds;
  for (std::uint32_t r = 0; r < h.ranks; ++r) {
    rank_kind own{.home = made.apart[r]};
    own.block = made.type(g, "heat " + std::to_string(r), block);
    own.exchange = made.type(g, "exchange " + std::to_string(r), exchange);
    kinds.push_back(own);
  }
  return kinds;
}

}  // namespace

double exchange_s(const heat& h, const sim::platform& p) {
  if (!p.network || p.network->bytes_per_s <= 0.0)
    throw input_error(
        "platform " + p.name +
        " has no network, over which the ranks of heat exchange borders; take one with [network], "
        "as haswell-cluster, or --ranks 1");
  const double neighbours = h.ranks > 2 ? 2.0 : 1.0;
  return p.network->latency_s + neighbours * h.columns * bytes_of_value / p.network->bytes_per_s;
}

task_graph build(graph& g, const heat& h, const sim::platform& p, body_runner* bodies) {
  task_graph made(g);
  const double mean_rows = static_cast<double>(h.rows) / blocks_of(h);
  const std::vector<rank_kind> kinds = kinds_of(made, g, h, p);
  constexpr std::array<std::uint32_t, 1> one{1};
  sweep last;
  for (std::uint32_t i = 0; i < h.iterations; ++i) {
    sweep now;
    for (std::uint32_t b = 0; b < blocks_of(h); ++b) {
      const rank_kind& own = kinds[b / h.tasks_per_rank];
      now.blocks.push_back(g.add({.type = own.block,
                                  .work = static_cast<double>(rows_of_block(h, b)) / mean_rows,
                                  .home = own.home},
                                 body_of(bodies)));
      if (i > 0) follow(g, needs_of_block(h, last, b), now.blocks.back());
      made.data.push_back({.read = b, .written = b});
    }
    for (std::uint32_t r = 0; r < h.ranks && h.ranks > 1; ++r) {
      now.exchanges.push_back(g.add({.type = kinds[r].exchange,
                                     .priority = priority::high,
                                     .widths = one,
                                     .home = kinds[r].home},
                                    body_of(bodies)));
      follow(g, needs_of_exchange(h, now, r), now.exchanges.back());
      made.data.emplace_back();
    }
    made.iteration.insert(made.iteration.end(), now.blocks.size() + now.exchanges.size(), i);
    last = std::move(now);
  }
  return made;
}

}  // namespace kilter::lab
