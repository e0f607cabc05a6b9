#include "sim/speeds.hpp"

#include <algorithm>
#include <limits>

namespace kilter::sim {

namespace {
constexpr double blocks_of_task = 8.0;
constexpr double unlimited = std::numeric_limits<double>::infinity();
double limit_or_none(double bytes_per_s) noexcept { return bytes_per_s > 0.0 ? bytes_per_s : unlimited; }
}  // namespace

double water_level(std::vector<double>& wishes, double limit) {
  std::ranges::sort(wishes);
  double left = limit;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const double equal = left / static_cast<double>(wishes.size() - i);
    if (wishes[i] > equal) return equal;
    left -= wishes[i];
  }
  return unlimited;
}

speeds::speeds(const platform& p, block_count blocks)
    : platform_(p), blocks_(blocks), capacity_(p.cores->core_count(), 1.0), foreign_traffic_(p.cores->core_count(), 0.0),
      foreign_set_(p.cores->core_count(), 0.0), clock_(p.cores->kinds().size(), 1.0), clusters_(p.cores->clusters().size()) {
  const auto any = [](const auto& v) { return std::ranges::any_of(v, [](auto x) { return x > 0; }); };
  bandwidth_ = any(p.core_bytes_per_s) || any(p.cluster_bytes_per_s) || p.chip_bytes_per_s > 0.0;
  caches_ = bandwidth_ && any(p.cache_bytes);
  meet_ = bandwidth_ || !p.contention.busy.empty();
  if (!p.contention.busy.empty()) {
    for (kind_id k = 0; k < p.cores->kinds().size(); ++k) {
      const busy_figure* f = p.contention.busy_on(k);
      slower_.push_back((f ? f->slower : by_count{}).up_to(p.cores->core_count(), 1.0));
    }
    busy_.resize(p.cores->core_count());
    neighbour_.resize(p.cores->core_count());
  }
  // Without a network the machine is one node.
  clusters_per_node_ = p.network ? p.network->clusters_per_node : static_cast<std::uint32_t>(std::max<std::size_t>(1, clusters_.size()));
  full_.resize(clusters_.size() / clusters_per_node_ + 1);
}

double speeds::compute_rate(const load& l, core_id c) const noexcept {
  if (l.cost->fixed) return c == l.members.front() ? 1.0 / l.cost->seconds[l.width_index] : 0.0;
  const kind_id kind = platform_.cores->cores()[c].kind;
  double computing_s = l.width * l.cost->seconds[l.width_index] / clock_[kind];
  if (!slower_.empty()) computing_s *= slower(l, kind);
  return capacity_[c] / (computing_s + waiting_s(l, kind));
}

// The figures of a place are those of its own cores busy and no others.
double speeds::slower(const load& l, kind_id kind) const noexcept {
  return std::max(1.0, slower_[kind][clusters_[l.cluster].busy] / slower_[kind][l.width]);
}

void speeds::count_busy(core_id c, int more) noexcept {
  if (busy_.empty()) return;
  const bool before = busy_[c] > 0;
  busy_[c] = static_cast<std::uint8_t>(busy_[c] + more);
  std::uint32_t& busy = clusters_[platform_.cores->cores()[c].cluster].busy;
  if (before && busy_[c] == 0) --busy;
  if (!before && busy_[c] > 0) ++busy;
}

// Streams are fetched ahead of their use. What a fitting cache would have kept is not: the core waits for it.
double speeds::waiting_s(const load& l, kind_id kind) const noexcept {
  if (!clusters_[l.cluster].overflows || platform_.core_bytes_per_s[kind] <= 0.0) return 0.0;
  return std::max(0.0, l.cost->bytes_beyond_cache - l.cost->bytes) / platform_.core_bytes_per_s[kind];
}

// Lines of another cache are waited for on top of all else, each member for its part: what comes from
// memory is the same near the data and far from them.
double speeds::with_moved(const load& l, double per_s) const noexcept {
  if (l.moved_s <= 0.0 || per_s <= 0.0) return per_s;
  double cores = 0.0;
  for (const core_id c : l.members) cores += capacity_[c];
  return 1.0 / (1.0 / per_s + l.moved_s / (cores * l.work));
}

void speeds::bring_up(load& l, sim_time now) noexcept {
  if (now <= l.since) return;
  l.left -= l.per_s * to_seconds(now - l.since);
  if (l.left < 0.0) l.left = 0.0;
  l.since = now;
}

void speeds::settle(load& l, double per_s, sim_time now) {
  if (per_s == l.per_s) return;
  bring_up(l, now);
  l.per_s = per_s;
  l.ends = per_s > 0.0 ? now + to_time(l.left / per_s) : never;
  moved.push_back(&l);
}

void speeds::refresh_one(load& l, sim_time now) {
  double per_s = 0.0;
  for (const core_id c : l.members) per_s += compute_rate(l, c);
  settle(l, with_moved(l, per_s), now);
}

/// What the members of a cluster get if the chip sets no limit, in the order of its loads and their members; foreign traffic last.
double speeds::wish(cluster_id id) {
  cluster_state& s = clusters_[id];
  const cluster& where = platform_.cores->clusters()[id];
  const double core_limit = limit_or_none(platform_.core_bytes_per_s[where.kind]);
  wishes_.clear();
  for (const load* l : s.running) {
    const double bytes = s.overflows ? l->cost->bytes_beyond_cache : l->cost->bytes;
    for (const core_id c : l->members) wishes_.push_back(std::min(compute_rate(*l, c) * bytes, core_limit));
  }
  for (core_id c = where.first; c < where.first + where.size; ++c)
    if (foreign_traffic_[c] > 0.0) wishes_.push_back(std::min(foreign_traffic_[c], core_limit));
  const double level = water_level(wishes_, limit_or_none(platform_.cluster_bytes_per_s[where.kind]));
  double sum = 0.0;
  for (const double w : wishes_) sum += std::min(w, level);
  s.demand = sum;
  return level;
}

void speeds::allot(cluster_id id, double level, sim_time now) {
  cluster_state& s = clusters_[id];
  const double core_limit = limit_or_none(platform_.core_bytes_per_s[platform_.cores->clusters()[id].kind]);
  const double most = std::min(level, core_limit);
  for (load* l : s.running) {
    const double bytes = s.overflows ? l->cost->bytes_beyond_cache : l->cost->bytes;
    double per_s = 0.0;
    for (const core_id c : l->members) {
      const double compute = compute_rate(*l, c);
      per_s += bytes > 0.0 ? std::min(compute, most / bytes) : compute;
    }
    settle(*l, with_moved(*l, per_s), now);
  }
}

void speeds::refresh(cluster_id id, sim_time now) {
  if (!bandwidth_) {
    for (load* l : clusters_[id].running) refresh_one(*l, now);
    return;
  }
  const double level = wish(id);
  if (platform_.chip_bytes_per_s <= 0.0) return allot(id, level, now);
  const std::uint32_t node = node_of(id);
  const cluster_id first = node * clusters_per_node_, end = std::min<cluster_id>(first + clusters_per_node_, static_cast<cluster_id>(clusters_.size()));
  double total = 0.0;
  for (cluster_id c = first; c < end; ++c) total += clusters_[c].demand;
  const bool full = total > platform_.chip_bytes_per_s;
  if (!full && !full_[node]) return allot(id, level, now);
  full_[node] = full;
  refresh_node(node, now);
}

void speeds::refresh_node(std::uint32_t node, sim_time now) {
  const cluster_id first = node * clusters_per_node_, end = std::min<cluster_id>(first + clusters_per_node_, static_cast<cluster_id>(clusters_.size()));
  std::vector<double> levels, all;
  for (cluster_id id = first; id < end; ++id) {
    levels.push_back(wish(id));
    for (const double w : wishes_) all.push_back(std::min(w, levels.back()));
  }
  const double equal = water_level(all, limit_or_none(platform_.chip_bytes_per_s));
  for (cluster_id id = first; id < end; ++id) allot(id, std::min(levels[id - first], equal), now);
}

void speeds::fits(cluster_id id, double change) {
  cluster_state& s = clusters_[id];
  s.working_set += change;
  if (s.running.empty() && s.working_set < 1.0) s.working_set = 0.0;
  const auto size = static_cast<double>(platform_.cache_bytes[id]);
  // A cache that sets fill to the last line has no room for code and stacks.
  s.overflows = size > 0.0 && s.working_set >= size;
}

void speeds::begin(load& l, sim_time now) {
  l.since = now;
  l.per_s = 0.0;
  l.ends = never;
  l.work = l.left;
  l.held.clear();
  cluster_state& s = clusters_[l.cluster];
  l.index = static_cast<std::uint32_t>(s.running.size());
  s.running.push_back(&l);
  if (!caches_) return;
  const bool before = s.overflows;
  fits(l.cluster, l.cost->working_set);
  if (s.overflows != before) refresh(l.cluster, now);
}

void speeds::join(load& l, core_id c, sim_time now) {
  l.members.push_back(c);
  count_busy(c, 1);
  meet_ ? refresh(l.cluster, now) : refresh_one(l, now);
}

void speeds::add_left(load& l, double work, sim_time now) {
  l.left += work;
  l.ends = l.per_s > 0.0 ? now + to_time(l.left / l.per_s) : never;
  moved.push_back(&l);
}

void speeds::hold(load& l, core_id c, sim_time now) {
  bring_up(l, now);
  const double begun = std::min(l.left, 0.5 * l.work / (blocks_ == block_count::task ? blocks_of_task : blocks_of_task * l.width));
  l.held.push_back({c, begun});
  add_left(l, -begun, now);
}

void speeds::release(load& l, core_id c, sim_time now) {
  const auto at = std::ranges::find(l.held, c, &load::piece::core);
  if (at == l.held.end()) return;
  bring_up(l, now);
  const double begun = at->work;
  l.held.erase(at);
  add_left(l, begun, now);
}

void speeds::leave(load& l, core_id c, sim_time now) {
  std::erase(l.members, c);
  count_busy(c, -1);
  meet_ ? refresh(l.cluster, now) : refresh_one(l, now);
}

void speeds::finish(load& l, sim_time now) {
  for (const core_id c : l.members) count_busy(c, -1);
  l.members.clear();
  l.per_s = 0.0;
  l.ends = never;
  cluster_state& s = clusters_[l.cluster];
  s.running[l.index] = s.running.back();
  s.running[l.index]->index = l.index;
  s.running.pop_back();
  if (!meet_) return;
  if (caches_) fits(l.cluster, -l.cost->working_set);
  refresh(l.cluster, now);
}

void speeds::set_capacity(core_id c, double share, sim_time now) {
  if (capacity_[c] == share) return;
  capacity_[c] = share;
  refresh(platform_.cores->cores()[c].cluster, now);
}

void speeds::set_clock(kind_id k, double factor, sim_time now) {
  if (clock_[k] == factor) return;
  clock_[k] = factor;
  for (cluster_id id = 0; id < clusters_.size(); ++id)
    if (platform_.cores->clusters()[id].kind == k) refresh(id, now);
}

void speeds::set_neighbour(core_id c, bool here, sim_time now) {
  if (busy_.empty() || neighbour_[c] == static_cast<std::uint8_t>(here)) return;
  neighbour_[c] = here;
  count_busy(c, here ? 1 : -1);
  refresh(platform_.cores->cores()[c].cluster, now);
}

void speeds::set_foreign(core_id c, double traffic, double working_set, sim_time now) {
  if (!bandwidth_) return;
  const cluster_id id = platform_.cores->cores()[c].cluster;
  if (caches_) fits(id, working_set - foreign_set_[c]);
  foreign_set_[c] = working_set;
  foreign_traffic_[c] = traffic;
  refresh(id, now);
}

}  // namespace kilter::sim
