#include "sim/speeds.hpp"

#include <algorithm>
#include <limits>

namespace kilter::sim {

namespace {
constexpr double blocks_of_task = 8.0;
constexpr double unlimited = std::numeric_limits<double>::infinity();
double limit_or_none(double bytes_per_s) noexcept {
  return bytes_per_s > 0.0 ? bytes_per_s : unlimited;
}

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
    : platform_(p),
      blocks_(blocks),
      capacity_(p.cores->core_count(), 1.0),
      foreign_traffic_(p.cores->core_count(), 0.0),
      foreign_set_(p.cores->core_count(), 0.0),
      clock_(p.cores->kinds().size(), 1.0),
      clusters_(p.cores->clusters().size()) {
  const auto any = [](const auto& v) {
    return std::ranges::any_of(v, [](auto x) { return x > 0; });
  };
  bandwidth_ = any(p.core_bytes_per_s) || any(p.cluster_bytes_per_s) || p.chip_bytes_per_s > 0.0;
  caches_ = bandwidth_ && any(p.cache_bytes);
  if (!p.contention.busy.empty()) {
    for (kind_id k = 0; k < p.cores->kinds().size(); ++k) {
      const busy_figure* f = p.contention.busy_on(k);
      slower_.push_back((f ? f->slower : by_count{}).up_to(p.cores->core_count(), 1.0));
    }
    busy_.resize(p.cores->core_count());
  }
  // Without a network the machine is one node.
  clusters_per_node_ = p.network
                           ? p.network->clusters_per_node
                           : static_cast<std::uint32_t>(std::max<std::size_t>(1, clusters_.size()));
  for (cluster_id id = 0; bandwidth_ && id < clusters_.size(); ++id) {
    const kind_id kind = p.cores->clusters()[id].kind;
    clusters_[id].core_limit = limit_or_none(p.core_bytes_per_s[kind]);
    clusters_[id].limit = limit_or_none(p.cluster_bytes_per_s[kind]);
    if (caches_) clusters_[id].cache = static_cast<double>(p.cache_bytes[id]);
  }
  full_.resize(clusters_.size() / clusters_per_node_ + 1);
  for (cluster_id id = 0; id < clusters_.size(); ++id) clusters_[id].node = id / clusters_per_node_;
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

/// Whether that changes the speed of the others.
bool speeds::keeps_busy(core_id c, std::uint8_t who, bool does) noexcept {
  if (busy_.empty()) return false;
  const bool before = busy_[c] != 0;
  busy_[c] = static_cast<std::uint8_t>(does ? busy_[c] | who : busy_[c] & ~who);
  const bool after = busy_[c] != 0;
  if (before == after) return false;
  clusters_[platform_.cores->cores()[c].cluster].busy += after ? 1 : -1;
  return true;
}

// Streams are fetched ahead of their use. What a fitting cache would have kept is not: the core
// waits for it.
double speeds::waiting_s(const load& l, kind_id kind) const noexcept {
  if (!clusters_[l.cluster].overflows || platform_.core_bytes_per_s[kind] <= 0.0) return 0.0;
  return std::max(0.0, l.cost->bytes_beyond_cache - l.cost->bytes) /
         platform_.core_bytes_per_s[kind];
}

// Lines of another cache are waited for on top of all else, each member for its part: what comes
// from memory is the same near the data and far from them.
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

// ---- memory ----
//
// Each core wishes for what it would use if it only computed. Most of the time all wishes fit,
// which a bound tells (ample), and a load that comes or goes changes nothing for the others. What
// exactly they come to is weighed when they may not.

void speeds::cluster_state::bound() noexcept {
  constexpr double surely = 1.001;  // more than sums of rounded numbers may be off
  at_most = surely * wishing * greatest;
}

double speeds::bytes_of(const load& l) const noexcept {
  return clusters_[l.cluster].overflows ? l.cost->bytes_beyond_cache : l.cost->bytes;
}

double speeds::wish_of(const load& l, std::size_t member) const noexcept {
  return std::min(l.computing[member] * bytes_of(l), clusters_[l.cluster].core_limit);
}

double speeds::foreign_wish(core_id c) const noexcept {
  return std::min(foreign_traffic_[c], clusters_[platform_.cores->cores()[c].cluster].core_limit);
}

/// What the cores of a cluster would do without limits.
void speeds::find(cluster_id id) {
  cluster_state& s = clusters_[id];
  s.stale = s.weighed = false;
  s.allotted = cluster_state::unknown;
  s.wishing = 0;
  s.greatest = 0.0;
  for (load* l : s.running) {
    l->computing.clear();
    for (const core_id c : l->members) {
      l->computing.push_back(compute_rate(*l, c));
      s.greatest = std::max(s.greatest, wish_of(*l, l->computing.size() - 1));
    }
    s.wishing += static_cast<std::uint32_t>(l->members.size());
  }
  const cluster& where = platform_.cores->clusters()[id];
  for (core_id c = where.first; c < where.first + where.size; ++c) {
    if (foreign_traffic_[c] <= 0.0) continue;
    s.greatest = std::max(s.greatest, foreign_wish(c));
    ++s.wishing;
  }
  s.bound();
}

/// What they get of that if the chip sets no limit.
void speeds::weigh(cluster_id id) {
  cluster_state& s = clusters_[id];
  if (s.weighed) return;
  s.weighed = true;
  s.wishes.clear();
  for (const load* l : s.running)
    for (std::size_t i = 0; i < l->computing.size(); ++i) s.wishes.push_back(wish_of(*l, i));
  const cluster& where = platform_.cores->clusters()[id];
  for (core_id c = where.first; c < where.first + where.size; ++c)
    if (foreign_traffic_[c] > 0.0) s.wishes.push_back(foreign_wish(c));
  s.level = water_level(s.wishes, s.limit);
  s.demand = 0.0;
  for (const double w : s.wishes) s.demand += std::min(w, s.level);
}

/// Neither the cluster nor its node can be short of bandwidth, whatever each wishes for exactly.
bool speeds::ample(cluster_id id) const noexcept {
  if (clusters_[id].at_most > clusters_[id].limit) return false;
  if (platform_.chip_bytes_per_s <= 0.0) return true;
  const std::uint32_t node = clusters_[id].node;
  if (full_[node]) return false;
  double total = 0.0;
  for (cluster_id c = first_of(node); c < first_of(node + 1); ++c) total += clusters_[c].at_most;
  return total <= platform_.chip_bytes_per_s;
}

void speeds::allot(load& l, double most, sim_time now) {
  const double bytes = bytes_of(l);
  double per_s = 0.0;
  for (const double compute : l.computing)
    per_s += bytes > 0.0 ? std::min(compute, most / bytes) : compute;
  settle(l, with_moved(l, per_s), now);
}

/// `changed`: who else has new members, if nobody else has.
void speeds::allot(cluster_id id, double level, sim_time now, load* changed) {
  cluster_state& s = clusters_[id];
  const double most = std::min(level, s.core_limit);
  if (most == s.allotted) {
    if (changed) allot(*changed, most, now);
    return;
  }
  s.allotted = most;
  for (load* l : s.running) allot(*l, most, now);
}

/// After a change to more than one who comes or goes.
void speeds::refresh_all(cluster_id id, sim_time now) {
  if (!bandwidth_) {
    for (load* l : clusters_[id].running) refresh_one(*l, now);
    return;
  }
  find(id);
  refresh(id, now, nullptr);
}

/// `changed`: the load that has a new member, if that is what happened.
void speeds::refresh(cluster_id id, sim_time now, load* changed) {
  clusters_[id].weighed = false;
  clusters_[id].had_enough = ample(id);
  if (clusters_[id].had_enough) return allot(id, unlimited, now, changed);
  weigh(id);
  const double level = clusters_[id].level;
  if (platform_.chip_bytes_per_s <= 0.0) return allot(id, level, now, changed);
  const std::uint32_t node = clusters_[id].node;
  double total = 0.0;
  for (cluster_id c = first_of(node); c < first_of(node + 1); ++c) {
    weigh(c);
    total += clusters_[c].demand;
  }
  const bool full = total > platform_.chip_bytes_per_s;
  if (!full && !full_[node]) return allot(id, level, now, changed);
  full_[node] = full;
  refresh_node(node, now, changed);
}

void speeds::refresh_node(std::uint32_t node, sim_time now, load* changed) {
  std::vector<double> all;
  for (cluster_id id = first_of(node); id < first_of(node + 1); ++id) {
    if (clusters_[id].stale) find(id);
    weigh(id);
    for (const double w : clusters_[id].wishes) all.push_back(std::min(w, clusters_[id].level));
  }
  const double equal = water_level(all, limit_or_none(platform_.chip_bytes_per_s));
  for (cluster_id id = first_of(node); id < first_of(node + 1); ++id) {
    clusters_[id].had_enough = false;
    allot(id, std::min(clusters_[id].level, equal), now,
          changed && changed->cluster == id ? changed : nullptr);
  }
}

void speeds::fits(cluster_id id, double change) {
  cluster_state& s = clusters_[id];
  s.working_set += change;
  if (s.running.empty() && s.working_set < 1.0) s.working_set = 0.0;
  // A cache that sets fill to the last line has no room for code and stacks.
  const bool overflows = s.cache > 0.0 && s.working_set >= s.cache;
  s.stale = s.stale || overflows != s.overflows;
  s.overflows = overflows;
}

void speeds::begin(load& l, sim_time now) {
  l.since = now;
  l.per_s = 0.0;
  l.ends = never;
  l.work = l.left;
  l.held.clear();
  l.computing.clear();
  cluster_state& s = clusters_[l.cluster];
  l.index = static_cast<std::uint32_t>(s.running.size());
  s.running.push_back(&l);
  if (!caches_) return;
  const bool before = s.overflows;
  fits(l.cluster, l.cost->working_set);
  if (s.overflows != before) refresh_all(l.cluster, now);
}

void speeds::join(load& l, core_id c, sim_time now) {
  l.members.push_back(c);
  if (keeps_busy(c, at_work, true)) return refresh_all(l.cluster, now);
  if (!bandwidth_) return refresh_one(l, now);
  l.computing.push_back(compute_rate(l, c));
  cluster_state& s = clusters_[l.cluster];
  s.greatest = std::max(s.greatest, wish_of(l, l.computing.size() - 1));
  ++s.wishing;
  s.bound();
  refresh(l.cluster, now, &l);
}

void speeds::add_left(load& l, double work, sim_time now) {
  l.left += work;
  l.ends = l.per_s > 0.0 ? now + to_time(l.left / l.per_s) : never;
  moved.push_back(&l);
}

void speeds::hold(load& l, core_id c, sim_time now) {
  bring_up(l, now);
  const double begun = std::min(
      l.left,
      0.5 * l.work / (blocks_ == block_count::task ? blocks_of_task : blocks_of_task * l.width));
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
  bandwidth_ ? refresh_all(l.cluster, now) : refresh_one(l, now);
}

void speeds::finish(load& l, sim_time now) {
  cluster_state& s = clusters_[l.cluster];
  s.wishing -= static_cast<std::uint32_t>(l.computing.size());
  if (s.wishing == 0) s.greatest = 0.0;
  s.bound();
  l.members.clear();
  l.computing.clear();
  l.per_s = 0.0;
  l.ends = never;
  s.running[l.index] = s.running.back();
  s.running[l.index]->index = l.index;
  s.running.pop_back();
  if (!bandwidth_) return;
  if (caches_) fits(l.cluster, -l.cost->working_set);
  if (s.stale) return refresh_all(l.cluster, now);
  s.weighed = false;
  if (s.had_enough && !full_[s.node]) return;  // fewer have it all the more
  refresh(l.cluster, now, nullptr);
}

void speeds::set_capacity(core_id c, double share, sim_time now) {
  if (capacity_[c] == share) return;
  capacity_[c] = share;
  refresh_all(platform_.cores->cores()[c].cluster, now);
}

void speeds::set_clock(kind_id k, double factor, sim_time now) {
  if (clock_[k] == factor) return;
  clock_[k] = factor;
  const auto of_kind = [&](cluster_id id) { return platform_.cores->clusters()[id].kind == k; };
  for (cluster_id id = 0; id < clusters_.size(); ++id)
    // all of them before any: one may ask for another's wishes
    if (of_kind(id)) clusters_[id].stale = true;
  for (cluster_id id = 0; id < clusters_.size(); ++id)
    if (of_kind(id)) refresh_all(id, now);
}

// Until then it goes on: who releases successors, takes the next task or looks for one keeps its
// core in use.
void speeds::rests(core_id c, sim_time now) {
  if (keeps_busy(c, at_work, false)) refresh_all(platform_.cores->cores()[c].cluster, now);
}

void speeds::set_neighbour(core_id c, bool here, sim_time now) {
  if (keeps_busy(c, neighbour, here)) refresh_all(platform_.cores->cores()[c].cluster, now);
}

void speeds::set_foreign(core_id c, double traffic, double working_set, sim_time now) {
  if (!bandwidth_) return;
  const cluster_id id = platform_.cores->cores()[c].cluster;
  if (caches_) fits(id, working_set - foreign_set_[c]);
  foreign_set_[c] = working_set;
  foreign_traffic_[c] = traffic;
  refresh_all(id, now);
}

}  // namespace kilter::sim
