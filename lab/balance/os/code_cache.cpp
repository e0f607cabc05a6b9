#include "balance/os/code_cache.hpp"

#include <algorithm>
#include <cerrno>

namespace kilter::balance::os {

operand_form code_cache::next(pid_t pid, std::uint64_t ip, bool& forbidden) {
  auto& known = known_[pid];
  if (const auto at = known.find(ip); at != known.end()) return at->second;
  bool failed = false;
  const code_source code = [&](std::uint64_t address, std::span<std::byte> into) {
    const int read = calls_.read_memory(pid, address, into);
    forbidden |= read == -EPERM;
    failed |= read < 0;
    return static_cast<std::size_t>(std::max(read, 0));
  };
  const operand_form f = decoder_.next(ip, code);
  if (!failed) known[ip] = f;
  return f;
}

void code_cache::grow_old() {
  if (++age_ % 64 == 0) known_.clear();
}

}  // namespace kilter::balance::os
