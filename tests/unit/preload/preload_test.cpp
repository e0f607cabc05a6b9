// The parts of the preload library that make no placement by themselves: settings, CPUs, history,
// and the choice of a core.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>

#include "balance/preload/counts.hpp"
#include "balance/preload/cpus.hpp"
#include "balance/preload/history.hpp"
#include "balance/preload/placer.hpp"
#include "balance/preload/settings.hpp"
#include "guest/preloading.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/machines.hpp"
#include "unit/support.hpp"

using namespace kilter;
using namespace kilter::balance::preload;
using namespace kilter::guest;
using kilter::test::expect_names;
using kilter::test::refusal;
using kilter::test::scratch;

namespace {

std::map<std::string, std::string> variables;

settings from(std::map<std::string, std::string> given) {
  variables = std::move(given);
  return read_settings([](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

std::vector<int> os_numbers(const machine& m) { return kilter::test::os_indices(m); }

/// Where `count` threads go, as CPU numbers; -1: left alone.
std::vector<int> chosen(placer& p, int count) {
  std::vector<int> cpus;
  for (int i = 0; i < count; ++i) {
    const auto c = p.next(true);
    EXPECT_EQ(c.index, static_cast<unsigned long>(i));
    cpus.push_back(c.core ? p.cpu_of(*c.core) : -1);
  }
  return cpus;
}

}  // namespace

TEST(settings, defaults_and_everything_given) {
  const settings none = from({});
  EXPECT_EQ(none.policy, "ljfpf");
  EXPECT_TRUE(none.lengths.empty() && none.history.empty() && none.fast_cpus.empty() &&
              !none.verbose);
  EXPECT_EQ(from({{"KILTER_POLICY", ""}}).policy, "ljfpf") << "empty is not given";
  const settings all = from({{"KILTER_POLICY", "rr"},
                             {"KILTER_LENGTHS", "3, 1.5e1"},
                             {"KILTER_FAST_CPUS", "4-5,1,4"},
                             {"KILTER_HISTORY", "/h"},
                             {"KILTER_VERBOSE", "1"}});
  EXPECT_EQ(all.policy, "rr");
  EXPECT_EQ(all.lengths, (std::vector<double>{3.0, 15.0}));
  EXPECT_EQ(all.fast_cpus, (std::vector<int>{1, 4, 5}));
  EXPECT_EQ(all.history, "/h");
  EXPECT_TRUE(all.verbose);
  EXPECT_FALSE(from({{"KILTER_VERBOSE", "0"}}).verbose);
}

TEST(settings, wrong_values_are_refused_with_the_name_of_the_variable) {
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"KILTER_POLICY", "cfs", "'cfs' is no policy"},
      {"KILTER_LENGTHS", "1,,x", "'x' is no length"},
      {"KILTER_LENGTHS", "0", "'0' is no length"},
      {"KILTER_LENGTHS", "inf", "'inf' is no length"},
      {"KILTER_LENGTHS", " , ", "there is no length"},
      {"KILTER_LENGTHS", "1e999", "is no length"},
      {"KILTER_LENGTHS", "@/nowhere", "cannot be read"},
      {"KILTER_FAST_CPUS", "1-", "'' is no CPU number"},
      {"KILTER_FAST_CPUS", "-1", "is no CPU number"},
      {"KILTER_FAST_CPUS", "70000", "is no CPU number"},
      {"KILTER_FAST_CPUS", "1,", "'' is no CPU number"},
      {"KILTER_FAST_CPUS", "3-1", "'3-1' runs backwards"},
      {"KILTER_FAST_CPUS", "0-9999999999", "is no CPU number"},
  };
  for (const auto& [name, value, expected] : cases)
    expect_names(refusal([&, n = name, v = value] { (void)from({{n, v}}); }), {name, expected});
  std::string many;
  for (int i = 0; i < 65537; ++i) many += "1,";
  expect_names(refusal([&] { (void)parse_lengths(many); }), {"more than 65536"});
}

TEST(cpus, the_kernel_s_own_word_for_fast_cores_is_taken_in_order) {
  const std::vector<int> all = {0, 1, 2, 3};
  const scratch none;
  EXPECT_TRUE(fastest_cpus(all, none.path()).empty());

  const scratch hybrid;
  hybrid.write("devices/cpu_core/cpus", "0-1,8\n");
  EXPECT_EQ(fastest_cpus(all, hybrid.path()), (std::vector<int>{0, 1}));
  EXPECT_EQ(fastest_cpus({1, 2}, hybrid.path()), (std::vector<int>{1}));

  const scratch capacity;
  for (int c = 0; c < 4; ++c)
    capacity.write("devices/system/cpu/cpu" + std::to_string(c) + "/cpu_capacity", c == 3 ? "1024"
                                                                                   : c == 2
                                                                                       ? "1000"
                                                                                       : "400");
  EXPECT_EQ(fastest_cpus(all, capacity.path()), (std::vector<int>{2, 3}))
      << "equal cores, one of which clocks a little higher";
  EXPECT_TRUE(fastest_cpus({0, 1}, capacity.path()).empty()) << "those that are left are alike";

  const scratch frequency;
  for (int c = 0; c < 4; ++c)
    frequency.write("devices/system/cpu/cpu" + std::to_string(c) + "/cpufreq/cpuinfo_max_freq",
                    c == 3   ? "2600"
                    : c == 2 ? "2500"
                             : "2000");
  EXPECT_EQ(fastest_cpus(all, frequency.path()), (std::vector<int>{3}))
      << "1.25 times the lowest is a favoured core, not another kind";
}

TEST(cpus, fast_ones_come_first_and_keep_their_numbers) {
  const machine m = machine_of({1, 3, 4, 6}, {4, 6});
  EXPECT_EQ(os_numbers(m), (std::vector<int>{4, 6, 1, 3}));
  EXPECT_EQ(m.kinds().size(), 2u);
  EXPECT_EQ(machine_of({1, 3}, {}).kinds().size(), 1u);
  EXPECT_EQ(machine_of({1, 3}, {1, 3}).kinds().size(), 1u);
}

TEST(history, means_follow_later_runs_and_come_back_from_the_file) {
  history h;
  add_run(h, "p", {1.0, 4.0});
  add_run(h, "p", {3.0, 0.0, 8.0});
  add_run(h, "q", {9.0});
  EXPECT_EQ(predicted_lengths(h, "p"), (std::vector<double>{2.0, 4.0, 8.0}))
      << "a thread that did not end is not counted";
  EXPECT_EQ(history_text(parse_history(history_text(h)).lengths), history_text(h));
  for (int i = 0; i < 100; ++i) add_run(h, "p", {10.0});
  EXPECT_NEAR(predicted_lengths(h, "p")[0], 10.0, 0.01) << "what a program used to do is forgotten";
  EXPECT_TRUE(predicted_lengths(h, "r").empty());
}

TEST(history, lengths_are_predicted_as_far_as_all_threads_are_known) {
  EXPECT_EQ(predicted_lengths(
                parse_history("kilter.lengths/1\np 0 1 2\np 1 1 3\np 3 1 4\n").lengths, "p"),
            (std::vector<double>{2.0, 3.0}));
  EXPECT_TRUE(predicted_lengths(parse_history("kilter.lengths/1\np 1 1 3\n").lengths, "p").empty());
}

TEST(history, lines_that_are_wrong_are_left_out_and_the_rest_is_used) {
  const std::string good = "kilter.lengths/1\np 0 1 2\n";
  for (const char* line :
       {"p 0 1", "p 1 1 2 3", "p x 1 2", "p 1 0 2", "p 1 1 -2", "p 1 1 nan", "p 1 1 1e308",
        "p 70000 1 2", "p 1 -5 2", "\x1b[2J 1 1 2", " 1 1 2", "p 1 1 ", ""}) {
    const known_history h = parse_history(good + line + "\nq 0 1 3\n");
    EXPECT_EQ(h.left_out, "line 3 must be PROGRAM INDEX RUNS SECONDS; that line is left out")
        << line;
    EXPECT_EQ(predicted_lengths(h.lengths, "p"), (std::vector<double>{2.0})) << line;
    EXPECT_EQ(predicted_lengths(h.lengths, "q"), (std::vector<double>{3.0})) << line;
  }
  EXPECT_EQ(parse_history(good + "x\ny\nz\n").left_out,
            "line 3 must be PROGRAM INDEX RUNS SECONDS; 3 such lines are left out");
  const known_history twice = parse_history(good + "p 0 1 9\n");
  EXPECT_EQ(twice.left_out,
            "line 3 repeats the program and index of another; that line is left out");
  EXPECT_EQ(predicted_lengths(twice.lengths, "p"), (std::vector<double>{2.0}));
  EXPECT_EQ(parse_history(good).left_out, "");
}

/// As after a full disk or a killed program. A number that is cut off is a number still, and a
/// wrong one.
TEST(history, half_a_file_gives_what_is_whole_in_it) {
  const std::string text = "kilter.lengths/1\nprogram 0 1 2.5\nprogram 1 1 3.25\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const known_history h = parse_history(text.substr(0, size));
    const auto ends = static_cast<std::size_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
    EXPECT_EQ(h.lengths.size(), ends == 0 ? 0 : ends - 1) << size;
    const bool whole = size == 0 || text[size - 1] == '\n';
    EXPECT_EQ(h.left_out, whole ? ""
                                : "the file ends within line " + std::to_string(ends + 1) +
                                      "; that line is left out")
        << size;
  }
  const scratch s;
  const std::string path = s.write("half", text.substr(0, text.size() - 3));
  EXPECT_EQ(load_history(path).left_out,
            "'" + path + "': the file ends within line 3; that line is left out");
  save_run(path, "program", {2.5, 4.0});
  EXPECT_EQ(predicted_lengths(load_history(path).lengths, "program"),
            (std::vector<double>{2.5, 4.0}))
      << "and the next run makes it whole";
}

TEST(history, what_is_no_history_is_refused_and_left_as_it_is) {
  for (const char* text : {"root:x:0\n", "kilter.lengths/2\np 0 1 2\n", "kilter.lengths/11", "\n"})
    EXPECT_EQ(refusal([&] { (void)parse_history(text); }), "line 1 must be kilter.lengths/1")
        << text;
  const scratch s;
  const std::string path = s.write("precious", "not ours\n");
  expect_names(refusal([&] { save_run(path, "p", {1.0}); }), {path});
  EXPECT_EQ(kilter::test::contents_of(path), "not ours\n");
  save_run(s.path() / "new", "p", {1.0, 2.0});
  EXPECT_EQ(predicted_lengths(load_history(s.path() / "new").lengths, "p"),
            (std::vector<double>{1.0, 2.0}));
  EXPECT_TRUE(load_history(s.path() / "absent").lengths.empty());
}

TEST(history, nobody_is_waited_for_and_no_link_followed_to_a_new_file) {
  const scratch s;
  const std::string pipe = s.path() / "pipe", link = s.path() / "link",
                    target = s.path() / "target", locked = s.path() / "locked";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal([&] { (void)load_history(pipe); }), "'" + pipe + "' is no regular file");
  EXPECT_EQ(refusal([&] { save_run(pipe, "p", {1.0}); }), "'" + pipe + "' is no regular file");
  EXPECT_EQ(refusal([&] { (void)read_lengths("@" + pipe); }),
            "'" + pipe + "' cannot be read as a file");
  EXPECT_EQ(refusal([&] { (void)read_lengths("@" + s.path().string()); }),
            "'" + s.path().string() + "' cannot be read as a file");
  std::filesystem::create_symlink(target, link);
  EXPECT_NE(refusal([&] { save_run(link, "p", {1.0}); }).find("cannot be written"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(target));
  save_run(locked, "p", {1.0});
  const int held = open(locked.c_str(), O_RDONLY);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  EXPECT_EQ(load_history(locked).lengths.size(), 1u);
  EXPECT_EQ(refusal([&] { save_run(locked, "p", {1.0}); }),
            "'" + locked + "' cannot be written: somebody keeps it locked");
  close(held);
}

TEST(history, programs_that_end_at_the_same_time_are_all_remembered) {
  const scratch s;
  const std::string path = s.path() / "history";
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      for (int run = 0; run < 5; ++run) save_run(path, "p" + std::to_string(i), {1.0});
      _exit(0);
    }
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  const history h = load_history(path).lengths;
  ASSERT_EQ(h.size(), 8u);
  for (const auto& [key, thread] : h) EXPECT_EQ(thread.runs, 5u) << key.first;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(s.path()),
                          std::filesystem::directory_iterator()),
            1)
      << "and nothing lies beside it";
}

TEST(placer, sorts_what_the_environment_says) {
  settings s;
  s.lengths = {1, 9, 5};
  placer p(s, {0, 1, 2}, {2}, {});
  EXPECT_EQ(chosen(p, 4), (std::vector<int>{1, 2, 0, -1}))
      << "9 on the fast CPU 2, then 5 and 1; the fourth has no length";
}

TEST(placer, what_the_program_announces_goes_before_the_environment_and_that_before_history) {
  settings s;
  placer predicted(s, {0, 1}, {0}, {1, 2});
  EXPECT_EQ(chosen(predicted, 2), (std::vector<int>{1, 0}));
  s.lengths = {2, 1};
  placer given(s, {0, 1}, {0}, {1, 2});
  EXPECT_EQ(chosen(given, 2), (std::vector<int>{0, 1}));
  placer announced(s, {0, 1}, {0}, {});
  const double lengths[] = {1, 2};
  EXPECT_TRUE(announced.announce(false, lengths, 2));
  EXPECT_EQ(chosen(announced, 2), (std::vector<int>{1, 0}));
}

TEST(placer, refuses_announcements_that_are_of_no_use) {
  const double good[] = {1, 2}, bad[] = {1, -2};
  placer p(settings{}, {0, 1}, {0}, {});
  EXPECT_FALSE(p.announce(true, good, 2)) << "ljfpf does not sort by critical sections";
  EXPECT_FALSE(p.announce(false, bad, 2));
  EXPECT_FALSE(p.announce(false, nullptr, 2));
  EXPECT_FALSE(p.announce(false, good, 0));
  placer alike(settings{}, {0, 1}, {}, {});
  EXPECT_FALSE(alike.announce(false, good, 2));
  EXPECT_EQ(chosen(alike, 2), (std::vector<int>{-1, -1}));
}

TEST(placer, a_core_that_is_given_back_is_free_again) {
  settings s;
  s.lengths = {2, 1};
  placer p(s, {0, 1}, {0}, {});
  const auto first = p.next(true);
  ASSERT_TRUE(first.core);
  p.ended(*first.core);
  const double again[] = {7};
  EXPECT_TRUE(p.announce(false, again, 1));
  const auto second = p.next(true);
  ASSERT_TRUE(second.core);
  EXPECT_EQ(p.cpu_of(*second.core), 0);
}

TEST(placer, a_thread_with_a_mask_of_its_own_uses_up_its_announcement_only) {
  settings s;
  s.lengths = {1, 9, 5};
  placer p(s, {0, 1, 2}, {2}, {});
  EXPECT_FALSE(p.next(false).core);
  const auto second = p.next(true);
  EXPECT_EQ(second.length, 9.0);
  EXPECT_EQ(p.cpu_of(*second.core), 2);
}

TEST(counts, come_back_from_the_file_in_the_order_of_creation) {
  const std::vector<thread_counts> threads = {{2, 1.0, 2.0, 0.5, 7, 8, 9},
                                              {0, 0.0, 3.0, 0.25, 1, 0, 0}};
  const auto back = parse_counts(counts_text(threads));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].index, 0u);
  EXPECT_EQ(back[1].locks, 7u);
  EXPECT_EQ(back[1].barriers, 8u);
  EXPECT_EQ(back[1].conditions, 9u);
  EXPECT_DOUBLE_EQ(back[1].cpu_s, 0.5);
  EXPECT_EQ(refusal([] { (void)parse_counts("x\n"); }), "line 1 must be kilter.counts/1");
  EXPECT_NE(refusal([] {
              (void)parse_counts("kilter.counts/1\n0 1 2 3 4 5\n");
            }).find("line 2 must be INDEX"),
            std::string::npos);
  EXPECT_EQ(refusal([] { (void)parse_counts("kilter.counts/1\n0 1 2 3 4 5 6\n"); }),
            "the end is missing");
}

TEST(counts, symmetry_is_over_cpu_time_and_over_all_primitives_together) {
  const std::vector<thread_counts> threads = {
      {0, 0.0, 9.0, 5.0, 3, 0, 0}, {1, 1.0, 4.0, 1.0, 1, 1, 0}, {2, 1.0, 4.0, 3.0, 0, 0, 2}};
  const symmetry_result r = symmetry_of(threads);
  EXPECT_EQ(r.groups, 2u);
  EXPECT_DOUBLE_EQ(r.sym_inst, (0.0 + 1.0 / 4.0) / 2.0);
  EXPECT_DOUBLE_EQ(r.sym_lock, 0.0);
  EXPECT_EQ(symmetry_of({}).groups, 0u);
}

TEST(preload_library, is_named_with_its_path_before_what_is_preloaded_already) {
  EXPECT_EQ(guest::preloading_from("/opt/lib", "libk.so", nullptr, "/x"),
            (environment{{"LD_PRELOAD", "/opt/lib/libk.so"}}));
  EXPECT_EQ(guest::preloading_from("/opt/lib", "libk.so", "/other.so", nullptr),
            (environment{{"LD_PRELOAD", "/opt/lib/libk.so:/other.so"}}));
}

TEST(preload_library, below_a_directory_with_a_blank_is_looked_for_there_last) {
  EXPECT_EQ(guest::preloading_from("/my lib", "libk.so", "", nullptr),
            (environment{{"LD_PRELOAD", "libk.so"}, {"LD_LIBRARY_PATH", "/my lib"}}));
  EXPECT_EQ(
      guest::preloading_from("/my lib", "libk.so", "/other.so", "/x:/y"),
      (environment{{"LD_PRELOAD", "libk.so:/other.so"}, {"LD_LIBRARY_PATH", "/x:/y:/my lib"}}));
}

TEST(preload_library, cannot_be_named_below_a_directory_with_a_colon) {
  EXPECT_NE(refusal([] {
              (void)guest::preloading_from("/a:b", "libk.so", nullptr, nullptr);
            }).find("'/a:b'"),
            std::string::npos);
}

TEST(fuzz_corpus, of_histories) {
  kilter::test::replay_corpus(
      "history", [](const std::string&, const std::string& text) { (void)parse_history(text); });
}
