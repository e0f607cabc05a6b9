// Platform files: what they give, and that an error in one points at its line.

#include "unit/machine/support.hpp"

namespace kilter {
namespace {

const std::string good = R"(schema = "kilter.platform/1"
name = "made"
[[kind]]
name = "big"
[[kind]]
name = "little"
[[cluster]]
kind = "little"
cpus = [0, 1, 2]
source = "made up"
[[cluster]]
kind = "big"
cpus = [[5, 9], [4, 8]]
numa_node = 1
source = "made up"
[[cluster.cache]]
level = 2
type = "unified"
bytes = 1024
shared_by = "cluster"
source = "made up"
)";

machine load(const std::string& contents, const machine_options& options = {}) {
  const test::scratch scratch;
  return machine::from_platform(scratch.write("made.toml", contents), options);
}

/// The message for `good` with one piece replaced; it must point at `line`.
void expect_refused(int line, const std::string& what, const std::string& by,
                    const std::vector<std::string>& names) {
  ASSERT_NE(good.find(what), std::string::npos) << what;
  std::string contents = good;
  contents.replace(contents.find(what), what.size(), by);
  const std::string message = test::refusal([&] { (void)load(contents); });
  test::expect_names(message, names);
  test::expect_names(message, {"made.toml:" + std::to_string(line) + ": "});
}

TEST(platform, the_tx2_has_exactly_the_ten_places_of_the_papers) {
  const auto m = machine::from_platform("jetson-tx2");
  EXPECT_EQ((std::vector<place>{m.places().begin(), m.places().end()}),
            (std::vector<place>{
                {0, 1}, {1, 1}, {0, 2}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {2, 2}, {4, 2}, {2, 4}}));
  EXPECT_EQ(test::os_indices(m), (std::vector<int>{1, 2, 0, 3, 4, 5}));
  EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"denver", "a57"}));
  EXPECT_EQ(m.fastest_cores(), (std::vector<core_id>{0, 1}));
  EXPECT_EQ(m.name(), "jetson-tx2");
}

TEST(platform, numbering_does_not_depend_on_the_order_in_the_file) {
  const auto m = load(good);
  EXPECT_EQ(test::os_indices(m), (std::vector<int>{4, 5, 0, 1, 2}));
  EXPECT_EQ(m.cores()[0].numa_node, 1);
  EXPECT_EQ(test::cluster_sizes(m), (std::vector<std::uint32_t>{2, 3}));
}

TEST(platform, options_apply) {
  EXPECT_EQ(test::os_indices(load(good, {.smt = true})), (std::vector<int>{4, 8, 5, 9, 0, 1, 2}));
  EXPECT_EQ(load(good, {.powers_of_two = true}).clusters()[1].widths,
            (std::vector<std::uint32_t>{1}));
}

TEST(platform, tables_of_others_are_left_alone) {
  const auto m = load(good + "[memory]\nbandwidth = 1e9\n[[kernel]]\nname = \"matmul\"\n");
  EXPECT_EQ(m.core_count(), 5u);
}

TEST(platform, errors_point_at_the_line) {
  expect_refused(2, "name = \"made\"", "nmae = \"made\"", {"nmae"});
  expect_refused(2, "name = \"made\"", "name = 5", {"'name'"});
  expect_refused(2, "name = \"made\"", "name = \"made", {});
  expect_refused(1, "kilter.platform/1", "kilter.platform/9",
                 {"kilter.platform/9", "kilter.platform/1"});
}

TEST(platform, unknown_keys_are_errors) {
  expect_refused(5, "name = \"big\"", "name = \"big\"\nspeed = 3", {"speed", "relative_speed"});
  expect_refused(10, "source = \"made up\"", "color = \"red\"\nsource = \"made up\"", {"color"});
  expect_refused(18, "type = \"unified\"", "size = 5\ntype = \"unified\"", {"size"});
}

TEST(platform, unusable_values_are_errors) {
  expect_refused(6, "name = \"little\"", "name = \"big\"", {"big", "twice"});
  expect_refused(8, "kind = \"little\"", "kind = \"huge\"", {"huge"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = []", {"cpus"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = 3", {"cpus"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = [0, -1]", {"cpus"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = [0, 1.5]", {"cpus"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = [0, 4000000000]", {"cpus"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = [[], 1]", {"no logical CPU"});
  expect_refused(9, "cpus = [0, 1, 2]", "cpus = [0, 1, 0]", {"CPU 0", "twice"});
  expect_refused(13, "cpus = [[5, 9], [4, 8]]", "cpus = [[5, 9], [2, 8]]", {"CPU 2", "twice"});
  expect_refused(14, "numa_node = 1", "numa_node = -1", {"numa_node"});
  expect_refused(18, "type = \"unified\"", "type = \"magic\"", {"magic", "instruction"});
  expect_refused(19, "bytes = 1024", "bytes = 0", {"bytes"});
  expect_refused(5, "name = \"big\"", "name = \"big\"\nrelative_speed = -2",
                 {"relative_speed", "-2", "above 0"});
  expect_refused(5, "name = \"big\"", "name = \"big\"\nrelative_speed = 1e308",
                 {"relative_speed", "1e+308", "from 1e-06 to 1e+06"});
}

/// The library frees nested tables by recursion: each of these once ended the program.
TEST(platform, nesting_has_limits) {
  const auto said = [](const std::string& text) {
    return test::refusal([&] { (void)load(good + text); });
  };
  const auto repeated = [](const std::string& part, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += part;
    return all;
  };
  const std::string line =
      ":" + std::to_string(1 + std::count(good.begin(), good.end(), '\n')) + ": ";
  test::expect_names(said(repeated("a.", 50'000) + "a = 1\n"),
                     {"made.toml" + line, "a key has more than 32 parts"});
  test::expect_names(said("[" + repeated("\"a\" . ", 50'000) + "a]\n"),
                     {line + "a key has more than 32 parts"});
  test::expect_names(said("x = " + repeated("[", 100'000) + "\n"),
                     {line + "values are nested more than 32 deep"});
  test::expect_names(said("x = " + repeated("{a.b.c.d = ", 1'000) + "\n"),
                     {line + "values are nested more than 32 deep"});

  const std::string brackets = repeated("[.{", 50);
  const std::string strings = "[memory]\n" + repeated("a.", 31) + "a = \"" + brackets +
                              "\\\\\"  # " + brackets + "\ny = '" + brackets +
                              "\"' \nz = \"\"\"\n" + brackets + "\\\"\"\"\"\"\nu = '''\n" +
                              brackets + "''''\nv = \"\\\"" + brackets + "\"\n";
  EXPECT_EQ(load(good + strings).core_count(), 5u) << "strings and comments hold what they like";
}

TEST(platform, letters_beyond_ascii_stand_in_quotes) {
  expect_refused(4, "name = \"big\"", "name \xcb\xb4 \"big\"", {"'\xcb\xb4' outside quotes"});
  expect_refused(4, "name = \"big\"", "name = \"b\\\xef\xba\xbfig\"",
                 {"a backslash before a letter beyond ASCII"});
  expect_refused(5, "name = \"big\"", "name = \"\"\"b\\\n \t\xef\xbb\xbcig\"\"\"",
                 {"a letter beyond ASCII is the first after a line that ends with a backslash"});
  expect_refused(2, "name = \"made\"", "name = [1b='\xef\xb9\xbf']", {});
  expect_refused(2, "name = \"made\"", "name = 2\'\'\'\xcb\xb4",
                 {"a quote where no text can begin"});
  EXPECT_EQ(
      load("\xEF\xBB\xBF" + test::replaced(good, "\"big\"", "\"gr\xc3\xb6\xc3\x9f\"  # \xcb\xb4"))
          .kinds()[0]
          .name,
      "gr\xc3\xb6\xc3\x9f");
}

TEST(platform, a_message_is_one_line_whatever_the_file_holds) {
  expect_refused(8, "kind = \"little\"", "kind = \"hu\\n\\u001B[2Jge\"", {"'hu\\x0a\\x1b[2Jge'"});
  EXPECT_LT(
      test::refusal([] { (void)load("schema = \"" + std::string(100'000, 'x') + "\"\n"); }).size(),
      1200u);
}

TEST(platform, a_file_that_never_ends_is_refused) {
  test::expect_names(test::refusal([] { (void)machine::from_platform("/dev/zero"); }),
                     {"platform file '/dev/zero' is larger than 16 MiB"});
}

TEST(platform, missing_parts_are_errors) {
  expect_refused(7, "cpus = [0, 1, 2]\n", "", {"cpus"});
  expect_refused(7, "kind = \"little\"\n", "", {"kind"});
  expect_refused(3, "[[kind]]\nname = \"big\"", "[[kind]]", {"name"});
  expect_refused(3, "[[kind]]\nname = \"big\"",
                 "[[kind]]\nname = \"gpu\"\n[[kind]]\nname = \"big\"", {"gpu", "no [[cluster]]"});
}

TEST(platform, every_number_has_a_source) {
  expect_refused(7, "source = \"made up\"\n", "", {"source"});
  expect_refused(3, "name = \"big\"", "name = \"big\"\nrelative_speed = 2", {"source"});
  expect_refused(16, "shared_by = \"cluster\"\nsource = \"made up\"\n", "shared_by = \"cluster\"\n",
                 {"source"});
}

TEST(platform, kinds_stand_fastest_first) {
  expect_refused(9, "name = \"big\"\n[[kind]]\nname = \"little\"",
                 "name = \"big\"\nrelative_speed = 1\nsource = \"x\"\n[[kind]]\nname = "
                 "\"little\"\nrelative_speed = 2\nsource = \"x\"",
                 {"little", "fastest first"});
}

TEST(platform, a_file_without_clusters_is_refused) {
  test::refusal([] { (void)load("schema = \"kilter.platform/1\"\nname = \"x\"\n"); });
  test::refusal([] { (void)load(""); });
  test::refusal([] { (void)load("\x01\x02\xff"); });
  test::refusal([] { (void)load("<?xml version=\"1.0\"?>"); });
}

TEST(platform, unknown_names_are_told_the_known_ones) {
  test::expect_names(test::refusal([] { (void)machine::from_platform("jetson-tx3"); }),
                     {"jetson-tx3", "jetson-tx2"});
  test::expect_names(test::refusal([] { (void)machine::from_platform("/nowhere/x.toml"); }),
                     {"/nowhere/x.toml", "does not exist"});
  const test::scratch scratch;
  test::expect_names(test::refusal([&] { (void)machine::from_platform(scratch.path().string()); }),
                     {"directory"});
  test::refusal([] { (void)machine::from_platform(""); });
}

TEST(platform, the_environment_comes_first) {
  const test::scratch scratch;
  scratch.write("jetson-tx2.toml", good);
  setenv("KILTER_PLATFORMS", ("/nowhere:" + scratch.path().string()).c_str(), 1);
  const auto found = machine::from_platform("jetson-tx2").name();
  const auto directories = platform_directories();
  unsetenv("KILTER_PLATFORMS");
  EXPECT_EQ(found, "made");
  ASSERT_GE(directories.size(), 3u);
  EXPECT_EQ(directories[0], "/nowhere");
  EXPECT_EQ(machine::from_platform("jetson-tx2").name(), "jetson-tx2");
}

}  // namespace
}  // namespace kilter
