#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "balance/os/accounts.hpp"
#include "balance/os/session.hpp"
#include "balance/recording.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

/// Threads that were not in the recording before are shown to the scheduler first, as they were
/// when it ran.
void place_new(scheduler& s, const observation& o, std::uint32_t cores, std::set<thread_id>& known,
               std::vector<move>& moves) {
  std::vector<std::uint32_t> taken(cores);
  for (const thread_sample& t : o.threads)
    if (known.contains(t.thread) && t.core < cores) ++taken[t.core];
  for (const thread_sample& t : o.threads) {
    if (!known.insert(t.thread).second) continue;
    newcomer n;
    n.thread = t.thread;
    n.program = t.program;
    const core_id to = s.place(n, taken);
    if (to != no_core) moves.push_back({t.thread, t.core, to, reason::placement});
    if (const core_id at = to != no_core ? to : t.core; at < cores) ++taken[at];
  }
}

std::ifstream opened(const std::string& file) {
  std::ifstream in(file);
  if (!in)
    throw input_error(
        fmt::format("--observer 'replay:{}': cannot be opened: {}", file, std::strerror(errno)));
  return in;
}

}  // namespace

machine machine_of_recording(const machine& here, const std::string& file) {
  std::ifstream in = opened(file);
  const std::uint32_t cores = recording_reader(in, file).header().cores;
  return cores == here.core_count() ? here : machine::uniform(cores);
}

session_result replay_only(const machine& recorded, const session_options& o,
                           const std::string& file) {
  std::ifstream in = opened(file);
  recording_reader reader(in, file);
  const std::uint32_t cores = recorded.core_count();
  const std::string policy = o.policy == automatic ? "dike" : o.policy;
  scheduler_options tuning = o.tuning;
  tuning.keep_busy = true;  // as it was live
  const auto schedule = make_scheduler(policy, recorded, tuning);
  accounts sums(o.tuning.memory_above);
  std::set<thread_id> known;
  bool rates = false;
  while (const auto seen = reader.next()) {
    std::vector<move> moves;
    place_new(*schedule, *seen, cores, known, moves);
    sums.observed(*seen);
    const answer a = schedule->tick(*seen);
    sums.answered(a);
    moves.insert(moves.end(), a.moves.begin(), a.moves.end());
    for (const move& one : moves) {
      if (one.from == one.to) continue;
      const std::string from = one.from == no_core ? "?" : std::to_string(one.from);
      o.tell(fmt::format("{:.1f} s: would move thread {} from core {} to core {}: {}", seen->now_s,
                         one.thread, from, one.to, name_of(one.why)),
             false);
      sums.moved(one, seen->now_s);
    }
    rates |= seen->rates;
    sums.result.seconds = seen->now_s;
  }
  session_result r = sums.conclude();
  r.policy = policy;
  r.observer = "replay";
  r.class_only = !rates;
  r.sides_known = recorded.kinds().size() > 1 || !o.tuning.high_bandwidth.empty();
  r.threads = static_cast<std::uint32_t>(known.size());
  return r;
}

}  // namespace kilter::balance::os
