// --cores and --fast as users type them.

#include "unit/machine/support.hpp"

namespace kilter {
namespace {

using ids = std::vector<core_id>;

ids parse(const std::string& text) { return parse_cores(text, machine::uniform(8)); }

TEST(core_list, lists_ranges_and_counts) {
  EXPECT_EQ(parse("0-3,6"), (ids{0, 1, 2, 3, 6}));
  EXPECT_EQ(parse("2,"), (ids{2}));
  EXPECT_EQ(parse("0,"), (ids{0}));
  EXPECT_EQ(parse("4"), (ids{0, 1, 2, 3}));
  EXPECT_EQ(parse("8"), (ids{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(parse("5-5"), (ids{5}));
  EXPECT_EQ(parse("6,0-1"), (ids{0, 1, 6}));
}

TEST(core_list, what_is_wrong_is_named) {
  const auto refused = [](const std::string& text, const std::vector<std::string>& names) {
    const std::string message = test::refusal([&] { (void)parse(text); });
    test::expect_names(message, {"'" + text + "'"});
    test::expect_names(message, names);
  };
  refused("", {"count", "list"});
  refused("0", {"count of 0"});
  refused("9", {"0-7"});
  refused("8,", {"core 8", "0-7"});
  refused("0-8", {"core 8"});
  refused("3-1", {"backwards"});
  refused("1,1", {"core 1", "twice"});
  refused("0-3,2", {"core 2", "twice"});
  refused("99999999999999999999999", {"0-7"});
  refused("99999999999999999999999,", {"does not exist"});
  refused("4294967296,", {"does not exist"});
  for (const auto* garbage : {",", ",1", "1,,2", "-", "-1", "1-", "1-2-3", "a", "1,b", "+1", " 1",
                              "1 ", "0x1,", "1.5", "1;2"})
    refused(garbage, {"list of core ids"});
}

TEST(core_list, a_machine_of_one_core) {
  const auto one = machine::uniform(1);
  EXPECT_EQ(parse_cores("1", one), (ids{0}));
  test::expect_names(test::refusal([&] { (void)parse_cores("2", one); }), {"only core 0"});
}

}  // namespace
}  // namespace kilter
