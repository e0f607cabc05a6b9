#pragma once
// What the fuzzer made (tests/fuzz/run), replayed: every input is read, or refused in one line.

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kilter/error.hpp"

namespace kilter::test {

/// `read(path, text)` for every input of the target. Some must be read, or the corpus covers little.
template <class Read>
void replay_corpus(const std::string& target, Read&& read) {
  std::size_t files = 0, accepted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(KILTER_TEST_DATA) + "/../fuzz/corpus/" + target)) {
    ++files;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    try {
      read(entry.path().string(), text);
      ++accepted;
    } catch (const input_error& e) {
      EXPECT_EQ(std::string(e.what()).find_first_of("\n\r"), std::string::npos) << entry.path() << ": " << e.what();
    }
  }
  EXPECT_GT(files, 10u);
  EXPECT_GT(accepted, 1u);
}

}  // namespace kilter::test
