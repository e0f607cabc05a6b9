#include "balance/os/resctrl_observer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "kilter/error.hpp"

namespace kilter::balance::os {

resctrl_observer::resctrl_observer(std::string root) : root_(std::move(root)) {
  const auto now = bytes();
  if (!now)
    throw input_error(
        fmt::format("resctrl: there is no memory traffic to read below {}: the processor or the "
                    "kernel lacks it, or it is not mounted",
                    root_));
  first_bytes_ = *now;
}

std::optional<std::uint64_t> resctrl_observer::bytes() const {
  std::optional<std::uint64_t> sum;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root_ + "/mon_data", ignored)) {
    std::ifstream in(entry.path() / "mbm_total_bytes");
    if (std::uint64_t n = 0; in >> n) sum = sum.value_or(0) + n;
  }
  return sum;
}

std::vector<std::string> resctrl_observer::remarks() const {
  const auto now = bytes();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (!now || *now < first_bytes_ || seconds <= 0) return {};
  return {fmt::format("memory traffic of the whole machine: {:.2f} GB/s in the mean",
                      static_cast<double>(*now - first_bytes_) * 1e-9 / seconds)};
}

}  // namespace kilter::balance::os
