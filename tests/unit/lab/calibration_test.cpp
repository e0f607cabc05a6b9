// What calibrate measures becomes a platform that the simulator runs on; figures are only held to
// be possible ones.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>

#include "measuring/moved_lines.hpp"
#include "measuring/rates.hpp"
#include "measuring/simulation.hpp"
#include "presenting/calibration_output.hpp"
#include "unit/support.hpp"

namespace kilter::lab {
namespace {

std::string refusal(const std::string& kernels, const std::string& tiles,
                    const std::string& repeats = "1", const std::string& cores = "") {
  return kilter::test::refusal([&] { (void)plan_calibration(kernels, tiles, repeats, cores); });
}

TEST(calibration, writes_a_platform_of_this_machine_that_can_be_simulated) {
  calibration_plan plan = plan_calibration("matmul,sort", "matmul=16,sort=64", "2", "");
  plan.batch_s = 2e-3;
  progress quiet(1, true);
  const calibration c = calibrate(plan, quiet);
  ASSERT_TRUE(c.complete);
  const kilter::test::scratch folder;
  const std::string file = folder.write("measured.toml", platform_file_text(c));
  const sim::platform p = sim::platform::load(file);
  ASSERT_EQ(p.cores->core_count(), plan.machine->core_count());
  EXPECT_EQ(p.cores->places().size(), plan.machine->places().size());
  EXPECT_EQ(p.name, plan.machine->name());
  for (core_id id = 0; id < p.cores->core_count(); ++id)
    EXPECT_EQ(p.cores->cores()[id].os_index, plan.machine->cores()[id].os_index);
  ASSERT_EQ(p.kernels.size(), 2 * plan.machine->kinds().size());
  for (const sim::kernel_cost& k : p.kernels) {
    ASSERT_EQ(k.seconds.size(), p.widths(k.kind).size());
    for (const double s : k.seconds) EXPECT_GT(s, 1e-8) << k.name;
    EXPECT_NE(k.from.source.find("measured"), std::string::npos);
    EXPECT_NE(k.from.source.find("quartiles"), std::string::npos);
    EXPECT_EQ(k.bytes, k.name == "matmul" ? 3 * 16 * 16 * 4 : 2 * 64 * 4) << k.name;
  }
  EXPECT_GT(p.core_bytes_per_s[0], 1e6);
  EXPECT_GE(p.noise_sigma, 0.0);
  // Neighbours may leave two threads no turn in so short a time; then nothing is said.
  const auto turns = c.in_cluster_line_s.samples + c.between_clusters_line_s.samples;
  EXPECT_EQ(p.origin_of("moved line") != nullptr, turns > 0);

  specification a;
  a.on = read_engine("--on", "sim:" + file);
  a.work = make_workload("layered", {{"tile", "16"}, {"tasks", "50"}});
  a.repeats = 1;
  a.details = false;
  simulation s(lab::plan(a), quiet);
  s.run();
  EXPECT_EQ(s.result().runs.at(0).stats.tasks, 50u);
}

TEST(calibration, a_name_with_quotes_stays_one_name) {
  calibration c;
  c.machine = std::make_shared<const machine>(
      "The \"big\" \\ one", std::vector<core_kind>{{.id = 0, .name = "a\"b", .cores = 1}},
      std::vector<core>{{}});
  c.core_bytes_per_s = c.cluster_bytes_per_s = {{}};
  c.kernels = {{"copy", 8, 0, 0, {1}, {{1e-6, 9e-7, 2e-6, 10}}, 512.0}};
  const kilter::test::scratch folder;
  const std::string file = folder.write("measured.toml", platform_file_text(c));
  const sim::platform p = sim::platform::load(file);
  EXPECT_EQ(p.name, "The \"big\" \\ one");
  EXPECT_EQ(p.cores->kinds()[0].name, "a\"b");
  EXPECT_DOUBLE_EQ(p.kernels.at(0).seconds.at(0), 1e-6);
  EXPECT_EQ(p.core_bytes_per_s[0], 0.0) << "nothing was measured, so there is no limit";
  EXPECT_EQ(p.origin_of("moved line"), nullptr) << "one core moves none";
}

TEST(calibration, moved_lines_are_written_as_they_were_measured) {
  calibration c;
  c.machine = std::make_shared<const machine>(machine::uniform(4, 2));
  c.core_bytes_per_s = c.cluster_bytes_per_s = {{}};
  c.in_cluster_line_s = {2e-14, 0.0, 1e-13, 7};
  c.between_clusters_line_s = {3e-9, 2e-9, 4e-9, 8};
  const kilter::test::scratch folder;
  const std::string file = folder.write("measured.toml", platform_file_text(c));
  const sim::platform p = sim::platform::load(file);
  EXPECT_EQ(p.moved_line.in_cluster_s, 0.0) << "less than files may say, and than any clock shows";
  EXPECT_DOUBLE_EQ(p.moved_line.between_clusters_s, 3e-9);
  EXPECT_NE(calibration_text(c).find("between clusters"), std::string::npos);
}

TEST(calibration, lines_are_moved_between_the_ends_of_clusters_and_neighbouring_ones) {
  using pairs = core_pairs::list;
  const core_pairs two = pairs_of(machine::uniform(8, 2));
  const core_pairs single = pairs_of(machine::uniform(2, 2));
  EXPECT_EQ(two.in_cluster, (pairs{{0, 3}, {4, 7}}));
  EXPECT_EQ(two.between_clusters, (pairs{{0, 4}}));
  EXPECT_TRUE(single.in_cluster.empty());
  EXPECT_EQ(single.between_clusters, (pairs{{0, 1}}));
}

TEST(calibration, figures_are_median_and_quartiles) {
  const sampled_value f = sampled_value_of({5, 1, 2, 4, 3});
  EXPECT_EQ(f.median, 3.0);
  EXPECT_EQ(f.low, 2.0);
  EXPECT_EQ(f.high, 4.0);
  EXPECT_EQ(f.samples, 5u);
  EXPECT_EQ(sampled_value_of({1, 2}).median, 1.5);
  EXPECT_EQ(sampled_value_of({}).samples, 0u);
}

TEST(calibration, refuses_what_cannot_be_measured) {
  EXPECT_NE(refusal("matmull", "").find("did you mean 'matmul'"), std::string::npos);
  EXPECT_NE(refusal("copy,copy", "").find("twice"), std::string::npos);
  EXPECT_NE(refusal("matmul", "copy=64").find("copy is not among the kernels"), std::string::npos);
  EXPECT_NE(refusal("matmul", "64").find("'64'"), std::string::npos);
  EXPECT_NE(refusal("matmul", "matmul=0").find("'0'"), std::string::npos);
  EXPECT_NE(refusal("matmul", "", "0").find("'0'"), std::string::npos);
  EXPECT_NE(refusal("matmul", "", "1", "99999,").find("99999"), std::string::npos);
}

// Pinned loops: which there are, and that a team does one whole task after the other.

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
