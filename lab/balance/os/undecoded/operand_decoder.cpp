// Stands in for zydis/operand_decoder.cpp on processors other than x86-64, and where there is no
// Zydis.

#include "balance/os/operand_decoder.hpp"

namespace kilter::balance::os {

std::unique_ptr<operand_decoder> make_operand_decoder() { return nullptr; }

const char* why_nothing_is_decoded() noexcept {
#if defined(__x86_64__)
  return "this kilter was built without Zydis and decodes no instructions";
#else
  return "instructions are decoded on x86-64 only";
#endif
}

}  // namespace kilter::balance::os
