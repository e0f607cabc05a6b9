// Loops of 100 M independent iterations, alone on the machine and beside a co-runner on core 0.

#include <algorithm>
#include <optional>

#include "disturbing/disturber.hpp"
#include "peers/loops.hpp"
#include "session/interrupt.hpp"
#include "speed/rows.hpp"
#include "statistics/stats.hpp"

namespace kilter::bench {

namespace {

constexpr std::uint32_t calls = 5;
/// Threads of the last entrant have gone to sleep; a co-runner has had its first slices.
constexpr double pause_s = 0.005, settle_s = 0.05;

struct loop_entrant {
  std::string name;
  std::unique_ptr<loop_contender> who;
};

/// Seconds a call, by entrant and round; one round before is not counted. In a round everybody is
/// called once, then once more in another order, and so on: what the machine's speed drifts by in a
/// fifth of a second hits all alike.
std::vector<std::vector<double>> race_loops(const plan& p, const std::string& title, loop_sort what,
                                            const std::vector<loop_entrant>& entrants) {
  std::vector<std::vector<double>> all(entrants.size());
  std::optional<std::uint64_t> sum;
  for (std::uint32_t round = 0; round <= p.rounds; ++round) {
    p.shown->step(title + ", round " + std::to_string(round) + " of " + std::to_string(p.rounds));
    std::vector<double> took_s(entrants.size());
    for (std::uint32_t call = 0; call < calls; ++call)
      for (std::size_t i = 0; i < entrants.size(); ++i) {
        if (lab::interrupted()) return {};
        const std::size_t turn = (i + call + round / 2) % entrants.size();
        const std::size_t at = (round + call) % 2 ? entrants.size() - 1 - turn : turn;
        const std::int64_t start = sync::nanoseconds();
        const std::uint64_t found = entrants[at].who->run(what);
        took_s[at] += static_cast<double>(sync::nanoseconds() - start) * 1e-9 / calls;
        if (sum.value_or(found) != found)
          throw std::runtime_error(entrants[at].name + " computed another sum than the others");
        sum = found;
        lab::interruptible_sleep(pause_s);
      }
    for (std::size_t at = 0; at < entrants.size() && round > 0; ++at) all[at].push_back(took_s[at]);
  }
  return all;
}

}  // namespace

rows parallel_rows(const plan& p) {
  loop_arrays arrays(100'000'000 / p.scale);
  std::vector<loop_entrant> entrants;
  const threads free = threads_of(p, false);
  entrants.push_back({"auto", make_kilter_loops(options_of(p, "auto"), arrays)});
  entrants.push_back(
      {"oneTBB auto", make_onetbb_loops(free, tbb_partitioner::simple_auto, arrays)});
  entrants.push_back({"oneTBB static", make_onetbb_loops(free, tbb_partitioner::equal, arrays)});
  entrants.push_back(
      {"oneTBB affinity", make_onetbb_loops(free, tbb_partitioner::affinity, arrays)});
  entrants.push_back({"OpenMP static", make_openmp_loops(free, omp_schedule::equal, arrays)});
  entrants.push_back({"OpenMP dynamic", make_openmp_loops(free, omp_schedule::dynamic, arrays)});
  entrants.push_back({"OpenMP guided", make_openmp_loops(free, omp_schedule::guided, arrays)});
  rows all;
  for (const bool disturbed : {false, true}) {
    std::optional<lab::disturber> load;
    if (disturbed) {
      load.emplace(*p.where, lab::parse_disturbances("cpu@0", *p.where));
      load->start();
      lab::interruptible_sleep(settle_s);
    }
    for (const loop_sort what : {loop_sort::light, loop_sort::stream}) {
      const std::string shape = std::string(what == loop_sort::light ? "light" : "memory") +
                                " loop, " + std::to_string(arrays.n / 1'000'000) + " M" +
                                (disturbed ? ", cpu@0" : "");
      const auto seconds = race_loops(p, shape, what, entrants);
      if (seconds.empty()) return all;
      std::size_t best = 1;
      for (std::size_t i = 2; i < entrants.size(); ++i)
        if (lab::median(seconds[i]) < lab::median(seconds[best])) best = i;
      if (auto r = compare(shape, {entrants[0].name, nullptr}, seconds[0], entrants[best].name,
                           seconds[best], static_cast<double>(arrays.n), disturbed ? 1.0 : 1.03))
        all.push_back(std::move(*r));
    }
  }
  return all;
}

}  // namespace kilter::bench
