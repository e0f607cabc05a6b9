#pragma once
// Who reads and writes which data: from the addresses that tasks name to the edges between them.

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kilter/graph.hpp"

namespace kilter::inline v0::detail {

struct node;

/// What the tasks added so far do with each address.
class data_uses {
 public:
  /// usage_error if an address is null, or if the task would have to follow one that is out of
  /// reach.
  void check(const depend&) const;
  /// The tasks that `n` must follow, each once; notes what `n` does. Valid until the next call.
  /// bad_alloc.
  const std::vector<node*>& follow(node* n, const depend&);
  /// Counts from 0; of an address that a task has named.
  [[nodiscard]] std::uint32_t number_of(const void* p) const { return uses_.at(p).number; }
  /// The tasks so far are out of reach: they may be done, and their memory another's. `for_good`:
  /// nobody waits for them.
  void released(bool for_good);
  /// Those that were released, but not for good, are done.
  void done();

 private:
  // uses by tasks that are out of reach
  enum class gone : std::uint8_t { none, until_done, for_good };
  struct use {
    node* writer = nullptr;      // the last one
    std::vector<node*> readers;  // since then
    gone writes = gone::none, reads = gone::none;
    std::uint32_t number = 0;
  };
  void comes_after(node* earlier, const node* n);
  void reads(use&, node*);
  void writes(use&, node*);

  use& of(const void*);

  std::unordered_map<const void*, use> uses_;
  std::uint32_t named_ = 0;
  std::vector<node*> before_;
  // of `before_`, the first `known_.size()`, once there are many
  std::unordered_set<const node*> known_;
};

}  // namespace kilter::inline v0::detail
