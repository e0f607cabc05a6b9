// Topology files: what of them is read, and that whatever else they hold is refused with one line
// before hwloc sees it.

#include "unit/machine/support.hpp"

namespace kilter {
namespace {

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

}  // namespace
}  // namespace kilter
