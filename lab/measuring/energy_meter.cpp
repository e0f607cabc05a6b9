#include "measuring/energy_meter.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace kilter::lab {

void energy_samples::add(time at, double joules) { samples_.push_back({at, joules}); }

double energy_samples::at(time t) const {
  const auto after = std::ranges::lower_bound(samples_, t, {}, &sample::at);
  if (after->at == t) return after->joules;
  const auto before = after - 1;
  const double part = std::chrono::duration<double>(t - before->at) /
                      std::chrono::duration<double>(after->at - before->at);
  return before->joules + part * (after->joules - before->joules);
}

std::optional<double> energy_samples::between(time from, time to) const {
  if (samples_.empty() || from < samples_.front().at || to > samples_.back().at)
    return std::nullopt;
  return at(to) - at(from);
}

struct energy_meter::state {
  std::vector<energy_sensor> sensors;
  std::string source{};
  std::mutex mutex{};
  std::condition_variable ends{};
  bool over = false, failed = false;  // these and all below under the lock
  std::vector<double> last{};         // what each sensor told
  energy_samples::time last_at{};
  double joules = 0.0;
  energy_samples samples{};
  std::thread thread{};  // the last member: it uses all others

  /// Counters add what they have counted since the last sample, power what it was on average.
  void sample() {
    const auto now = std::chrono::steady_clock::now();
    std::vector<double> told;
    for (const energy_sensor& s : sensors) told.push_back(s.read());
    for (std::size_t i = 0; i < sensors.size() && !last.empty(); ++i) {
      if (sensors[i].tells == energy_sensor::kind::watts)
        joules += 0.5 * (told[i] + last[i]) * std::chrono::duration<double>(now - last_at).count();
      else
        joules += told[i] - last[i] + (told[i] < last[i] ? sensors[i].range : 0.0);
    }
    last = std::move(told);
    last_at = now;
    samples.add(now, joules);
  }
  void serve() {
    std::unique_lock lock(mutex);
    while (!over && !failed) {
      try {
        sample();
      } catch (const std::runtime_error&) {
        failed = true;
      }
      ends.wait_for(lock, std::chrono::milliseconds(10), [&] { return over; });
    }
  }
};

energy_meter::energy_meter(std::vector<energy_sensor> sensors)
    : state_(new state{.sensors = std::move(sensors)}) {
  state& s = *state_;
  for (const energy_sensor& one : s.sensors) s.source += (s.source.empty() ? "" : ", ") + one.name;
  if (s.sensors.empty()) return;
  {
    const std::lock_guard lock(s.mutex);
    try {
      s.sample();  // before anything that is asked about begins
    } catch (const std::runtime_error&) {
      s.failed = true;
    }
  }
  s.thread = std::thread([&s] { s.serve(); });
}

energy_meter::~energy_meter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
  }
  state_->ends.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

const std::string& energy_meter::source() const noexcept { return state_->source; }

std::optional<double> energy_meter::joules(energy_samples::time from, energy_samples::time to) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.sensors.empty() || s.failed) return std::nullopt;
  try {
    s.sample();
  } catch (const std::runtime_error&) {
    s.failed = true;
    return std::nullopt;
  }
  return s.samples.between(from, to);
}

}  // namespace kilter::lab
