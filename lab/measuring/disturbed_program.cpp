#include "measuring/disturbed_program.hpp"

#include <cstring>

#include "disturbing/hold.hpp"
#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

/// A scenario that is there while the program runs.
class presence_of {
 public:
  presence_of(const machine& m, const std::string& spec)
      : parts_(plan_around_program(spec, m)), disturber_(m, parts_) {
    side_.disturb = to_string(parts_);
  }

  prefix::ended_program run(const std::vector<std::string>& program,
                            const prefix::held_signals& signals) {
    struct stopper {
      disturber& d;
      ~stopper() { d.stop(); }
    };
    disturber_.start();
    prefix::ended_program ended;
    {
      const stopper always{disturber_};
      ended = prefix::run_to_end(program, signals);
    }
    for (const disturber_row& row : disturber_.report().rows)
      // a quota's is of this process alone
      if (row.kind != disturbance_kind::quota && row.achieved_share)
        shares_.push_back(*row.achieved_share);
    return ended;
  }

  void ended_well(double seconds) { side_.seconds.push_back(seconds); }
  [[nodiscard]] const std::string& name() const { return side_.disturb; }
  [[nodiscard]] timed_side side() const {
    timed_side s = side_;
    if (!shares_.empty()) s.achieved_share = mean(shares_);
    return s;
  }

 private:
  std::vector<disturbance> parts_;
  disturber disturber_;
  timed_side side_;
  std::vector<double> shares_;
};

}  // namespace

std::optional<double> disturbed_result::ratio() const {
  if (!complete() || disturbed.seconds.empty() || against.seconds.empty()) return std::nullopt;
  return disturbed.times().median / against.times().median;
}

bool disturbed_result::passes() const {
  const auto r = ratio();
  return r && (!asked.at_most || *r <= *asked.at_most);
}

disturbed_result run_disturbed(const machine& m, const disturbed_program& asked,
                               const prefix::held_signals& signals,
                               const std::function<void(const timed_run&)>& told) {
  presence_of against(m, asked.against), disturbed(m, asked.disturb);
  disturbed_result result{
      .asked = asked, .runs = {}, .against = {}, .disturbed = {}, .failed = std::nullopt};
  const auto run_under = [&](presence_of& scenario, std::uint32_t repeat) {
    if (const auto signal = signals.take_end()) result.stopped_by = *signal;
    if (!result.complete()) return;
    const prefix::ended_program ended = scenario.run(asked.program, signals);
    if (ended.exec_error != 0)
      throw input_error("cannot run '" + asked.program.front() +
                        "': " + std::strerror(ended.exec_error));
    const timed_run run{scenario.name(), repeat, ended.seconds, ended.status};
    result.stopped_by = ended.told_to_end;
    if (result.stopped_by != 0) return;
    result.runs.push_back(run);
    told(run);
    if (run.status != 0)
      result.failed = run;
    else
      scenario.ended_well(run.seconds);
  };
  for (std::uint32_t repeat = 1; repeat <= asked.repeat; ++repeat) {
    run_under(repeat % 2 == 1 ? against : disturbed, repeat);
    run_under(repeat % 2 == 1 ? disturbed : against, repeat);
  }
  result.against = against.side();
  result.disturbed = disturbed.side();
  return result;
}

}  // namespace kilter::lab
