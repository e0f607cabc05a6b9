#include <algorithm>

#include "session/interrupt.hpp"
#include "speed/rows.hpp"
#include "statistics/stats.hpp"

namespace kilter::bench {

namespace {

/// Long enough for the threads of the last entrant to have gone to sleep.
constexpr double between_entrants_s = 0.005;

double seconds_of(const std::function<void()>& f) {
  const std::int64_t start = sync::nanoseconds();
  f();
  return static_cast<double>(sync::nanoseconds() - start) * 1e-9;
}

}  // namespace

std::vector<times> race(const plan& p, const std::string& title, const dag& d, const workload& w,
                        const std::vector<entrant>& entrants, bool worker_roots) {
  std::vector<times> all(entrants.size());
  const std::uint32_t cores = p.where->core_count();
  for (std::uint32_t round = 0; round <= p.rounds; ++round) {
    std::vector<times> now(entrants.size());
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      if (lab::interrupted()) return all;
      // Backwards in every other round: what one leaves to the next, as memory given back to the
      // host, then hits another.
      const std::size_t turn = (i + round / 2) % entrants.size();
      const std::size_t at = round % 2 ? entrants.size() - 1 - turn : turn;
      contender& who = *entrants[at].who;
      const core_id root = worker_roots ? round % cores : no_core;
      p.shown->step(title + ", " + entrants[at].name);
      try {
        now[at].build_s.push_back(seconds_of([&] { who.build(d, w); }));
        now[at].first_s.push_back(seconds_of([&] { who.run(root); }));
        now[at].again_s.push_back(seconds_of([&] { who.run(root); }));
        who.clear();
      } catch (const cancelled_error&) {
        return all;
      }
      lab::interruptible_sleep(between_entrants_s);
    }
    if (round == 0) continue;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      all[i].build_s.push_back(now[i].build_s[0]);
      all[i].first_s.push_back(now[i].first_s[0]);
      all[i].again_s.push_back(now[i].again_s[0]);
    }
  }
  return all;
}

std::optional<row> compare(std::string shape, const entrant& ours,
                           const std::vector<double>& ours_s, const std::string& peer,
                           const std::vector<double>& peer_s, double per_task,
                           std::optional<double> goal) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours_s.size(), peer_s.size()); ++i)
    ratios.push_back(ours_s[i] / peer_s[i]);
  if (ratios.empty()) return std::nullopt;
  const lab::spread s = lab::spread_of(ratios);
  return row{.shape = std::move(shape),
             .kilter = ours.name,
             .kilter_ns = lab::median(ours_s) * 1e9 / per_task,
             .peer = peer,
             .peer_ns = lab::median(peer_s) * 1e9 / per_task,
             .ratio = s.median,
             .ratio_min = s.smallest,
             .ratio_max = s.largest,
             .goal = goal};
}

runtime_options options_of(const plan& p, const std::string& policy) {
  runtime_options o;
  o.machine = p.where;
  o.policy = policy;
  o.table = table_options::robust();
  return o;
}

threads threads_of(const plan& p, bool pinned) {
  threads t{.cpus = {}, .pinned = pinned};
  for (const core& c : p.where->cores()) t.cpus.push_back(c.os_index);
  return t;
}

}  // namespace kilter::bench
