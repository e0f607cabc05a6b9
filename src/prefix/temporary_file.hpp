#pragma once
// A file by which a program that we run tells us something.

#include <string>

namespace kilter::prefix {

/// A file of its own that goes away.
class temporary_file {
 public:
  /// "kilter-WHAT-" and six letters, where temporary files are. input_error if it cannot be made.
  explicit temporary_file(const std::string& what);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// All of it; empty if it cannot be read.
  [[nodiscard]] std::string content() const;

 private:
  std::string path_;
};

}  // namespace kilter::prefix
