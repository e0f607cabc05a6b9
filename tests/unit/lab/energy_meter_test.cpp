// Energy from sensors as files of a made-up sysfs.

#include "measuring/energy_meter.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "stress/watchdog.hpp"

namespace kilter::lab {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class sysfs {
 public:
  sysfs()
      : root_(fs::temp_directory_path() /
              ("kilter energy " + std::to_string(::getpid()) + " " +
               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(root_);
  }
  ~sysfs() { fs::remove_all(root_); }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    const fs::path fresh = root_ / (file + ".new");
    std::ofstream(fresh) << text << "\n";
    fs::rename(fresh, root_ / file);
  }
  [[nodiscard]] std::string path() const { return root_.string(); }

 private:
  fs::path root_;
};

std::vector<std::string> names(const std::vector<energy_sensor>& all) {
  std::vector<std::string> each;
  for (const energy_sensor& s : all) each.push_back(s.name);
  return each;
}

TEST(energy_sensors, packages_count_their_parts_do_not_count_again) {
  const sysfs s;
  EXPECT_TRUE(energy_sensors(s.path()).empty());
  for (const char* zone :
       {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:2", "intel-rapl-mmio:0"}) {
    const std::string at = std::string("class/powercap/") + zone;
    s.put(at + "/energy_uj", "2500000");
    s.put(at + "/max_energy_range_uj", "262143328850");
    s.put(at + "/name", std::string_view(zone) == "intel-rapl:0:0" ? "core"
                        : std::string_view(zone) == "intel-rapl:2"
                            ? "psys"
                            : "package-" + std::string(1, zone[11]));
  }
  s.put("class/hwmon/hwmon0/name", "ina3221");
  s.put("class/hwmon/hwmon0/in1_label", "VDD_CPU");
  s.put("class/hwmon/hwmon0/in1_input", "5000");
  s.put("class/hwmon/hwmon0/curr1_input", "100");
  const auto all = energy_sensors(s.path());
  ASSERT_EQ(names(all), (std::vector<std::string>{"package-0", "package-1"}));
  EXPECT_DOUBLE_EQ(all[0].read(), 2.5);
  EXPECT_NEAR(all[0].range, 262143.32885, 1e-6);
}

TEST(energy_sensors, of_a_board_the_rails_of_the_cpu) {
  const sysfs s;
  s.put("class/hwmon/hwmon0/name", "amdgpu");
  s.put("class/hwmon/hwmon0/power1_input", "9000000");
  s.put("class/hwmon/hwmon1/name", "ina3221");
  for (const auto& [channel, label] :
       {std::pair{"1", "VDD_SYS_GPU"}, {"2", "VDD_SYS_CPU"}, {"3", "VDD_IN"}}) {
    s.put(std::string("class/hwmon/hwmon1/in") + channel + "_label", label);
    s.put(std::string("class/hwmon/hwmon1/in") + channel + "_input", "19000");
    s.put(std::string("class/hwmon/hwmon1/curr") + channel + "_input", "120");
  }
  const auto all = energy_sensors(s.path());
  ASSERT_EQ(names(all), std::vector<std::string>{"VDD_SYS_CPU"});
  EXPECT_DOUBLE_EQ(all[0].read(), 2.28);
}

TEST(energy_samples, are_cut_where_they_are_asked) {
  energy_samples s;
  const energy_samples::time t0{};
  EXPECT_FALSE(s.between(t0, t0));
  s.add(t0 + milliseconds(10), 1.0);
  s.add(t0 + milliseconds(20), 3.0);
  s.add(t0 + milliseconds(40), 4.0);
  EXPECT_DOUBLE_EQ(*s.between(t0 + milliseconds(15), t0 + milliseconds(30)), 1.5);
  EXPECT_DOUBLE_EQ(*s.between(t0 + milliseconds(10), t0 + milliseconds(40)), 3.0);
  EXPECT_DOUBLE_EQ(*s.between(t0 + milliseconds(20), t0 + milliseconds(20)), 0.0);
  EXPECT_FALSE(s.between(t0 + milliseconds(9), t0 + milliseconds(30)));
  EXPECT_FALSE(s.between(t0 + milliseconds(15), t0 + milliseconds(41)));
}

TEST(energy_meter, counts_over_the_end_of_a_counter) {
  const sysfs s;
  s.put("class/powercap/intel-rapl:0/name", "package-0");
  s.put("class/powercap/intel-rapl:0/max_energy_range_uj", "10000000");
  s.put("class/powercap/intel-rapl:0/energy_uj", "9000000");
  const auto before = std::chrono::steady_clock::now();
  energy_meter meter(energy_sensors(s.path()));
  EXPECT_EQ(meter.source(), "package-0");
  EXPECT_FALSE(meter.joules(before, std::chrono::steady_clock::now())) << "it began later";
  const auto begin = std::chrono::steady_clock::now();
  const auto joules = [&] { return meter.joules(begin, std::chrono::steady_clock::now()).value(); };
  EXPECT_NEAR(joules(), 0.0, 1e-9);
  s.put("class/powercap/intel-rapl:0/energy_uj", "500000");
  (void)joules();  // what is between two samples is spread out: the next end is after this one
  EXPECT_NEAR(joules(), 1.5, 1e-9);
  fs::remove_all(s.path());
  EXPECT_FALSE(meter.joules(begin, std::chrono::steady_clock::now())) << "the sensor is gone";
}

TEST(energy_meter, sums_power_up) {
  const sysfs s;
  s.put("class/hwmon/hwmon0/name", "ina3221");
  s.put("class/hwmon/hwmon0/power1_label", "VDD_CPU");
  s.put("class/hwmon/hwmon0/power1_input", "4000000");
  energy_meter meter(energy_sensors(s.path()));
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(milliseconds(50));
  const auto end = std::chrono::steady_clock::now();
  EXPECT_NEAR(*meter.joules(begin, end), 4.0 * std::chrono::duration<double>(end - begin).count(),
              1e-6);
}

TEST(energy_meter, without_sensors_nothing_is_known) {
  energy_meter meter(std::vector<energy_sensor>{});
  EXPECT_EQ(meter.source(), "");
  EXPECT_FALSE(meter.joules(std::chrono::steady_clock::now(), std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace kilter::lab
