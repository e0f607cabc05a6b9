// What samples tell of a thread: where it goes next in memory, and its class.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "balance/os/operand_decoder.hpp"
#include "balance/os/page_window.hpp"

namespace kilter::balance::os::testing {

namespace {

// Where a thread goes next in memory, from code and registers.

constexpr std::uint64_t begin = 0x401000;

/// Each register has a value of its own.
register_values registers_at(std::uint64_t ip) {
  register_values r{};
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = 0x7f00'0000'0000 + i * 0x1'0000'0000;
  r[static_cast<std::size_t>(sampled_register::ip)] = ip;
  return r;
}

std::uint64_t value(sampled_register r) { return value_of(registers_at(begin), r); }

struct looked {
  operand_form::kind goes = operand_form::nowhere;
  std::uint64_t address = 0;
};

/// Code from bytes in hexadecimal at `begin`, interrupted `offset` bytes behind it.
looked look_ahead(const std::string& hexadecimal, std::uint64_t offset = 0) {
  std::vector<std::byte> code;
  std::istringstream in(hexadecimal);
  for (unsigned b = 0; in >> std::hex >> b;) code.push_back(static_cast<std::byte>(b));
  const code_source source = [&](std::uint64_t address, std::span<std::byte> into) {
    if (address < begin || address >= begin + code.size()) return std::size_t{0};
    const std::size_t from = address - begin, n = std::min(into.size(), code.size() - from);
    std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(from), n, into.begin());
    return n;
  };
  const operand_form f = make_operand_decoder()->next(begin + offset, source);
  return {f.goes,
          f.goes == operand_form::somewhere ? address_of(f, registers_at(begin + offset)) : 0};
}

std::string times(int n, const std::string& bytes) {
  std::string all;
  for (int i = 0; i < n; ++i) all += bytes + " ";
  return all;
}

class decoder : public ::testing::Test {
  void SetUp() override {
    if (!make_operand_decoder()) GTEST_SKIP() << why_nothing_is_decoded();
  }
};

TEST_F(decoder, finds_the_address_of_an_operand) {
  using enum sampled_register;
  const struct {
    const char *code, *what;
    std::uint64_t address;
  } cases[] = {
      {"48 8b 00", "mov rax,[rax]", value(ax)},
      {"48 8b 44 8b 10", "mov rax,[rbx+rcx*4+0x10]", value(bx) + value(cx) * 4 + 0x10},
      {"4b 8b 04 f7", "mov rax,[r15+r14*8]", value(r15) + value(r14) * 8},
      {"48 8b 47 f8", "mov rax,[rdi-8]", value(di) - 8},
      {"48 89 55 00", "mov [rbp],rdx: a store counts as a load does", value(bp)},
      {"67 8b 00", "mov eax,[eax]: the low half", static_cast<std::uint32_t>(value(ax))},
      {"c5 fc 10 04 16", "vmovups ymm0,[rsi+rdx]", value(si) + value(dx)},
      {"f2 43 0f 58 04 c8", "addsd xmm0,[r8+r9*8]", value(r8) + value(r9) * 8},
      {"f3 48 a5", "rep movsq: where it writes", value(di)},
      {"f3 48 ab", "rep stosq", value(di)},
      {"ff 30", "push [rax]: reads data", value(ax)},
  };
  for (const auto& c : cases) {
    const looked l = look_ahead(c.code);
    EXPECT_EQ(l.goes, operand_form::somewhere) << c.what;
    EXPECT_EQ(l.address, c.address) << c.what;
  }
}

TEST_F(decoder, passes_over_the_stack_and_constants_to_what_comes_behind) {
  EXPECT_EQ(look_ahead("8b 44 24 08  48 8b 0f").address, value(sampled_register::di))
      << "mov eax,[rsp+8]; mov rcx,[rdi]";
  EXPECT_EQ(look_ahead("f2 0f 10 05 00 10 00 00  48 8b 0f").address, value(sampled_register::di))
      << "movsd xmm0,[rip+0x1000]; mov rcx,[rdi]";
  EXPECT_EQ(look_ahead("50 48 8d 43 08 66 0f 1f 44 00 00 5a  48 8b 0f").address,
            value(sampled_register::di))
      << "push; lea; nop [rax+rax]; pop; mov rcx,[rdi]";
  EXPECT_EQ(look_ahead("50 48 8d 43 08 c3").goes, operand_form::nowhere)
      << "push rax; lea rax,[rbx+8]; ret";
}

TEST_F(decoder, in_a_loop_of_one_load_finds_it_from_behind_it) {
  // mov rax,[rax]; sub rdx,1; jne: interrupts come while the load is waited for, and the pointer is
  // at the sub.
  const std::string loop = "48 8b 00  48 83 ea 01  75 f7";
  EXPECT_EQ(look_ahead(loop, 3).address, value(sampled_register::ax));
  EXPECT_EQ(look_ahead(loop, 7).address, value(sampled_register::ax));
}

TEST_F(decoder, follows_the_likely_way) {
  using enum sampled_register;
  EXPECT_EQ(look_ahead("74 03  48 8b 07  48 8b 06").address, value(di))
      << "a conditional jump forwards is not taken";
  EXPECT_EQ(look_ahead("eb 03  48 8b 07  48 8b 06").address, value(si)) << "a jump is";
  EXPECT_EQ(look_ahead("e8 03 00 00 00  48 8b 07  48 8b 06").address, value(si)) << "a call is";
  for (const char* const end : {"c3", "ff e0", "ff d0", "0f 05", "cc"})
    EXPECT_EQ(look_ahead(std::string(end) + " 48 8b 07").goes, operand_form::nowhere)
        << "ret, jmp rax, call rax, syscall, int3: " << end;
}

TEST_F(decoder, resolves_nothing_that_does_not_follow_from_the_registers) {
  for (const char* const code : {
           "64 48 8b 04 25 28 00 00 00  c3",  // mov rax,fs:[0x28]
           "65 8b 00  c3",                    // mov eax,gs:[rax]
           "c4 e2 e9 92 04 c8  c3",           // vgatherdpd xmm0,[rax+xmm1*8],xmm2
           "48 01 c8  48 8b 00  c3",          // add rax,rcx; mov rax,[rax]
           "b0 01  48 8b 08  c3",             // mov al,1; mov rcx,[rax]
           "48 f7 e1  8b 0a  c3",             // mul rcx, which changes rdx; mov ecx,[rdx]
           "06",                              // no instruction
           "48",                              // the memory ends within it
           "",                                // cannot be read
       })
    EXPECT_EQ(look_ahead(code).goes, operand_form::unresolved) << code;
  EXPECT_EQ(look_ahead("48 01 c8  48 8b 00  48 8b 0f").address, value(sampled_register::di))
      << "the next one does";
}

TEST_F(decoder, looks_a_limited_way_ahead) {
  EXPECT_EQ(look_ahead(times(operand_decoder::most_instructions - 1, "90") + "48 8b 0f").goes,
            operand_form::somewhere);
  EXPECT_EQ(look_ahead(times(operand_decoder::most_instructions, "90") + "48 8b 0f").goes,
            operand_form::nowhere);
  EXPECT_EQ(look_ahead("eb fe").goes, operand_form::nowhere) << "a jump to itself";
  // Longer than what is read at once: nops of nine bytes.
  EXPECT_EQ(look_ahead(times(14, "66 0f 1f 84 00 00 00 00 00") + "48 8b 0f").address,
            value(sampled_register::di));
}

// The class of a thread from the pages that it went to.

constexpr std::uint64_t page_bytes = 4096;

/// So many samples that go round so many pages.
void go_round(page_window& w, int samples, std::uint64_t pages) {
  for (int i = 0; i < samples; ++i)
    w.add(0x5000'0000 + static_cast<std::uint64_t>(i) % pages * page_bytes +
          static_cast<std::uint64_t>(i) % 64);
}

TEST(page_window, counts_pages_and_not_addresses) {
  page_window w;
  EXPECT_EQ(w.distinct_pages(), 0.0);
  go_round(w, 100, 5);
  EXPECT_DOUBLE_EQ(w.distinct_pages(), 0.05);
  for (int i = 0; i < 100; ++i) w.add(std::nullopt);
  EXPECT_DOUBLE_EQ(w.distinct_pages(), 0.025) << "a sample on registers only is one without a page";
}

TEST(page_window, looks_back_a_limited_way) {
  page_window w;
  go_round(w, 1000, 1000);
  EXPECT_EQ(w.told(), thread_class::memory);
  go_round(w, page_window::capacity, 4);
  EXPECT_DOUBLE_EQ(w.distinct_pages(), 4.0 / page_window::capacity);
  EXPECT_EQ(w.told(), thread_class::compute);
}

TEST(page_window, few_samples_of_few_pages_are_not_called_memory) {
  EXPECT_NEAR(memory_limit(page_window::capacity), page_window::memory_above, 0.005);
  EXPECT_GT(memory_limit(64), 0.85);
  EXPECT_GT(memory_limit(page_window::enough), 0.95);
  page_window w;
  go_round(w, 64, 48);  // 0.75 distinct pages a sample, and 192 KB
  EXPECT_EQ(w.told(), thread_class::unknown);
  page_window spread;
  go_round(spread, page_window::enough, 100);
  EXPECT_EQ(spread.told(), thread_class::memory);
}

TEST(page_window, between_the_limits_keeps_only_what_a_full_window_told) {
  page_window early, full;
  go_round(early, 32, 1000);
  EXPECT_EQ(early.told(), thread_class::memory);
  go_round(full, page_window::capacity, 1000);
  EXPECT_EQ(full.told(), thread_class::memory);
  for (page_window* const w : {&early, &full}) go_round(*w, page_window::capacity, 100);
  EXPECT_EQ(early.told(), thread_class::unknown) << "an early guess stays for ever";
  EXPECT_EQ(full.told(), thread_class::memory) << "a class at the limit changes with every quantum";
}

/// What was recorded of a program (see record_samples.cpp), through the window.
thread_class class_of_recording(const std::string& name, std::size_t samples) {
  std::ifstream in(std::string(KILTER_TEST_DATA) + "/samples/" + name + ".txt");
  EXPECT_TRUE(in) << name;
  page_window w;
  thread_class c = thread_class::unknown;
  std::size_t n = 0;
  for (std::string line; n < samples && std::getline(in, line); ++n) {
    if (line == "?") continue;
    w.add(line == "-" ? std::nullopt : std::optional(std::stoull(line, nullptr, 16) << 12));
    if (n % 64 == 63) c = w.told();
  }
  EXPECT_EQ(n, samples) << name << " is too short";
  return c;
}

TEST(page_window, of_real_programs_tells_the_class) {
  const struct {
    const char* name;
    thread_class expected;
  } programs[] = {
      {"pointer-chase", thread_class::memory},
      {"copy", thread_class::memory},
      {"matmul-out-of-cache", thread_class::memory},
      {"sort", thread_class::memory},
      {"zstd", thread_class::memory},
      {"sha256sum", thread_class::compute},
      {"openssl", thread_class::compute},
      {"python3", thread_class::compute},
      {"matmul-in-cache", thread_class::compute},
      {"matmul-in-l2", thread_class::unknown},    // between the two
      {"random-updates", thread_class::unknown},  // nothing can be resolved
      // wrong, and known to be: pages tell nothing of a large cache
      {"pointer-chase-in-l3", thread_class::memory},
  };
  for (const auto& p : programs) {
    EXPECT_EQ(class_of_recording(p.name, 400), p.expected) << p.name;
    const thread_class early = class_of_recording(p.name, 64);
    EXPECT_TRUE(early == p.expected || early == thread_class::unknown)
        << p.name << ": wrong after 64 samples";
  }
}

}  // namespace

}  // namespace kilter::balance::os::testing
