// Topology files of hwloc and platform files: what they give. What else they hold is refused with
// one line: of XML before hwloc sees it, of a platform file with the line that is wrong.

#include <algorithm>

#include "unit/machines.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

// ---- hwloc's XML --------------------------------------------------------------------------------

using test::cluster_sizes;
using test::os_indices;

class bad_xml : public testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override {
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "")
        << "the exception's message is the only one";
  }
  std::string refused(const std::string& contents) const {
    const std::string path = scratch_.write("bad.xml", contents);
    const std::string message = test::refusal([&] { (void)machine::from_xml(path); });
    test::expect_names(message, {path});
    return message;
  }
  test::scratch scratch_;
  const std::string good_ = test::contents_of(test::recorded("nvidia-gb10.xml"));
};

TEST_F(bad_xml, missing) {
  test::expect_names(test::refusal([] { (void)machine::from_xml("/nowhere/x.xml"); }),
                     {"/nowhere/x.xml", "No such file"});
}
TEST_F(bad_xml, a_directory) {
  test::expect_names(test::refusal([&] { (void)machine::from_xml(scratch_.path()); }),
                     {"is a directory"});
}
TEST_F(bad_xml, empty) {
  test::expect_names(refused(""), {"empty"});
  test::expect_names(refused(" \n\n"), {"empty"});
  test::expect_names(refused(" \xef"), {"empty"});
}
// hwloc reads what has none through a null pointer, in its first format.
TEST_F(bad_xml, without_a_logical_cpu) {
  const std::string sets =
      " cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
  for (const char* version : {"", " version=\"2.0\""})
    test::expect_names(
        refused("<topology" + std::string(version) +
                ">\n<object type=\"Machine\" os_index=\"0\" allowed_cpuset=\"0x1\"" + sets +
                ">\n<object type=\"Core\" os_index=\"0\"" + sets + "/>\n</object>\n</topology>\n"),
        {"no logical CPU"});
}
// hwloc's own reader leaves out what follows a name with other letters; so does an object lose its
// sets, and hwloc reads them through null pointers.
TEST_F(bad_xml, with_attributes_that_hwloc_has_not) {
  for (const char* name : {"cpusetM", "Cpuset", "cpu-set", "cpuset2"})
    test::expect_names(
        refused(test::replaced(good_, "<object type=\"NUMANode\"",
                               "<object type=\"NUMANode\" " + std::string(name) + "=\"0x1\"")),
        {"line ", "an attribute '" + std::string(name) + "'"});
  test::expect_names(refused(test::replaced(good_, "<object type=\"NUMANode\"",
                                            "<object type=\"NUMANode\" cpuset=\"0x1\"")),
                     {"line ", "'cpuset' twice"});
}
// hwloc takes what begins like a type for it, so the demands on this type would go unasked.
TEST_F(bad_xml, with_types_that_hwloc_does_not_write) {
  for (const char* type : {"PUx", "pu", "PU os_index=", "NUMANode:0", ""})
    test::expect_names(refused(test::replaced(good_, "<object type=\"PU\"",
                                              "<object type=\"" + std::string(type) + "\"")),
                       {"line ", "\"" + std::string(type) + "\""});
}
TEST_F(bad_xml, without_one_machine_that_holds_all) {
  const std::string machine = "<object type=\"Machine\"";
  test::expect_names(refused(test::replaced(good_, machine, "<object type=\"Package\"")),
                     {"line ", "no single object of type \"Machine\""});
  test::expect_names(refused("<topology>\n<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" "
                             "complete_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\">\n"
                             "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" "
                             "complete_cpuset=\"0x1\"/>\n</object>\n</topology>\n"),
                     {"line 2", "no single object of type \"Machine\""});
  test::expect_names(
      refused(test::replaced(good_, "</topology>", "<object type=\"Machine\"/>\n</topology>")),
      {"no single object of type \"Machine\""});
}
// Through another one where a second format without a NUMA node allows none of its CPUs.
TEST_F(bad_xml, without_a_numa_node) {
  const std::string sets =
      " cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
  test::expect_names(refused("<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" "
                             "allowed_cpuset=\"0x2\" allowed_nodeset=\"0x1\"" +
                             sets + ">\n<object type=\"PU\" os_index=\"0\"" + sets +
                             "/>\n</object>\n</topology>\n"),
                     {"no NUMA node"});
}
TEST_F(bad_xml, with_one_set_of_two) {
  for (const auto& [gone, left] : {std::pair{"cpuset", "complete_cpuset"},
                                   {"complete_cpuset", "cpuset"},
                                   {"nodeset", "complete_nodeset"},
                                   {"complete_nodeset", "nodeset"}})
    test::expect_names(
        refused(test::replaced(good_, " " + std::string(gone) + "=\"", " x=\"")),
        {"an object with '" + std::string(left) + "'", "'" + std::string(gone) + "'"});
}
// In its first format hwloc looks into a NUMANode for the cores that the set names.
TEST_F(bad_xml, with_cores_in_a_set_that_are_not_in_the_object) {
  const auto with = [](const std::string& set) {
    const std::string sets = " cpuset=\"0x1\" complete_cpuset=\"0x1\"";
    return "<topology>\n<object type=\"Machine\" os_index=\"0\" allowed_cpuset=\"0x1\"" + sets +
           ">\n<object type=\"NUMANode\" os_index=\"0\" cpuset=\"" + set + "\" complete_cpuset=\"" +
           set + "\"/>\n<object type=\"PU\" os_index=\"0\"" + sets + "/>\n</object>\n</topology>\n";
  };
  test::expect_names(refused(with("0x1")),
                     {"a NUMANode with cores in its cpuset that contains none"});
}
TEST_F(bad_xml, with_a_nul) {
  test::expect_names(
      refused(test::replaced(good_, "version=\"2.0\"", std::string("version=\"2.0\0\"", 14))),
      {"holds a NUL byte"});
}
TEST_F(bad_xml, truncated) {
  for (const std::size_t bytes : {200u, 1000u, 5000u, 20000u})
    test::expect_names(refused(good_.substr(0, bytes)), {"truncated"});
}
TEST_F(bad_xml, foreign) {
  test::expect_names(refused("<?xml version=\"1.0\"?>\n<html><body>x</body></html>\n"),
                     {"not an hwloc XML export"});
  refused("name = \"jetson-tx2\"\n");
  refused(
      std::string("\x7f"
                  "ELF\0\0",
                  6));
}
TEST_F(bad_xml, damaged_inside) {
  refused("<?xml version=\"1.0\"?>\n<topology version=\"2.0\"></topology>\n");
  refused(test::replaced(good_, "\"L2Cache\"", "\"Bogus\""));
  refused(test::replaced(good_, "</object>", ""));
  refused(test::replaced(good_, "NUMANode", "Misc"));
  refused(test::replaced(good_, " complete_cpuset=", " incomplete_cpuset="));
  refused(test::replaced(good_, "<object type=\"PU\" os_index=\"3\"",
                         "<object type=\"PU\" os_index=\"4294967295\""));
}

/// hwloc reads nested elements by recursion; this deep it ended the program.
TEST_F(bad_xml, nested_without_end) {
  for (const std::string type : {"Group", "Misc"}) {
    std::string nested;
    for (int i = 0; i < 100'000; ++i) nested += "<object type=\"" + type + "\">\n";
    const std::size_t first = good_.find("<object type=\"Package\"");
    test::expect_names(refused(good_.substr(0, first) + nested + good_.substr(first)),
                       {"line ", "nested more than 64 deep"});
  }
}
TEST_F(bad_xml, with_sets_and_numbers_that_no_machine_has) {
  const std::string set = "complete_cpuset=\"0x00000001\"";
  ASSERT_NE(good_.find(set), std::string::npos);
  const auto with_set = [&](const std::string& text) {
    return refused(test::replaced(good_, set, "complete_cpuset=\"" + text + "\""));
  };
  for (const std::string& text :
       {std::string(1000, ',') + "0x1", std::string("0x123456789"), std::string("0x1,"),
        std::string("0xg"), std::string(""), std::string("0xf...f,")})
    test::expect_names(with_set(text),
                       {"'complete_cpuset' is \"" + text.substr(0, 40), "0x0000000f"});
  test::expect_names(with_set("0x1" + std::string(40'000, ',') + "0x1"), {"1048576 bits"});
  for (const char* type : {"PU", "NUMANode"}) {
    const std::string begin = "<object type=\"" + std::string(type) + "\"",
                      first = begin + " os_index=\"0\"";
    test::expect_names(refused(test::replaced(good_, first, begin + " os_index=\"2000000000\"")),
                       {type, "\"2000000000\"", "below 1048576"});
    test::expect_names(refused(test::replaced(good_, first, begin)), {type, "without os_index"});
  }
}
TEST_F(bad_xml, with_too_much_of_it) {
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "<object type=\"Misc\"/>\n";
  const std::size_t first = good_.find("<object type=\"Package\"");
  test::expect_names(refused(good_.substr(0, first) + many + good_.substr(first)),
                     {"<object> holds more than 8192 elements"});
  test::expect_names(test::refusal([] { (void)machine::from_xml("/dev/zero"); }),
                     {"/dev/zero", "larger than 64 MiB"});
}
TEST_F(bad_xml, that_is_no_xml_of_hwloc) {
  refused(test::replaced(good_, "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">",
                         "<!DOCTYPE topology [<!ENTITY a \"b\">]>"));
  refused(
      test::replaced(good_, "<topology version=\"2.0\">", "<topology version=\"2.0\"><machine>"));
  refused(test::replaced(good_, "os_index=\"0\"", "os_index=0"));
  refused(test::replaced(good_, "os_index=\"0\"", "os_index=\"0"));
}
TEST_F(bad_xml, of_a_format_that_is_newer_says_how_to_write_it_anew) {
  test::expect_names(
      refused(test::replaced(good_, "<topology version=\"2.0\">", "<topology version=\"4.0\">")),
      {"format \"4.0\"", "lstopo --of xml --export-xml-flags v2 FILE.xml"});
}

TEST(xml, of_hwloc_3_is_read) {
  const test::scratch scratch;
  const std::string before = test::contents_of(test::recorded("nvidia-gb10.xml"));
  std::string newer =
      test::replaced(before, "<topology version=\"2.0\">", "<topology version=\"3.0\">");
  ASSERT_NE(newer, before);
  newer = test::replaced(newer, "</topology>",
                         "  <info name=\"Backend\" value=\"Linux\"/>\n  <info name=\"OSName\" "
                         "value=\"Linux\"/>\n</topology>");
  const auto old = machine::from_xml(test::recorded("nvidia-gb10.xml")),
             m = machine::from_xml(scratch.write("v3.xml", newer));
  EXPECT_EQ(os_indices(m), os_indices(old));
  EXPECT_EQ(cluster_sizes(m), cluster_sizes(old));
  EXPECT_EQ(test::kind_names(m), test::kind_names(old));
}

TEST(xml, what_does_not_shape_the_machine_is_left_to_its_writer) {
  const test::scratch scratch;
  const std::string before = test::contents_of(test::recorded("nvidia-gb10.xml"));
  std::string more =
      test::replaced(before, "</topology>",
                     "<!-- <object> --><distances2 type=\"NUMANode\" nbobjs=\"4294967295\" "
                     "kind=\"5\" indexing=\"os\"><indexes length=\"4\">0 1 </indexes>"
                     "</distances2><support name=\"x\"/></topology>");
  more = test::replaced(more, "<object type=\"Package\"",
                        "<userdata length=\"4000000000\">abc</userdata><object type=\"Package\"");
  EXPECT_EQ(os_indices(machine::from_xml(scratch.write("more.xml", more))),
            os_indices(machine::from_xml(test::recorded("nvidia-gb10.xml"))));
}

// ---- platform files -----------------------------------------------------------------------------

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
