#include "openmp/stack.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "stacks are switched for x86-64"
#endif

asm(".text\n.hidden kilter_switch\n.globl kilter_switch\n.type kilter_switch, "
    "@function\nkilter_switch:\n"
    "  endbr64\n  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  sub $8, %rsp\n  stmxcsr (%rsp)\n  fnstcw 4(%rsp)\n"
    "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
    "  ldmxcsr (%rsp)\n  fldcw 4(%rsp)\n  add $8, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
    ".size kilter_switch, .-kilter_switch\n");

namespace kilter::regions {

namespace {

std::size_t size_of_thread() noexcept {
  pthread_attr_t usual;
  std::size_t size = 0;
  pthread_attr_init(&usual);
  pthread_attr_getstacksize(&usual, &size);
  pthread_attr_destroy(&usual);
  return size;
}

/// Only what is touched takes memory.
std::size_t size_of_program() noexcept {
  constexpr rlim_t most = 1u << 30;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return size_of_thread();
  const auto page = static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  return static_cast<std::size_t>((limit.rlim_cur < most ? limit.rlim_cur : most) / page * page);
}

}  // namespace

bool stack::make(std::uint32_t number) noexcept {
  if (made()) return true;
  const std::size_t size = number == 0 ? size_of_program() : size_of_thread();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const room = mmap(nullptr, size + page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (room == MAP_FAILED) return false;
  if (mprotect(room, page, PROT_NONE) != 0) {
    munmap(room, size + page);
    return false;
  }
  // else the tops of all would lie in the same few lines of a core's first cache
  constexpr std::size_t apart = 256, ways = 16;
  top_ = reinterpret_cast<std::uintptr_t*>(static_cast<char*>(room) + page + size -
                                           number % ways * apart);
  return true;
}

void stack::begin_with(void (*function)()) noexcept {
  std::uint32_t floats = 0;
  std::uint16_t x87 = 0;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(floats), "=m"(x87));
  std::uintptr_t* p = top_;
  // where it would return to. The function begins as after a call, with its stack 8 off a multiple
  // of 16.
  *--p = 0;
  *--p = reinterpret_cast<std::uintptr_t>(function);
  for (int registers = 0; registers < 6; ++registers) *--p = 0;
  *--p = floats | static_cast<std::uintptr_t>(x87) << 32;
  at = p;
}

}  // namespace kilter::regions
