#pragma once
// A function that keeps all of its arguments, whatever they are, and goes on where another one
// says: for calls whose arguments mean nothing to us.

#if !defined(__x86_64__)
#error "the calls that are passed on are written for x86-64"
#endif

/// `decide` is a hidden function of C, which gets `number` (both as text of the assembler) and
/// returns the address.
#define KILTER_GO_ON(name, number, decide)                                                        \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name                               \
      ":\n"                                                                                       \
      "  endbr64\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  " \
      "sub $8, %rsp\n"                                                                            \
      "  mov $" number ", %edi\n  call " decide                                                   \
      "\n  mov %rax, %r11\n"                                                                      \
      "  add $8, %rsp\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  "  \
      "jmp *%r11\n"                                                                               \
      ".size " #name ", .-" #name "\n");
