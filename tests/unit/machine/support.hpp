#pragma once
// What the machine tests share: files that exist for one test, and machines written as short text.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "kilter/error.hpp"
#include "kilter/machine.hpp"

namespace kilter::test {

/// A directory of its own that goes away with the test.
class scratch {
 public:
  scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kilter-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
  }
  ~scratch() { std::filesystem::remove_all(directory_); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  std::string write(const std::filesystem::path& name, const std::string& contents) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name, std::ios::binary) << contents;
    return (directory_ / name).string();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

inline std::string recorded(const std::string& name) {
  return std::string(KILTER_TEST_DATA) + "/machines/" + name;
}

inline std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

inline std::vector<std::uint32_t> cluster_sizes(const machine& m) {
  std::vector<std::uint32_t> sizes;
  for (const cluster& cl : m.clusters()) sizes.push_back(cl.size);
  return sizes;
}

inline std::vector<int> os_indices(const machine& m) {
  std::vector<int> indices;
  for (const core& c : m.cores()) indices.push_back(c.os_index);
  return indices;
}

inline std::vector<std::string> kind_names(const machine& m) {
  std::vector<std::string> names;
  for (const core_kind& k : m.kinds()) names.push_back(k.name);
  return names;
}

/// The message of the input_error that `call` throws; it must be one line.
template <class F>
std::string refusal(F&& call) {
  try {
    call();
  } catch (const input_error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

inline void expect_names(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos)
        << "'" << part << "' is missing in: " << message;
}

}  // namespace kilter::test
