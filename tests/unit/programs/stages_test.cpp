// Items pass their stages under every model: all of them, in order where it is asked for, and
// nobody waits for ever when something goes wrong. Dedup, which is made of stages, makes the same
// archive, which gives the input back; an archive that was changed anywhere says where.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "apps/programs/chunks.hpp"
#include "apps/programs/dedup.hpp"
#include "apps/programs/dedup_input.hpp"
#include "apps/programs/stages.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// ---- stages -------------------------------------------------------------------------------------

std::vector<execution_model> stages_models() {
  std::vector<execution_model> models{execution_model::serial};
  for (const execution_model m : models_with_threads())
    if (m != execution_model::task && m != execution_model::kilter) models.push_back(m);
  return models;
}

std::string stages_name(execution_model m) {
  return std::string(model_names[static_cast<std::size_t>(m)]);
}

/// Numbers are squared in one stage and halved in another, and kept in the order in which they
/// came.
struct stages_of_numbers {
  std::uint64_t count, given = 0;
  std::vector<std::uint64_t> slots, looked_at, kept;
  std::atomic<std::uint64_t> at_work = 0, most = 0;

  stages_of_numbers(std::uint64_t n, std::size_t room) : count(n), slots(room) {}

  item_pipeline pipeline() {
    return {
        .slots = slots.size(),
        .next =
            [this](std::size_t slot) {
              if (given == count) return false;
              slots[slot] = 2 * given++;
              return true;
            },
        .stages = {{"square", false, [this](std::size_t slot) { square(slot); }},
                   {"look", true, [this](std::size_t slot) { looked_at.push_back(slots[slot]); }},
                   {"halve", false, [this](std::size_t slot) { slots[slot] /= 2; }},
                   {"keep", true, [this](std::size_t slot) { kept.push_back(slots[slot]); }}}};
  }
  /// Some take longer, so that later ones overtake them.
  void square(std::size_t slot) {
    const std::uint64_t now = ++at_work;
    for (std::uint64_t was = most; was < now && !most.compare_exchange_weak(was, now);) {
    }
    if (slots[slot] % 14 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    slots[slot] *= slots[slot];
    --at_work;
  }
};

TEST(stages, pass_every_item_on_in_order) {
  for (const execution_model m : stages_models())
    for (const std::size_t room : {1u, 2u, 5u, 64u})
      for (const std::uint64_t count : {0u, 1u, 5u, 60u}) {
        executor how = executor_of({m, 3});
        stages_of_numbers n(count, room);
        const program_run r = run_stages(how, n.pipeline(), [] { return false; });
        ASSERT_TRUE(r.complete);
        ASSERT_EQ(r.iterations, count);
        ASSERT_EQ(r.tasks, 5 * count);
        ASSERT_EQ(n.kept.size(), count) << stages_name(m) << ", slots " << room;
        ASSERT_EQ(n.looked_at.size(), count);
        for (std::uint64_t i = 0; i < count; ++i) {
          ASSERT_EQ(n.looked_at[i], 4 * i * i) << stages_name(m);
          ASSERT_EQ(n.kept[i], 2 * i * i) << stages_name(m);
        }
        const bool windows = m != execution_model::serial && m != execution_model::static_threads;
        EXPECT_EQ(r.barriers, windows ? 2 * ((count + room - 1) / room) : 0) << stages_name(m);
        EXPECT_LE(n.most, room);
      }
}

TEST(stages, without_an_ordered_one_lose_nothing) {
  for (const execution_model m : stages_models()) {
    executor how = executor_of({m, 4});
    std::size_t given = 0;
    std::vector<std::size_t> slots(3);
    std::atomic<std::size_t> sum = 0;
    const item_pipeline p{3,
                          [&](std::size_t slot) { return given < 100 && (slots[slot] = ++given); },
                          {{"add", false, [&](std::size_t slot) { sum += slots[slot]; }}}};
    EXPECT_EQ(run_stages(how, p, [] { return false; }).tasks, 200u);
    EXPECT_EQ(sum, 5050u) << stages_name(m);
  }
}

TEST(stages, tell_what_one_of_them_threw_and_end) {
  for (const execution_model m : stages_models())
    for (std::size_t bad = 0; bad < 5; ++bad)
      for (const std::uint64_t at : {0u, 7u, 30u}) {
        executor how = executor_of({m, 2});
        stages_of_numbers n(40, 4);
        item_pipeline p = n.pipeline();
        std::atomic<std::uint64_t> calls = 0, at_work = 0;
        const auto breaks = [&](auto call) {
          return [&, call](std::size_t slot) {
            ++at_work;
            if (calls++ == at) {
              --at_work;
              throw std::runtime_error("number " + std::to_string(at));
            }
            struct leaving {
              std::atomic<std::uint64_t>& of;
              ~leaving() { --of; }
            } when_done{at_work};
            return call(slot);
          };
        };
        if (bad == 0)
          p.next = breaks(p.next);
        else
          p.stages[bad - 1].work = breaks(p.stages[bad - 1].work);
        const std::string said =
            answer_to<std::runtime_error>([&] { (void)run_stages(how, p, [] { return false; }); });
        EXPECT_EQ(said, "number " + std::to_string(at)) << stages_name(m) << ", stage " << bad;
        EXPECT_EQ(at_work, 0u);
        EXPECT_LT(n.kept.size(), 40u);
      }
}

TEST(stages, end_early_when_they_are_told_to) {
  for (const execution_model m : stages_models()) {
    executor how = executor_of({m, 2});
    stages_of_numbers none(1'000'000'000, 4), some(1'000'000'000, 4);
    const program_run at_once = run_stages(how, none.pipeline(), [] { return true; });
    EXPECT_FALSE(at_once.complete) << stages_name(m);
    EXPECT_EQ(none.kept.size(), 0u);
    std::atomic<int> asked = 0;
    const program_run later = run_stages(how, some.pipeline(), [&] { return ++asked > 50; });
    EXPECT_FALSE(later.complete) << stages_name(m);
    EXPECT_LE(some.kept.size(), later.iterations);
    for (std::uint64_t i = 0; i < some.kept.size(); ++i) EXPECT_EQ(some.kept[i], 2 * i * i);
  }
}

TEST(stages, of_threads_run_at_the_same_time) {
  // Each of two items waits for the other one, in different stages.
  executor how = executor_of({execution_model::static_threads, 2});
  std::size_t given = 0;
  std::atomic<int> met = 0;
  const auto meet = [&](bool here) {
    met += here;
    while (here && met < 2) std::this_thread::yield();
  };
  const item_pipeline p{2,
                        [&](std::size_t) { return given++ < 2; },
                        {{"first", false, [&](std::size_t slot) { meet(slot == 1); }},
                         {"second", true, [&](std::size_t slot) { meet(slot == 0); }}}};
  EXPECT_TRUE(run_stages(how, p, [] { return false; }).complete);
}

// ---- dedup --------------------------------------------------------------------------------------

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

  program_run run(const team& t = {}) {
    executor how = executor_of(t);
    return program.run(how, [] { return false; });
  }
  std::string bytes(const team& t = {}) {
    EXPECT_TRUE(run(t).complete) << t;
    return program.result_file();
  }
};

std::string dedup_verdict(const dedup& d) {
  return verdict_of([&] { d.verify(); });
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
    for (const team& t : teams()) {
      EXPECT_EQ(each->bytes(t), alone) << t;
      EXPECT_EQ(each->program.fingerprint(), mark);
    }
    EXPECT_EQ(each->bytes(on_kilter(4, each == &fused ? "dam-c" : "rws")), alone);
    EXPECT_EQ(dedup_verdict(each->program), "right");
  }
  for (const std::uint32_t threads : {1u, 8u})
    EXPECT_EQ(separate.bytes(on_kilter(threads, "dam-p")), alone) << threads;
}

TEST(dedup, counts_blocks_in_stages) {
  const std::string input = drawn_text(700'000, 2);
  dedup_case separate(input), fused(input, {.stages = dedup_stages::fused, .block = 64 << 10});
  for (const execution_model m :
       {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
    const program_run five = separate.run({m, 2}), three = fused.run({m, 2});
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
      EXPECT_EQ(d.bytes(on_kilter(2)), alone) << size;
    }
}

/// What comes out of an archive, or why nothing does.
std::string dedup_restored(const std::string& bytes) {
  std::string all;
  const std::string answer = answer_to([&] {
    restore(memory_source(bytes), "a", [&](const restored_piece& p) { all += p.bytes; });
  });
  return answer == "accepted" ? all : answer;
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

TEST(dedup, corpus_of_archives_is_restored_or_refused_in_one_line) {
  replay_corpus("archive", [](const std::string&, const std::string& bytes) {
    restore(memory_source(bytes), "f", [](const restored_piece&) {});
  });
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
    executor how = executor_of({m, 2});
    int asked = 0;
    EXPECT_FALSE(d.program.run(how, [&] { return ++asked > 2; }).complete);
    EXPECT_EQ(d.archive->size(), 0u) << "half an archive is none";
  }
}

TEST(dedup, reads_and_writes_files) {
  auto folder = std::make_unique<scratch>();
  const std::string input = drawn_text(300'000, 9), path = folder->write("input", input);
  const auto archive = std::make_shared<byte_store>(folder->path().string());
  dedup d(std::make_shared<file_source>(path, "file"), archive, {.block = 64 << 10});
  executor how = executor_of(on_kilter(2));
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_TRUE(d.run(how, [] { return false; }).complete);
    d.verify();
    EXPECT_EQ(d.result_file(), dedup_case(input).bytes());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder->path()), {}), 1)
      << "the archive has no name";
  std::filesystem::resize_file(path, 1000);
  for (const execution_model m : {execution_model::static_threads, execution_model::kilter}) {
    EXPECT_THROW(run(d, {m, 2}), input_error) << "the file became shorter";
    EXPECT_EQ(archive->size(), 0u);
  }
  folder.reset();
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
