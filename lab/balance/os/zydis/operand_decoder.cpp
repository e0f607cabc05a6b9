#include "balance/os/operand_decoder.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <optional>

namespace kilter::balance::os {

namespace {

/// By the processor's numbers of the general registers.
constexpr std::array<sampled_register, 16> general = {
    sampled_register::ax,  sampled_register::cx,  sampled_register::dx,  sampled_register::bx,
    sampled_register::sp,  sampled_register::bp,  sampled_register::si,  sampled_register::di,
    sampled_register::r8,  sampled_register::r9,  sampled_register::r10, sampled_register::r11,
    sampled_register::r12, sampled_register::r13, sampled_register::r14, sampled_register::r15};

/// The number of a general register or of a part of one.
std::optional<std::uint32_t> number_of(ZydisRegister r) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return std::nullopt;
  return static_cast<std::uint32_t>(ZydisRegisterGetId(whole));
}

struct decoded {
  ZydisDecodedInstruction what;
  ZydisDecodedOperand all_operands[ZYDIS_MAX_OPERAND_COUNT];
  [[nodiscard]] std::span<const ZydisDecodedOperand> operands() const {
    return {all_operands, what.operand_count};
  }
};

/// Code from where it is asked for, a piece at a time.
class code_window {
 public:
  explicit code_window(const code_source& source) : source_(source) {}
  /// What lies at the address: a whole instruction, unless the memory ends before.
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t address) {
    if (address - begin_ >= size_ || size_ - (address - begin_) < ZYDIS_MAX_INSTRUCTION_LENGTH) {
      begin_ = address;
      size_ = source_(address, bytes_);
    }
    return std::span(bytes_).first(size_).subspan(address - begin_);
  }

 private:
  const code_source& source_;
  std::array<std::byte, 64> bytes_{};
  std::uint64_t begin_ = 0;
  std::size_t size_ = 0;
};

/// The registers that have changed since the sample.
class changes {
 public:
  void add(const decoded& i) {
    for (const ZydisDecodedOperand& o : i.operands()) {
      if (o.type != ZYDIS_OPERAND_TYPE_REGISTER ||
          (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
        continue;
      if (const auto n = number_of(o.reg.value)) changed_ |= 1U << *n;
    }
  }
  [[nodiscard]] bool has(ZydisRegister r) const {
    const auto n = number_of(r);
    return n && (changed_ >> *n & 1U) != 0;
  }

 private:
  std::uint32_t changed_ = 0;
};

bool is_data(const ZydisDecodedInstruction& i, const ZydisDecodedOperand& o) {
  if (o.type != ZYDIS_OPERAND_TYPE_MEMORY || o.mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
      i.mnemonic == ZYDIS_MNEMONIC_NOP)
    return false;
  const ZydisRegister base = o.mem.base;
  return base != ZYDIS_REGISTER_RSP && base != ZYDIS_REGISTER_ESP && base != ZYDIS_REGISTER_RIP &&
         base != ZYDIS_REGISTER_EIP;
}

operand_form form_of(const ZydisDecodedInstruction& i, const ZydisDecodedOperand& o,
                     const changes& since) {
  // The bases of fs and gs are not sampled; a gather goes to several addresses.
  const bool plain = o.mem.type == ZYDIS_MEMOP_TYPE_MEM && o.mem.segment != ZYDIS_REGISTER_FS &&
                     o.mem.segment != ZYDIS_REGISTER_GS;
  operand_form f{.goes = operand_form::unresolved};
  if (!plain || since.has(o.mem.base) || since.has(o.mem.index)) return f;
  f.goes = operand_form::somewhere;
  if (const auto n = number_of(o.mem.base)) f.base = general[*n];
  if (const auto n = number_of(o.mem.index)) f.index = general[*n];
  f.scale = o.mem.scale;
  f.narrow = i.address_width != 64;
  if (o.mem.disp.has_displacement) f.displacement = static_cast<std::uint64_t>(o.mem.disp.value);
  return f;
}

/// Where the code goes on after an instruction at `ip`.
std::optional<std::uint64_t> after(const decoded& i, std::uint64_t ip) {
  const std::uint64_t behind = ip + i.what.length;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"  // of a hundred categories
  switch (i.what.meta.category) {
#pragma GCC diagnostic pop
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT: return std::nullopt;
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR: {
      const ZydisDecodedOperand& to = i.all_operands[0];
      const bool conditional = i.what.meta.category == ZYDIS_CATEGORY_COND_BR;
      if (to.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !to.imm.is_relative) return std::nullopt;
      return !conditional || to.imm.value.s < 0
                 ? behind + static_cast<std::uint64_t>(to.imm.value.s)
                 : behind;
    }
    default: return behind;
  }
}

class zydis_decoder final : public operand_decoder {
 public:
  zydis_decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }

  [[nodiscard]] operand_form next(std::uint64_t ip, const code_source& source) const override {
    code_window code(source);
    changes since;
    decoded i;
    bool unresolved = false;
    std::optional<std::uint64_t> at = ip;
    for (int n = 0; n < most_instructions && at; ++n) {
      const auto bytes = code.at(*at);
      if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), &i.what,
                                               i.all_operands))) {
        unresolved = true;
        break;
      }
      for (const ZydisDecodedOperand& o : i.operands()) {
        if (!is_data(i.what, o)) continue;
        if (const operand_form f = form_of(i.what, o, since); f.goes == operand_form::somewhere)
          return f;
        unresolved = true;
      }
      since.add(i);
      at = after(i, *at);
    }
    return {.goes = unresolved ? operand_form::unresolved : operand_form::nowhere};
  }

 private:
  ZydisDecoder decoder_;
};

}  // namespace

std::unique_ptr<operand_decoder> make_operand_decoder() {
  return std::make_unique<zydis_decoder>();
}

const char* why_nothing_is_decoded() noexcept { return ""; }

}  // namespace kilter::balance::os
