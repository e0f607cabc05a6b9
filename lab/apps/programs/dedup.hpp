#pragma once
// Packs bytes so that stretches which come again are kept once: content-defined pieces
// (Muthitacharoen, Chen, Mazieres: A low-bandwidth network file system, SOSP 2001), whose hashes
// tell which are equal, and zlib for those that are new. One of the applications of S1
// (papers.md A2.2).
//
// Unlike in the public code: the archive is the same bit for bit, whoever comes first.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/programs/byte_store.hpp"
#include "apps/programs/dedup_archive.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/sha256.hpp"
#include "apps/programs/stages.hpp"

namespace kilter::apps {

/// Whether a block is refined, hashed and compressed in a stage each, or in one, as the task
/// version of the public code behind S1 has it.
enum class dedup_stages : std::uint8_t { separate, fused };
/// As on a command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> dedup_stage_names{"separate", "fused"};

struct dedup_options {
  dedup_stages stages = dedup_stages::separate;
  /// bytes that pass through the stages together, at least; up to half more. 64 kiB .. 64 MiB
  std::size_t block = 2 << 20;
  /// blocks that may be on their way at once, 1 .. 4096; 0: four a thread
  std::size_t slots = 0;
  int level = 6;  ///< of zlib, 1 (fast) .. 9 (small)
};

/// Bytes that are drawn, and how many make a block.
struct dedup_size {
  std::string_view name;
  std::size_t bytes, block;
};
/// `native` has the bytes of S1, Table 1, in the blocks of the public code.
inline constexpr std::array<dedup_size, 4> dedup_sizes{{{"small", 1'000'000, 64 << 10},
                                                        {"medium", 20'000'000, 512 << 10},
                                                        {"large", 160'000'000, 2 << 20},
                                                        {"native", 351'000'000, 2 << 20}}};

/// Which pieces there are so far. Asked by several threads at once.
class piece_table {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// The piece with this number in the input has this hash. The least number of each hash is kept.
  void claim(const sha256_value&, std::uint64_t number);
  /// Whether no piece with a lower number has claimed it by now.
  [[nodiscard]] bool first(const sha256_value&, std::uint64_t number);
  /// Where it is in the archive; `none`: it is not there yet, and is now at `next`.
  [[nodiscard]] std::uint64_t place(const sha256_value&, std::uint64_t next);
  void clear();

 private:
  struct entry {
    std::uint64_t number = none, place = none;
  };
  struct alignas(64) shard {
    std::mutex mutex;
    std::unordered_map<sha256_value, entry, sha256_hash> entries;  // under the lock
  };
  [[nodiscard]] shard& of(const sha256_value& h) noexcept {
    return shards_[h.back() % shards_.size()];
  }

  std::array<shard, 64> shards_;
};

class dedup final : public program {
 public:
  /// `input` is read anew in each run; the archive is that of the last whole run, or empty.
  /// input_error for options out of range.
  dedup(std::shared_ptr<const byte_source> input, std::shared_ptr<byte_store> archive,
        const dedup_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  /// Restores the archive, with a reader that shares nothing with the stages, and compares with the
  /// input. No piece may be there twice.
  void verify() const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The archive, which must fit into memory here; byte_store has it otherwise.
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

 private:
  struct piece {
    std::size_t begin, length;  ///< in the block
    sha256_value hash;
    std::size_t packed, packed_length;  ///< in what is packed; no length: it was not packed
  };
  /// A block on its way; its memory is used again.
  struct block {
    explicit block(int level) : zlib(level) {}
    std::uint64_t number = 0;
    std::string bytes, packed;
    std::vector<piece> pieces;
    packer zlib;
  };

  void start(std::uint32_t threads);
  [[nodiscard]] item_pipeline stages();
  program_run run_in_tasks(kilter::runtime&, const std::function<bool()>& stopped);
  bool fragment(block&);
  void refine(block&);
  void hash(block&);
  void compress(block&);
  void pack(block&);
  void write(block&);

  const std::shared_ptr<const byte_source> input_;
  const std::shared_ptr<byte_store> archive_;
  const dedup_options options_;
  std::deque<block> slots_;
  piece_table table_;
  std::uint64_t read_ = 0, blocks_ = 0;   ///< the first stage's
  std::optional<archive_writer> writer_;  ///< the last stage's
  std::uint64_t packed_in_vain_ = 0;      ///< the last stage's too
};

}  // namespace kilter::apps
