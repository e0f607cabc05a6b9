// Empty bodies: what a task costs.

#include "speed/rows.hpp"

namespace kilter::bench {

namespace {

const workload nothing{};

void keep(rows& all, std::optional<row> r) {
  if (r) all.push_back(std::move(*r));
}

std::vector<double> sum(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> both;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) both.push_back(a[i] + b[i]);
  return both;
}

/// Rows of one shape against the flow graph, for the default policy and for rws.
rows against_flow_graph(const plan& p, const std::string& shape, const dag& d, double run_goal) {
  const auto ours = make_kilter(options_of(p, "dam-c")), plain = make_kilter(options_of(p, "rws"));
  const auto peer = make_onetbb(threads_of(p, false));
  const std::vector<entrant> entrants{
      {"dam-c", ours.get()}, {"rws", plain.get()}, {"oneTBB flow graph", peer.get()}};
  const std::vector<times> t = race(p, shape, d, nothing, entrants);
  const times& tbb = t[2];
  const double n = d.size();
  rows all;
  for (std::size_t i = 0; i < 2; ++i) {
    keep(all, compare(shape + ": build", entrants[i], t[i].build_s, entrants[2].name, tbb.build_s,
                      n, 0.4));
    keep(all, compare(shape + ": run", entrants[i], t[i].first_s, entrants[2].name, tbb.first_s, n,
                      run_goal));
    keep(all, compare(shape + ": run again", entrants[i], t[i].again_s, entrants[2].name,
                      tbb.again_s, n, std::nullopt));
  }
  return all;
}

/// The task_group makes its tasks while they run. A static graph that exists already has less to
/// do, so it is also shown with its making, and the form that does the same as the task_group, one
/// task that adds the others, has the same goal.
rows against_task_group(const plan& p, const std::string& shape, const dag& d) {
  const auto ours = make_kilter(options_of(p, "dam-c")),
             adding = make_kilter_batch(options_of(p, "dam-c"));
  const auto peer = make_onetbb_group(threads_of(p, false));
  const std::vector<entrant> entrants{
      {"dam-c", ours.get()}, {"dam-c", adding.get()}, {"oneTBB task_group", peer.get()}};
  const std::vector<times> t = race(p, shape + " as task_group", d, nothing, entrants);
  const std::vector<double>& group = t[2].first_s;
  const double n = d.size();
  rows all;
  keep(all, compare(shape + ": run", entrants[0], t[0].first_s, entrants[2].name, group, n, 1.2));
  keep(all, compare(shape + ": added by a task", entrants[1], t[1].first_s, entrants[2].name, group,
                    n, 1.2));
  keep(all, compare(shape + ": build + run", entrants[0], sum(t[0].build_s, t[0].first_s),
                    entrants[2].name, group, n, std::nullopt));
  return all;
}

std::string count_text(std::uint32_t n) {
  if (n % 1'000'000 == 0) return std::to_string(n / 1'000'000) + " M";
  return n % 1'000 == 0 ? std::to_string(n / 1'000) + " k" : std::to_string(n);
}

}  // namespace

rows independent_rows(const plan& p) {
  const std::uint32_t n = 1'000'000 / p.scale;
  const std::string shape = "independent, " + count_text(n);
  const dag d = independent(n);
  rows all = against_flow_graph(p, shape, d, 0.4), group = against_task_group(p, shape, d);
  all.insert(all.end(), group.begin(), group.end());
  return all;
}

rows chain_rows(const plan& p) {
  const std::uint32_t n = 200'000 / p.scale;
  // Critical tasks search the whole table, others do not: both are what a user may write.
  rows all = against_flow_graph(p, "chain, " + count_text(n), chain(n, false), 1.0);
  rows flagged =
      against_flow_graph(p, "chain, " + count_text(n) + ", critical", chain(n, true), 1.0);
  all.insert(all.end(), flagged.begin(), flagged.end());
  return all;
}

rows layered_rows(const plan& p) {
  const std::uint32_t n = 32'000 / p.scale;
  return against_flow_graph(p, "layered P=2, " + count_text(n),
                            layered({.tasks = n, .parallelism = 2}), 0.7);
}

}  // namespace kilter::bench
