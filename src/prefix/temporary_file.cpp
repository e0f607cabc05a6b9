#include "prefix/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kilter/error.hpp"

namespace kilter::prefix {

temporary_file::temporary_file(const std::string& what) : path_((std::filesystem::temp_directory_path() / ("kilter-" + what + "-XXXXXX")).string()) {
  const int fd = ::mkostemp(path_.data(), O_CLOEXEC);
  if (fd < 0) throw input_error("no temporary file '" + path_ + "': " + std::strerror(errno));
  ::close(fd);
}

temporary_file::~temporary_file() { ::unlink(path_.c_str()); }

std::string temporary_file::content() const {
  std::ifstream in(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace kilter::prefix
