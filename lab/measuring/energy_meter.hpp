#pragma once
// Joules of a stretch of time, from sensors that a thread samples in the background.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measuring/energy_sensors.hpp"

namespace kilter::lab {

/// Joules so far at some times, in order.
class energy_samples {
 public:
  using time = std::chrono::steady_clock::time_point;
  void add(time at, double joules);
  /// Between samples it is taken as even. Empty if the samples do not reach from the one to the
  /// other.
  [[nodiscard]] std::optional<double> between(time from, time to) const;

 private:
  struct sample {
    time at;
    double joules;
  };
  [[nodiscard]] double at(time) const;
  std::vector<sample> samples_;
};

/// Samples all sensors every 10 ms, as long as it lives; without sensors it does nothing.
class energy_meter {
 public:
  explicit energy_meter(std::vector<energy_sensor> = energy_sensors());
  ~energy_meter();

  /// The names of the sensors, with commas; empty if there are none.
  [[nodiscard]] const std::string& source() const noexcept;
  /// Joules of all sensors in that time, which ends now or before. Empty without sensors, and when
  /// one of them failed.
  [[nodiscard]] std::optional<double> joules(energy_samples::time from, energy_samples::time to);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kilter::lab
