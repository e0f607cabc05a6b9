// What is read of this computer and of programs on it.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "regions/os/look_around.hpp"
#include "regions/os/program_file.hpp"

namespace kilter::regions::os {
namespace {

namespace fs = std::filesystem;

class scratch {
 public:
  scratch() : path_((fs::temp_directory_path() / "kilter-look-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~scratch() { fs::remove_all(path_); }
  [[nodiscard]] std::string script(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0755);
    return path;
  }

 private:
  std::string path_;
};

TEST(look_around, sees_the_cpus_that_it_may_use) {
  const surroundings s = look_around();
  EXPECT_GE(s.cpus.size(), 1U);
  EXPECT_GE(s.online, s.cpus.size());
  for (const usable_cpu& c : s.cpus) EXPECT_GT(c.speed, 0.0);
}

TEST(program_file, of_this_test) {
  const program_file p = look_at_program("/proc/self/exe");
  EXPECT_EQ(p.linked, program_file::linkage::dynamic);
  EXPECT_TRUE(p.run_by.empty());
  EXPECT_FALSE(p.privileged);
  EXPECT_NE(std::find(p.needed.begin(), p.needed.end(), "libc.so.6"), p.needed.end());
  // which is called above
  EXPECT_NE(std::find(p.taken.begin(), p.taken.end(), "mkdtemp"), p.taken.end());
  EXPECT_EQ(std::find(p.taken.begin(), p.taken.end(), "no_such_name"), p.taken.end());
}

__attribute__((noinline)) void fence() { __sync_synchronize(); }

TEST(program_file, of_this_test_has_a_fence) {
  fence();
#if defined(__x86_64__)
  EXPECT_TRUE(has_fences(look_at_program("/proc/self/exe")));
#endif
  EXPECT_FALSE(has_fences(look_at_program("/bin/true")));
}

TEST(program_file, is_looked_for_in_path) {
  EXPECT_TRUE(look_at_program("sh").path.ends_with("/sh"));
  EXPECT_EQ(look_at_program("no-such-program").path, "");
  EXPECT_EQ(look_at_program("/no/such/program").path, "");
}

TEST(program_file, of_a_script_is_what_runs_it) {
  const scratch here;
  const program_file direct = look_at_program(here.script("direct", "#! /bin/sh -e\ntrue\n"));
  EXPECT_EQ(direct.run_by, "/bin/sh");
  EXPECT_EQ(direct.linked, program_file::linkage::dynamic);
  const program_file through_env =
      look_at_program(here.script("env", "#!/usr/bin/env -S A=1 sh\n"));
  EXPECT_TRUE(through_env.run_by.ends_with("/sh")) << through_env.run_by;
  EXPECT_EQ(look_at_program(here.script("unmarked", "exit 3\n")).run_by, "/bin/sh");
  EXPECT_EQ(look_at_program(here.script("unmarked", "")).run_by, "/bin/sh");
  const std::string circle = here.script("circle", "");
  EXPECT_EQ(look_at_program(here.script("circle", "#!" + circle + "\n")).linked,
            program_file::linkage::unknown);
}

TEST(program_file, that_is_torn_or_foreign_says_so) {
  const scratch here;
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes[4] = 1;  // 32 bit
  EXPECT_EQ(look_at_program(here.script("foreign", bytes)).linked, program_file::linkage::foreign);
  EXPECT_EQ(look_at_program(here.script("torn", bytes.substr(0, 10))).linked,
            program_file::linkage::unknown);
  bytes[4] = 2;
  for (const std::size_t size : {20U, 64U, 70U, 200U, 1000U})
    static_cast<void>(look_at_program(here.script("cut", bytes.substr(0, size))));
  std::string huge = bytes;
  for (std::size_t i = 32; i < 64; ++i) huge[i] = '\xff';  // offsets beyond everything
  static_cast<void>(look_at_program(here.script("huge", huge)));
  EXPECT_EQ(look_at_program(here.script("data", std::string("MZ\0\0", 4))).linked,
            program_file::linkage::unknown);
}

TEST(program_file, with_privileges_is_seen) {
  const scratch here;
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string path =
      here.script("setuid", std::string(std::istreambuf_iterator<char>(self), {}));
  ::chmod(path.c_str(), 04755);
  EXPECT_TRUE(look_at_program(path).privileged);
}

}  // namespace
}  // namespace kilter::regions::os
