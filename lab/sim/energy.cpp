#include "sim/energy.hpp"

#include <algorithm>

#include "kilter/error.hpp"
#include "sim/platform_file.hpp"

namespace kilter::sim {

double watts(const power_figure& f, std::span<const std::uint32_t> widths, double busy) noexcept {
  double below = 0.0, below_w = f.idle_w;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const double here = widths[i];
    if (busy <= here) return below_w + (busy - below) / (here - below) * (f.busy_w[i] - below_w);
    below = here;
    below_w = f.busy_w[i];
  }
  return below_w;
}

energy_meter::energy_meter(const platform& p)
    : platform_(p),
      now_(p.cores->kinds().size()),
      whole_w_(now_.size()),
      clusters_(p.cores->clusters().size()),
      part_(p.cores->core_count(), 0.0) {
  for (kind_id k = 0; k < now_.size(); ++k) {
    widths_.push_back(p.widths(k));
    if (!choose(k, p.clocks[k].mhz.empty() ? 0.0 : p.clocks[k].mhz.back())) return;
  }
  for (cluster_id c = 0; c < clusters_.size(); ++c) settle(c, 0.0, 0);
}

bool energy_meter::choose(kind_id k, double mhz) {
  const power_figure *lower = nullptr, *upper = nullptr;
  bool any = false;
  for (const power_figure& f : platform_.power) {
    if (f.kind != k) continue;
    any = true;
    if (f.mhz <= mhz && (!lower || f.mhz > lower->mhz)) lower = &f;
    if (f.mhz >= mhz && (!upper || f.mhz < upper->mhz)) upper = &f;
  }
  if (!lower || !upper) {
    gap_ = "platform " + platform_.name + " has no power figures of " +
           platform_.cores->kinds()[k].name +
           (any ? " at " + plain_number(mhz) + " MHz, nor on both sides of it" : "");
    return false;
  }
  now_[k] = *lower;
  if (upper->mhz != lower->mhz) {
    const double part = (mhz - lower->mhz) / (upper->mhz - lower->mhz);
    now_[k].idle_w += part * (upper->idle_w - lower->idle_w);
    for (std::size_t i = 0; i < now_[k].busy_w.size(); ++i)
      now_[k].busy_w[i] += part * (upper->busy_w[i] - lower->busy_w[i]);
  }
  whole_w_[k].clear();
  for (std::uint32_t busy = 0; busy <= widths_[k].back(); ++busy)
    whole_w_[k].push_back(watts(now_[k], widths_[k], busy));
  return true;
}

double energy_meter::watts_of(kind_id k, double busy) const noexcept {
  const auto whole = static_cast<std::size_t>(busy);
  return busy == static_cast<double>(whole) && whole < whole_w_[k].size()
             ? whole_w_[k][whole]
             : watts(now_[k], widths_[k], busy);
}

std::vector<double> place_watts(const platform& p) {
  const energy_meter all_idle(p);
  if (!all_idle.counts()) throw input_error("energy and edp need power figures: " + all_idle.gap());
  std::vector<double> all;
  for (const place& where : p.cores->places()) {
    const kind_id k = p.cores->cores()[where.leader].kind;
    all.push_back(watts(all_idle.now_[k], all_idle.widths_[k], where.width));
  }
  return all;
}

void energy_meter::settle(cluster_id id, double busy, sim_time now) noexcept {
  cluster_state& s = clusters_[id];
  s.joules += s.watts * to_seconds(now - s.since);
  s.since = now;
  s.busy = busy;
  const kind_id k = platform_.cores->clusters()[id].kind;
  s.watts = watts_of(k, busy);
}

void energy_meter::set_busy(core_id c, double part, sim_time now) noexcept {
  if (!counts() || part_[c] == part) return;
  const cluster_id id = platform_.cores->cores()[c].cluster;
  part_[c] = part;
  double busy = 0.0;
  const cluster& where = platform_.cores->clusters()[id];
  for (core_id each = where.first; each < where.first + where.size; ++each) busy += part_[each];
  settle(id, busy, now);
}

void energy_meter::set_clock(kind_id k, double factor, sim_time now) {
  if (!counts() || platform_.clocks[k].mhz.empty()) return;
  if (!choose(k, platform_.clocks[k].nearest_mhz(factor))) return;
  for (cluster_id id = 0; id < clusters_.size(); ++id)
    if (platform_.cores->clusters()[id].kind == k) settle(id, clusters_[id].busy, now);
}

std::optional<double> energy_meter::joules(sim_time now) const noexcept {
  if (!counts()) return std::nullopt;
  double all = 0.0;
  for (const cluster_state& s : clusters_) all += s.joules + s.watts * to_seconds(now - s.since);
  return all;
}

}  // namespace kilter::sim
