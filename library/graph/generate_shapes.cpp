// Graphs of regular shape.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/generator.hpp"

namespace kilter::dags {

// The recursive FFT of Topcuoglu, Hariri, Wu (IEEE TPDS 13 (2002), section 5.3): a tree of calls
// down to single points, then a row of butterflies for each level on the way up; the one at j of
// row r follows j and j xor 2^r of the row before. All tasks cost the same.
dag make_fft(generator_options& o) {
  const auto k = o.count_for_tasks(
      "log2", 9, 1, [](double e) { return 2.0 * std::exp2(e) - 1.0 + std::exp2(e) * e; });
  dag_maker made(o);
  const std::uint32_t call = made.type("call"), butterfly = made.type("butterfly");
  const std::uint64_t points = std::uint64_t{1} << k;
  std::vector<std::uint32_t> row{made.task(call, "call_0_0")};
  for (std::uint64_t level = 1; level <= k; ++level) {
    std::vector<std::uint32_t> below;
    for (std::uint64_t i = 0; i < row.size() * 2; ++i) {
      below.push_back(made.task(call, task_id("call", {level, i})));
      made.edge(row[i / 2], below.back());
    }
    row = std::move(below);
  }
  for (std::uint64_t r = 0; r < k; ++r) {
    std::vector<std::uint32_t> above;
    for (std::uint64_t j = 0; j < points; ++j) {
      above.push_back(made.task(butterfly, task_id("butterfly", {r, j})));
      made.edge(row[j], above.back());
      made.edge(row[j ^ (std::uint64_t{1} << r)], above.back());
    }
    row = std::move(above);
  }
  return made.finish();
}

// Gaussian elimination of an n x n matrix by columns (the same paper): for k: pivot(k); for j > k:
// update(k,j), which follows pivot(k) and update(k-1,j). Costs are flops: n - k divisions, 2 (n -
// k) operations of an update; the first update has cost 1.
dag make_gauss(generator_options& o) {
  const auto n = o.count_for_tasks("n", 140, 2, [](double k) { return (k * k + k - 2) / 2; });
  dag_maker made(o);
  const std::uint32_t pivot = made.type("pivot"), update = made.type("update");
  constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> column(n + 1, nobody);  // who changed it last
  for (std::uint64_t k = 1; k < n; ++k) {
    const double rest = static_cast<double>(n - k) / static_cast<double>(n - 1);
    const std::uint32_t p = made.task(pivot, task_id("pivot", {k}), rest / 2.0);
    if (column[k] != nobody) made.edge(column[k], p);
    for (std::uint64_t j = k + 1; j <= n; ++j) {
      const std::uint32_t u = made.task(update, task_id("update", {k, j}), rest);
      made.edge(p, u);
      if (column[j] != nobody) made.edge(column[j], u);
      column[j] = u;
    }
  }
  return made.finish();
}

// n x n cells; each follows the one above and the one to its left.
dag make_wavefront(generator_options& o) {
  const auto n = o.count_for_tasks("n", 100, 1, [](double k) { return k * k; });
  dag_maker made(o);
  const std::uint32_t type = made.type("cell");
  for (std::uint64_t row = 0; row < n; ++row)
    for (std::uint64_t column = 0; column < n; ++column) {
      const std::uint32_t t = made.task(type, task_id("cell", {row, column}));
      if (row > 0) made.edge(t - static_cast<std::uint32_t>(n), t);
      if (column > 0) made.edge(t - 1, t);
    }
  return made.finish();
}

// A fork, then stage for stage `width` tasks between two joins. A fork or join costs a tenth of a
// task.
dag make_fork_join(generator_options& o) {
  const std::uint64_t width = o.count("width", 16, 1, most_tasks);
  const auto stages = o.count_for_tasks(
      "stages", 100, 1, [&](double s) { return 1.0 + s * (static_cast<double>(width) + 1.0); });
  dag_maker made(o);
  const std::uint32_t join = made.type("join"), work = made.type("work");
  std::uint32_t before = made.task(join, "fork", 0.1);
  for (std::uint64_t s = 0; s < stages; ++s) {
    const auto first = static_cast<std::uint32_t>(made.graph().tasks.size());
    for (std::uint64_t i = 0; i < width; ++i)
      made.edge(before, made.task(work, task_id("work", {s, i})));
    const std::uint32_t after = made.task(join, task_id("join", {s}), 0.1);
    for (std::uint32_t t = first; t < after; ++t) made.edge(t, after);
    before = after;
  }
  return made.finish();
}

// Items that pass through stages. The first and the last stage take one item after the other and
// cost a tenth; those between take any number at once.
dag make_pipeline(generator_options& o) {
  const std::uint64_t stages = o.count("stages", 5, 2, 1000);
  const auto items = o.count_for_tasks("items", 1000, 1,
                                       [&](double i) { return i * static_cast<double>(stages); });
  dag_maker made(o);
  const auto last = static_cast<std::uint32_t>(stages - 1);
  for (std::uint64_t s = 0; s < stages; ++s)
    made.type(s == 0 ? "in" : s == last ? "out" : task_id("stage", {s}));
  for (std::uint64_t i = 0; i < items; ++i)
    for (std::uint32_t s = 0; s <= last; ++s) {
      const bool serial = s == 0 || s == last;
      const std::uint32_t t =
          made.task(s, task_id(made.graph().types[s].name, {i}), serial ? 0.1 : 1.0);
      if (s > 0) made.edge(t - 1, t);
      if (serial && i > 0) made.edge(t - static_cast<std::uint32_t>(stages), t);
    }
  return made.finish();
}

// A full tree of the given degree and depth: out (from the root), in (to the root), or both, one
// after the other with the leaves in common.
dag make_tree(generator_options& o) {
  static constexpr std::array<std::string_view, 3> ways{"out", "in", "both"};
  const std::string_view way = o.word("way", ways);
  const std::uint64_t degree = o.count("degree", 2, 2, 1000);
  const auto nodes = [&](double depth) {
    return (std::pow(static_cast<double>(degree), depth + 1.0) - 1.0) /
           (static_cast<double>(degree) - 1.0);
  };
  const auto depth = o.count_for_tasks("depth", 12, 0, [&](double d) {
    return way == "both" ? 2.0 * nodes(d) - std::pow(static_cast<double>(degree), d) : nodes(d);
  });
  dag_maker made(o);
  std::vector<std::uint32_t> row;
  std::uint64_t leaves = 1;
  for (std::uint64_t d = 0; d < depth; ++d) leaves *= degree;
  if (way == "in") {
    const std::uint32_t leaf = made.type("leaf");
    for (std::uint64_t i = 0; i < leaves; ++i) row.push_back(made.task(leaf, task_id("leaf", {i})));
  } else {
    const std::uint32_t split = made.type("split");
    row = {made.task(split, "split_0_0")};
    for (std::uint64_t d = 1; d <= depth; ++d) {
      std::vector<std::uint32_t> below;
      for (std::uint64_t i = 0; i < row.size() * degree; ++i) {
        below.push_back(made.task(split, task_id("split", {d, i})));
        made.edge(row[i / degree], below.back());
      }
      row = std::move(below);
    }
  }
  if (way == "out") return made.finish();
  const std::uint32_t merge = made.type("merge");
  for (std::uint64_t d = depth; d-- > 0;) {
    std::vector<std::uint32_t> above;
    for (std::uint64_t i = 0; i < row.size() / degree; ++i) {
      above.push_back(made.task(merge, task_id("merge", {d, i})));
      for (std::uint64_t c = 0; c < degree; ++c) made.edge(row[i * degree + c], above.back());
    }
    row = std::move(above);
  }
  return made.finish();
}

}  // namespace kilter::dags
