// Storage of a graph: blocks of nodes, kinds, edges, closures.

#include <algorithm>
#include <cmath>
#include <new>

#include "graph/node.hpp"

namespace kilter::inline v0::detail {

void* arena::grow(std::size_t size, std::size_t alignment) {
  const std::span<std::byte> fresh = memory_.grow(size + alignment);
  at_ = fresh.data();
  end_ = at_ + fresh.size();
  return allocate(size, alignment);
}

block* block_list::append(graph_core* graph, std::uint32_t base, std::uint32_t stride) {
  if (left_.empty()) left_ = memory_.grow(block::bytes);
  all_.push_back(::new (left_.data())
                     block{graph, base, stride, 0,
                           static_cast<std::uint32_t>((block::bytes - sizeof(block)) / stride), 0});
  left_ = left_.subspan(block::bytes);
  return all_.back();
}

bool block_list::holds(const node* n) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(n),
             unused = reinterpret_cast<std::uintptr_t>(left_.data());
  if (!memory_.holds(address) || (address >= unused && address - unused < left_.size()))
    return false;
  const block* b = block::of(n);
  const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(b);
  return offset >= sizeof(block) && (offset - sizeof(block)) % b->stride == 0 &&
         (offset - sizeof(block)) / b->stride < b->used;
}

namespace {

void destroy_closure(graph_core& g, node* n) noexcept {
  const body& code = *g.kinds[n->kind].code;
  if (code.destroy) code.destroy(closure_of(n, code));
}

bool same_kind(const task_kind& k, const task_options& o, const body& code) noexcept {
  return k.code == &code && k.type == o.type.index() && k.size_class == o.size_class &&
         k.all_members == o.all_members && k.home == o.home &&
         std::ranges::equal(k.widths, o.widths);
}

void validate(const graph_core& g, const task_options& o, const body& code) {
  if (const std::uint32_t of = task_access::graph_number(o.type); of != 0 && of != g.number)
    throw usage_error(
        "the task type is of another graph, or of this one before clear(); make it with type() of "
        "the graph that gets the task");
  if (!code.team && std::ranges::any_of(o.widths, [](auto w) { return w != 1; }))
    throw usage_error(
        "a body that takes no team_member& runs on one core, so its only width is 1; take a "
        "team_member& to allow more");
  if (!code.team && o.all_members)
    throw usage_error(
        "all_members is for bodies that take a team_member&; this one runs on one core");
  check_work(o.work);
}

}  // namespace

graph_core::graph_core() {
  static sync::atomic<std::uint32_t> made{0};
  do number = made.fetch_add(1, sync::memory_order_relaxed) + 1;
  while (number == 0);
}

graph_core::~graph_core() {
  drop_unfinished();
  bool nothing_to_destroy = true;
  for (std::uint32_t i = 0; i < kinds.size(); ++i)
    nothing_to_destroy = nothing_to_destroy && kinds[i].code->destroy == nullptr;
  if (nothing_to_destroy) return;
  for_each_node([&](node* n) { destroy_closure(*this, n); });
}

bool graph_core::is_kind(std::uint16_t i, const task_options& o, const body& code) const noexcept {
  const std::uint32_t of = task_access::graph_number(o.type);
  return i < kinds.size() && (of == 0 || of == number) && same_kind(kinds[i], o, code);
}

// Most tasks are like the one before.
inline bool graph_core::is_like_the_last(const task_options& o, const body& code) const noexcept {
  return last_code == &code && last_type == o.type && last_size_class == o.size_class &&
         o.widths.empty() && !o.all_members && o.work >= 0.0 && o.home.empty();
}

std::uint16_t graph_core::kind_index(const task_options& o, const body& code) {
  if (is_like_the_last(o, code)) return last_kind;
  const std::uint16_t index = find_or_add_kind(o, code);
  last_kind = index;
  last_type = o.type;
  last_size_class = o.size_class;
  last_code = o.widths.empty() && !o.all_members && o.home.empty() ? &code : nullptr;
  return index;
}

std::uint16_t graph_core::find_or_add_kind(const task_options& o, const body& code) {
  validate(*this, o, code);
  if (is_kind(last_kind, o, code)) return last_kind;
  const std::uint32_t known = kinds.size();
  for (std::uint32_t i = 0; i < known; ++i)
    if (same_kind(kinds[i], o, code)) return static_cast<std::uint16_t>(i);
  if (known == max_kinds)
    throw usage_error(
        "a graph holds at most 65535 combinations of type, size class, widths, home and body");
  task_kind& k = kinds.append();
  k.code = &code;
  k.type = o.type.index();
  k.size_class = o.size_class;
  k.all_members = o.all_members;
  k.home = o.home;
  k.widths.assign(o.widths.begin(), o.widths.end());
  k.width_one_only = !code.team || (!k.widths.empty() && k.widths.back() == 1);
  kinds.publish();
  return static_cast<std::uint16_t>(known);
}

void graph_core::drop_unfinished() noexcept {
  if (!unfinished) [[likely]]
    return;
  unfinished = nullptr;
  block* b = blocks.back();
  --b->used;
  --b->roots;
  cold.erase(--count);
}

node* graph_core::new_node(const task_options& o, const body& code, void*& storage) {
  if (unfinished) [[unlikely]]
    drop_unfinished();
  const std::uint16_t kind = is_like_the_last(o, code) ? last_kind : kind_index(o, code);
  block* b = blocks.full() ? blocks.append(this, count, sizeof(node)) : blocks.back();
  node* n = ::new (b->at(b->used)) node{};
  n->kind = kind;
  n->where = place_unset;
  if (o.priority == priority::high) {
    n->flags = flag_high | flag_critical;
    any_high = true;
  }
  if (!o.home.empty()) {
    n->flags |= flag_home;
    any_home = true;
  }
  if (o.work != 0.0 || !o.name.empty() || !o.core_seconds.empty()) {
    n->flags |= flag_cold;
    cold[count] =
        cold_data{std::string(o.name), o.work, {o.core_seconds.begin(), o.core_seconds.end()}};
  }
  storage =
      fits_in_node(code) ? &n->closure : (n->closure = memory.allocate(code.size, code.alignment));
  ++b->used;
  ++b->roots;
  ++count;
  roots_known = false;
  return n;
}

void add_edge(arena& memory, node* from, node* to, double cost_s) {
  const bool needs_record = from->first_successor || from->more_successors || cost_s != 0.0;
  void* const record = needs_record ? memory.allocate(sizeof(edge), alignof(edge)) : nullptr;
  if (to->predecessors++ == 0) --block::of(to)->roots;
  to->pending.set(to->predecessors);
  if (!needs_record) {
    from->first_successor = to;
    return;
  }
  auto* e = ::new (record) edge{to, nullptr, cost_s};
  if (edge* last = from->more_successors) {
    e->next = last->next;
    last->next = e;
  } else {
    e->next = e;
  }
  from->more_successors = e;
}

void graph_core::clear_marks() noexcept {
  if (marked.exchange(false, sync::memory_order_relaxed))
    for_each_node([](node* n) {
      n->state = {};
      n->flags = static_cast<std::uint8_t>((n->flags & ~flag_critical) |
                                           (n->flags & flag_high ? flag_critical : 0));
    });
  if (stops.exchange(false, sync::memory_order_relaxed))
    for_each_node([](node* n) { n->stopped.store(0, sync::memory_order_relaxed); });
}

void check_work(double work) {
  if (!(work >= 0.0) || std::isinf(work))
    throw usage_error("a task's work is a number from 0 on, got " + std::to_string(work));
}

void check_home(const home_cores& home, std::uint32_t cores) {
  if (home.empty() || (home.first() < cores && home.count() <= cores - home.first())) return;
  throw usage_error("a task is at home on " +
                    (home.count() == 1 ? "core " + std::to_string(home.first())
                                       : std::to_string(home.count()) + " cores from core " +
                                             std::to_string(home.first()) + " on") +
                    "; cores are 0 to " + std::to_string(cores - 1));
}

void graph_core::find_roots() {
  if (roots_known) return;
  roots.clear();
  std::size_t total = 0;
  for (const block* b : blocks) total += b->roots;
  roots.reserve(total);
  for (block* b : blocks) {
    std::uint32_t left = b->roots;
    for (std::uint32_t i = 0; left > 0; ++i)
      if (node* n = b->at(i); n->predecessors == 0) {
        roots.push_back(n);
        --left;
      }
  }
  roots_known = true;
}

void graph_core::keep_releases() noexcept {
  if (releases == count) return;
  releases = 0;
  released_on.reset(new (std::nothrow) std::uint16_t[count]);
  if (!released_on) return;
  std::fill_n(released_on.get(), count, place_unset);
  releases = count;
}

void graph_core::index_predecessors() {
  if (reverse.size() == count && reverse_edges == static_edges) return;
  reverse.assign(count, {});
  for_each_node([&](node* n) {
    for_each_successor(n, [&](node* to, double cost_s) {
      reverse[id_of(to)].push_back({n, cost_s});
    });
  });
  reverse_edges = static_edges;
}

std::string graph_core::label(const node* n) const {
  if (const cold_data* c = cold_of(n); c && !c->name.empty()) return c->name;
  return type_names[kinds[n->kind].type] + " #" + std::to_string(id_of(n));
}

}  // namespace kilter::inline v0::detail
