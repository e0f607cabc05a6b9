#pragma once
// Bytes in memory or in a file, more than memory holds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kilter::apps {

/// Bytes that are read at any place, by several threads at once.
class byte_source {
 public:
  virtual ~byte_source() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// `at` + to.size() is at most size(). Throws what says why it cannot be read.
  virtual void read(std::uint64_t at, std::span<char> to) const = 0;
};

class memory_source final : public byte_source {
 public:
  explicit memory_source(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  void read(std::uint64_t at, std::span<char> to) const override {
    bytes_.copy(to.data(), to.size(), at);
  }

 private:
  std::string bytes_;
};

/// A file, which is read whenever its bytes are asked for.
class file_source final : public byte_source {
 public:
  /// `what` says what kind of file it should be. input_error "WHAT 'PATH' ..." if it cannot be read
  /// at any place as often as wanted, also later.
  file_source(const std::string& path, const std::string& what);
  ~file_source() override;
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  void read(std::uint64_t at, std::span<char> to) const override;

 private:
  std::string which_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Bytes that are added at the end, in memory, or in a file without a name, which is gone with
/// this.
class byte_store final : public byte_source {
 public:
  byte_store() = default;
  /// In a file. input_error if the folder takes none.
  explicit byte_store(const std::string& folder);
  ~byte_store() override;
  byte_store(const byte_store&) = delete;
  byte_store& operator=(const byte_store&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  void read(std::uint64_t at, std::span<char> to) const override;
  /// std::runtime_error with one line if not all can be kept: a full disk.
  void add(std::string_view);
  void clear();

 private:
  std::string where_, bytes_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace kilter::apps
