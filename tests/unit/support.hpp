#pragma once
// What tests of every folder share: files that exist for one test, and what a refusal says.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "kilter/error.hpp"

namespace kilter::test {

inline constexpr double ms = 1e-3, us = 1e-6;

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

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What `call` is answered with: the message of the error that it throws, which must be one line,
/// or "accepted".
template <class Error = input_error, class F>
std::string answer_to(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "accepted";
}

/// The same of a call that must be refused.
template <class Error = input_error, class F>
std::string refusal(F&& call) {
  const std::string answer = answer_to<Error>(call);
  EXPECT_NE(answer, "accepted");
  return answer;
}

inline void expect_names(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_TRUE(contains(message, part)) << "'" << part << "' is missing in: " << message;
}

}  // namespace kilter::test
