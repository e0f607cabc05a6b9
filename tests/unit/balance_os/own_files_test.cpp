// Files in folders that others share.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "actors.hpp"
#include "balance/os/mask_ledger.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os::testing {
namespace {

TEST(masks, are_read_from_plain_files_of_this_user_alone) {
  const runtime_directory directory;
  const std::string plain = directory.path() + "/plain", link = directory.path() + "/link",
                    pipe = directory.path() + "/pipe";
  std::ofstream(plain) << "text";
  std::filesystem::create_symlink(plain, link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int fd = mask_ledger::open_own(plain, O_RDONLY);
  EXPECT_GE(fd, 0);
  ::close(fd);
  EXPECT_EQ(mask_ledger::open_own(link, O_RDONLY), -1);
  EXPECT_EQ(mask_ledger::open_own(pipe, O_RDONLY), -1);
  EXPECT_THROW(mask_ledger ledger(pipe), input_error);
  if (::geteuid() == 0 && ::chown(plain.c_str(), 65534, 65534) == 0) {
    EXPECT_EQ(mask_ledger::open_own(plain, O_RDONLY), -1);
  }
}

}  // namespace
}  // namespace kilter::balance::os::testing
