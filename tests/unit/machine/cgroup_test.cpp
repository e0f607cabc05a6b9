// The CPU quota, on trees of files as Linux and container engines lay them out.

#include "machine/cgroup.hpp"

#include "unit/machine/support.hpp"

namespace kilter {
namespace {

class cgroup : public testing::Test {
 protected:
  void group(const std::string& text) { tree_.write("proc/self/cgroup", text); }
  void mounts(const std::string& text) { tree_.write("proc/self/mountinfo", text); }
  void file(const std::string& path, const std::string& text) { tree_.write(path, text); }
  std::optional<double> quota() const { return detail::cgroup_quota(tree_.path()); }

  void version_2(const std::string& path) {
    group("0::" + path + "\n");
    mounts(
        "25 1 0:20 / /sys rw - sysfs sysfs rw\n"
        "31 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void version_1(const std::string& path, const std::string& top = "/") {
    group("5:memory:/elsewhere\n3:cpu,cpuacct:" + path + "\n0::/\n");
    mounts("32 31 0:29 " + top +
           " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
           "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  }

  test::scratch tree_;
};

TEST_F(cgroup, nothing_there_is_no_limit) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(cgroup, version_2_quota_over_period) {
  version_2("/user.slice/job");
  file("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cgroup, version_2_without_a_limit) {
  version_2("/job");
  file("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, the_tightest_level_counts) {
  version_2("/a/b/c");
  file("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup, every_directory_that_may_limit_is_told) {
  version_2("/a/b");
  const auto at = tree_.path() / "sys/fs/cgroup";
  EXPECT_EQ(detail::cgroup_directories(tree_.path()),
            (std::vector<std::filesystem::path>{at / "a/b", at / "a", at}));
}

TEST_F(cgroup, the_own_group_alone_knows_nothing_of_those_above) {
  version_2("/a/b");
  file("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  EXPECT_EQ(detail::own_cgroup_quota(tree_.path()), std::nullopt);
  file("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(detail::own_cgroup_quota(tree_.path()), 3.0);
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup, a_container_sees_its_own_group_as_the_top) {
  version_2("/");
  file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(cgroup, a_group_outside_the_namespace_falls_back_to_the_mount) {
  version_2("/../other");
  file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  file("sys/fs/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 3.0);
}

TEST_F(cgroup, version_1_quota_over_period) {
  version_1("/job");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "10000\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(cgroup, version_1_minus_one_is_no_limit) {
  version_1("/job");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, version_1_in_a_container_with_the_hosts_paths) {
  version_1("/docker/abc", "/docker/abc");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(cgroup, cpuset_is_not_cpu) {
  group("3:cpuset:/job\n");
  mounts("33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  file("sys/fs/cgroup/cpuset/job/cpu.cfs_quota_us", "100000\n");
  file("sys/fs/cgroup/cpuset/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, escaped_mount_points) {
  group("0::/\n");
  mounts("31 25 0:26 / /mnt/my\\040groups rw - cgroup2 none rw\n");
  file("mnt/my groups/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(cgroup, garbage_is_no_limit) {
  for (const auto* text :
       {"", "\n", "abc", "100000", "0 100000", "100000 0", "-5 100000", "\xff\xfe"}) {
    version_2("/job");
    file("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(quota(), std::nullopt) << text;
  }
  group(":::\n::\n0:\n");
  mounts("- - -\n - cgroup2\n1 2 3 - cgroup2 x y\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(paid_cores, are_rounded_up_but_for_a_twentieth) {
  const machine m = machine::uniform(4);
  const std::pair<std::optional<double>, std::uint32_t> table[] = {
      {std::nullopt, 4}, {0.01, 1}, {1.0, 1}, {1.04, 1}, {1.06, 2}, {2.5, 3}, {4.0, 4}, {1e9, 4}};
  for (const auto& [quota, cores] : table)
    EXPECT_EQ(detail::within_quota(m, quota).core_count(), cores) << quota.value_or(-1);
  EXPECT_EQ(detail::first_cores(m, 3).core_count(), 3u);
  EXPECT_EQ(detail::first_cores(m, 9).core_count(), 4u);
}

TEST(cgroup_live, this_process_has_a_positive_quota_or_none) {
  const auto quota = cgroup_quota_cores();
  EXPECT_TRUE(!quota || *quota > 0);
}

}  // namespace
}  // namespace kilter
