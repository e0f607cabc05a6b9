#include "balance/os/choose_session.hpp"

#include <fmt/format.h>

#include <utility>

namespace kilter::balance::os {

namespace {

session_choice played_back(const session_options& o, const std::string& file) {
  session_choice c{.policy = o.policy == automatic ? "dike" : o.policy,
                   .observer_name = "replay",
                   .sees = {},
                   .recording = {},
                   .why = {}};
  c.recording = std::make_unique<playback>(file);
  return c;
}

}  // namespace

session_choice choose_session(const machine& m, const session_options& o) {
  if (const auto file = replay_file(o.observer)) return played_back(o, *file);
  const bool choose = o.policy == automatic, sides_known = !o.tuning.high_bandwidth.empty();
  observer_choice seen = choose_observer(
      o.observer, !(choose && !sides_known) && o.policy != without_counters, o.counters);
  session_choice c{.policy = o.policy,
                   .observer_name = std::string(seen.chosen->name()),
                   .sees = std::move(seen.chosen),
                   .recording = {},
                   .why = {}};
  if (choose) c.policy = c.sees->sees_rates() || sides_known ? "dike" : without_counters;
  if (choose && c.policy == without_counters) {
    // In one line: this is what everybody without counters sees each time.
    const std::string why =
        seen.why_not.empty() ? fmt::format("observer {}", c.observer_name) : seen.why_not.front();
    c.why.push_back(
        fmt::format("{}; so the policy is spread: a thread that waits goes to an idle core, "
                    "threads take turns on a core that others hold, and else "
                    "nothing moves; --policy dio moves without counters",
                    why));
  } else {
    c.why = std::move(seen.why_not);
    c.why.push_back(fmt::format("observer {}: {}", c.observer_name, c.sees->limits()));
  }
  if (!c.sees->sees_rates() && c.policy.starts_with("dike") && !sides_known && m.kinds().size() < 2)
    c.why.push_back(
        fmt::format("without counters {} cannot tell which of equal cores gives more bandwidth, "
                    "and will move nothing; --fast says it, and dio "
                    "needs only classes",
                    c.policy));
  return c;
}

}  // namespace kilter::balance::os
