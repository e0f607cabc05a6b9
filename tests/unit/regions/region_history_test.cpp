#include "regions/region_history.hpp"

#include <gtest/gtest.h>

#include "kilter/error.hpp"
#include "unit/fuzz_corpus.hpp"

namespace kilter::regions {
namespace {

told_region region(std::string module, std::uint64_t offset, std::uint64_t on_pool,
                   std::string left_for = "") {
  return {.module = std::move(module),
          .offset = offset,
          .calls = 9,
          .on_pool = on_pool,
          .members = 2,
          .threads = 2,
          .seconds = 1.0,
          .left_for = std::move(left_for),
          .library = "libgomp"};
}
told_process process(std::vector<told_region> regions) {
  return {.pid = 7, .passed_on_for = "", .regions = std::move(regions)};
}

std::optional<file_version> unchanged(const std::string& path) {
  if (path == "/gone") return std::nullopt;
  return file_version{.bytes = path.size(), .changed_ns = 5};
}
std::optional<file_version> rebuilt(const std::string& path) {
  return file_version{.bytes = path.size(), .changed_ns = 6};
}

TEST(region_history, keeps_regions_that_ran_on_threads_of_kilter) {
  region_history known;
  add_run(known,
          {process({region("", 0x10, 7), region("", 0x20, 0), region("", 0x30, 5, "GOMP_task"),
                    region("/lib/a b.so", 0x40, 1), region("/gone", 0x50, 1)})},
          "/bin/p", unchanged);
  EXPECT_EQ(known_regions(known, "/bin/p", unchanged), "10 \n40 /lib/a b.so\n");
  EXPECT_EQ(known_regions(known, "/bin/other", unchanged), "10 /bin/p\n40 /lib/a b.so\n")
      << "it may load the program's file as a library";
}

TEST(region_history, forgets_what_turned_out_to_be_its_librarys) {
  region_history known;
  add_run(known, {process({region("", 0x10, 7), region("", 0x20, 7)})}, "/bin/p", unchanged);
  add_run(known, {process({region("", 0x10, 5, "GOMP_task")})}, "/bin/p", unchanged);
  EXPECT_EQ(known_regions(known, "/bin/p", unchanged), "20 \n");
}

TEST(region_history, forgets_another_version_of_a_file) {
  region_history known;
  add_run(known, {process({region("", 0x10, 7)})}, "/bin/p", unchanged);
  EXPECT_EQ(known_regions(known, "/bin/p", rebuilt), "") << "its offsets are other regions'";
  add_run(known, {process({region("", 0x60, 7)})}, "/bin/p", rebuilt);
  EXPECT_EQ(known_regions(known, "/bin/p", rebuilt), "60 \n");
}

TEST(region_history, is_read_as_it_was_written) {
  region_history known;
  add_run(known, {process({region("", 0x10, 7), region("/lib/\"a\".so", 0xffffffffffff, 1)})},
          "/bin/p", unchanged);
  const region_history again = parse_region_history(region_history_text(known));
  EXPECT_EQ(known_regions(again, "/bin/p", unchanged), known_regions(known, "/bin/p", unchanged));
  EXPECT_TRUE(parse_region_history("").empty());
}

TEST(region_history, refuses_what_is_none) {
  for (
      const char* text :
      {"x", "[]", "{}", R"({"schema":"kilter.run/1"})", R"({"schema":"kilter.run-history/1"})",
       R"({"schema":"kilter.run-history/1","modules":[{"path":3}]})",
       R"({"schema":"kilter.run-history/1","modules":[{"path":"a","bytes":1,"changed_ns":2,"trusted":["x"]}]})"})
    EXPECT_THROW((void)parse_region_history(text), input_error) << text;
}

TEST(region_history, corpus_is_read_or_refused_in_one_line) {
  test::replay_corpus("regions", [](const std::string&, const std::string& bytes) {
    (void)told_lines(parse_told(bytes), "p");
    (void)parse_region_history(bytes);
  });
}

}  // namespace
}  // namespace kilter::regions
