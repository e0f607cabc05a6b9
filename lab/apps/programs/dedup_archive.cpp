#include "apps/programs/dedup_archive.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

constexpr char first_record = 'U', repeat_record = 'R', end_record = 'E';
constexpr std::size_t hash_size = 32, check_size = 4, first_head = 1 + 4 + 4 + hash_size,
                      repeat_size = 1 + 8, end_size = 1 + 8 + 8 + hash_size;

Bytef* as_zlib(const char* bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes));
}

std::uint32_t check_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, as_zlib(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// Least significant byte first.
void put(std::string& to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i));
}

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i > 0; --i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i - 1]);
  return value;
}

std::string_view text_of(const sha256_value& h) {
  return {reinterpret_cast<const char*>(h.data()), h.size()};
}

sha256_value hash_at(std::string_view bytes, std::size_t at) {
  sha256_value h;
  bytes.copy(reinterpret_cast<char*>(h.data()), h.size(), at);
  return h;
}

}  // namespace

packer::packer(int level) {
  if (::deflateInit(&stream_, level) != Z_OK) throw std::bad_alloc();
}

packer::~packer() { ::deflateEnd(&stream_); }

void packer::pack(std::string_view bytes, std::string& to) {
  ::deflateReset(&stream_);
  const std::size_t before = to.size();
  to.resize(before + ::deflateBound(&stream_, bytes.size()));
  stream_.next_in = as_zlib(bytes.data());
  stream_.avail_in = static_cast<uInt>(bytes.size());
  stream_.next_out = as_zlib(to.data() + before);
  stream_.avail_out = static_cast<uInt>(to.size() - before);
  if (::deflate(&stream_, Z_FINISH) != Z_STREAM_END)
    throw std::logic_error("zlib needs more room than it said");
  to.resize(before + stream_.total_out);
}

// ---- writing ------------------------------------------------------------------------------------

void archive_writer::first(const sha256_value& hash, std::size_t length, std::string_view packed) {
  const std::size_t from = bytes_.size();
  bytes_ += first_record;
  put(bytes_, length, 4);
  put(bytes_, packed.size(), 4);
  bytes_ += text_of(hash);
  bytes_ += packed;
  close(from);
  piece(hash, length);
  ++firsts_;
}

void archive_writer::repeat(const sha256_value& hash, std::size_t length, std::uint64_t index) {
  const std::size_t from = bytes_.size();
  bytes_ += repeat_record;
  put(bytes_, index, 8);
  close(from);
  piece(hash, length);
  repeated_ += length;
}

void archive_writer::end() {
  const std::size_t from = bytes_.size();
  bytes_ += end_record;
  put(bytes_, length_, 8);
  put(bytes_, records_, 8);
  bytes_ += text_of(all_.value());
  close(from);
}

std::string archive_writer::take() { return std::exchange(bytes_, {}); }

void archive_writer::piece(const sha256_value& hash, std::size_t length) {
  all_.add(text_of(hash));
  length_ += length;
  ++records_;
}

void archive_writer::close(std::size_t from) {
  put(bytes_, check_of(std::string_view(bytes_).substr(from)), check_size);
}

// ---- reading ------------------------------------------------------------------------------------

namespace {

class archive_reader {
 public:
  archive_reader(const byte_source& archive, const std::string& name)
      : archive_(archive), name_(name) {}

  void read(const std::function<void(const restored_piece&)>& to) {
    if (archive_.size() < archive_magic.size() ||
        see(archive_magic.size()).substr(0, 7) != archive_magic.substr(0, 7))
      broken("this is no archive of kilter lab app dedup");
    if (see(8)[7] != archive_magic[7])
      broken("version " + std::to_string(see(8)[7]) +
             " of the format; this program reads version 1");
    at_ = archive_magic.size();
    while (record(to)) {
    }
  }

 private:
  struct place {
    std::uint64_t at;  ///< of the record
    sha256_value hash;
  };

  [[noreturn]] void broken(const std::string& why) const {
    throw input_error("archive '" + name_ + "': byte " + std::to_string(at_) + ": " + why);
  }

  /// The next bytes, which stay until more are asked for.
  std::string_view see(std::size_t count) {
    if (archive_.size() - at_ < count)
      broken("it ends in the middle of a record, after " + std::to_string(archive_.size()) +
             " bytes; get it again");
    if (at_ < buffer_at_ || at_ + count > buffer_at_ + buffer_.size()) {
      constexpr std::size_t at_once = 1 << 18;
      buffer_.resize(std::min<std::uint64_t>(std::max(count, at_once), archive_.size() - at_));
      buffer_at_ = at_;
      archive_.read(at_, buffer_);
    }
    return std::string_view(buffer_.data(), buffer_.size()).substr(at_ - buffer_at_, count);
  }

  /// A whole record of `count` bytes and their check.
  std::string_view whole(std::size_t count) {
    const std::string_view r = see(count + check_size);
    if (check_of(r.substr(0, count)) != number(r, count, check_size))
      broken("the checksum of the record does not fit; it has been changed");
    return r.substr(0, count);
  }

  bool record(const std::function<void(const restored_piece&)>& to) {
    switch (see(1)[0]) {
      case first_record: first(to); return true;
      case repeat_record: repeat(to); return true;
      case end_record: end(); return false;
      default:
        broken("no record begins with the byte " +
               std::to_string(static_cast<std::uint8_t>(see(1)[0])));
    }
  }

  void first(const std::function<void(const restored_piece&)>& to) {
    firsts_.push_back({at_, hash_at(see(first_head), first_head - hash_size)});
    const std::size_t length = unpack();
    piece({{raw_.data(), raw_.size()}, false, firsts_.back().hash}, to);
    at_ += length;
  }

  /// Of the record here. Returns how long it is.
  std::size_t unpack() {
    const std::string_view head = see(first_head);
    const std::uint64_t length = number(head, 1, 4), packed = number(head, 5, 4);
    const std::size_t most_packed = ::compressBound(most_piece) + 64;
    if (length == 0 || length > most_piece || packed > most_packed)
      broken("a piece of " + std::to_string(length) + " bytes, " + std::to_string(packed) +
             " when packed; pieces have 1 to " + std::to_string(most_piece));
    const std::string_view r = whole(first_head + packed);
    raw_.resize(length);
    uLongf got = length;
    if (::uncompress(as_zlib(raw_.data()), &got, as_zlib(r.data() + first_head), packed) != Z_OK ||
        got != length)
      broken("the piece cannot be unpacked");
    if (sha256_of({raw_.data(), raw_.size()}) != hash_at(r, first_head - hash_size))
      broken("the piece does not have the hash that is written before it");
    return first_head + packed + check_size;
  }

  void repeat(const std::function<void(const restored_piece&)>& to) {
    const std::uint64_t index = number(whole(repeat_size), 1, 8);
    if (index >= firsts_.size())
      broken("it repeats piece " + std::to_string(index) + " of " + std::to_string(firsts_.size()));
    const std::uint64_t here = std::exchange(at_, firsts_[index].at);
    unpack_again();
    at_ = here;
    piece({{raw_.data(), raw_.size()}, true, firsts_[index].hash}, to);
    at_ += repeat_size + check_size;
  }

  /// The record here, whose bytes lie far before those that are buffered.
  void unpack_again() {
    std::swap(buffer_, far_);
    const std::uint64_t near_at = std::exchange(buffer_at_, far_at_);
    unpack();
    std::swap(buffer_, far_);
    far_at_ = std::exchange(buffer_at_, near_at);
  }

  void end() {
    const std::string_view r = whole(end_size);
    if (number(r, 1, 8) != length_ || number(r, 9, 8) != records_)
      broken("the end says " + std::to_string(number(r, 1, 8)) + " bytes in " +
             std::to_string(number(r, 9, 8)) + " pieces; there were " + std::to_string(length_) +
             " in " + std::to_string(records_));
    if (hash_at(r, end_size - hash_size) != all_.value())
      broken("the checksum of the whole does not fit; pieces have been changed or moved");
    at_ += end_size + check_size;
    if (at_ != archive_.size())
      broken(std::to_string(archive_.size() - at_) + " bytes follow the end of the archive");
  }

  void piece(const restored_piece& p, const std::function<void(const restored_piece&)>& to) {
    all_.add(text_of(p.hash));
    length_ += p.bytes.size();
    ++records_;
    to(p);
  }

  const byte_source& archive_;
  const std::string& name_;
  std::uint64_t at_ = 0, buffer_at_ = 0, far_at_ = 0;
  std::vector<char> buffer_, far_, raw_;
  std::vector<place> firsts_;
  sha256 all_;
  std::uint64_t length_ = 0, records_ = 0;
};

}  // namespace

void restore(const byte_source& archive, const std::string& name,
             const std::function<void(const restored_piece&)>& to) {
  archive_reader(archive, name).read(to);
}

}  // namespace kilter::apps
