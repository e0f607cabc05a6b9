#pragma once
// Files that are written whole or not at all: what goes wrong on the way leaves the old content.

#include <string>
#include <string_view>

namespace kilter::inline v0::detail {

/// Replaces the content of the file, keeping its mode. Empty if that worked, else why not.
///
/// The new content is written beside the file and renamed, so that nobody ever sees a half. A
/// link's file is replaced, not the link. Where the folder takes no new files, or the file cannot
/// be renamed over, its blocks are reserved first and it is written in place. What is no regular
/// file, a device or a pipe, and what standard output or standard error goes to is written
/// straight. A process that is killed leaves nothing beside the file, unless the file system has no
/// unnamed files.
[[nodiscard]] std::string replace_file(const std::string& path, std::string_view content);

/// The same for content that comes bit by bit.
class replacement {
 public:
  explicit replacement(const std::string& path);
  /// Drops what was not kept.
  ~replacement();
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;

  /// After a failure nothing is written any more.
  void add(std::string_view);
  /// Puts what was added in place of the file's content, if nothing failed.
  void keep();
  /// Why nothing is, or will be, kept; empty while all is well.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// True if a process that is killed now would leave a file behind.
  [[nodiscard]] bool has_name() const noexcept { return !part_.empty(); }

 private:
  void open_beside(const std::string& folder);
  void overwrite();
  void fail();

  std::string target_, part_, why_;
  int fd_ = -1;
  bool straight_ = false, in_place_ = false;
};

}  // namespace kilter::inline v0::detail
