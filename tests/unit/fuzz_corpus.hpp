#pragma once
// What the fuzzer made (tests/fuzz/run), replayed: every input is read, or refused in one line.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kilter/error.hpp"

namespace kilter::test {

/// The bytes that a line of a bundle stands for; tests/fuzz/bundle says how they are written.
inline std::string fuzz_input(std::string_view line) {
  std::string bytes;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      bytes += line[at];
      continue;
    }
    switch (line.at(++at)) {
      case '\\': bytes += '\\'; break;
      case 'n': bytes += '\n'; break;
      case 't': bytes += '\t'; break;
      case 'r': bytes += '\r'; break;
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string(line.substr(at + 1, 2)), nullptr, 16));
        at += 2;
        break;
      default: throw std::runtime_error("no escape of a bundle: \\" + std::string(1, line[at]));
    }
  }
  return bytes;
}

/// `read(path, text)` for every input of the target, as "regions" or "graphs/dot"; path is a file
/// that holds the text. Some must be read, or the corpus covers little.
template <class Read>
void replay_corpus(const std::string& target, Read&& read) {
  std::ifstream bundle(std::string(KILTER_TEST_DATA) + "/fuzz/corpus/" + target + ".txt");
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  std::size_t inputs = 0, accepted = 0;
  for (std::string line; std::getline(bundle, line);) {
    ++inputs;
    const std::string text = fuzz_input(line);
    ASSERT_TRUE(::ftruncate(fd, 0) == 0 &&
                ::pwrite(fd, text.data(), text.size(), 0) == static_cast<::ssize_t>(text.size()));
    try {
      read(path, text);
      ++accepted;
    } catch (const input_error& e) {
      EXPECT_EQ(std::string(e.what()).find_first_of("\n\r"), std::string::npos)
          << target << ".txt:" << inputs << ": " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << target << ".txt:" << inputs << ": " << e.what();
    }
  }
  ::close(fd);
  EXPECT_GT(inputs, 10u);
  EXPECT_GT(accepted, 0u) << "the corpus is all refused: it covers little";
}

}  // namespace kilter::test
