#include "apps/programs/dedup.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "apps/programs/chunks.hpp"
#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"
#include "kilter/pipeline.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// Blocks leave the last stage in the order in which they came, so a block can use the slot of the
// one that was read `slots` blocks before it.
program_run dedup::run_in_tasks(kilter::runtime& rt, const std::function<bool()>& stopped) {
  const auto begin = std::chrono::steady_clock::now();
  const kilter::pipeline_options options{.in_flight = static_cast<std::uint32_t>(slots_.size())};
  const auto fragmented = kilter::ordered_stage("fragment", [&]() -> std::optional<block*> {
    block& b = slots_[blocks_ % slots_.size()];
    return !stopped() && fragment(b) ? std::optional(&b) : std::nullopt;
  });
  const auto written = kilter::ordered_stage("write", [this](block* b) { write(*b); });
  if (options_.stages == dedup_stages::fused) {
    kilter::parallel_pipeline(
        rt, options, fragmented,
        kilter::parallel_stage("pack", [this](block* b) { return pack(*b), b; }), written);
  } else {
    const auto refined =
        kilter::parallel_stage("refine", [this](block* b) { return refine(*b), b; });
    const auto hashed = kilter::parallel_stage("hash", [this](block* b) { return hash(*b), b; });
    const auto compressed =
        kilter::parallel_stage("compress", [this](block* b) { return compress(*b), b; });
    kilter::parallel_pipeline(rt, options, fragmented, refined, hashed, compressed, written);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::uint64_t stages = options_.stages == dedup_stages::fused ? 3 : 5;
  return {.seconds = seconds.count(),
          .begin = begin,
          .iterations = blocks_,
          .tasks = blocks_ * stages,
          .complete = read_ == input_->size()};
}

item_pipeline dedup::stages() {
  item_pipeline p{slots_.size(), [this](std::size_t slot) { return fragment(slots_[slot]); }, {}};
  const auto add = [&](std::string_view name, bool ordered, void (dedup::*work)(block&)) {
    p.stages.push_back(
        {name, ordered, [this, work](std::size_t slot) { (this->*work)(slots_[slot]); }});
  };
  if (options_.stages == dedup_stages::fused) {
    add("pack", false, &dedup::pack);
  } else {
    add("refine", false, &dedup::refine);
    add("hash", false, &dedup::hash);
    add("compress", false, &dedup::compress);
  }
  add("write", true, &dedup::write);
  return p;
}

program_run dedup::run(executor& how, const std::function<bool()>& stopped) {
  start(how.threads());
  try {
    const program_run r =
        how.tasks() ? run_in_tasks(*how.tasks(), stopped) : run_stages(how, stages(), stopped);
    if (r.complete) writer_->end();
    if (r.complete)
      archive_->add(writer_->take());
    else
      archive_->clear();
    return r;
  } catch (...) {
    archive_->clear();
    throw;
  }
}

// ---- one block in each stage --------------------------------------------------------------------

namespace {

/// Pieces of some 8 kB.
constexpr cut_limits piece_limits{.least = 2 * 1024, .most = most_piece, .bits = 13};

/// Blocks end where a piece may end; the place is found soon after the least length.
cut_limits block_limits(std::size_t block) {
  unsigned bits = 1;
  while ((std::size_t{64} << bits) < block) ++bits;
  return {.least = block, .most = block + block / 2, .bits = bits};
}

}  // namespace

/// False: there are no more bytes. Reads a little more than it keeps, as the place of the cut is
/// known when it has been seen.
bool dedup::fragment(block& b) {
  if (read_ == input_->size()) return false;
  const cut_limits limits = block_limits(options_.block);
  const std::uint64_t most = std::min<std::uint64_t>(input_->size() - read_, limits.most);
  b.bytes.clear();
  std::size_t cut = 0;
  for (std::size_t wanted = limits.least + limits.least / 32; cut == b.bytes.size() && cut < most;
       wanted += limits.least / 32) {
    const std::size_t before = b.bytes.size();
    b.bytes.resize(std::min<std::uint64_t>(wanted, most));
    input_->read(read_ + before, std::span(b.bytes).subspan(before));
    cut = find_cut(b.bytes, limits, before);
  }
  b.bytes.resize(cut);
  b.number = blocks_++;
  read_ += cut;
  return true;
}

void dedup::refine(block& b) {
  b.pieces.clear();
  for (std::size_t at = 0; at < b.bytes.size();) {
    const std::size_t length = find_cut(std::string_view(b.bytes).substr(at), piece_limits);
    b.pieces.push_back({at, length, {}, 0, 0});
    at += length;
  }
}

namespace {

/// Of a piece in the input: they grow with it, and have gaps.
std::uint64_t number_of(std::uint64_t block, std::size_t piece) { return block << 24 | piece; }

}  // namespace

void dedup::hash(block& b) {
  for (std::size_t i = 0; i < b.pieces.size(); ++i) {
    piece& p = b.pieces[i];
    p.hash = sha256_of(std::string_view(b.bytes).substr(p.begin, p.length));
    table_.claim(p.hash, number_of(b.number, i));
  }
}

// The first piece of its hash finds its own number here, whatever the others have done by now. A
// repeat finds it only if it overtook the first one, and then is compressed in vain.
void dedup::compress(block& b) {
  b.packed.clear();
  for (std::size_t i = 0; i < b.pieces.size(); ++i) {
    piece& p = b.pieces[i];
    if (!table_.first(p.hash, number_of(b.number, i))) continue;
    p.packed = b.packed.size();
    b.zlib.pack(std::string_view(b.bytes).substr(p.begin, p.length), b.packed);
    p.packed_length = b.packed.size() - p.packed;
  }
}

void dedup::pack(block& b) {
  refine(b);
  hash(b);
  compress(b);
}

void dedup::write(block& b) {
  for (const piece& p : b.pieces) {
    const std::uint64_t place = table_.place(p.hash, writer_->firsts());
    if (place == piece_table::none) {
      writer_->first(p.hash, p.length,
                     std::string_view(b.packed).substr(p.packed, p.packed_length));
    } else {
      writer_->repeat(p.hash, p.length, place);
      packed_in_vain_ += p.packed_length > 0;
    }
  }
  archive_->add(writer_->take());
}

void piece_table::claim(const sha256_value& h, std::uint64_t number) {
  shard& s = of(h);
  const std::lock_guard hold(s.mutex);
  entry& e = s.entries[h];
  e.number = std::min(e.number, number);
}

bool piece_table::first(const sha256_value& h, std::uint64_t number) {
  shard& s = of(h);
  const std::lock_guard hold(s.mutex);
  return s.entries[h].number == number;
}

std::uint64_t piece_table::place(const sha256_value& h, std::uint64_t next) {
  shard& s = of(h);
  const std::lock_guard hold(s.mutex);
  std::uint64_t& place = s.entries[h].place;
  return place == none ? std::exchange(place, next) : place;
}

void piece_table::clear() {
  for (shard& s : shards_) {
    const std::lock_guard hold(s.mutex);
    s.entries.clear();
  }
}

// ---- before and after ---------------------------------------------------------------------------

dedup::dedup(std::shared_ptr<const byte_source> input, std::shared_ptr<byte_store> archive,
             const dedup_options& o)
    : input_(std::move(input)), archive_(std::move(archive)), options_(o) {
  if (o.block < (64 << 10) || o.block > (64 << 20))
    throw input_error("--block " + std::to_string(o.block / 1024) +
                      ": a block has 64 to 65536 KiB");
  if (o.slots > 4096)
    throw input_error("--slots " + std::to_string(o.slots) +
                      ": at most 4096 blocks are on their way at once; 0: four a thread");
  if (o.level < 1 || o.level > 9)
    throw input_error("--level " + std::to_string(o.level) +
                      ": zlib has the levels 1 (fast) to 9 (small)");
}

void dedup::start(std::uint32_t threads) {
  const std::size_t slots = options_.slots ? options_.slots : std::size_t{4} * threads;
  while (slots_.size() < slots) slots_.emplace_back(options_.level);
  while (slots_.size() > slots) slots_.pop_back();
  table_.clear();
  archive_->clear();
  writer_.emplace();
  read_ = blocks_ = packed_in_vain_ = 0;
}

namespace {

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) * 1e-6);
  return text;
}

}  // namespace

std::string dedup::about() const {
  return megabytes(input_->size()) + ", blocks of " + std::to_string(options_.block / 1024) +
         " KiB and more, " +
         (options_.stages == dedup_stages::fused ? "two tasks a block after it is read"
                                                 : "a task a block in each of five stages");
}

void dedup::verify() const {
  if (archive_->size() == 0) throw wrong_result("dedup: nothing has been computed");
  std::uint64_t at = 0;
  std::unordered_set<sha256_value, sha256_hash> there;
  std::vector<char> wanted(most_piece);
  const auto compare = [&](const restored_piece& p) {
    if (input_->size() - at < p.bytes.size())
      throw wrong_result("dedup: the archive holds more than the input, which has " +
                         std::to_string(input_->size()) + " bytes");
    input_->read(at, std::span(wanted).first(p.bytes.size()));
    if (std::memcmp(wanted.data(), p.bytes.data(), p.bytes.size()) != 0) {
      const auto differs =
          std::mismatch(p.bytes.begin(), p.bytes.end(), wanted.begin()).first - p.bytes.begin();
      throw wrong_result("dedup: byte " + std::to_string(at + static_cast<std::uint64_t>(differs)) +
                         " comes out of the archive as another one");
    }
    if (!p.repeat && !there.insert(p.hash).second)
      throw wrong_result("dedup: the piece at byte " + std::to_string(at) +
                         " is in the archive twice");
    at += p.bytes.size();
  };
  try {
    restore(*archive_, "of the last run", compare);
  } catch (const input_error& e) {
    throw wrong_result(std::string("dedup: ") + e.what());
  }
  if (at != input_->size())
    throw wrong_result("dedup: the archive holds " + std::to_string(at) + " bytes of " +
                       std::to_string(input_->size()));
}

std::uint64_t dedup::fingerprint() const {
  mixed_bits mixed;
  mixed.add(archive_->size());
  std::vector<char> bytes(1 << 18);
  for (std::uint64_t at = 0; at < archive_->size(); at += bytes.size()) {
    std::ranges::fill(bytes, '\0');
    archive_->read(
        at, std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), archive_->size() - at)));
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      mixed.add(word);
    }
  }
  return mixed.value();
}

std::string dedup::result_file() const {
  std::string all(archive_->size(), '\0');
  archive_->read(0, all);
  return all;
}

std::vector<std::string> dedup::found() const {
  if (!writer_ || archive_->size() == 0) return {};
  char smaller[32];
  std::snprintf(smaller, sizeof smaller, "%.2f",
                static_cast<double>(input_->size()) / static_cast<double>(archive_->size()));
  return {std::to_string(writer_->firsts() + writer_->repeats()) + " pieces, of which " +
              std::to_string(writer_->repeats()) + " (" + megabytes(writer_->repeated_bytes()) +
              ") had been there before; " + std::to_string(packed_in_vain_) +
              " of these were compressed all the same",
          "archive: " + megabytes(archive_->size()) + ", " + smaller + " times smaller"};
}

}  // namespace kilter::apps
