// Pinned loops: which there are, and that a team does one whole task after the other.
#include "measuring/rates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace kilter::lab {
namespace {

constexpr std::uint32_t parts_when_wide = 5;

/// Sees parts of a task that begin while another one is not complete.
class order_watcher final : public apps::kernel_instance {
 public:
  order_watcher()
      : kernel_instance("watching", 1, 64, {.concurrency = 16, .pool_bytes = 1024}),
        done_(slots()) {}
  [[nodiscard]] std::uint32_t parts(std::uint32_t width) const noexcept override {
    return width == 1 ? 1 : parts_when_wide;
  }
  [[nodiscard]] bool check(std::uint64_t) const override { return true; }
  [[nodiscard]] bool mixed() const { return mixed_; }
  [[nodiscard]] std::uint32_t parts_done() const {
    std::uint32_t all = 0;
    for (const auto& n : done_) all += n;
    return all;
  }

 private:
  void body(std::size_t slot, std::uint32_t, std::uint32_t of) noexcept override {
    if (of != parts_when_wide) return;
    for (std::size_t other = 0; other < done_.size(); ++other)
      if (other != slot && done_[other] % parts_when_wide != 0) mixed_ = true;
    ++done_[slot];
  }

  std::vector<std::atomic<std::uint32_t>> done_;
  std::atomic<bool> mixed_{false};
};

TEST(pinned_loops, of_a_team_do_one_whole_task_after_the_other) {
  order_watcher kernel;
  const machine two = machine::uniform(2);
  const rate_sample r = measure_rates(kernel, two, 0.002);
  EXPECT_FALSE(kernel.mixed());
  EXPECT_GE(kernel.parts_done(), 3 * parts_when_wide);
  EXPECT_EQ(kernel.parts_done() % parts_when_wide, 0u);
  ASSERT_EQ(r.alone_per_s.size(), 2u);
  EXPECT_EQ(r.alone_per_s[1], r.single_per_s[1]) << "it leads no wide place";
  EXPECT_GE(r.alone_per_s[0], r.single_per_s[0]);
}

TEST(pinned_loops, keep_to_the_widths_that_tasks_may_have) {
  order_watcher kernel;
  const machine two = machine::uniform(2);
  const rate_sample narrow = measure_rates(kernel, two, 0.0, std::array{1u});
  EXPECT_EQ(kernel.parts_done(), 0u);
  EXPECT_EQ(narrow.alone_per_s, narrow.single_per_s);
  const rate_sample wide = measure_rates(kernel, two, 0.0, std::array{2u});
  EXPECT_EQ(kernel.parts_done(), 3 * parts_when_wide);
  EXPECT_EQ(wide.alone_per_s[1], 0.0);
  EXPECT_EQ(wide.together_per_s[0], wide.alone_per_s[0] / 2);
}

TEST(pinned_loops, are_counted) {
  EXPECT_EQ(loops_of(machine::uniform(1)), 1u);
  EXPECT_EQ(loops_of(machine::uniform(2)), 2u + 1u + 1u);
  EXPECT_EQ(loops_of(machine::uniform(4)), 4u + 1u + 2u + 1u);
  EXPECT_EQ(loops_of(machine::uniform(4), std::array{1u}), 4u + 1u);
}

}  // namespace
}  // namespace kilter::lab
