#pragma once
// A file by which a program that we run tells us something, or we tell it.

#include <string>
#include <string_view>

namespace kilter::prefix {

/// A file in a folder of its own that is closed to other users. Both go away; a program that runs
/// on then finds nothing by this name, and can make nothing.
class temporary_file {
 public:
  /// The folder is "kilter-WHAT-" and six letters, where temporary files are. input_error if it
  /// cannot be made.
  explicit temporary_file(const std::string& what);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  /// Absolute: the program may be in another folder by the time that it opens it.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// All of it; as much as can be read.
  [[nodiscard]] std::string content() const;
  /// At its end. input_error if not all of it can be written.
  void add(std::string_view text);

 private:
  std::string folder_, path_;
  /// what lies there by that name when we look is nobody's business but the program's
  int file_ = -1;
};

}  // namespace kilter::prefix
