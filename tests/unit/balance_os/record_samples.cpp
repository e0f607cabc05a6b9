// Writes where a program's first thread went in memory, as the software observer sees it: how the
// files in tests/data/samples were made.
//
//   ninja -C BUILD record_samples && BUILD/tests/record_samples SAMPLES FILE PROGRAM ARGS...
//
// After 0.3 s, in which most programs are done with their preparations, it takes that many samples,
// one every millisecond of CPU time, and ends the program.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "balance/os/operand_decoder.hpp"
#include "balance/os/sample_ring.hpp"
#include "balance/os/sampling_calls.hpp"

int main(int argc, char** argv) {
  using namespace kilter::balance::os;
  const auto decoder = make_operand_decoder();
  if (argc < 4 || !decoder)
    return std::fprintf(stderr, "record_samples SAMPLES FILE PROGRAM ARGS...\n%s\n",
                        decoder ? "" : why_nothing_is_decoded()),
           2;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execvp(argv[3], argv + 3);
    ::_exit(127);
  }
  ::usleep(300000);
  linux_sampling_calls calls;
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_CPU_CLOCK;
  a.sample_period = 999'983;
  a.sample_type = PERF_SAMPLE_REGS_USER;
  a.sample_regs_user = sampled_register_mask;
  a.exclude_kernel = 1;
  const int fd = calls.open(a, pid);
  int error = -fd;
  const auto ring = fd < 0 ? std::span<std::byte>() : calls.map(fd, 64 << 12, error);
  std::ofstream out(argv[2]);
  long left = std::atol(argv[1]);
  for (int waits = 0; !ring.empty() && left > 0 && waits < 2000; ++waits) {
    ::usleep(10000);
    ring_contents taken;
    drain(ring, taken);
    const code_source code = [&](std::uint64_t address, std::span<std::byte> into) {
      return static_cast<std::size_t>(std::max(0, calls.read_memory(pid, address, into)));
    };
    for (const register_values& registers : taken.samples) {
      if (left-- <= 0) break;
      const operand_form next = decoder->next(value_of(registers, sampled_register::ip), code);
      if (next.goes == operand_form::somewhere)
        out << std::hex << (address_of(next, registers) >> 12) << '\n';
      else
        out << (next.goes == operand_form::nowhere ? "-\n" : "?\n");
    }
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  if (ring.empty())
    return std::fprintf(stderr, "the thread cannot be sampled: error %d\n", error), 1;
  return left > 0 ? (std::fprintf(stderr, "the program ended before, or hardly ran\n"), 1) : 0;
}
