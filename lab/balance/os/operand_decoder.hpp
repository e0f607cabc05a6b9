#pragma once
// Which memory a thread touches next, from the code at its instruction pointer and its registers at
// that moment. An interrupt is taken when the instruction that kept the processor waiting is done,
// so the pointer is behind the load that was slow, and in a loop of one load never at one: what
// lies ahead is looked at, along the way that the code is likely to take. zydis/ decodes x86-64;
// undecoded/ stands in on other processors, and where the library is not there.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace kilter::balance::os {

/// What a sample has of the registers, in the order in which the kernel writes them (ascending
/// numbers of its perf_regs.h).
enum class sampled_register : std::uint8_t {
  ax,
  bx,
  cx,
  dx,
  si,
  di,
  bp,
  sp,
  ip,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  none
};
inline constexpr std::size_t sampled_register_count = 17;
/// The same as the kernel's mask: ax to ip are 0 to 8, r8 to r15 are 16 to 23.
inline constexpr std::uint64_t sampled_register_mask = 0x00ff01ff;
using register_values = std::array<std::uint64_t, sampled_register_count>;
[[nodiscard]] constexpr std::uint64_t value_of(const register_values& all,
                                               sampled_register r) noexcept {
  return r == sampled_register::none ? 0 : all[static_cast<std::size_t>(r)];
}

/// The next data that the code goes to. Operands relative to the stack pointer or to the code
/// itself are passed over: they are in few pages whatever the program works on.
struct operand_form {
  enum kind : std::uint8_t {
    nowhere,    ///< none within reach
    somewhere,  ///< its address follows from the registers
    /// none that does: relative to a segment, at several addresses at once, from registers that
    /// change before
    unresolved,
  };
  kind goes = nowhere;
  sampled_register base = sampled_register::none, index = sampled_register::none;
  std::uint8_t scale = 0;
  bool narrow = false;  ///< only the low 32 bits count
  std::uint64_t displacement = 0;
};

/// Only of a form that goes `somewhere`.
[[nodiscard]] constexpr std::uint64_t address_of(const operand_form& f,
                                                 const register_values& registers) noexcept {
  const std::uint64_t sum =
      value_of(registers, f.base) + value_of(registers, f.index) * f.scale + f.displacement;
  return f.narrow ? static_cast<std::uint32_t>(sum) : sum;
}

/// Copies code from an address, as much as there is, and returns how much that was.
using code_source = std::function<std::size_t(std::uint64_t address, std::span<std::byte> into)>;

class operand_decoder {
 public:
  /// How far ahead it looks.
  static constexpr int most_instructions = 16;
  virtual ~operand_decoder() = default;
  /// Follows direct jumps and calls; of conditional jumps those backwards, as loops are closed.
  /// Ends where it cannot tell how the code goes on.
  [[nodiscard]] virtual operand_form next(std::uint64_t ip, const code_source&) const = 0;
};

/// Empty if this build decodes nothing.
[[nodiscard]] std::unique_ptr<operand_decoder> make_operand_decoder();
/// Why it is empty, as the end of a sentence.
[[nodiscard]] const char* why_nothing_is_decoded() noexcept;

}  // namespace kilter::balance::os
