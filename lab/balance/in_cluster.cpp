#include "balance/in_cluster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "balance/gts.hpp"
#include "balance/seating.hpp"

namespace kilter::balance {

namespace {

class in_cluster final : public scheduler {
 public:
  in_cluster(const machine& m, bool slow_first)
      : slow_first_(slow_first), cores_(m.core_count()), clusters_(m.clusters().size()) {
    for (const core& c : m.cores()) clusters_[c.cluster].push_back(c.id);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "in-cluster"; }
  [[nodiscard]] double first_s() const noexcept override { return kernel_tick_s; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t> taken) override {
    const auto fewest = std::ranges::min(taken);
    if (slow_first_)
      return static_cast<core_id>(taken.rend() -
                                  std::ranges::find(taken.rbegin(), taken.rend(), fewest) - 1);
    return static_cast<core_id>(std::ranges::find(taken, fewest) - taken.begin());
  }
  [[nodiscard]] answer tick(const observation& o) override {
    seating seats(o, cores_);
    for (const std::vector<core_id>& cluster : clusters_) seats.even_out(cluster);
    answer a;
    a.moves = seats.take();
    a.next_s = kernel_tick_s;
    return a;
  }

 private:
  bool slow_first_;
  std::uint32_t cores_;
  std::vector<std::vector<core_id>> clusters_;
};

}  // namespace

std::unique_ptr<scheduler> make_in_cluster(const machine& m, const scheduler_options& o) {
  return std::make_unique<in_cluster>(m, o.slow_first);
}

}  // namespace kilter::balance
