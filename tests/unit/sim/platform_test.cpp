// Platforms as the simulator reads them: what is shipped, what a bad file is answered with, what
// the numbers mean.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "sim/platform.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/machines.hpp"
#include "unit/support.hpp"

namespace kilter::sim {
namespace {

// ---- platform files -----------------------------------------------------------------------------

const std::string good = R"(schema = "kilter.platform/1"
name = "made"
[[kind]]
name = "big"
[[kind]]
name = "little"
[[cluster]]
kind = "little"
cpus = [0, 1, 2, 6]
source = "made up"
[[cluster.cache]]
level = 2
type = "unified"
bytes = 4096
shared_by = "cluster"
source = "made up"
[[cluster]]
kind = "big"
cpus = [[5, 9], [4, 8]]
source = "made up"
[[cluster.cache]]
level = 1
type = "data"
bytes = 512
shared_by = "core"
source = "made up"
[[clock]]
kind = "big"
mhz = [500, 1000]
transition_s = 1e-4
source = "made up"
[[bandwidth]]
of = "core"
kind = "little"
bytes_per_s = 2e9
source = "made up"
fitted_to = ["S0-7", "B1 rows"]
[[bandwidth]]
of = "chip"
bytes_per_s = 5e9
source = "made up"
[[kernel]]
name = "matmul"
size = 64
kind = "big"
mhz = 500
seconds = [0.002, 0.001]
bytes = 1000
working_set = 3000
bytes_beyond_cache = 4000
seconds_power = 3
bytes_power = 2
source = "made up"
[[power]]
kind = "little"
busy_w = [1, 2, 3]
idle_w = 0
source = "made up"
[overheads]
push_s = 1e-7
steal_try_s = 1e-6
source = "made up"
[co_runner]
slice_s = 0.01
share = 0.4
source = "made up"
[noise]
sigma = 0.02
source = "made up"
[network]
clusters_per_node = 1
bytes_per_s = 1e9
latency_s = 1e-6
source = "made up"
[moved_line]
between_clusters_s = 4e-9
source = "made up"
[[gather]]
kind = "little"
widths = [2, 4]
own_s = [1e-6, 2e-6]
others_s = [3e-6, 4e-6]
source = "made up"
[[busy]]
kind = "big"
cores = [1, 2]
slower = [1, 1.25]
source = "made up"
[steal]
lookers = [1, 5]
look_s = [1e-7, 5e-7]
steal_s = [2e-7, 6e-7]
source = "made up"
[sleep]
after_s = 5e-5
long_after_s = 1e-4
call_s = 5e-6
up_s = 2e-5
source = "made up"
[lend]
looks_s = 1e-3
seconds = 2e-4
keeps_s = 3e-3
source = "made up"
[shared_queue]
users = [1, 6]
seconds = [5e-8, 4e-7]
source = "made up"
[[decision]]
policy = "auto"
task_s = 1e-5
ready_s = 1e-7
take_s = 2e-7
next_s = 0
source = "made up"
)";

platform load_text(const std::string& contents) {
  const test::scratch scratch;
  return platform::load(scratch.write("made.toml", contents));
}

/// The line of `good` (from 1) that the first `what` begins in.
int line_of(const std::string& what) {
  return 1 + static_cast<int>(std::count(
                 good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.find(what)), '\n'));
}

/// The message for `good` with one piece replaced; it must be one line, point at the piece's line +
/// `below`, and contain `names`.
void expect_refused(const std::string& what, const std::string& by,
                    const std::vector<std::string>& names, int below = 0) {
  ASSERT_NE(good.find(what), std::string::npos) << what;
  std::string contents = good;
  contents.replace(contents.find(what), what.size(), by);
  const std::string message = test::refusal([&] { (void)load_text(contents); });
  test::expect_names(message, names);
  test::expect_names(message, {"made.toml:" + std::to_string(line_of(what) + below) + ": "});
}

TEST(platform, every_number_of_a_file_arrives) {
  const platform p = load_text(good);
  EXPECT_EQ(p.name, "made");
  EXPECT_EQ(p.clocks[0].mhz, (std::vector<double>{500, 1000}));
  EXPECT_EQ(p.clocks[0].transition_s, 1e-4);
  EXPECT_TRUE(p.clocks[1].mhz.empty());
  EXPECT_EQ(p.core_bytes_per_s, (std::vector<double>{0, 2e9}));
  EXPECT_EQ(p.cluster_bytes_per_s, (std::vector<double>{0, 0}));
  EXPECT_EQ(p.chip_bytes_per_s, 5e9);
  EXPECT_EQ(p.cache_bytes, (std::vector<std::uint64_t>{0, 4096}));
  EXPECT_EQ(p.core_cache_bytes, (std::vector<std::uint64_t>{512, 0}));
  EXPECT_EQ(p.moved_line.in_cluster_s, 0.0) << "not told";
  EXPECT_EQ(p.moved_line.between_clusters_s, 4e-9);
  ASSERT_NE(p.origin_of("moved line"), nullptr);
  const contention& c = p.contention;
  EXPECT_EQ(c.gather_on(0), nullptr);
  EXPECT_EQ(c.gather_on(1)->own_s.at(4), 2e-6);
  EXPECT_EQ(c.gather_on(1)->others_s.at(2), 3e-6);
  EXPECT_EQ(c.busy_on(0)->slower.at(2), 1.25);
  EXPECT_EQ(c.look_s.at(5), 5e-7);
  EXPECT_EQ(c.steal_s.at(1), 2e-7);
  EXPECT_EQ((std::vector<double>{c.sleep->after_s, c.sleep->long_after_s, c.sleep->call_s,
                                 c.sleep->up_s}),
            (std::vector<double>{5e-5, 1e-4, 5e-6, 2e-5}));
  EXPECT_EQ((std::vector<double>{c.lend->looks_s, c.lend->seconds, c.lend->keeps_s}),
            (std::vector<double>{1e-3, 2e-4, 3e-3}));
  EXPECT_EQ(c.queue_s.at(6), 4e-7);
  EXPECT_EQ(c.decisions_of("auto", 1.0)->take_s, 2e-7);
  for (const char* name : {"gather on little", "busy big", "steal", "sleep", "lend", "shared queue",
                           "decisions of auto on tasks of 1e-05 s"})
    EXPECT_NE(p.origin_of(name), nullptr) << name;
  ASSERT_NE(p.origin_of("cache of a core of cluster 0"), nullptr);
  ASSERT_EQ(p.kernels.size(), 1u);
  const kernel_cost& k = p.kernels[0];
  EXPECT_EQ(k.mhz, 500);
  EXPECT_EQ(k.seconds, (std::vector<double>{0.002, 0.001}));
  EXPECT_EQ((std::vector<double>{k.bytes, k.working_set, k.bytes_beyond_cache}),
            (std::vector<double>{1000, 3000, 4000}));
  ASSERT_EQ(p.power.size(), 1u);
  EXPECT_EQ(p.power[0].busy_w, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(p.power[0].mhz, 0.0);
  EXPECT_EQ(p.costs.steal_s, 2e-6) << "what the file leaves out keeps its default";
  EXPECT_EQ(p.co_runner.share, 0.4);
  EXPECT_EQ(p.noise_sigma, 0.02);
  ASSERT_TRUE(p.network);
  EXPECT_EQ(p.network->latency_s, 1e-6);
}

TEST(platform, a_figure_without_a_clock_is_for_the_kinds_own) {
  EXPECT_EQ(load_text(test::replaced(good, "mhz = 500\n", "")).kernels[0].mhz, 1000);
}

TEST(platform, fits_are_kept_with_the_number_they_made) {
  const platform p = load_text(good);
  const origin* fitted = p.origin_of("bandwidth of a little core");
  ASSERT_NE(fitted, nullptr);
  EXPECT_EQ(fitted->fitted_to, (std::vector<std::string>{"S0-7", "B1 rows"}));
  const origin* kernel = p.origin_of("kernel matmul 64 on big");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->fitted_to.empty());
  for (const char* what :
       {"cluster 0", "cluster 1", "cache of cluster 1", "clock of big", "bandwidth of the chip",
        "power of little", "overheads", "co-runner", "noise", "network"})
    EXPECT_NE(p.origin_of(what), nullptr) << what;
  EXPECT_EQ(p.origin_of("clock of little"), nullptr);
}

TEST(platform, sizes_scale_by_their_power) {
  const platform p = load_text(good);
  EXPECT_DOUBLE_EQ(p.kernels[0].seconds_at(32, 0), 0.00025);
  EXPECT_DOUBLE_EQ(p.kernels[0].seconds_at(128, 1), 0.008);
  EXPECT_DOUBLE_EQ(p.kernels[0].bytes_factor(32), 0.25);
  EXPECT_DOUBLE_EQ(p.kernels[0].bytes_factor(64), 1.0);
}

TEST(platform, of_several_sizes_the_nearest_by_ratio_is_taken) {
  const auto at = good.find("[[kernel]]");
  const std::string kernel = good.substr(at, good.find("[[power]]") - at);
  const platform p = load_text(good + test::replaced(kernel, "size = 64", "size = 1024"));
  EXPECT_EQ(p.find("matmul", 200, 0)->size, 64);
  EXPECT_EQ(p.find("matmul", 300, 0)->size, 1024);
  EXPECT_EQ(p.find("matmul", 64, 1), nullptr);
  EXPECT_EQ(p.find("sort", 64, 0), nullptr);
}

TEST(platform, unknown_keys_and_tables_are_errors) {
  expect_refused("[network]", "[[kernle]]\nname = \"x\"\n[network]", {"kernle", "kernel"});
  expect_refused("transition_s = 1e-4", "transition_ms = 1", {"transition_ms", "transition_s"});
  expect_refused("of = \"core\"", "of = \"core\"\nlatency_s = 1", {"latency_s"}, 1);
  expect_refused("working_set = 3000", "working_sets = 3000", {"working_sets"});
  expect_refused("idle_w = 0", "idle = 0", {"'idle'"});
  expect_refused("push_s = 1e-7", "pusch_s = 1e-7", {"pusch_s"});
  expect_refused("share = 0.4", "shares = 0.4", {"shares"});
  expect_refused("sigma = 0.02", "sigma = 0.02\nmean = 1", {"mean"}, 1);
  expect_refused("latency_s = 1e-6", "latency_us = 1", {"latency_us"});
  expect_refused("between_clusters_s = 4e-9", "between_clusters_ns = 4", {"between_clusters_ns"});
}

TEST(platform, numbers_out_of_range_are_errors) {
  expect_refused("bytes_per_s = 2e9", "bytes_per_s = -2e9", {"bytes_per_s", "-2e+09", "above 0"});
  expect_refused("bytes_per_s = 2e9", "bytes_per_s = 0", {"bytes_per_s", "above 0"});
  expect_refused("bytes_per_s = 2e9", "bytes_per_s = \"fast\"", {"bytes_per_s", "fast", "above 0"});
  expect_refused("bytes_per_s = 2e9", "bytes_per_s = nan", {"bytes_per_s"});
  expect_refused("bytes_per_s = 2e9", "bytes_per_s = inf", {"bytes_per_s"});
  expect_refused("mhz = [500, 1000]", "mhz = [1000, 500]", {"ascending"});
  expect_refused("mhz = [500, 1000]", "mhz = [500, 500]", {"ascending"});
  expect_refused("mhz = [500, 1000]", "mhz = []", {"'mhz'", "not empty"});
  expect_refused("mhz = [500, 1000]", "mhz = [-5, 1000]", {"'mhz'", "-5"});
  expect_refused("size = 64", "size = 0", {"size", "above 0"});
  expect_refused("seconds = [0.002, 0.001]", "seconds = [0.002, 0]", {"seconds", "above 0"});
  expect_refused("bytes = 1000", "bytes = -1", {"bytes", "-1"});
  expect_refused("bytes_beyond_cache = 4000", "bytes_beyond_cache = 999",
                 {"bytes_beyond_cache", "999", "at least 'bytes'"});
  expect_refused("seconds_power = 3", "seconds_power = 4", {"seconds_power", "1 to 3"});
  expect_refused("seconds_power = 3", "seconds_power = 1.5", {"seconds_power", "1 to 3"});
  expect_refused("bytes_power = 2", "bytes_power = 0", {"bytes_power", "1 to 3"});
  expect_refused("idle_w = 0", "idle_w = -1", {"idle_w", "-1"});
  expect_refused("steal_try_s = 1e-6", "steal_try_s = 0", {"steal_try_s"});
  expect_refused("share = 0.4", "share = 1.4", {"share", "1.4", "at most 1"});
  expect_refused("share = 0.4", "share = 0", {"share", "above 0"});
  expect_refused("sigma = 0.02", "sigma = -0.02", {"sigma", "-0.02"});
  expect_refused("clusters_per_node = 1", "clusters_per_node = 3", {"clusters_per_node"});
  const std::string nodes =
      test::contents_of(KILTER_TEST_DATA "/../../data/platforms/haswell-cluster.toml");
  test::expect_names(
      test::refusal([&] {
        (void)load_text(test::replaced(nodes, "clusters_per_node = 2", "clusters_per_node = 3"));
      }),
      {"'clusters_per_node' is 3; it must divide the 8 clusters"});
  expect_refused("between_clusters_s = 4e-9", "between_clusters_s = -4e-9",
                 {"between_clusters_s", "-4e-09"});
  expect_refused("between_clusters_s = 4e-9", "in_cluster_s = \"near\"", {"in_cluster_s", "near"});
}

/// What is computed from such numbers has no end: a run would give nonsense, or never stop.
TEST(platform, numbers_beyond_every_machine_are_errors) {
  expect_refused("mhz = [500, 1000]", "mhz = [500, 1e308]",
                 {"'mhz' is 1e+308", "from 0.001 to 1e+06 MHz"});
  expect_refused("mhz = [500, 1000]", "mhz = [1e-300, 1000]",
                 {"'mhz' is 1e-300", "above 0", "MHz"});
  expect_refused("transition_s = 1e-4", "transition_s = 1e308",
                 {"'transition_s' is 1e+308", "to 1e+06 seconds"});
  expect_refused("bytes_per_s = 5e9", "bytes_per_s = 1e308",
                 {"'bytes_per_s' is 1e+308", "from 1 to 1e+18 bytes per second"});
  expect_refused("bytes_per_s = 5e9", "bytes_per_s = 1e-308", {"'bytes_per_s'", "from 1 to"});
  expect_refused("size = 64", "size = 1e308", {"'size' is 1e+308", "to 1e+09"});
  expect_refused("seconds = [0.002, 0.001]", "seconds = [1e308, 0.001]",
                 {"'seconds' is 1e+308", "to 1e+06 seconds"});
  expect_refused("seconds = [0.002, 0.001]", "seconds = [0.002, 1e-20]", {"'seconds' is 1e-20"});
  expect_refused("bytes = 1000", "bytes = 1e308", {"'bytes' is 1e+308", "to 1e+18 bytes"});
  expect_refused("working_set = 3000", "working_set = 1e308", {"'working_set' is 1e+308"});
  expect_refused("bytes_beyond_cache = 4000", "bytes_beyond_cache = 1e308",
                 {"'bytes_beyond_cache' is 1e+308", "1e+18"});
  expect_refused("busy_w = [1, 2, 3]", "busy_w = [1, 2, 1e308]",
                 {"'busy_w' is 1e+308", "to 1e+09 watts"});
  expect_refused("idle_w = 0", "idle_w = 1e308", {"'idle_w' is 1e+308", "watts"});
  expect_refused("push_s = 1e-7", "push_s = 1e308", {"'push_s' is 1e+308"});
  expect_refused("steal_try_s = 1e-6", "steal_try_s = 1e-15",
                 {"'steal_try_s' is 1e-15", "from 1e-09 to"});
  expect_refused("slice_s = 0.01", "slice_s = 1e-15", {"'slice_s' is 1e-15", "from 1e-09 to"});
  expect_refused("latency_s = 1e-6", "latency_s = 1e308", {"'latency_s' is 1e+308"});
  expect_refused("between_clusters_s = 4e-9", "between_clusters_s = 1e308",
                 {"'between_clusters_s' is 1e+308"});
}

TEST(platform, a_number_for_each_width) {
  expect_refused("seconds = [0.002, 0.001]", "seconds = [0.002]",
                 {"seconds", "1 entries", "1, 2", "needs 2"});
  expect_refused("seconds = [0.002, 0.001]", "seconds = [3, 2, 1]",
                 {"seconds", "3 entries", "'big'"});
  expect_refused("busy_w = [1, 2, 3]", "busy_w = [1, 2]", {"busy_w", "1, 2, 4", "needs 3"});
}

TEST(platform, a_number_for_each_count_of_cores) {
  expect_refused("own_s = [1e-6, 2e-6]", "own_s = [1e-6]", {"own_s", "2 numbers", "'widths'"});
  expect_refused("users = [1, 6]", "users = [6, 1]", {"users", "ascending"});
  expect_refused("users = [1, 6]", "users = [6, 6]", {"users", "ascending"});
  expect_refused("users = [1, 6]", "users = []", {"users", "not empty"});
  expect_refused("users = [1, 6]", "users = [0, 6]", {"users", "from 1 to"});
  expect_refused("slower = [1, 1.25]", "slower = [1, 0.5]", {"'slower' is 0.5", "from 1 to 1000"});
  expect_refused("look_s = [1e-7, 5e-7]", "look_s = [1e-7, 0]", {"'look_s' is 0", "from 1e-09"});
}

TEST(platform, sleep_and_lending_belong_together) {
  expect_refused("long_after_s = 1e-4", "long_after_s = 1e-5",
                 {"'long_after_s' is below 'after_s'"}, -2);
  const std::string sleep =
      "[sleep]\nafter_s = 5e-5\nlong_after_s = 1e-4\ncall_s = 5e-6\nup_s = 2e-5\nsource = \"made "
      "up\"\n";
  expect_refused(sleep, "", {"[lend] needs [sleep]"});
  EXPECT_EQ(
      load_text(test::replaced(good, "long_after_s = 1e-4\n", "")).contention.sleep->long_after_s,
      5e-5)
      << "as short as the other";
}

TEST(platform, kinds_must_exist_and_fit) {
  expect_refused("kind = \"big\"\nmhz = [500, 1000]", "kind = \"huge\"\nmhz = [500, 1000]",
                 {"huge", "big, little"});
  expect_refused("kind = \"big\"\nmhz = 500", "kind = \"huge\"\nmhz = 500",
                 {"huge", "big, little"});
  expect_refused("busy_w = [1, 2, 3]", "mhz = 800\nbusy_w = [1, 2, 3]",
                 {"'little'", "no [[clock]]"});
  expect_refused("of = \"core\"", "of = \"socket\"", {"socket", "core, cluster, chip"});
  expect_refused("of = \"chip\"", "of = \"chip\"\nkind = \"big\"", {"chip", "kind"}, 1);
  expect_refused("kind = \"little\"\nbytes_per_s", "bytes_per_s", {"lacks 'kind'"}, -2);
}

TEST(platform, a_cluster_without_cores_is_an_error) {
  expect_refused("cpus = [0, 1, 2, 6]", "cpus = []", {"cpus", "not empty"});
}

TEST(platform, every_table_needs_a_source_and_stands_once) {
  for (const std::string table :
       {"[[clock]]", "[[bandwidth]]", "[[kernel]]", "[[power]]", "[overheads]", "[co_runner]",
        "[noise]", "[network]", "[moved_line]", "[[gather]]", "[[busy]]", "[steal]", "[sleep]",
        "[lend]", "[shared_queue]", "[[decision]]"}) {
    std::string contents = good;
    const std::string line = "source = \"made up\"\n";
    contents.erase(contents.find(line, contents.find(table)), line.size());
    test::expect_names(test::refusal([&] { (void)load_text(contents); }),
                       {"made.toml:" + std::to_string(line_of(table)) + ": ", "lacks 'source'"});
  }
  const std::string chip =
      "[[bandwidth]]\nof = \"chip\"\nbytes_per_s = 5e9\nsource = \"made up\"\n";
  expect_refused(chip, chip + chip, {"bandwidth of the chip", "twice"}, 4);
  expect_refused("fitted_to = [\"S0-7\", \"B1 rows\"]", "fitted_to = \"S0-7\"",
                 {"fitted_to", "list"});
  expect_refused("[network]", "[[network]]", {"[network]"});
}

TEST(platform, grids_are_made_from_their_name) {
  const platform p = platform::load("grid:3x4");
  EXPECT_EQ(p.name, "grid:3x4");
  EXPECT_EQ(p.cores->core_count(), 12u);
  EXPECT_EQ(p.cores->clusters().size(), 3u);
  EXPECT_EQ(p.chip_bytes_per_s, 0.0);
  EXPECT_EQ(p.noise_sigma, 0.0);
  for (const char* name : {"matmul", "copy", "stencil", "sort"}) {
    const kernel_cost* k = p.find(name, 64, 0);
    ASSERT_NE(k, nullptr) << name;
    EXPECT_EQ(k->seconds, (std::vector<double>{1e-3, 1e-3 / 2, 1e-3 / 4})) << name;
  }
  EXPECT_EQ(platform::load("grid:32x32").cores->core_count(), 1024u);
}

TEST(platform, grids_that_make_no_sense_are_refused) {
  for (const std::string name :
       {"grid:", "grid:4", "grid:0x4", "grid:4x0", "grid:x", "grid:-1x4", "grid:4x4x4", "grid:4x4 ",
        "grid:1000x1000", "grid:99999999999x1", "grid:1.5x2"})
    test::expect_names(test::refusal([&] { (void)platform::load(name); }),
                       {"'" + name + "'", "grid:CxN"});
}

TEST(platform, unknown_names_are_told_the_known_ones) {
  test::expect_names(test::refusal([] { (void)platform::load("jetson-tx3"); }),
                     {"jetson-tx3", "jetson-tx2", "haswell-20"});
}

TEST(platform, the_documents_example_is_a_platform) {
  const std::string page =
      test::contents_of(std::string(KILTER_TEST_DATA) + "/../../lab/docs/platform-files.md");
  std::string example;
  const std::string begin = "```toml\n", end = "```\n";
  for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    example += page.substr(at, page.find(end, at) - at);
  }
  const platform p = load_text(example);
  EXPECT_EQ(p.name, "odd-board");
  EXPECT_NE(p.find("matmul", 64, 0), nullptr);
}

TEST(platform, what_is_shipped_loads_and_has_every_kernel_on_every_kind) {
  const auto names = platform::names();
  for (const std::string expected :
       {"jetson-tx2", "haswell-16", "haswell-20", "haswell-cluster", "odroid-xu3", "xeon-e5320",
        "dike-xeon", "intel-i7-1370p", "nvidia-gb10", "server-2x32", "ryzen-3950x"})
    EXPECT_NE(std::find(names.begin(), names.end(), expected), names.end()) << expected;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const platform p = platform::load(name);
    EXPECT_EQ(p.name, name);
    EXPECT_FALSE(p.description.empty());
    for (const core_kind& kind : p.cores->kinds())
      for (const char* kernel : {"matmul", "copy", "stencil", "sort"}) {
        const kernel_cost* k = p.find(kernel, 64, kind.id);
        ASSERT_NE(k, nullptr) << kernel << " on " << kind.name;
        for (std::size_t i = 1; i < k->seconds.size(); ++i)
          EXPECT_LE(k->seconds[i], k->seconds[i - 1]) << "a wider place is slower";
      }
    if (name == "big-little-128") continue;  // says of itself that memory limits nothing
    for (const std::uint64_t bytes : p.cache_bytes) EXPECT_GT(bytes, 0u);
  }
}

TEST(platform, kinds_are_as_fast_as_the_recorded_machine_says) {
  for (const auto& [name, recorded] :
       {std::pair{"intel-i7-1370p", "intel-i7-1370p-frequencies.xml"},
        std::pair{"nvidia-gb10", "nvidia-gb10.xml"}}) {
    const platform p = platform::load(name);
    const machine real = machine::from_xml(test::recorded(recorded));
    for (const core_kind& k : real.kinds())
      EXPECT_NEAR(p.cores->kinds()[k.id].relative_speed, k.relative_speed, 5e-4) << name;
  }
}

TEST(platform, shapes_of_the_shipped_machines) {
  const auto shape = [](const std::string& name) {
    return test::cluster_sizes(*platform::load(name).cores);
  };
  using sizes = std::vector<std::uint32_t>;
  EXPECT_EQ(shape("haswell-16"), (sizes{8, 8}));
  EXPECT_EQ(shape("haswell-20"), (sizes{10, 10}));
  EXPECT_EQ(shape("haswell-cluster"), sizes(8, 10));
  EXPECT_EQ(shape("odroid-xu3"), (sizes{4, 4}));
  EXPECT_EQ(shape("xeon-e5320"), (sizes{2, 2, 2, 2}));
  EXPECT_EQ(shape("dike-xeon"), (sizes{10, 10}));
  EXPECT_EQ(shape("intel-i7-1370p"), (sizes{6, 8}));
  EXPECT_EQ(shape("nvidia-gb10"), (sizes{5, 5, 5, 5}));
  EXPECT_EQ(shape("server-2x32"), (sizes{32, 32}));
  EXPECT_EQ(shape("ryzen-3950x"), (sizes{4, 4, 4, 4}));
  const platform nodes = platform::load("haswell-cluster");
  ASSERT_TRUE(nodes.network);
  EXPECT_EQ(nodes.network->clusters_per_node, 2u);
  for (const core& c : nodes.cores->cores()) EXPECT_EQ(c.numa_node, static_cast<int>(c.id / 10));
}

TEST(fuzz_corpus, of_platforms) {
  test::replay_corpus(
      "platform", [](const std::string& path, const std::string&) { (void)platform::load(path); });
}

}  // namespace
}  // namespace kilter::sim
