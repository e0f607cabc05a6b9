#include "measuring/recorded_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/attachments.hpp"

namespace kilter::lab {

namespace {

using trace::graph_log;

constexpr std::uint64_t name_of(std::uint32_t graph, std::uint32_t task) noexcept {
  return std::uint64_t{graph} << 32 | task;
}

/// Where a task was cut: it released tasks, or it waited.
struct cut {
  const graph_log::release* released = nullptr;
  const graph_log::wait* waited = nullptr;

  [[nodiscard]] std::int64_t at_ns() const noexcept {
    return released ? released->at_ns : waited->begin_ns;
  }
};

class builder {
 public:
  builder(const graph_log::content& log, const std::vector<trace::event>& events, std::string name)
      : log_(log) {
    made_.name = std::move(name);
    find_times(events);
    find_cuts();
    cut_up();
    join_waits();
    join_edges();
    join_graphs();
    settle(made_);
  }
  dag made_;

 private:
  struct known {
    const graph_log::task* what;
    std::int64_t begin_ns, end_ns;
    std::uint32_t first = 0, last = 0;  // its pieces
  };
  struct join {
    const graph_log::wait* wait;
    std::uint32_t piece;  // that comes after it
  };

  void find_times(const std::vector<trace::event>& events) {
    std::unordered_map<std::uint64_t, const trace::event*> ran;
    for (const trace::event& e : events)
      if (e.kind == trace::event_kind::task) ran[name_of(e.graph, e.task)] = &e;
    for (const graph_log::task& t : log_.tasks) {
      const auto at = ran.find(name_of(t.graph, t.number));
      if (at == ran.end())
        throw std::runtime_error(
            fmt::format("recording the graph: the times of {} of its {} tasks are missing",
                        log_.tasks.size() - ran.size(), log_.tasks.size()));
      tasks_.push_back({&t, at->second->start_ns, at->second->end_ns});
    }
    std::ranges::stable_sort(tasks_, [](const known& a, const known& b) {
      return std::pair(a.what->graph, a.begin_ns) < std::pair(b.what->graph, b.begin_ns);
    });
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      index_[name_of(tasks_[i].what->graph, tasks_[i].what->number)] = i;
  }

  void find_cuts() {
    for (const graph_log::release& r : log_.releases)
      cuts_[name_of(r.graph, r.by)].push_back({.released = &r});
    for (const graph_log::wait& w : log_.waits)
      cuts_[name_of(w.graph, w.by)].push_back({.waited = &w});
    for (auto& [task, cuts] : cuts_) std::ranges::stable_sort(cuts, {}, &cut::at_ns);
  }

  void cut_up() {
    std::map<std::string, std::uint32_t> number;
    for (known& t : tasks_) {
      const auto cuts = cuts_.find(name_of(t.what->graph, t.what->number));
      const std::string id = fmt::format("{} {}", t.what->type, ++number[t.what->type]);
      if (cuts == cuts_.end())
        t.first = t.last = add_piece(t, id, t.end_ns - t.begin_ns);
      else
        cut_up(t, id, cuts->second);
    }
  }

  void cut_up(known& t, const std::string& id, const std::vector<cut>& cuts) {
    std::uint32_t pieces = 0;
    std::int64_t begin_ns = t.begin_ns;
    bool follows = false;  // the piece before it; otherwise it follows what that one released
    const auto piece_until = [&](std::int64_t end_ns) {
      const std::uint32_t made =
          add_piece(t, fmt::format("{}.{}", id, ++pieces), end_ns - begin_ns);
      if (pieces == 1)
        t.first = made;
      else if (follows)
        made_.edges.push_back({t.last, made});
      return t.last = made;
    };
    for (const cut& c : cuts) {
      if (c.released) {
        const std::uint32_t before = piece_until(c.released->at_ns);
        for (const std::uint32_t task : c.released->tasks)
          released_by_.emplace(name_of(c.released->graph, task), before);
        begin_ns = c.released->at_ns;
      } else {
        if (!c.waited->at_once) piece_until(c.waited->begin_ns);
        begin_ns = c.waited->end_ns;
        joins_.push_back({c.waited, static_cast<std::uint32_t>(made_.tasks.size())});
      }
      follows = c.released || !c.waited->at_once;
    }
    piece_until(t.end_ns);
  }

  std::uint32_t add_piece(const known& t, std::string id, std::int64_t ns) {
    const auto [at, fresh] =
        types_.try_emplace(t.what->type, static_cast<std::uint32_t>(made_.types.size()));
    if (fresh) made_.types.push_back({.name = t.what->type});
    made_.tasks.push_back({.id = std::move(id),
                           .type = at->second,
                           .priority = t.what->high ? priority::high : priority::low,
                           .seconds = static_cast<double>(std::max<std::int64_t>(ns, 0)) * 1e-9,
                           .widths = t.what->widths});
    return static_cast<std::uint32_t>(made_.tasks.size() - 1);
  }

  // Who waits follows those of the batch that nothing else of it follows.
  void join_waits() {
    std::unordered_set<std::uint64_t> followed;
    for (const graph_log::edge& e : log_.edges) followed.insert(name_of(e.graph, e.from));
    std::unordered_map<std::uint32_t, std::vector<const graph_log::release*>> batches;
    for (const graph_log::release& r : log_.releases) batches[r.batch].push_back(&r);
    for (const join& j : joins_)
      for (const graph_log::release* r : batches[j.wait->batch]) {
        if (r->at_ns > j.wait->begin_ns) continue;
        for (const std::uint32_t task : r->tasks)
          if (const std::uint64_t name = name_of(r->graph, task); !followed.contains(name))
            made_.edges.push_back({tasks_[index_.at(name)].last, j.piece});
      }
  }

  // And who was released follows its adder, unless it follows others that do.
  void join_edges() {
    std::unordered_set<std::uint64_t> follows;
    for (const graph_log::edge& e : log_.edges) {
      made_.edges.push_back({tasks_[index_.at(name_of(e.graph, e.from))].last,
                             tasks_[index_.at(name_of(e.graph, e.to))].first, e.cost_s});
      follows.insert(name_of(e.graph, e.to));
    }
    for (const auto& [name, piece] : released_by_)
      if (!follows.contains(name)) made_.edges.push_back({piece, tasks_[index_.at(name)].first});
  }

  void join_graphs() {
    const auto of_graph = [&](std::uint32_t piece) { return graph_of_piece_.at(piece); };
    graph_of_piece_.resize(made_.tasks.size());
    for (const known& t : tasks_)
      for (std::uint32_t piece = t.first; piece <= t.last; ++piece)
        graph_of_piece_[piece] = t.what->graph;
    const std::uint32_t pieces = static_cast<std::uint32_t>(made_.tasks.size());
    if (pieces == 0 || graph_of_piece_.front() == graph_of_piece_.back()) return;
    std::vector<bool> follows(pieces), followed(pieces);
    for (const dag::edge& e : made_.edges) followed[e.from] = follows[e.to] = true;
    std::uint32_t join = 0;
    for (std::uint32_t first = 0, end = 0; first < pieces; first = end) {
      const std::uint32_t before = join;
      while (end < pieces && of_graph(end) == of_graph(first)) ++end;
      if (end < pieces) join = add_join();
      for (std::uint32_t piece = first; piece < end; ++piece) {
        if (first > 0 && !follows[piece]) made_.edges.push_back({before, piece});
        if (end < pieces && !followed[piece]) made_.edges.push_back({piece, join});
      }
    }
  }

  std::uint32_t add_join() {
    const auto [at, fresh] =
        types_.try_emplace("join", static_cast<std::uint32_t>(made_.types.size()));
    if (fresh) made_.types.push_back({.name = "join"});
    made_.tasks.push_back(
        {.id = fmt::format("join {}", ++joined_), .type = at->second, .widths = {1}});
    return static_cast<std::uint32_t>(made_.tasks.size() - 1);
  }

  const graph_log::content& log_;
  std::vector<known> tasks_;  // by graph, then as they began
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::unordered_map<std::uint64_t, std::vector<cut>> cuts_;
  std::unordered_map<std::string, std::uint32_t> types_;
  std::vector<join> joins_;
  std::map<std::uint64_t, std::uint32_t> released_by_;  // the adder's piece before it
  std::vector<std::uint32_t> graph_of_piece_;
  std::uint32_t joined_ = 0;
};

}  // namespace

dag graph_of(const graph_log::content& log, const std::vector<trace::event>& events,
             std::string name) {
  return std::move(builder(log, events, std::move(name)).made_);
}

std::optional<dag> record_graph(apps::program& what, const std::string& name, const machine& m,
                                std::uint64_t seed, const std::function<bool()>& stopped) {
  trace::recorder events(1, {.limit_events_per_core = std::size_t{1} << 24, .keeps_graph = true});
  const core_id core[] = {m.fastest_cores().front()};
  {
    apps::executor alone({.machine = std::make_shared<const machine>(m.restricted_to(core)),
                          .policy = "rws",
                          .seed = seed},
                         kilter::detail::attachments{.events = &events});
    if (!what.run(alone, stopped).complete) return {};
  }
  what.verify();
  const graph_log::content log = events.graph()->take();
  if (!log.complete || events.dropped() > 0)
    throw std::runtime_error(
        "recording the graph: it has more tasks than there is memory for; make the input smaller");
  return graph_of(log, events.drain(), name);
}

}  // namespace kilter::lab
