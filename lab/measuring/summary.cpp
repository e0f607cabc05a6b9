#include "measuring/summary.hpp"

#include <algorithm>

#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

const run_row* partner(const std::vector<run_row>& runs, const run_row& of) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const run_row& r) {
    return r.policy == "rws" && r.disturb == of.disturb && r.repeat == of.repeat &&
           r.graph == of.graph && r.root_core == of.root_core;
  });
  return found == runs.end() ? nullptr : &*found;
}

std::vector<double> critical_share(const std::vector<const run_row*>& runs) {
  std::vector<double> share;
  double all = 0.0;
  for (const run_row* r : runs) {
    share.resize(std::max(share.size(), r->stats.places.size()));
    for (std::size_t p = 0; p < r->stats.places.size(); ++p) {
      share[p] += static_cast<double>(r->stats.places[p].critical);
      all += static_cast<double>(r->stats.places[p].critical);
    }
  }
  if (all > 0.0)
    for (double& s : share) s /= all;
  return share;
}

double critical_part(const std::vector<const run_row*>& runs) {
  std::uint64_t critical = 0, all = 0;
  for (const run_row* r : runs)
    for (const auto& p : r->stats.places) {
      critical += p.critical;
      all += p.critical + p.other;
    }
  return all == 0 ? 0.0 : static_cast<double>(critical) / static_cast<double>(all);
}

summary_row line_of(const std::vector<const run_row*>& group, const std::vector<run_row>& all) {
  std::vector<double> throughput, seconds, to_rws, to_bound, joules, edp;
  for (const run_row* r : group) {
    throughput.push_back(r->throughput_per_s);
    seconds.push_back(r->stats.seconds);
    if (r->energy_j) {
      joules.push_back(*r->energy_j);
      edp.push_back(*r->edp_js());
    }
    if (r->bound_s > 0.0 && r->stats.seconds > 0.0)
      to_bound.push_back(r->bound_s / r->stats.seconds);
    if (const run_row* rws = partner(all, *r); rws && rws->throughput_per_s > 0.0)
      to_rws.push_back(r->throughput_per_s / rws->throughput_per_s);
  }
  summary_row line{
      .policy = group[0]->policy, .disturb = group[0]->disturb, .warm = group[0]->warm()};
  line.runs = static_cast<std::uint32_t>(group.size());
  line.throughput_median_per_s = median(throughput);
  line.seconds_median = median(seconds);
  if (!to_rws.empty()) {
    const spread s = spread_of(to_rws);
    line.ratio_to_rws_median = s.median;
    line.ratio_min = s.smallest;
    line.ratio_max = s.largest;
  }
  line.ratio_to_bound = to_bound.empty() ? 0.0 : median(to_bound);
  if (joules.size() == group.size()) {
    line.energy_median_j = median(joules);
    line.edp_median_js = median(edp);
  }
  line.critical_share = critical_share(group);
  line.critical_part = critical_part(group);
  return line;
}

}  // namespace

std::vector<summary_row> summarize(const std::vector<run_row>& runs,
                                   const std::vector<std::string>& policies,
                                   const std::vector<std::string>& scenarios) {
  std::vector<summary_row> lines;
  for (const std::string& disturb : scenarios)
    for (const std::string& policy : policies)
      for (const bool warm : {false, true}) {
        std::vector<const run_row*> group;
        for (const run_row& r : runs)
          if (r.policy == policy && r.disturb == disturb && r.warm() == warm) group.push_back(&r);
        if (!group.empty()) lines.push_back(line_of(group, runs));
      }
  return lines;
}

}  // namespace kilter::lab
