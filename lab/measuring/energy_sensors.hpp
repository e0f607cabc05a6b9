#pragma once
// What this computer can tell of the energy that its processors take.

#include <cstdint>
#include <string>
#include <vector>

namespace kilter::lab {

/// A counter of joules, or of watts that have to be summed up over time.
struct energy_sensor {
  enum class kind : std::uint8_t { joules, watts } tells = kind::joules;
  std::string name;                ///< "package-0", "VDD_SYS_CPU"
  std::vector<std::string> files;  ///< one number each, whose product counts
  double unit = 1.0;               ///< joules or watts of a product of 1
  double range = 0.0;              ///< joules at which a counter begins again; 0: never

  /// As the files say now. std::runtime_error if they do not.
  [[nodiscard]] double read() const;
};

/// Below `sysfs`: the packages' counters (RAPL, powercap), which leave out memory and the rest of
/// the board; without them the processors' sensors of hwmon (counters of sockets, else power of the
/// rails that are named after the CPU, else of the whole board). Those that may not be read are
/// left out, as RAPL's are for others than root. Empty: nothing is known.
[[nodiscard]] std::vector<energy_sensor> energy_sensors(const std::string& sysfs = "/sys");

}  // namespace kilter::lab
