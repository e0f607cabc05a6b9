// Observers where the counters are someone else's: a fake stands in for the kernel, since machines
// that build Kilter often have none.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "actors.hpp"
#include "balance/os/pmu_observer.hpp"
#include "balance/os/report.hpp"
#include "balance/os/resctrl_observer.hpp"
#include "balance/os/session.hpp"
#include "balance/recording.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os::testing {

namespace {

/// What the counters of one group say.
struct fake_group {
  std::uint64_t enabled_ns = 0, running_ns = 0, cycles = 0, instructions = 0, loads = 0, misses = 0;
};

/// A kernel with counters of its own making. It lives outside of the observer that it serves.
struct fake_kernel {
  std::vector<cpu_pmu> pmus{{"cpu", 4}};
  /// by kind of core (0: the only one) and thread
  std::map<std::pair<std::uint32_t, pid_t>, fake_group> groups;
  /// by type and config, the kind of core left out
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> errors;
  std::map<pid_t, int> thread_errors;
  std::map<int, std::pair<std::uint32_t, pid_t>> open_fds;
  std::set<int> leaders;
  int next_fd = 100;
};

class fake_calls final : public perf_calls {
 public:
  explicit fake_calls(fake_kernel& k) : k_(k) {}
  [[nodiscard]] std::vector<cpu_pmu> pmus() const override { return k_.pmus; }
  [[nodiscard]] int open(const perf_event_attr& a, pid_t tid, int group) override {
    if (const auto at = k_.thread_errors.find(tid); at != k_.thread_errors.end())
      return -at->second;
    if (const auto at = k_.errors.find({a.type, a.config & 0xffffffff}); at != k_.errors.end())
      return -at->second;
    if (group >= 0 && !k_.leaders.contains(group)) return -EBADF;
    const int fd = k_.next_fd++;
    k_.open_fds[fd] = {static_cast<std::uint32_t>(a.config >> 32), tid};
    if (group < 0) k_.leaders.insert(fd);
    return fd;
  }
  [[nodiscard]] bool read(int fd, std::span<std::uint64_t> into) override {
    const auto at = k_.open_fds.find(fd);
    if (at == k_.open_fds.end() || into.size() != 7) return false;
    const fake_group& g = k_.groups[at->second];
    const std::uint64_t raw[] = {4,       g.enabled_ns, g.running_ns, g.cycles, g.instructions,
                                 g.loads, g.misses};
    std::copy(std::begin(raw), std::end(raw), into.begin());
    return true;
  }
  void close(int fd) noexcept override { k_.open_fds.erase(fd); }

 private:
  fake_kernel& k_;
};

std::string refusal(fake_kernel& k) {
  try {
    pmu_observer{std::make_unique<fake_calls>(k)};
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

constexpr std::uint64_t ms = 1'000'000;

TEST(pmu, gives_misses_ratio_and_instructions_of_each_quantum) {
  fake_kernel k;
  pmu_observer o(std::make_unique<fake_calls>(k));
  const watched_thread t = self();
  auto& g = k.groups[{0, t.tid}];
  o.add(t);
  g = {500 * ms, 500 * ms, 9000, 1000, 400, 100};
  thread_sample s;
  o.fill(t, s);
  EXPECT_EQ(s.misses, 100);
  EXPECT_EQ(s.miss_ratio, 0.25);
  EXPECT_EQ(s.instructions, 1000);
  g = {700 * ms, 700 * ms, 9500, 1500, 400, 100};
  s = {};
  o.fill(t, s);
  EXPECT_EQ(s.misses, 0) << "a quantum has what was counted since the one before";
  EXPECT_EQ(s.instructions, 500);
  EXPECT_FALSE(s.miss_ratio) << "no loads, no ratio";
  EXPECT_TRUE(o.remarks().empty());
}

TEST(pmu, adds_up_the_kinds_of_a_hybrid_processor_without_calling_that_multiplexing) {
  fake_kernel k;
  k.pmus = {{"cpu_atom", 10}, {"cpu_core", 4}};
  pmu_observer o(std::make_unique<fake_calls>(k));
  EXPECT_NE(o.limits().find("cpu_atom cpu_core"), std::string::npos);
  const watched_thread t = self();
  o.add(t);
  k.groups[{10, t.tid}] = {500 * ms, 200 * ms, 0, 300, 50, 20};
  k.groups[{4, t.tid}] = {500 * ms, 300 * ms, 0, 700, 150, 30};
  thread_sample s;
  o.fill(t, s);
  EXPECT_EQ(s.misses, 50);
  EXPECT_EQ(s.miss_ratio, 0.25);
  EXPECT_EQ(s.instructions, 1000);
  EXPECT_TRUE(o.remarks().empty());
}

TEST(pmu, scales_up_shared_counters_and_says_so) {
  fake_kernel k;
  pmu_observer o(std::make_unique<fake_calls>(k));
  const watched_thread t = self();
  o.add(t);
  k.groups[{0, t.tid}] = {400 * ms, 100 * ms, 0, 50, 20, 10};
  thread_sample s;
  o.fill(t, s);
  EXPECT_EQ(s.misses, 40);
  EXPECT_EQ(s.instructions, 200);
  EXPECT_EQ(s.miss_ratio, 0.5);
  k.groups[{0, t.tid}].enabled_ns += 100 * ms;
  s = {};
  o.fill(t, s);
  EXPECT_FALSE(s.misses) << "a thread that was not counted has no rate, not the rate 0";
  ASSERT_EQ(o.remarks().size(), 2U);
  EXPECT_NE(o.remarks()[0].find("1 of 2 samples"), std::string::npos) << o.remarks()[0];
}

TEST(pmu, counts_cache_misses_in_general_where_the_last_level_cannot_be) {
  fake_kernel k;
  k.errors[{PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL}] = ENOENT;
  pmu_observer o(std::make_unique<fake_calls>(k));
  EXPECT_NE(o.limits().find("cache references"), std::string::npos);
}

TEST(pmu, says_why_it_does_not_work) {
  fake_kernel none, forbidden, missing, forbidden_by_profile, half;
  none.pmus.clear();
  forbidden.errors[{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}] = EACCES;
  missing.errors[{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}] = ENOENT;
  forbidden_by_profile.errors[{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}] = ENOSYS;
  EXPECT_NE(refusal(none).find("no counters"), std::string::npos);
  EXPECT_NE(refusal(forbidden).find("CAP_PERFMON"), std::string::npos) << refusal(forbidden);
  EXPECT_NE(refusal(missing).find("not there, as in most virtual machines"), std::string::npos)
      << refusal(missing);
  EXPECT_NE(refusal(forbidden_by_profile).find("security profile"), std::string::npos);
  for (const fake_kernel* k : {&forbidden, &missing})
    EXPECT_TRUE(k->open_fds.empty()) << "descriptors leak";
}

TEST(pmu, a_thread_that_ends_while_its_counters_are_opened_is_left_out) {
  fake_kernel k;
  {
    pmu_observer o(std::make_unique<fake_calls>(k));
    watched_thread gone = self();
    k.thread_errors[gone.tid] = ESRCH;
    o.add(gone);
    thread_sample s;
    o.fill(gone, s);
    EXPECT_FALSE(s.misses);
    EXPECT_TRUE(o.remarks().empty());

    k.thread_errors.clear();
    gone.start -= 1;  // the number belongs to another thread by now
    o.add(gone);
    o.fill(gone, s);
    EXPECT_FALSE(s.misses);
    EXPECT_TRUE(k.open_fds.empty()) << "it counts a stranger";

    watched_thread other = self();
    other.id = 1;
    k.thread_errors[other.tid] = EACCES;
    o.add(other);
    ASSERT_EQ(o.remarks().size(), 1U);
    EXPECT_NE(o.remarks()[0].find("1 threads could not be counted"), std::string::npos);

    k.thread_errors.clear();
    o.add(other);
    EXPECT_EQ(k.open_fds.size(), 4U);
    o.remove(other);
    EXPECT_TRUE(k.open_fds.empty());
    o.add(other);
  }
  EXPECT_TRUE(k.open_fds.empty()) << "descriptors leak";
}

TEST(pmu, of_this_machine_counts_or_says_why_not) {
  try {
    pmu_observer o(std::make_unique<linux_perf_calls>());
    const watched_thread t = self();
    o.add(t);
    volatile double x = 1;
    for (int i = 0; i < 3'000'000; ++i) x = x * 1.0000001;
    thread_sample s;
    o.fill(t, s);
    ASSERT_TRUE(s.instructions);
    EXPECT_GT(*s.instructions, 1e6);
  } catch (const input_error& e) {
    GTEST_SKIP() << e.what();
  }
}

TEST(observers, dike_says_why_it_moves_nothing_without_rates) {
  const runtime_directory directory;
  const std::string file = directory.path() + "/seen.jsonl";
  const auto text_of = [&](const std::string& class_of_first) {
    std::ofstream(file)
        << recording_line(recording_header{"test", 2, "software"})
        << R"({"now_s":0.5,"length_s":0.5,"rates":false,"threads":[{"thread":0,"program":0,"core":0,"ran_s":0.5)"
        << class_of_first << R"(},{"thread":1,"program":0,"core":1,"ran_s":0.5}]})"
        << "\n";
    session_options o;
    o.tell = [](const std::string&, bool) {};
    const session_result r = replay_only(machine::uniform(2), o, file);
    EXPECT_TRUE(r.class_only);
    return session_text(r);
  };
  EXPECT_NE(text_of("").find("no class of a thread is known"), std::string::npos) << text_of("");
  const std::string known = text_of(R"(,"class":"memory")");
  EXPECT_NE(known.find("which of equal cores gives more bandwidth; --fast"), std::string::npos)
      << known;
}

TEST(observers, dike_told_which_cores_are_fast_moves_by_class_and_predicts_nothing) {
  const runtime_directory directory;
  const std::string file = directory.path() + "/seen.jsonl";
  std::ofstream(file)
      << recording_line(recording_header{"test", 2, "software"})
      << R"({"now_s":0.5,"length_s":0.5,"rates":false,"threads":[{"thread":0,"program":0,"core":0,"ran_s":0.5,"class":"memory"},)"
      << R"({"thread":1,"program":0,"core":1,"ran_s":0.5,"class":"compute"}]})"
      << "\n";
  session_options o;
  o.tell = [](const std::string&, bool) {};
  o.tuning.high_bandwidth = {1};
  const session_result r = replay_only(machine::uniform(2), o, file);
  EXPECT_EQ(r.swaps, 1U);
  EXPECT_FALSE(r.prediction_error);
  EXPECT_EQ(session_text(r).find("nothing was moved"), std::string::npos);
}

TEST(resctrl, tells_the_traffic_of_the_machine_and_nothing_of_threads) {
  const runtime_directory directory;
  const auto mon = std::filesystem::path(directory.path()) / "mon_data/mon_L3_00";
  EXPECT_THROW(resctrl_observer{directory.path()}, input_error);
  std::filesystem::create_directories(mon);
  std::ofstream(mon / "mbm_total_bytes") << 1000 << std::flush;
  const resctrl_observer o(directory.path());
  EXPECT_FALSE(o.sees_rates());
  std::ofstream(mon / "mbm_total_bytes") << 5'000'001'000 << std::flush;
  ASSERT_EQ(o.remarks().size(), 1U);
  EXPECT_NE(o.remarks()[0].find("GB/s"), std::string::npos);
}

}  // namespace

}  // namespace kilter::balance::os::testing
