#pragma once
// Energy of a machine in virtual time: for every cluster the integral of its watts over time. The
// watts are the platform file's, by clock and number of busy cores; nothing is assumed where the
// file is silent.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/platform.hpp"
#include "sim/time.hpp"

namespace kilter::sim {

/// Watts of a cluster with `busy` busy cores, 0 to the largest width: straight lines between the
/// figure's points, of which the first is `idle_w` at 0.
[[nodiscard]] double watts(const power_figure&, std::span<const std::uint32_t> widths,
                           double busy) noexcept;

/// Watts of each place of the machine, all its members and nobody else in the cluster busy, every
/// clock at its highest; what the cluster draws anyway is in it. input_error if the file has no
/// figures for some kind.
[[nodiscard]] std::vector<double> place_watts(const platform&);

class energy_meter {
 public:
  /// Every core idle, every clock at its highest.
  explicit energy_meter(const platform&);

  /// False if the file has no power figures that apply: then nothing need be told.
  [[nodiscard]] bool counts() const noexcept { return gap_.empty(); }
  /// Why there is no energy, as half a sentence: "platform grid:2x4 has no power figures of core".
  /// Empty if there is.
  [[nodiscard]] const std::string& gap() const noexcept { return gap_; }

  /// `part` of the core is in use, 0..1.
  void set_busy(core_id, double part, sim_time now) noexcept;
  /// Factor of the kind's highest clock. Between two clocks with figures the watts lie on a
  /// straight line; beyond them there is no energy any more.
  void set_clock(kind_id, double factor, sim_time now);

  /// Joules of all clusters since time 0. Nothing if there is a gap.
  [[nodiscard]] std::optional<double> joules(sim_time now) const noexcept;

 private:
  struct cluster_state {
    double busy = 0.0, watts = 0.0, joules = 0.0;
    sim_time since = 0;
  };
  friend std::vector<double> place_watts(const platform&);
  /// False if the file says nothing about the kind at this clock.
  [[nodiscard]] bool choose(kind_id, double mhz);
  [[nodiscard]] double watts_of(kind_id, double busy) const noexcept;
  void settle(cluster_id, double busy, sim_time now) noexcept;

  const platform& platform_;
  std::string gap_;
  std::vector<std::vector<std::uint32_t>> widths_;  // by kind
  std::vector<power_figure> now_;                   // by kind: at its present clock
  std::vector<std::vector<double>> whole_w_;        // by kind: then, by the number of busy cores
  std::vector<cluster_state> clusters_;
  std::vector<double> part_;  // by core
};

}  // namespace kilter::sim
