// Dedup makes the same archive under every model, which gives the input back; an archive that was
// changed anywhere says where.

#include "apps/programs/dedup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/programs/chunks.hpp"
#include "apps/programs/dedup_input.hpp"
#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

bool dedup_never() { return false; }

std::string dedup_hex(const sha256_value& v) {
  std::string text;
  for (const std::uint8_t byte : v)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

TEST(dedup, hashes_as_the_standard_does) {
  EXPECT_EQ(dedup_hex(sha256_of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(dedup_hex(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(dedup_hex(sha256_of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  sha256 million;
  for (int i = 0; i < 1000; ++i) million.add(std::string(1000, 'a'));
  EXPECT_EQ(dedup_hex(million.value()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // However the bytes are cut.
  const std::string bytes = drawn_text(300, 1);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    sha256 two;
    two.add(bytes.substr(0, length));
    two.add(bytes.substr(length));
    ASSERT_EQ(two.value(), sha256_of(bytes)) << length;
  }
}

TEST(dedup, cuts_where_the_last_bytes_say_so) {
  const std::string bytes = drawn_text(100'000, 3);
  const cut_limits limits{.least = 200, .most = 3000, .bits = 9};
  const auto chosen = [&](std::size_t place) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cut_window; ++i)
      sum += cut_numbers[static_cast<std::uint8_t>(bytes[place - 1 - i])] << i;
    return sum < std::uint64_t{1} << (64 - limits.bits);
  };
  for (std::size_t at = 0, next = 0; at < bytes.size(); at = next) {
    next = at + find_cut(std::string_view(bytes).substr(at), limits);
    for (std::size_t place = at + limits.least; place < next; ++place)
      ASSERT_FALSE(chosen(place)) << place;
    ASSERT_TRUE(next == bytes.size() || next == at + limits.most || chosen(next)) << next;
  }
  EXPECT_EQ(find_cut("", limits), 0u);
  EXPECT_EQ(find_cut(std::string(100, 'x'), limits), 100u);
  EXPECT_EQ(find_cut(std::string(5000, '\0'), limits), 3000u);
}

struct dedup_case {
  std::shared_ptr<byte_store> archive = std::make_shared<byte_store>();
  dedup program;

  explicit dedup_case(const std::string& input, const dedup_options& o = {.block = 64 << 10})
      : program(std::make_shared<memory_source>(input), archive, o) {}

  program_run run(execution_model m = execution_model::serial, std::uint32_t threads = 1,
                  const std::string& policy = "auto") {
    executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(threads)),
                     .policy = policy});
    return program.run(how, dedup_never);
  }
  std::string bytes(execution_model m = execution_model::serial, std::uint32_t threads = 1,
                    const std::string& policy = "auto") {
    EXPECT_TRUE(run(m, threads, policy).complete);
    return program.result_file();
  }
};

std::string dedup_verdict(const dedup& d) {
  try {
    d.verify();
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
}

TEST(dedup, is_the_same_under_every_model) {
  const std::string input = drawn_text(500'000, 1);
  dedup_case separate(input), fused(input, {.stages = dedup_stages::fused, .block = 64 << 10}),
      narrow(input, {.block = 64 << 10, .slots = 1});
  const std::string alone = separate.bytes();
  EXPECT_LT(alone.size(), input.size() / 2);
  EXPECT_EQ(dedup_verdict(separate.program), "right");
  const std::uint64_t mark = separate.program.fingerprint();
  for (dedup_case* each : {&separate, &fused, &narrow}) {
    for (const auto& [m, threads] : testing::teams()) {
      EXPECT_EQ(each->bytes(m, threads), alone) << model_names[static_cast<std::size_t>(m)];
      EXPECT_EQ(each->program.fingerprint(), mark);
    }
    EXPECT_EQ(each->bytes(execution_model::kilter, 4, each == &fused ? "dam-c" : "rws"), alone);
    EXPECT_EQ(dedup_verdict(each->program), "right");
  }
  for (const std::uint32_t threads : {1u, 8u})
    EXPECT_EQ(separate.bytes(execution_model::kilter, threads, "dam-p"), alone) << threads;
}

TEST(dedup, counts_blocks_in_stages) {
  const std::string input = drawn_text(700'000, 2);
  dedup_case separate(input), fused(input, {.stages = dedup_stages::fused, .block = 64 << 10});
  for (const execution_model m :
       {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
    const program_run five = separate.run(m, 2), three = fused.run(m, 2);
    EXPECT_LE(five.iterations, (input.size() >> 16) + 1) << "blocks have 64 kiB at least";
    EXPECT_GE(five.iterations, input.size() / (3 << 15));
    EXPECT_EQ(five.tasks, 5 * five.iterations);
    EXPECT_EQ(three.iterations, five.iterations);
    EXPECT_EQ(three.tasks, 3 * three.iterations) << "reading, and two a block";
    EXPECT_EQ(five.barriers, 0u);
  }
  const dedup_size native = dedup_sizes[3];
  EXPECT_LE(native.bytes / native.block + 1, 175u)
      << "blocks of the native input, at most: a pair of tasks each";
}

TEST(dedup, keeps_each_piece_once) {
  const std::string once = drawn_text(200'000, 5);
  dedup_case two(once + once), one(once), shifted("a few bytes more" + once + "!" + once);
  const std::size_t size = one.bytes().size();
  EXPECT_LT(two.bytes().size(), size + 20'000) << "repeats, and the pieces at the seam";
  EXPECT_LT(shifted.bytes().size(), size + 40'000) << "cuts move with what they are in";
  EXPECT_EQ(dedup_verdict(shifted.program), "right");
}

TEST(dedup, takes_inputs_of_any_length) {
  for (const std::size_t size : {0u, 1u, 63u, 2048u, 32'768u, 65'535u, 65'536u, 65'537u, 98'305u})
    for (const bool zeros : {false, true}) {
      dedup_case d(zeros ? std::string(size, '\0') : drawn_text(size, 7));
      const std::string alone = d.bytes();
      EXPECT_EQ(dedup_verdict(d.program), "right") << size;
      EXPECT_EQ(d.bytes(execution_model::kilter, 2), alone) << size;
    }
}

/// What comes out of an archive, or why nothing does.
std::string dedup_restored(const std::string& bytes) {
  std::string all;
  try {
    restore(memory_source(bytes), "a", [&](const restored_piece& p) { all += p.bytes; });
  } catch (const input_error& e) {
    return e.what();
  }
  return all;
}

TEST(dedup, says_where_an_archive_is_broken) {
  const std::string once = drawn_text(5000, 1), input = once + once + once;
  dedup_case d(input);
  const std::string whole = d.bytes();
  ASSERT_EQ(dedup_restored(whole), input);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    const std::string said = dedup_restored(changed);
    ASSERT_TRUE(said.starts_with("archive 'a': byte ")) << i << said.substr(0, 60);
    ASSERT_LE(std::stoul(said.substr(18)), i) << said;
    ASSERT_EQ(said.find('\n'), std::string::npos);
  }
  for (std::size_t length = 0; length < whole.size(); length += 7)
    ASSERT_TRUE(dedup_restored(whole.substr(0, length)).starts_with("archive 'a': byte "))
        << length;
  EXPECT_EQ(dedup_restored(whole + "x"), "archive 'a': byte " + std::to_string(whole.size()) +
                                             ": 1 bytes follow the end of the archive");
  EXPECT_EQ(dedup_restored("something else"),
            "archive 'a': byte 0: this is no archive of kilter lab app dedup");
  std::string later = whole;
  later[7] = 2;
  EXPECT_EQ(dedup_restored(later),
            "archive 'a': byte 0: version 2 of the format; this program reads version 1");
}

TEST(dedup, is_verified_by_itself) {
  EXPECT_EQ(dedup_verdict(dedup_case("abc").program), "dedup: nothing has been computed");
  const std::string a(5000, 'a'), b(4000, 'b');
  dedup_case d(a + b);
  d.run();
  const auto verdict = [&](const std::vector<std::string>& pieces) {
    archive_writer w;
    packer zlib(6);
    for (const std::string& p : pieces) {
      std::string packed;
      zlib.pack(p, packed);
      w.first(sha256_of(p), p.size(), packed);
    }
    w.end();
    d.archive->clear();
    d.archive->add(w.take());
    return dedup_verdict(d.program);
  };
  EXPECT_EQ(verdict({a, b}), "right");
  EXPECT_EQ(verdict({a}), "dedup: the archive holds 5000 bytes of 9000");
  EXPECT_EQ(verdict({a, b, b}),
            "dedup: the archive holds more than the input, which has 9000 bytes");
  EXPECT_EQ(verdict({b, a}), "dedup: byte 0 comes out of the archive as another one");
  EXPECT_EQ(verdict({a, b.substr(1) + "c"}),
            "dedup: byte 8999 comes out of the archive as another one");
  EXPECT_EQ(verdict({a.substr(0, 100), a.substr(0, 100), a.substr(200), b}),
            "dedup: the piece at byte 100 is in the archive twice");
  d.archive->clear();
  d.archive->add("no archive");
  EXPECT_EQ(dedup_verdict(d.program),
            "dedup: archive 'of the last run': byte 0: this is no archive of kilter lab app dedup");
}

TEST(dedup, ends_early_when_it_is_told_to) {
  dedup_case d(drawn_text(400'000, 1));
  for (const execution_model m :
       {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
    executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
    int asked = 0;
    EXPECT_FALSE(d.program.run(how, [&] { return ++asked > 2; }).complete);
    EXPECT_EQ(d.archive->size(), 0u) << "half an archive is none";
  }
}

TEST(dedup, reads_and_writes_files) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "kilter-dedup";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "input").string(), input = drawn_text(300'000, 9);
  std::ofstream(path, std::ios::binary) << input;
  const auto archive = std::make_shared<byte_store>(folder.string());
  dedup d(std::make_shared<file_source>(path, "file"), archive, {.block = 64 << 10});
  executor how(execution_model::kilter,
               {.machine = std::make_shared<const machine>(machine::uniform(2))});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_TRUE(d.run(how, dedup_never).complete);
    d.verify();
    EXPECT_EQ(d.result_file(), dedup_case(input).bytes());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1)
      << "the archive has no name";
  std::filesystem::resize_file(path, 1000);
  for (const execution_model m : {execution_model::static_threads, execution_model::kilter}) {
    executor again(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
    EXPECT_THROW(d.run(again, dedup_never), input_error) << "the file became shorter";
    EXPECT_EQ(archive->size(), 0u);
  }
  std::filesystem::remove_all(folder);
  EXPECT_THROW(file_source(path, "file"), input_error);
  EXPECT_THROW(file_source("/", "file"), input_error);
  EXPECT_THROW(file_source("/dev/zero", "file"), input_error);
  EXPECT_THROW(byte_store{path}, input_error);
}

TEST(dedup, refuses_what_it_cannot_do) {
  for (const dedup_options& o :
       {dedup_options{.block = 1000}, dedup_options{.block = 65 << 20},
        dedup_options{.slots = 5000}, dedup_options{.level = 0}, dedup_options{.level = 10}})
    EXPECT_THROW(dedup_case("", o), input_error);
}

TEST(dedup, draws_the_same_text_everywhere) {
  EXPECT_EQ(dedup_hex(sha256_of(drawn_text(100'000, 1))),
            "5f8c92cf2ecf0b0373f4b0bf8d2739cac815be04ce6fbf8e0d97d5b3e951b364");
  EXPECT_NE(drawn_text(1000, 1), drawn_text(1000, 2));
}

}  // namespace
}  // namespace kilter::apps
