#include "model/tables.hpp"

#include <array>
#include <span>

#include "base/spin_lock.hpp"
#include "kilter/error.hpp"
#include "model/availability.hpp"
#include "model/decider.hpp"
#include "model/learner.hpp"
#include "model/row.hpp"
#include "model/shape.hpp"
#include "model/slices.hpp"

namespace kilter::model {

using sync::memory_order_acquire;
using sync::memory_order_relaxed;
using sync::memory_order_release;

struct tables::impl {
  impl(const machine& m, const table_options& o)
      : options(o),
        layout(m),
        cores(layout, o),
        cut(m.core_count()),
        units(layout),
        learning(layout, o, cores, cut, units),
        deciding(layout, o, cores) {}
  ~impl() {
    for (row_id r = 0; r < count.load(memory_order_acquire); ++r)
      delete rows[r].load(memory_order_relaxed);
  }

  [[nodiscard]] table_row& at(row_id r) const noexcept {
    return *rows[r].load(memory_order_acquire);
  }

  /// Whether what is known of the row is what other types' work tells, which changes with every
  /// sample of theirs.
  [[nodiscard]] bool guessed(const table_row& r) const noexcept {
    return options.by_work && options.neutral_prior && !r.sampled.load(memory_order_relaxed);
  }
  /// For a decision between places.
  [[nodiscard]] table_row& up_to_date(row_id id) noexcept {
    table_row& r = at(id);
    if (guessed(r)) [[unlikely]]
      if (const std::uint32_t told = units.changes();
          r.guessed_from.load(memory_order_relaxed) != told) {
        r.guessed_from.store(told, memory_order_relaxed);
        learning.publish(r);
      }
    return r;
  }

  /// The search of S0, section 4.1.1: the best so far, or the first place that nobody tried.
  struct search {
    place_id best = no_place;
    place shape{};
    double least = 0.0;
    bool untried = false;
  };

  void offer(search& s, const table_row& r, objective goal, place_id p) const noexcept {
    const place& where = layout.machine.at(p);
    const double time_s =
        r.read_s[layout.cell_of[p]].load(memory_order_relaxed) * cores.slowdown(p);
    s.untried = options.explore_first && time_s == 0.0;
    const double value = goal == objective::cost ? time_s * where.width : time_s;
    if (s.untried || s.best == no_place || value < s.least ||
        (value == s.least && (where.width < s.shape.width ||
                              (where.width == s.shape.width && where.leader < s.shape.leader))))
      s = {p, where, value, s.untried};
  }

  template <class Accept>
  [[nodiscard]] place_id least(const table_row& r, objective goal, std::span<const place_id> places,
                               Accept&& accept) const noexcept {
    search s;
    for (const place_id p : places) {
      if (!accept(p)) continue;
      offer(s, r, goal, p);
      if (s.untried) break;
    }
    return s.best;
  }

  [[nodiscard]] place_id least(const table_row& r, objective goal, std::span<const place_id> places,
                               widths which) const noexcept {
    return least(r, goal, places, [&](place_id p) {
      return which == widths::all || layout.machine.at(p).width == 1;
    });
  }

  /// What `look` found when the counter stood at `changes`, or finds now.
  template <class Look>
  [[nodiscard]] static place_id remembered(sync::atomic<std::uint64_t>& found,
                                           std::uint32_t changes, Look&& look) noexcept {
    const std::uint64_t known = found.load(memory_order_relaxed);
    if (known >> 32 == changes && (known & 0xffffffff) != 0) [[likely]]
      return static_cast<place_id>((known & 0xffffffff) - 1);
    const place_id p = look();
    found.store(std::uint64_t{changes} << 32 | (p + 1), memory_order_relaxed);
    return p;
  }

  const table_options options;
  const shape layout;
  availability cores;
  slices cut;
  unit_times units;
  learner learning;
  decider deciding;
  std::array<sync::atomic<table_row*>, max_rows> rows{};
  /// open addressing; row + 1, 0 is empty
  std::array<sync::atomic<std::uint32_t>, 2 * max_rows> index{};
  sync::atomic<row_id> count{0};
  sync::spin_lock adding;
};

namespace {
std::size_t hash(std::string_view type, std::uint32_t size_class) noexcept {
  std::uint64_t h = 0xcbf29ce484222325ULL ^ size_class;
  for (const char c : type) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<std::size_t>(h ^ (h >> 29));
}
}  // namespace

tables::tables(const machine& m, const table_options& o) {
  if (!(o.sample_weight > 0.0 && o.sample_weight <= 1.0))
    throw input_error("sample weight " + std::to_string(o.sample_weight) +
                      ": must be above 0 and at most 1");
  if (!(o.window_s > 0.0 && o.idle_decay_s > 0.0 && o.probe_budget > 0.0))
    throw input_error("trace table: window, idle decay and probing budget must be above 0");
  impl_ = std::make_unique<impl>(m, o);
}
tables::~tables() = default;

const table_options& tables::options() const noexcept { return impl_->options; }

row_id tables::row(std::string_view type, std::uint32_t size_class) {
  impl& t = *impl_;
  const auto find = [&](std::size_t& slot) -> std::uint32_t {
    for (slot = hash(type, size_class) % t.index.size();; slot = (slot + 1) % t.index.size()) {
      const std::uint32_t entry = t.index[slot].load(memory_order_acquire);
      if (entry == 0) return 0;
      const table_row& r = t.at(entry - 1);
      if (r.size_class == size_class && r.type == type) return entry;
    }
  };
  std::size_t slot = 0;
  if (const auto entry = find(slot)) return entry - 1;
  while (!t.adding.try_lock()) sync::relax();
  struct release {
    sync::spin_lock& lock;
    ~release() { lock.unlock(); }
  } const held{t.adding};
  if (const auto entry = find(slot)) return entry - 1;
  const row_id id = t.count.load(memory_order_relaxed);
  if (id == max_rows)
    throw input_error("task type '" + std::string(type) + "': at most " + std::to_string(max_rows) +
                      " types and size classes can be learned; use fewer size classes");
  auto fresh = std::make_unique<table_row>(t.layout, type, size_class);
  if (t.options.neutral_prior) t.learning.publish(*fresh);
  t.rows[id].store(fresh.release(), memory_order_release);
  t.count.store(id + 1, memory_order_release);
  t.index[slot].store(id + 1, memory_order_release);
  return id;
}

std::string tables::row_name(row_id r) const { return impl_->at(r).type; }
std::uint32_t tables::row_size_class(row_id r) const { return impl_->at(r).size_class; }
row_id tables::row_count() const noexcept { return impl_->count.load(memory_order_acquire); }

double tables::time_s(row_id id, place_id p) const noexcept {
  const impl& t = *impl_;
  const table_row& r = t.at(id);
  if (t.guessed(r)) [[unlikely]]
    return t.learning.prior_s(r, t.layout.group_of[p]) * t.cores.slowdown(p);
  return r.read_s[t.layout.cell_of[p]].load(memory_order_relaxed) * t.cores.slowdown(p);
}
bool tables::sampled(row_id r) const noexcept {
  return impl_->at(r).sampled.load(memory_order_relaxed);
}

place_id tables::best(row_id id, objective goal, allowed may) const noexcept {
  impl& t = *impl_;
  return t.least(t.up_to_date(id), goal, t.layout.machine.scan_order(),
                 [&](place_id p) { return may(p); });
}

place_id tables::best(row_id id, objective goal, widths which) const noexcept {
  impl& t = *impl_;
  table_row& r = t.up_to_date(id);
  const std::size_t kind = (goal == objective::cost ? 0 : 2) + static_cast<std::size_t>(which);
  if (t.options.two_factors) {
    // Both only count up, so an equal sum means that neither moved.
    const std::uint32_t changes = r.changes.load(memory_order_acquire) + t.cores.changes();
    return impl::remembered(r.found[kind], changes,
                            [&] { return t.least(r, goal, t.layout.machine.scan_order(), which); });
  }
  impl::search s;
  for (std::size_t c = 0; c < t.layout.searched.size() && !s.untried; ++c) {
    cluster_state& cluster = r.clusters[c];
    const place_id p =
        impl::remembered(cluster.found[kind], cluster.changes.load(memory_order_acquire),
                         [&] { return t.least(r, goal, t.layout.searched[c], which); });
    if (p != no_place) t.offer(s, r, goal, p);
  }
  return s.best;
}

double tables::slowdown(core_id c) const noexcept {
  return impl_->cores.slowdown(impl_->layout.machine.single(c));
}

double tables::elsewhere(row_id id, distance d, double now_s) const noexcept {
  return impl_->at(id).far.extra(d, now_s);
}

void tables::learn(row_id id, place_id p, const measured& m, double now_s) noexcept {
  impl& t = *impl_;
  table_row& r = t.at(id);
  if (t.options.ageing) t.deciding.answered(r, p, m.sample_s);
  t.learning.learn(r, p, m, now_s);
  refresh(now_s);
}

void tables::refresh(double now_s) noexcept {
  if (impl_->options.idle_decay) impl_->cores.refresh(now_s);
}

void tables::learn_loop(row_id id, core_id c, double items, double work_s, double wall_s,
                        double now_s) noexcept {
  impl& t = *impl_;
  t.learning.learn_loop(t.at(id), t.layout.machine.single(c), items, work_s, wall_s, now_s);
  refresh(now_s);
}

bool tables::seen(row_id id) const noexcept {
  const impl& t = *impl_;
  const table_row& r = t.at(id);
  for (place_id p = 0; p < t.layout.places(); ++p)
    if (r.cells[p].samples.load(memory_order_relaxed) > 0) return true;
  return false;
}

place_id tables::settle(row_id r, place_id best, objective o, double now_s, allowed may) noexcept {
  return impl_->deciding.settle(impl_->up_to_date(r), best, o, now_s, may);
}

void tables::gap(core_id core, double begin_s, double end_s) noexcept {
  if (impl_->options.two_factors && end_s - begin_s > slices::shortest_gap_s)
    impl_->cut.gap(core, begin_s, end_s);
}
double tables::gap_s(core_id core, double from_s, double work_s, bool at_work) const noexcept {
  return impl_->cut.expected_gap_s(core, from_s, work_s,
                                   at_work ? from_s : impl_->cores.last_ran_s(core));
}
bool tables::slowed_lately(core_id c, double now_s) const noexcept {
  return impl_->cores.slowed_lately(c, now_s);
}
core_id tables::home(double now_s) const noexcept { return impl_->cores.home(now_s); }
void tables::set_landing(core_id c) noexcept { impl_->cores.set_landing(c); }

double tables::probing_s() const noexcept {
  double sum = impl_->cores.lost_on_returns_s();
  for (row_id r = 0; r < row_count(); ++r)
    sum += impl_->at(r).decision.spent_s.load(memory_order_relaxed);
  return sum;
}
std::uint64_t tables::explored() const noexcept { return impl_->deciding.explored(); }

std::vector<cell_snapshot> tables::snapshot() const {
  std::vector<cell_snapshot> all;
  for (row_id id = 0; id < row_count(); ++id) {
    const table_row& r = impl_->at(id);
    for (place_id p = 0; p < impl_->layout.places(); ++p) {
      const cell_state& c = r.cells[p];
      const auto samples = c.samples.load(memory_order_relaxed);
      if (samples == 0) continue;
      const double seconds = time_s(id, p);
      all.push_back({id, p, seconds,
                     impl_->options.two_factors ? c.own_s.load(memory_order_relaxed) : seconds,
                     samples});
    }
  }
  return all;
}

saved_table tables::save() const {
  const impl& t = *impl_;
  saved_table all{.robust = t.options.two_factors};
  for (row_id id = 0; id < row_count(); ++id) {
    const table_row& r = t.at(id);
    saved_row row{.type = r.type, .size_class = r.size_class};
    for (place_id p = 0; p < t.layout.places(); ++p)
      if (r.cells[p].samples.load(memory_order_relaxed) > 0)
        row.cells.push_back(t.learning.save(r, p));
    if (const place_id p = r.decision.in_use.load(memory_order_relaxed); p != no_place)
      row.in_use = t.layout.machine.at(p);
    if (!row.cells.empty()) all.rows.push_back(std::move(row));
  }
  return all;
}

void tables::restore(const saved_table& saved) {
  impl& t = *impl_;
  if (saved.robust != t.options.two_factors)
    throw input_error(std::string("the table was saved in ") + (saved.robust ? "robust" : "paper") +
                      " mode; this one is in " + (t.options.two_factors ? "robust" : "paper") +
                      " mode");
  const auto checked = [&](place where) {
    if (const auto p = t.layout.machine.find(where)) return *p;
    throw input_error("the table has (" + std::to_string(where.leader) + "," +
                      std::to_string(where.width) + "), which is not a place of this machine");
  };
  for (const saved_row& row : saved.rows) {
    if (row.in_use) (void)checked(*row.in_use);
    for (const saved_cell& c : row.cells) (void)checked(c.where);
  }
  clear();
  for (const saved_row& row : saved.rows) {
    table_row& r = t.at(this->row(row.type, row.size_class));
    for (const saved_cell& c : row.cells) t.learning.restore(r, checked(c.where), c);
    if (row.in_use) r.decision.in_use.store(checked(*row.in_use), memory_order_relaxed);
    t.learning.publish(r);
    r.all_changed(t.layout);
  }
}

void tables::clear() noexcept {
  impl& t = *impl_;
  t.cores.clear();
  t.cut.clear();
  t.units.clear();
  t.deciding.clear();
  for (row_id id = 0; id < row_count(); ++id) {
    t.learning.clear(t.at(id));
    t.deciding.clear(t.at(id));
  }
}

void tables::preset(row_id r, place_id p, double seconds) noexcept {
  impl_->learning.preset(impl_->at(r), p, seconds);
}

}  // namespace kilter::model
