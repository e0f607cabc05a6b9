#include "kilter/graph.hpp"

#include <algorithm>
#include <cmath>

#include "graph/node.hpp"

namespace kilter {

using detail::graph_core;
using detail::node;
using detail::task_access;

width_list::width_list(std::span<const std::uint32_t> widths) {
  for (const std::uint32_t w : widths) {
    if (w == 0 || w > widest)
      throw usage_error("a task's width is from 1 to " + std::to_string(widest) + ", got " +
                        std::to_string(w));
    std::uint16_t* at = std::lower_bound(widths_, widths_ + count_, w);
    if (at != widths_ + count_ && *at == w) continue;
    if (count_ == most)
      throw usage_error("a task names at most " + std::to_string(most) +
                        " widths; leave them out to allow all");
    std::copy_backward(at, widths_ + count_, widths_ + count_ + 1);
    *at = static_cast<std::uint16_t>(w);
    ++count_;
  }
}

graph::graph() : core_(std::make_unique<graph_core>()) {}
graph::graph(graph&&) noexcept = default;
graph::~graph() {
  if (core_) core_->end_run();
}
graph& graph::operator=(graph&& other) noexcept {
  if (core_ && core_ != other.core_) core_->end_run();
  core_ = std::move(other.core_);
  return *this;
}

namespace {
graph_core& own(const std::unique_ptr<graph_core>& core) {
  if (!core) throw usage_error("this graph was moved from; make another, or clear() it");
  return *core;
}
void refuse_while_running(const graph_core& core) {
  if (core.execution.load(sync::memory_order_acquire))
    throw usage_error(
        "the graph is running; wait for its execution, or add tasks from a task with "
        "kilter::batch");
}
}  // namespace

task_type graph::type(std::string_view name) {
  auto& names = own(core_).type_names;
  const auto found = std::ranges::find(names, name);
  const auto type_at = [&](std::ptrdiff_t i) {
    return task_access::make_type(static_cast<std::uint16_t>(i), core_->number);
  };
  if (found != names.end()) return type_at(found - names.begin());
  refuse_while_running(*core_);
  if (names.size() == 65535) throw usage_error("a graph holds at most 65535 task types");
  names.emplace_back(name);
  return type_at(static_cast<std::ptrdiff_t>(names.size()) - 1);
}

task graph::allocate(const task_options& options, const detail::body& code, void*& storage,
                     bool unfinished) {
  refuse_while_running(own(core_));
  node* n = core_->new_node(options, code, storage);
  if (unfinished) core_->unfinished = n;
  return task_access::make(n, false);
}

void graph::constructed(task) noexcept { core_->unfinished = nullptr; }

void graph::check(const depend& data) const {
  refuse_while_running(own(core_));
  const detail::data_uses none;
  (core_->uses ? *core_->uses : none).check(data);
}

void graph::follow(task t, const depend& data) try {
  graph_core& core = *core_;
  if (!core.uses) {
    core.uses = std::make_unique<detail::data_uses>();
    core.places = std::make_unique<detail::data_places>();
  }
  node* n = task_access::get(t);
  for (node* before : core.uses->follow(n, data)) {
    detail::add_edge(core.memory, before, n, 0.0);
    ++core.static_edges;
  }
  core.roots_known = false;
  const auto first = [&](std::initializer_list<const std::vector<const void*>*> of) {
    for (const auto* some : of)
      if (!some->empty()) return core.uses->number_of(some->front());
    return detail::data_places::none;
  };
  core.places->names(static_cast<std::uint32_t>(id_of(n)),
                     first({&data.inout, &data.in, &data.out}), first({&data.inout, &data.out}));
} catch (...) {
  core_->incomplete = true;
  throw;
}

void graph::edge(task before, task after, double cost_s) {
  node* from = task_access::get(before);
  node* to = task_access::get(after);
  if (!from || !to) throw usage_error("an edge needs two tasks; one of them is empty");
  if (task_access::added_while_running(before) || task_access::added_while_running(after))
    throw usage_error(
        "a task that was added while a graph ran can have no edge after it; use batch::edge before "
        "its batch is released");
  if (&detail::graph_of(from) != &own(core_) || &detail::graph_of(to) != core_.get())
    throw usage_error("an edge joins tasks of one graph; one of them belongs to another");
  if (!(cost_s >= 0.0) || std::isinf(cost_s))
    throw usage_error("the cost of an edge is in seconds and not negative, got " +
                      std::to_string(cost_s));
  refuse_while_running(*core_);
  // A self-loop counts as a backward edge, so the check for cycles finds it.
  if (id_of(from) >= id_of(to)) core_->forward_only = false;
  core_->checked_acyclic = false;
  detail::add_edge(core_->memory, from, to, cost_s);
  if (cost_s > 0.0) core_->any_cost = true;
  ++core_->static_edges;
  core_->roots_known = false;
}

std::size_t graph::size() const noexcept {
  if (!core_) return 0;
  core_->drop_unfinished();
  return core_->count;
}
std::size_t graph::edges() const noexcept { return core_ ? core_->static_edges : 0; }

void graph::clear() {
  if (core_) refuse_while_running(*core_);
  core_ = std::make_unique<graph_core>();
}

void graph::check_acyclic() const {
  graph_core& core = own(core_);
  core.drop_unfinished();
  if (core.incomplete)
    throw usage_error(
        "memory ended while a task of this graph got its edges; clear() it and build it anew");
  if (core.forward_only || core.checked_acyclic) return;
  std::vector<std::uint32_t> open(core.count);
  std::vector<node*> ready;
  core.for_each_node([&](node* n) {
    open[id_of(n)] = n->predecessors;
    if (n->predecessors == 0) ready.push_back(n);
  });
  std::size_t done = 0;
  while (!ready.empty()) {
    node* n = ready.back();
    ready.pop_back();
    ++done;
    for_each_successor(n, [&](node* to, double) {
      if (--open[id_of(to)] == 0) ready.push_back(to);
    });
  }
  if (done == core.count) {
    core.checked_acyclic = true;
    return;
  }
  // Every task still open has an open predecessor: walking backwards from any of them must run into
  // itself.
  core.index_predecessors();
  node* at = nullptr;
  core.for_each_node([&](node* n) {
    if (!at && open[id_of(n)] > 0) at = n;
  });
  std::vector<node*> path;
  std::vector<bool> passed(core.count);
  while (!passed[id_of(at)]) {
    passed[id_of(at)] = true;
    path.push_back(at);
    for (const auto& in : core.reverse[id_of(at)])
      if (open[id_of(in.from)] > 0) {
        at = in.from;
        break;
      }
  }
  std::string names = core.label(at);
  std::vector<node*> cycle(std::ranges::find(path, at), path.end());
  std::ranges::reverse(cycle);
  constexpr std::size_t shown = 12;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == shown && cycle.size() > shown + 1) {
      names += " -> ... (" + std::to_string(cycle.size() - shown - 1) + " more)";
      names += " -> " + core.label(at);
      break;
    }
    names += " -> " + core.label(cycle[i]);
  }
  throw usage_error("the graph has a cycle: " + names + "; remove one of these edges");
}

}  // namespace kilter
