#pragma once
// The processes that run one program together, as mpirun starts them. Without it there is one.

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kilter/ids.hpp"
#include "kilter/machine.hpp"

namespace kilter::apps {

/// What one rank tells another, and hears from it, at the same time. Both spans have the same size
/// there.
struct border {
  std::uint32_t with = 0;  ///< the other rank; no two borders of an exchange have the same
  std::span<const double> out;
  std::span<double> in;
};

/// "Collective": all ranks make these calls, in the same order.
class ranks {
 public:
  virtual ~ranks() = default;
  [[nodiscard]] virtual std::uint32_t rank() const noexcept { return 0; }
  [[nodiscard]] virtual std::uint32_t size() const noexcept { return 1; }
  /// Collective: what each says, by rank.
  virtual std::vector<std::string> each(const std::string& mine) { return {mine}; }
  /// Collective: at rank 0 the values of each, by rank; nothing elsewhere.
  virtual std::vector<std::vector<double>> to_first(std::span<const double> mine) {
    return {{mine.begin(), mine.end()}};
  }
  /// Returns when all borders are told and heard, or as soon as the second argument says that the
  /// run is stopped, and then true. One call of a rank at a time, from any thread.
  virtual bool exchange(std::span<const border>, const std::function<bool()>&) { return false; }
  /// Ends all ranks, for one that cannot go on while others wait for it.
  virtual void end_all(int status) { std::exit(status); }
};

/// Collective.
void meet(ranks&);
[[nodiscard]] double most(ranks&, double mine);
[[nodiscard]] double total(ranks&, double mine);
/// Modulo 2^64.
[[nodiscard]] std::uint64_t sum(ranks&, std::uint64_t mine);
/// What the first rank that says anything says.
[[nodiscard]] std::string first_said(ranks&, const std::string& mine);
/// The cores of `here` that this rank is to use. Ranks that were given the same CPUs of one
/// computer share them out: an equal part for each, or one core for several where there are more
/// ranks than cores. Those whose CPUs only overlap with others' keep them all.
[[nodiscard]] std::vector<core_id> share_of(ranks&, const machine& here);

/// Joins those that mpirun (or what else starts Open MPI's programs) started with this process; one
/// alone if nobody did. `directories`: where kilter's library for it may be. input_error if it is
/// not there, or Open MPI is not.
[[nodiscard]] std::shared_ptr<ranks> join_ranks(std::span<const std::string> directories);
/// Where the build leaves that library; empty if it was built without Open MPI.
extern const char* const built_ranks_library;

}  // namespace kilter::apps
