#pragma once
// Facility location by local search: which points to open as centres, when each centre costs as
// much as so many squared distances.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "apps/programs/steps.hpp"

namespace kilter::apps {

/// Point by point; a point of weight w stands for w points at its place.
struct weighted_points {
  std::span<const float> values;
  std::span<const std::uint32_t> weights;
  std::size_t dimensions = 0;

  [[nodiscard]] std::size_t count() const noexcept { return weights.size(); }
  [[nodiscard]] const float* at(std::size_t point) const noexcept {
    return values.data() + point * dimensions;
  }
};

struct search_options {
  std::size_t least = 10, most = 20;  ///< centres
  std::size_t divisions = 8;          ///< tasks of a loop over all points
  std::uint64_t seed = 1;
};

/// What a search ended with.
struct located {
  std::vector<std::uint32_t> centres;     ///< which points
  std::vector<std::uint32_t> nearest;     ///< of each point: which of the centres
  std::vector<std::uint32_t> candidates;  ///< points that the search would have opened
  /// sum of weight x squared distance to the nearest centre
  double service = 0;
  double facility = 0;       ///< what each centre costs
  double low = 0, high = 0;  ///< it lies between these, by bisection
  /// the point that was the only centre at first; the bisection began with what that costs
  std::uint32_t first = 0;
};

/// A candidate is opened only if this part of the cost, or more, is gained by it; at the end there
/// is no such candidate.
inline constexpr double least_gain = 0.0001;
/// The bisection ends with whatever number of centres when its interval is this part of its upper
/// end.
inline constexpr double narrowest = 0.001;
/// It also ends when centres cost no more than this part of what the first alone did: there are not
/// so many different points.
inline constexpr double cheapest = 0x1p-40;

/// In double and by definition: each point's centre is the nearest, the service is what it is, the
/// number of centres is within the bounds or the bisection could not go on, and no candidate (of
/// 16) gains more than least_gain. Throws wrong_result; `what` names the search.
void verify(const weighted_points&, const located&, const search_options&, const std::string& what);

/// O'Callaghan, Mishra, Meyerson, Guha and Motwani, "Streaming-data algorithms for high-quality
/// clustering" (ICDE 2002), sections 3 and 4. In steps: each is one or two loops over all points,
/// and what is decided from their sums.
class facility_search {
 public:
  /// Names of the loops, for run_in_steps.
  static constexpr std::array<std::string_view, 3> loop_names{"open", "gain", "move"};

  /// The points must stay where they are. Where there are no more than `most`, each is a centre.
  facility_search(const weighted_points&, const search_options&);
  /// False: it has ended.
  [[nodiscard]] bool step(step_loops&);
  [[nodiscard]] located result() const;

 private:
  enum class phase : std::uint8_t { start, open, improve, settle, ended };
  enum loop : std::size_t { opening, gain, moving };
  struct range {
    std::size_t first, last;
  };
  /// What a division has added up. Divisions are summed in their order, so that the bits are the
  /// same whoever computed which.
  struct alignas(64) partial {
    /// by points that are nearer to the candidate than to their centre
    double saved = 0;
    /// of each centre: what its other points would pay more with the candidate
    std::vector<double> extra;
    double service = 0;
  };

  void start_with_one(step_loops&);
  void open_next(step_loops&);
  void improve(step_loops&);
  void settle(step_loops&);

  void open_centre(step_loops&, std::uint32_t point);
  [[nodiscard]] double gain_of(step_loops&, std::uint32_t candidate);
  void move_to(step_loops&, std::uint32_t candidate);
  void open_in(range, std::uint32_t slot, partial&) noexcept;
  void compare_in(range, std::uint32_t candidate, partial&);
  void move_in(range, std::uint32_t slot, partial&) noexcept;
  void take_nearest(std::size_t point) noexcept;

  void judge();
  void begin_rounds();
  void next_facility_cost();
  void choose_candidates();
  void add_up_service() noexcept;
  [[nodiscard]] std::uint32_t free_slot();
  [[nodiscard]] float distance(std::size_t point, std::uint32_t other) const noexcept;
  [[nodiscard]] range division(std::size_t) const noexcept;
  [[nodiscard]] double cost() const noexcept {
    return facility_ * static_cast<double>(open_) + service_;
  }
  [[nodiscard]] bool in_bounds() const noexcept {
    return open_ >= options_.least && open_ <= options_.most;
  }
  [[nodiscard]] bool near_bounds() const noexcept;
  [[nodiscard]] bool narrow() const noexcept;
  template <class T>
  void shuffle(std::vector<T>&);

  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  const weighted_points points_;
  const search_options options_;
  std::mt19937_64 random_;
  phase now_ = phase::start;

  // A centre has a slot; slots of closed ones are taken again.
  std::vector<std::uint32_t> centres_;  ///< by slot: a point, or nobody
  /// by slot: whether the candidate that was looked at last would replace it
  std::vector<char> closes_;
  std::size_t open_ = 0;
  std::vector<std::uint32_t> slots_;  ///< by point: of its nearest centre
  std::vector<float> costs_;          ///< by point: weight x squared distance to that
  std::vector<float> others_;         ///< by point: the same to the candidate
  std::vector<partial> partials_;

  double facility_ = 0, low_ = 0, high_ = 0, highest_ = -1, service_ = 0;
  std::vector<std::uint32_t> order_;  ///< in which points are asked whether they open
  std::size_t asked_ = 0;
  std::uint32_t first_ = 0;
  std::vector<std::uint32_t> candidates_;
  /// candidates that were looked at in this round; those in a row that gained nothing
  std::size_t turn_ = 0, idle_ = 0;
  double gained_ = 0;  ///< in this round
};

}  // namespace kilter::apps
