#include "graph/data_uses.hpp"

#include <algorithm>

#include "kilter/error.hpp"

namespace kilter::inline v0::detail {

void data_uses::check(const depend& d) const {
  const auto look = [&](const std::vector<const void*>& addresses, bool writes) {
    for (const void* p : addresses) {
      if (!p) throw usage_error("a task's data are named by addresses; one of them is null");
      const auto found = uses_.find(p);
      if (found == uses_.end()) continue;
      const use& u = found->second;
      if (const gone earlier = writes ? std::max(u.writes, u.reads) : u.writes;
          earlier != gone::none)
        throw usage_error(earlier == gone::until_done
                              ? "a task's data are in use by a task of this batch that is already "
                                "released; wait() before it is added"
                              : "a task's data are in use by a task that this batch has detached, "
                                "so nothing can be put behind it");
    }
  };
  look(d.in, false);
  look(d.out, true);
  look(d.inout, true);
}

const std::vector<node*>& data_uses::follow(node* n, const depend& d) {
  before_.clear();
  known_.clear();
  for (const void* p : d.in) reads(of(p), n);
  for (const void* p : d.inout) writes(of(p), n);
  for (const void* p : d.out) writes(of(p), n);
  return before_;
}

data_uses::use& data_uses::of(const void* p) {
  const auto [at, fresh] = uses_.try_emplace(p);
  if (fresh) at->second.number = named_++;
  return at->second;
}

void data_uses::comes_after(node* earlier, const node* n) {
  // A look through all of them at each reader of many would take the square of their number.
  constexpr std::size_t few = 32;
  if (!earlier || earlier == n) return;
  if (before_.size() <= few) {
    if (std::ranges::find(before_, earlier) != before_.end()) return;
  } else {
    while (known_.size() < before_.size()) known_.insert(before_[known_.size()]);
    if (known_.contains(earlier)) return;
  }
  before_.push_back(earlier);
}

void data_uses::reads(use& u, node* n) {
  comes_after(u.writer, n);
  if (u.writer != n && (u.readers.empty() || u.readers.back() != n)) u.readers.push_back(n);
}

void data_uses::writes(use& u, node* n) {
  // Its readers follow the writer before already.
  for (node* reader : u.readers) comes_after(reader, n);
  comes_after(u.writer, n);
  u.readers.clear();
  u.writer = n;
}

void data_uses::released(bool for_good) {
  const gone how = for_good ? gone::for_good : gone::until_done;
  for (auto& [address, u] : uses_) {
    if (u.writer) u.writes = std::max(u.writes, how);
    if (!u.readers.empty()) u.reads = std::max(u.reads, how);
    u.writer = nullptr;
    u.readers.clear();
  }
}

void data_uses::done() {
  std::erase_if(uses_, [](const auto& at) {
    return !at.second.writer && at.second.readers.empty() &&
           std::max(at.second.writes, at.second.reads) != gone::for_good;
  });
}

}  // namespace kilter::inline v0::detail
