#pragma once
// The archives of dedup: each different piece of the input once, compressed, and for its repeats
// where it was.
//
// An archive is the eight bytes `KDEDUP`, 0, 1 (the version), then records. Numbers have their
// least byte first. A record ends with the CRC-32 of the bytes before.
//
//   U  length (4), length when packed (4), SHA-256 (32) and zlib stream of a piece, CRC
//   R  which of the U records this piece repeats, from 0 (8), CRC
//   E  the end: bytes of the whole (8), pieces (8), SHA-256 of the hashes of all pieces in order
//   (32), CRC

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "apps/programs/byte_store.hpp"
#include "apps/programs/sha256.hpp"

namespace kilter::apps {

/// Bytes of a piece, at most.
inline constexpr std::size_t most_piece = 32 * 1024;
inline constexpr std::string_view archive_magic{"KDEDUP\0\1", 8};  // the last byte is the version

/// zlib (RFC 1950) of many short strings, one after another.
class packer {
 public:
  /// `level` 1 (fast) .. 9 (small).
  explicit packer(int level);
  ~packer();
  packer(const packer&) = delete;
  packer& operator=(const packer&) = delete;
  /// Adds to `to` what `bytes` become.
  void pack(std::string_view bytes, std::string& to);

 private:
  z_stream stream_{};
};

/// Makes the bytes of an archive, record by record.
class archive_writer {
 public:
  /// Of a piece that was not there before; `packed`: its bytes, by zlib.
  void first(const sha256_value&, std::size_t length, std::string_view packed);
  /// Of one that is the same as the `index`-th first one, from 0.
  void repeat(const sha256_value&, std::size_t length, std::uint64_t index);
  void end();
  /// What was made since the last time.
  [[nodiscard]] std::string take();
  [[nodiscard]] std::uint64_t firsts() const noexcept { return firsts_; }
  [[nodiscard]] std::uint64_t repeats() const noexcept { return records_ - firsts_; }
  [[nodiscard]] std::uint64_t repeated_bytes() const noexcept { return repeated_; }

 private:
  void piece(const sha256_value&, std::size_t length);
  void close(std::size_t from);

  std::string bytes_{archive_magic};
  sha256 all_;
  std::uint64_t records_ = 0, firsts_ = 0, length_ = 0, repeated_ = 0;
};

struct restored_piece {
  std::string_view bytes;
  bool repeat;
  const sha256_value& hash;
};

/// What an archive was made of, piece by piece. Memory: one piece, and 50 bytes for each different
/// one. input_error "archive 'NAME': byte N: ..." for the first record that is not whole and right;
/// what came before it was.
void restore(const byte_source& archive, const std::string& name,
             const std::function<void(const restored_piece&)>& to);

}  // namespace kilter::apps
