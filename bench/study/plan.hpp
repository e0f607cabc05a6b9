#pragma once
// What the interference study runs: cells (a DAG under a disturbance, of some length) times systems
// (a scheduler and how it is set up).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "disturbing/disturbance.hpp"
#include "peers/peer.hpp"

namespace kilter::bench {

struct cell {
  std::uint32_t parallelism = 1;  ///< of the layered DAG, or with `barriers` tasks a layer
  bool barriers = false;          ///< each layer waits for the whole one before
  std::string body;               ///< "16us", "200us", "1ms"
  double body_s = 0.0;
  /// "none", "cpu", "wave", "session", "float", "wave5", "irregular"
  std::string disturb;
  std::vector<lab::disturbance> parts;
  std::string length;     ///< "1s", "100ms", "20ms", "20s"
  double length_s = 0.0;  ///< what the bound is to be
  /// short runs: graphs one after the other on one runtime, submitted from outside
  std::uint32_t graphs = 1;
  std::uint32_t repeats = 0;

  [[nodiscard]] std::string id() const;  ///< "P2/16us/cpu/1s", "B8/200us/cpu/1s"
  [[nodiscard]] std::uint64_t longest_path(std::uint32_t tasks) const noexcept;  ///< in tasks
  [[nodiscard]] bool outside() const noexcept { return graphs > 1; }
  [[nodiscard]] bool alternates() const noexcept {
    return !parts.empty() && parts.front().half_period_s > 0.0;
  }
};

struct system {
  std::string name;  ///< "dam-c", "onetbb-pinned", ...
  /// of its column: at most seven letters a line, lines separated by '|'
  std::string heading;
  bool in_quick = true;
  /// Called on the thread that runs it. `root`: the core that the run starts on; pinned peers begin
  /// their threads there.
  std::function<std::unique_ptr<contender>(const std::shared_ptr<const machine>&, core_id root,
                                           std::uint64_t seed)>
      make;
};

/// What the summary asks for by name.
inline constexpr const char *our_system = "auto", *stealing = "rws";
[[nodiscard]] bool is_peer(const std::string& system_name);
[[nodiscard]] bool is_unpinned_peer(const std::string& system_name);

[[nodiscard]] const std::vector<system>& all_systems();

struct study_options {
  bool quick = false;
  std::uint32_t repeats = 8;
  /// comma lists of shell patterns over cell ids, and of system names; empty: all
  std::string cells, systems;
};

/// Throws input_error if a pattern or a name matches nothing.
[[nodiscard]] std::vector<cell> cells_of(const study_options&, const machine&);
[[nodiscard]] std::vector<const system*> systems_of(const study_options&);
/// Every cell of the study in its order, for reports.
[[nodiscard]] std::vector<cell> all_cells(const machine&);

/// Side of the matrices whose product takes the cell's body time, given the seconds of a 64 x 64
/// one.
[[nodiscard]] std::uint32_t tile_for(const cell&, double product_64_s);

}  // namespace kilter::bench
