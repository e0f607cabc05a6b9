#include "session/outputs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

namespace fs = std::filesystem;

class outputs : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("kilter-outputs-" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  [[nodiscard]] std::string file(const char* name) const { return (folder / name).string(); }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder;
};

TEST_F(outputs, a_check_leaves_nothing_behind_and_changes_nothing) {
  check_output("--json", file("new.json"));
  EXPECT_FALSE(fs::exists(file("new.json")));
  std::ofstream(file("old.json")) << "old";
  check_output("--json", file("old.json"));
  EXPECT_EQ(content(file("old.json")), "old");
}

TEST_F(outputs, directories_and_missing_parents_are_refused) {
  EXPECT_THROW(check_output("--json", folder.string()), input_error);
  EXPECT_THROW(check_output("--json", file("none/x.json")), input_error);
  EXPECT_THROW(check_output("--json", "/proc/kilter-cannot-be-written"), input_error);
}

TEST_F(outputs, a_report_replaces_reports_but_nothing_else) {
  std::ofstream(file("thesis.html")) << "<title>My thesis</title>";
  EXPECT_THROW(check_report_output("--html", file("thesis.html")), input_error);
  std::ofstream(file("ours.html")) << "<title>Kilter report</title>";
  EXPECT_NO_THROW(check_report_output("--html", file("ours.html")));
  std::ofstream(file("empty.html"));
  EXPECT_NO_THROW(check_report_output("--html", file("empty.html")));
}

TEST_F(outputs, writing_replaces_the_whole_file_and_keeps_its_mode) {
  std::ofstream(file("a.json")) << "a much longer content than the new one";
  fs::permissions(file("a.json"), fs::perms::owner_read | fs::perms::owner_write);
  write_output(file("a.json"), "new");
  EXPECT_EQ(content(file("a.json")), "new");
  EXPECT_EQ(fs::status(file("a.json")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "no temporary file stays";
}

TEST_F(outputs, a_link_stays_a_link) {
  std::ofstream(file("target.json")) << "old";
  fs::create_symlink(file("target.json"), file("link.json"));
  write_output(file("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(file("link.json")));
  EXPECT_EQ(content(file("target.json")), "new");
}

TEST_F(outputs, a_full_disk_is_said) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full to stand for a full disk";
  EXPECT_NO_THROW(check_output("--json", "/dev/full"));
  EXPECT_THROW(write_output("/dev/full", "text"), std::runtime_error);
}

}  // namespace
}  // namespace kilter::lab
