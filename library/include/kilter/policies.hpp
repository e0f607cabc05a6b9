#pragma once
// The policies that come with Kilter: their names, and the options that `runtime_options` and the
// command take for them. Writing one of your own: policy.hpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kilter/ids.hpp"
#include "kilter/trace_table.hpp"

namespace kilter {
inline namespace v0 {

class machine;
class policy;

/// Where the critical flag comes from (papers.md S0, S2, X19, A3.1, A6.1, D18, E5, E6);
/// docs/policies.md has the rules.
enum class criticality : std::uint8_t {
  user,          ///< the user's priorities
  chain,         ///< one longest path (X19)
  diff1,         ///< bottom level exactly one below the parent's (S2, as written)
  chain_closed,  ///< every task on any longest path
  hops,          ///< CATS: the highest bottom level seen so far, and what follows it
  /// more direct successors than the mean of the graph, and at least two (S0, section 2)
  fanout,
  ranks,   ///< one path, by HEFT's upward rank in learned seconds
  online,  ///< chain_closed among what is known so far: added tasks too
};

/// whom thieves visit (papers.md E52, E58)
enum class victims : std::uint8_t { random, richest, cluster_first };

/// What the built-in policies may be told; each reads what concerns it.
struct policy_options {
  /// statically fast cores; empty: machine::fastest_cores()
  std::vector<core_id> fast;
  /// empty: the policy's own (S0's: user; perf: chain)
  std::optional<kilter::criticality> source{};
  /// Which places a local search sees: all around the core, or (`row`) those that it leads
  /// (papers.md E55). `x19` is `containing` with the slip of X19: once all narrower places are
  /// tried, every core but the first of a cluster takes the widest place of its cluster
  /// (papers.md X19).
  enum class local : std::uint8_t { containing, row, x19 } local_search = local::containing;
  /// tasks of low priority get their place as they become ready, and only a thief searches again
  /// (papers.md E56)
  bool search_when_ready = false;
  /// fa, fam-c: a random fast core for each critical task, not the fast cores in turn
  /// (papers.md A1.2)
  bool random_fast = false;
  /// Where children that are not critical wait. `slow_cluster`: on a random core that is not fast,
  /// of equal cores on any; thieves may still take them (papers.md E10)
  enum class noncritical : std::uint8_t {
    waker,
    slow_cluster
  } place_noncritical = noncritical::waker;
  /// what every search of the policy minimises; empty: the policy's own
  std::optional<objective> minimise{};
  /// by place_id, all members busy; for energy and edp
  std::vector<double> watts{};
  /// One child that would wait in its waker's queue runs next there; false: it waits like the
  /// others (discipline::forward_child, papers.md E10)
  bool forward_child = true;
  /// the chosen place is bound at wake-up, ahead of older tasks of its leader (papers.md X20, E8)
  bool direct_assembly = false;
  victims steal_from = victims::random;  ///< papers.md E52, E58

  // Of cats, and the first also of the source `hops` (papers.md A6.1).
  /// a bottom level that equals the highest seen so far is not critical, only a higher one
  bool cats_strict = false;
  /// slow cores take critical tasks when they find no others
  bool cats_bidirectional = false;
  /// looks into a core's own queue before it goes on to another
  std::uint32_t cats_tries = 300;
  /// labels: once for all tasks that come together, or task by task; they come out the same
  enum class update : std::uint8_t { batched, each } cats_update = update::batched;
};

/// A policy by name, as in `policy_catalogue`. Throws input_error listing the names otherwise, and
/// where energy or edp are to be minimised without watts of every place.
[[nodiscard]] std::shared_ptr<const policy> make_policy(std::string_view name, const machine&,
                                                        const policy_options& = {});

struct policy_info {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view source;   ///< paper and section
};
/// Every built-in policy, in the order of S0's Table 1, then the later ones.
[[nodiscard]] std::span<const policy_info> policy_catalogue() noexcept;

}  // namespace v0
}  // namespace kilter
