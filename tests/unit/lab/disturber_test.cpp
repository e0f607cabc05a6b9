// Disturbers on this computer: that they do what they say and leave nothing behind. How exact they
// are is not tested here.

#include "disturbing/disturber.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "kilter/error.hpp"
#include "machine/cgroup.hpp"
#include "measuring/presence.hpp"

namespace kilter::lab {
namespace {

using namespace std::chrono_literals;

const machine& here() {
  static const machine m = machine::local();
  return m;
}

disturber_options quick() { return {0.01, nullptr}; }
bool no_realtime() noexcept { return false; }

std::size_t thread_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

// Processes whose parent is `parent`, by /proc; the waited-for ones too.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), {});
    std::istringstream rest(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    char process_state = 0;
    pid_t ppid = 0;
    if (rest >> process_state >> ppid && ppid == parent) found.push_back(std::stoi(name));
  }
  return found;
}

// Waits for a condition that the scheduler may delay, up to a limit that only a fault reaches.
template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

std::string refusal(const char* scenario, const machine& m) {
  try {
    const disturber d(m, parse_disturbances(scenario, m), quick());
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

class every_load : public testing::TestWithParam<const char*> {};

TEST_P(every_load, runs_stops_and_leaves_nothing_behind) {
  // ThreadSanitizer has a thread of its own as soon as there was a second. One that was joined is
  // listed a moment longer.
  pid_t ended = 0;
  std::thread([&] { ended = gettid(); }).join();
  ASSERT_TRUE(eventually(
      [&] { return !std::filesystem::exists("/proc/self/task/" + std::to_string(ended)); }));
  const std::size_t threads = thread_count();
  {
    disturber d(here(), parse_disturbances(GetParam(), here()), quick());
    EXPECT_TRUE(eventually([&] { return thread_count() == threads; }))
        << "calibration left a thread";
    ASSERT_EQ(d.calibration().rows.size(), d.report().rows.size());
    for (int run = 0; run < 2; ++run) {
      d.start(10.0);
      EXPECT_GT(thread_count(), threads);
      EXPECT_TRUE(eventually([&] {
        const auto rows = d.report().rows;
        return std::all_of(rows.begin(), rows.end(),
                           [](const auto& r) { return r.active_s > 0.03; });
      })) << "a load never became active";
      d.stop();
      d.stop();
      EXPECT_TRUE(eventually([&] { return thread_count() == threads; }));
      EXPECT_FALSE(has_children());
      for (const disturber_row& row : d.report().rows) {
        ASSERT_TRUE(row.achieved_share) << row.disturbance;
        EXPECT_GE(*row.achieved_share, 0.0);
        EXPECT_LE(*row.achieved_share, 1.0);
        EXPECT_LT(*row.achieved_share, 0.999) << row.disturbance << " took nothing";
        ASSERT_TRUE(row.progress);
        EXPECT_GT(*row.progress, 0.0);
        EXPECT_GE(row.steal_s, 0.0);
        EXPECT_FALSE(row.method.empty());
      }
    }
    d.start(10.0);  // the destructor ends what still runs
  }
  EXPECT_TRUE(eventually([&] { return thread_count() == threads; }));
  EXPECT_FALSE(has_children());
}

INSTANTIATE_TEST_SUITE_P(kinds, every_load,
                         testing::Values("cpu@0", "mem@0", "float@all", "session@0", "share@0:50%",
                                         "wave@0:30%,0.02", "cpu@0+share@0:60%", "cpu@all"));

TEST(disturber, a_co_runner_tells_its_speed_alone_and_beside_others) {
  disturber d(here(), parse_disturbances("cpu@0", here()), quick());
  ASSERT_EQ(d.calibration().rows.size(), 1u);
  ASSERT_TRUE(d.calibration().rows[0].alone_per_s);
  EXPECT_GT(*d.calibration().rows[0].alone_per_s, 100);
  d.start();
  ASSERT_TRUE(eventually([&] { return d.report().rows[0].during_per_s.value_or(0) > 0; }));
  d.stop();
  const disturber_report report = d.report();
  EXPECT_NEAR(*report.progress(), *report.rows[0].during_per_s / *report.rows[0].alone_per_s, 1e-9);
}

TEST(disturber, says_so_when_it_falls_back_without_realtime_permission) {
  disturber d(here(), parse_disturbances("share@0:50%", here()), {0.02, no_realtime});
  d.start();
  ASSERT_TRUE(eventually([&] { return d.report().rows[0].active_s > 0.05; }));
  d.stop();
  for (const auto& row : {d.calibration().rows.at(0), d.report().rows.at(0)}) {
    EXPECT_NE(row.method.find("(no real-time permission)"), std::string::npos) << row.method;
    EXPECT_NE(row.note.find("fell back"), std::string::npos);
  }
  EXPECT_NE(disturb_calibration_text(d.calibration()).find("fell back"), std::string::npos);
}

// The real door, in a child that gave its rights away: root without the capability is what a user
// is.
TEST(disturber, works_for_a_plain_user) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    int verdict = 0;
    if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || (getuid() == 0 && setuid(65534) != 0)) _exit(9);
    try {
      disturber d(here(), parse_disturbances("wave@0:50%,0.02+cpu@0", here()), quick());
      d.start();
      std::this_thread::sleep_for(100ms);
      d.stop();
      const auto rows = d.report().rows;
      if (rows[0].method.find("no real-time") == std::string::npos) verdict = 1;
      if (!rows[1].progress) verdict = 2;
    } catch (...) {
      verdict = 3;
    }
    _exit(verdict);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(disturber, a_child_is_in_a_session_of_its_own_and_dies_with_its_parent) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t middle = fork();
  if (middle == 0) {
    disturber d(here(), parse_disturbances("session@0", here()), quick());
    d.start();
    std::vector<pid_t> children;
    eventually([&] {
      children = children_of(getpid());
      return !children.empty() && getsid(children[0]) == children[0];
    });
    const pid_t child = children.empty() ? 0 : children[0];
    if (write(told[1], &child, sizeof child) != sizeof child) _exit(1);
    while (true) pause();
  }
  close(told[1]);
  pid_t child = 0;
  ASSERT_EQ(read(told[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  close(told[0]);
  ASSERT_GT(child, 0);
  EXPECT_EQ(getsid(child), child);
  kill(middle, SIGKILL);  // no destructor runs
  ASSERT_EQ(waitpid(middle, nullptr, 0), middle);
  EXPECT_TRUE(eventually([&] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    // gone, or waiting for init only
    return !std::getline(stat, text) || text.find(") Z") != std::string::npos;
  })) << "the child outlived its parent";
}

TEST(disturber, a_window_in_the_past_is_over_and_one_to_come_has_not_begun) {
  disturber d(here(), parse_disturbances("cpu@0@0..0.02+cpu@0@500..1000", here()), quick());
  d.start();
  ASSERT_TRUE(eventually([&] { return d.report().rows[0].active_s > 0; }));
  std::this_thread::sleep_for(60ms);
  const double once = d.report().rows[0].active_s;
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(d.report().rows[0].active_s, once);
  EXPECT_FALSE(d.report().rows[1].achieved_share);
  d.stop();
  EXPECT_NE(disturb_report_text(d.report()).find("was never active"), std::string::npos);
}

TEST(disturber, fractions_need_the_length_of_the_run) {
  disturber d(here(), parse_disturbances("cpu@0@25%..75%", here()), quick());
  EXPECT_THROW(d.start(), input_error);
  EXPECT_NO_THROW(d.start(0.2));
}

TEST(disturber, refuses_what_exists_only_simulated) {
  EXPECT_NE(refusal("freq@0:50%", here()).find("a time share is not a clock change"),
            std::string::npos);
  EXPECT_NE(refusal("offline@0", here()).find("simulated"), std::string::npos);
  EXPECT_EQ(refusal("freq@0:50%", here()).find('\n'), std::string::npos);
}

TEST(disturber, names_a_core_that_this_computer_does_not_have) {
  std::vector<core> cores(2);
  cores[1].id = 1;
  cores[1].os_index = 4095;
  const machine m("made up", {{0, "core", 2, 0.0}}, cores);
  EXPECT_NE(refusal("cpu@1", m).find("CPU 4095"), std::string::npos) << refusal("cpu@1", m);
}

TEST(disturber, a_quota_is_for_the_whole_program) {
  const machine two = machine::uniform(2);
  EXPECT_NE(refusal("quota@0:50%", two).find("quota@all"), std::string::npos);
}

std::string own_cpu_group() {
  std::ifstream groups("/proc/self/cgroup");
  return std::string((std::istreambuf_iterator<char>(groups)), {});
}

TEST(disturber, a_quota_is_entered_and_left_again) {
  std::unique_ptr<disturber> d;
  try {
    d = std::make_unique<disturber>(here(), parse_disturbances("quota@all:50%", here()), quick());
  } catch (const input_error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    GTEST_SKIP() << e.what();
  }
  const std::string before = own_cpu_group();
  d->start();
  EXPECT_NE(own_cpu_group(), before);
  EXPECT_NE(own_cpu_group().find("kilter-quota-"), std::string::npos);
  ASSERT_TRUE(eventually([&] { return d->report().rows[0].active_s > 0.05; }));
  d->stop();
  EXPECT_EQ(own_cpu_group(), before);
  EXPECT_EQ(d->report().rows[0].note, "");
  d.reset();
  EXPECT_EQ(own_cpu_group(), before);
}

TEST(disturber, a_quota_limits_once_start_has_returned) {
  std::unique_ptr<disturber> d;
  try {
    d = std::make_unique<disturber>(here(), parse_disturbances("quota@all:50%", here()), quick());
  } catch (const input_error& e) {
    GTEST_SKIP() << e.what();
  }
  for (int again = 0; again < 100; ++again) {
    d->start();
    const auto limit = kilter::detail::own_cgroup_quota("/");
    d->stop();
    if (d->report().rows[0].note == "") {
      ASSERT_TRUE(limit) << "start " << again;
      EXPECT_NEAR(*limit, 0.5 * here().core_count(), 0.01);
    }
  }
}

TEST(disturber, two_scenarios_of_one_process_may_each_have_a_quota) {
  std::unique_ptr<disturber> first, second;
  try {
    first =
        std::make_unique<disturber>(here(), parse_disturbances("quota@all:50%", here()), quick());
  } catch (const input_error& e) {
    GTEST_SKIP() << e.what();
  }
  second =
      std::make_unique<disturber>(here(), parse_disturbances("quota@all:75%", here()), quick());
  const std::string before = own_cpu_group();
  first->start();
  const std::string in_first = own_cpu_group();
  first->stop();
  second->start();
  EXPECT_NE(own_cpu_group(), in_first);
  EXPECT_NE(own_cpu_group(), before);
  second->stop();
  EXPECT_EQ(own_cpu_group(), before);
}

TEST(disturber, other_loads_stay_outside_the_quota) {
  std::unique_ptr<disturber> d;
  try {
    d = std::make_unique<disturber>(
        here(), parse_disturbances("quota@all:50%+cpu@0+share@0:50%+session@0", here()), quick());
  } catch (const input_error& e) {
    GTEST_SKIP() << e.what();
  }
  d->start();
  ASSERT_TRUE(eventually([&] {
    const auto rows = d->report().rows;
    return std::all_of(rows.begin(), rows.end(), [](const auto& r) { return r.active_s > 0.02; });
  }));
  std::size_t outside = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "cgroup");
    const std::string groups((std::istreambuf_iterator<char>(file)), {});
    outside += groups.find("kilter-quota-") == std::string::npos;
  }
  EXPECT_EQ(outside, 4u) << "the keeper of the quota and three loads";
  EXPECT_EQ(d->report().rows[2].method, d->calibration().rows[2].method)
      << "real-time priority was lost inside the quota";
  d->stop();
}

TEST(disturber, report_as_json_has_every_row_and_nulls_for_what_is_unknown) {
  disturber d(here(), parse_disturbances("cpu@0+share@0:50%", here()), quick());
  const auto json = disturb_report_json(d.report());
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["disturb"], "cpu@0");
  EXPECT_TRUE(json[0]["wanted_share"].is_null());
  EXPECT_TRUE(json[0]["achieved_share"].is_null());
  EXPECT_GT(json[0]["alone_per_s"].get<double>(), 0);
  EXPECT_EQ(json[1]["wanted_share"], 0.5);
}

TEST(disturber, nothing_to_do_is_fine) {
  disturber d(here(), {}, quick());
  d.start();
  d.stop();
  EXPECT_TRUE(d.report().rows.empty());
  EXPECT_FALSE(d.report().achieved_share());
}

disturber_row row(double active_s, double share, double progress, bool co_runner = true) {
  disturber_row r;
  r.active_s = active_s;
  r.achieved_share = share;
  r.progress = progress;
  if (co_runner) r.alone_per_s = 1000.0;
  return r;
}

TEST(presence, what_a_run_saw_leaves_out_the_time_before_it) {
  // 0.1 s alone on the core (nothing left to others, full speed), then 0.9 s in which half was
  // left.
  const auto e = difference({{row(0.1, 0.0, 1.0)}}, {{row(1.0, 0.45, 0.55)}});
  EXPECT_NEAR(e.share.value(), 0.5, 1e-12);
  EXPECT_NEAR(e.progress.value(), 0.5, 1e-12);
}

TEST(presence, a_window_that_never_opened_has_no_figures) {
  const auto e = difference({{disturber_row{}}}, {{disturber_row{}}});
  EXPECT_FALSE(e.share.has_value());
  EXPECT_FALSE(e.progress.has_value());
}

TEST(presence, progress_is_that_of_co_runners_where_there_are_any) {
  const auto e = difference({}, {{row(1.0, 0.5, 0.5), row(1.0, 0.3, 0.99, false)}});
  EXPECT_NEAR(e.progress.value(), 0.5, 1e-12);
  EXPECT_NEAR(e.share.value(), 0.4, 1e-12);
}

TEST(presence, waves_and_windows_start_with_the_run) {
  const machine here = machine::local();
  EXPECT_FALSE(presence(here, {}).timed());
  EXPECT_FALSE(presence(here, parse_disturbances("cpu@0", here)).timed());
  EXPECT_TRUE(presence(here, parse_disturbances("cpu@0@0.1..0.2", here)).timed());
}

}  // namespace
}  // namespace kilter::lab
