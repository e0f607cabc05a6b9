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
  explicit in_cluster(const machine& m) : cores_(m.core_count()), clusters_(m.clusters().size()) {
    for (const core& c : m.cores()) clusters_[c.cluster].push_back(c.id);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "in-cluster"; }
  [[nodiscard]] double first_s() const noexcept override { return kernel_tick_s; }
  [[nodiscard]] core_id place(const newcomer&, std::span<const std::uint32_t> taken) override {
    return static_cast<core_id>(std::ranges::min_element(taken) - taken.begin());
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
  std::uint32_t cores_;
  std::vector<std::vector<core_id>> clusters_;
};

}  // namespace

std::unique_ptr<scheduler> make_in_cluster(const machine& m, const scheduler_options&) { return std::make_unique<in_cluster>(m); }

}  // namespace kilter::balance
