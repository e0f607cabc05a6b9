#pragma once
// The task as engines hold it: one cache line, in blocks that know their graph. See
// docs/inside/worker-loop.md for who touches what.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/sync.hpp"
#include "graph/data_places.hpp"
#include "graph/data_uses.hpp"
#include "graph/shared_parts.hpp"
#include "graph/slabs.hpp"
#include "kilter/graph.hpp"
#include "kilter/task_ref.hpp"

namespace kilter::inline v0::detail {

struct graph_core;
class batch_count;

struct edge {
  node* to;
  edge* next;  ///< the list is a ring: the node keeps its last edge, whose next is the first
  double cost_s;
};

/// What tasks of one sort share; a node holds its index.
struct task_kind {
  const body* code = nullptr;
  std::uint16_t type = 0;
  std::uint32_t size_class = 0;
  bool all_members = false;
  bool width_one_only = false;
  home_cores home{};
  std::vector<std::uint32_t> widths;  ///< allowed ones; empty: all
  /// trace table row; set when the graph is submitted to an engine
  std::uint32_t row = 0;
  sync::atomic<bool> short_body{
      false};  ///< bodies take so little that reading the clock around each would show
  /// a body took long enough for its CPU time to be worth a system call
  sync::atomic<bool> long_body{false};
};

[[nodiscard]] inline bool allows_width(const task_kind& k, std::uint32_t width) noexcept {
  if (k.width_one_only) return width == 1;
  return k.widths.empty() || std::ranges::find(k.widths, width) != k.widths.end();
}

[[nodiscard]] inline bool contains(const home_cores& home, const place& where) noexcept {
  return where.leader >= home.first() && where.leader - home.first() + where.width <= home.count();
}

/// Kinds by index.
using kind_list = append_list<task_kind, 256, 256>;

/// What few tasks have.
struct cold_data {
  std::string name;
  double work = 0.0;
  std::vector<double> core_seconds;
};

enum node_flag : std::uint8_t {
  flag_high = 1,         ///< the user's priority
  flag_critical = 2,     ///< what policies and engines go by
  flag_cold = 4,         ///< has cold data
  flag_constructed = 8,  ///< of a dynamic task: its closure lives
  flag_pinned = 16,      ///< waits where no thief may take it
  flag_dynamic = 32,     ///< added by a running task; a dynamic_node
  flag_home = 64,        ///< its kind names home cores
};

inline constexpr std::uint16_t place_unset = 0xffff;

struct alignas(64) node {
  /// the closure itself if it is small and trivial enough, else a pointer to it
  void* closure;
  node* first_successor;  ///< an edge without cost that needs no record
  edge* more_successors;  ///< last edge of the ring
  node* link;             ///< next in an inbox
  pending_count pending;
  std::uint32_t predecessors;
  task_state state;  ///< the policy's
  std::uint16_t kind;
  std::uint16_t where;  ///< place already chosen, or place_unset
  std::uint8_t flags;
  /// the number of the run in which its body is to be left out, or has thrown
  sync::atomic<std::uint8_t> stopped;
  task_end end;
};
static_assert(sizeof(node) == 64);

/// A task added while the graph runs: a second line holds its batch and most closures.
struct dynamic_node : node {
  batch_count* batch;  ///< null if nobody waits for it
  std::uint64_t serial;
  alignas(16) std::array<std::byte, 48> small_closure;
};
static_assert(sizeof(dynamic_node) == 128);

/// 16 KiB, aligned to its size, so that a node finds its graph and its number without holding them.
struct alignas(64) block {
  static constexpr std::size_t bytes = 16 * 1024;
  graph_core* graph;
  std::uint32_t base;    ///< number of the first node
  std::uint32_t stride;  ///< bytes from node to node
  std::uint32_t used;
  std::uint32_t capacity;
  std::uint32_t roots;  ///< static tasks without a predecessor
  static block* of(const node* n) noexcept {
    return reinterpret_cast<block*>(reinterpret_cast<std::uintptr_t>(n) &
                                    ~(std::uintptr_t{bytes} - 1));
  }
  [[nodiscard]] node* at(std::uint32_t i) noexcept {
    return reinterpret_cast<node*>(reinterpret_cast<std::byte*>(this) + 64 +
                                   std::size_t{i} * stride);
  }
};
static_assert(sizeof(block) == 64);
static_assert(block::bytes == slabs::alignment);

/// Blocks cut from slabs.
class block_list {
 public:
  /// A new block with all its nodes unused; number `base` is its first.
  block* append(graph_core*, std::uint32_t base, std::uint32_t stride);
  /// Whether `n`, which may be any address, is a node of these blocks. Not while another thread
  /// appends.
  [[nodiscard]] bool holds(const node* n) const noexcept;
  [[nodiscard]] bool full() const noexcept {
    return all_.empty() || all_.back()->used == all_.back()->capacity;
  }
  [[nodiscard]] block* back() const noexcept { return all_.back(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

 private:
  slabs memory_;
  std::span<std::byte> left_;
  std::vector<block*> all_;
};

inline graph_core& graph_of(const node* n) noexcept { return *block::of(n)->graph; }

/// Order of creation within the graph; dynamic tasks count on after the static ones.
inline std::uint64_t id_of(const node* n) noexcept {
  if (n->flags & flag_dynamic) return static_cast<const dynamic_node*>(n)->serial;
  const block* b = block::of(n);
  return b->base + static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(n) -
                                              reinterpret_cast<const std::byte*>(b) - 64) /
                       64;
}

inline task_ref ref(const node* n) noexcept { return {reinterpret_cast<std::uintptr_t>(n)}; }
inline node* node_of(task_ref t) noexcept { return reinterpret_cast<node*>(t.handle); }

/// Bump allocator: freed all at once.
class arena {
 public:
  void* allocate(std::size_t size, std::size_t alignment) {
    const auto p =
        (reinterpret_cast<std::uintptr_t>(at_) + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    if (p + size <= reinterpret_cast<std::uintptr_t>(end_)) [[likely]] {
      at_ = reinterpret_cast<std::byte*>(p + size);
      return reinterpret_cast<void*>(p);
    }
    return grow(size, alignment);
  }

 private:
  void* grow(std::size_t size, std::size_t alignment);
  slabs memory_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
};

/// Reverse edges, for policies that ask for them.
struct in_edge {
  node* from;
  double cost_s;
};

struct graph_core {
  block_list blocks;
  std::uint32_t count = 0;  ///< static tasks
  std::uint32_t static_edges = 0;
  /// every edge runs from an older to a younger task: no cycle is possible
  bool forward_only = true;
  bool checked_acyclic = false;
  std::uint32_t number;  ///< of the graph, in the process; its types carry it
  /// number of the last run, 1 to last_epoch and over again; no task holds another one's by
  /// accident, since each task ends in each run
  std::uint8_t epoch = 0;
  bool incomplete = false;   ///< memory ended while a task got its edges
  bool any_high = false;     ///< some task has the user's high priority
  bool any_home = false;     ///< some task names home cores
  bool any_cost = false;     ///< some edge has a cost
  std::vector<node*> roots;  ///< found at the first submission
  bool roots_known = false;
  arena memory;
  std::vector<std::string> type_names{"task"};
  kind_list kinds;  ///< while the graph runs it grows under dynamic_lock only
  // The sort of the youngest task, if it has neither widths, all_members nor a home; else last_code
  // is null.
  const body* last_code = nullptr;
  std::uint32_t last_size_class = 0;
  task_type last_type{};
  std::uint16_t last_kind = 0;
  node* unfinished = nullptr;           ///< the youngest task while its closure is being made
  std::unique_ptr<data_uses> uses;      ///< of the data that tasks named; null while none did
  std::unique_ptr<data_places> places;  ///< where they were last; set with `uses`
  /// By id: the core that released a static task, place_unset for nobody; null unless an engine's
  /// policy may ask.
  std::unique_ptr<std::uint16_t[]> released_on;
  std::uint32_t releases = 0;  ///< of them
  /// of static tasks; not changed while the graph runs
  std::unordered_map<std::uint64_t, cold_data> cold;
  /// by id; static tasks only unless the engine keeps it up
  std::vector<std::vector<in_edge>> reverse;
  sync::mutex dynamic_lock;  ///< kinds while the graph runs
  sync::atomic<std::uint64_t> next_serial{0};
  /// some task was stopped, so the next run begins by clearing that
  sync::atomic<bool> stops{false};
  /// a policy wrote into its tasks, so the next run begins by clearing them
  sync::atomic<bool> marked{false};
  std::uint32_t reverse_edges = 0;         ///< static_edges when `reverse` was made
  sync::atomic<void*> execution{nullptr};  ///< the engine's run of this graph, null when idle
  void (*end_run_of)(graph_core&) noexcept = nullptr;  ///< set with it
  void* engine = nullptr;                              ///< that runs it

  /// References to kinds stay valid while it grows.
  static constexpr std::size_t max_kinds = 65535;
  static constexpr std::uint8_t last_epoch = 127;

  graph_core();
  ~graph_core();
  [[nodiscard]] bool is_like_the_last(const task_options&, const body&) const noexcept;
  [[nodiscard]] std::uint16_t kind_index(const task_options&, const body&);
  [[nodiscard]] std::uint16_t find_or_add_kind(const task_options&, const body&);
  /// Whether kind `i` is the one that a task with these options has.
  [[nodiscard]] bool is_kind(std::uint16_t i, const task_options&, const body&) const noexcept;
  node* new_node(const task_options&, const body&, void*& storage);
  /// Takes the youngest task back if its closure's constructor threw.
  void drop_unfinished() noexcept;
  void find_roots();
  /// From now on tasks that name no data are taken to find them where they were released.
  void keep_releases() noexcept;
  void clear_marks() noexcept;
  /// Cancels what runs of it and waits for that.
  void end_run() noexcept {
    if (execution.load(sync::memory_order_acquire)) end_run_of(*this);
  }
  void index_predecessors();
  template <class Visit>
  void for_each_node(Visit&& visit) const {
    for (block* b : blocks)
      for (std::uint32_t i = 0; i < b->used; ++i) visit(b->at(i));
  }
  [[nodiscard]] std::string label(const node*) const;  ///< the task's name, or "type #id"
};

/// The core that has what the task works on; no_core if that is not known.
inline core_id data_core_of(const node* n) noexcept {
  if (n->flags & flag_dynamic) return no_core;
  const graph_core& g = graph_of(n);
  const std::uint64_t id = id_of(n);
  if (g.places && g.places->knows(id)) return g.places->core_of(id);
  return id < g.releases && g.released_on[id] != place_unset ? g.released_on[id] : no_core;
}
/// By the core that ran the last of its predecessors. Before others may take it.
inline void released_by(const node* n, core_id c) noexcept {
  if (n->flags & flag_dynamic) return;
  graph_core& g = graph_of(n);
  if (const std::uint64_t id = id_of(n); id < g.releases)
    g.released_on[id] = static_cast<std::uint16_t>(c);
}
/// Its body has run there.
inline void data_now_at(const node* n, core_id c) noexcept {
  data_places* places = graph_of(n).places.get();
  if (places && !(n->flags & flag_dynamic)) places->ran(id_of(n), c);
}

struct task_access {
  static node* get(task t) noexcept {
    return reinterpret_cast<node*>(t.node_ & ~std::uintptr_t{1});
  }
  static bool added_while_running(task t) noexcept { return (t.node_ & 1) != 0; }
  static task make(node* n, bool added_while_running) noexcept {
    return task(n, added_while_running);
  }
  static std::uint32_t graph_number(task_type t) noexcept { return t.graph_; }
  static task_type make_type(std::uint16_t index, std::uint32_t graph) noexcept {
    return {index, graph};
  }

  static body_call* call_of(const task_context& c) noexcept { return c.call_; }
  static node* node_of(const team_member& m) noexcept { return m.call_->task; }
};
struct graph_access {
  static graph_core& core(graph& g) noexcept { return *g.core_; }
};

/// Where a node's closure lives.
inline bool fits_in_node(const body& b) noexcept {
  return b.size <= sizeof(void*) && b.alignment <= alignof(void*);
}
inline void* closure_of(node* n, const body& b) noexcept {
  return fits_in_node(b) ? static_cast<void*>(&n->closure) : n->closure;
}

/// A dynamic task's cold data hang on the task itself, so that nobody looks into a map while others
/// add to it. Null if it has none.
inline cold_data*& dynamic_cold(dynamic_node* n) noexcept {
  return *reinterpret_cast<cold_data**>(n->small_closure.data());
}
inline const cold_data* cold_of(const node* n) noexcept {
  if (!(n->flags & flag_cold)) return nullptr;
  if (n->flags & flag_dynamic)
    return dynamic_cold(const_cast<dynamic_node*>(static_cast<const dynamic_node*>(n)));
  const auto& cold = graph_of(n).cold;
  const auto found = cold.find(id_of(n));
  return found == cold.end() ? nullptr : &found->second;
}

/// The user's estimate; 0 if there is none.
inline double work_of(const node* n) noexcept {
  const cold_data* cold = cold_of(n);
  return cold ? cold->work : 0.0;
}

/// usage_error unless it is a number from 0 on.
void check_work(double work);
/// usage_error if a machine of so many cores lacks one of them.
void check_home(const home_cores&, std::uint32_t cores);

/// Where a task with home cores waits when `waker` makes it ready: there if that is one of them,
/// else on one that is idle, else on any.
template <class Idle>
[[nodiscard]] core_id home_of(const node* n, core_id waker, Idle&& idle) {
  const home_cores home = graph_of(n).kinds[n->kind].home;
  if (waker != no_core && waker >= home.first() && waker - home.first() < home.count())
    return waker;
  const auto start = static_cast<std::uint32_t>(id_of(n) % home.count());
  for (std::uint32_t i = 0; i < home.count(); ++i)
    if (const core_id c = home.first() + (start + i) % home.count(); idle(c)) return c;
  return home.first() + start;
}

void add_edge(arena&, node* from, node* to, double cost_s);

template <class Visit>
void for_each_successor(const node* n, Visit&& visit) {
  if (n->first_successor) visit(n->first_successor, 0.0);
  if (const edge* last = n->more_successors) {
    const edge* e = last->next;
    for (;;) {
      const edge* following = e->next;
      visit(e->to, e->cost_s);
      if (e == last) break;
      e = following;
    }
  }
}

}  // namespace kilter::inline v0::detail
