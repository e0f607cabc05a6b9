#pragma once
// How a sample changes a row: the papers' moving average, or intrinsic times and the references
// that peers share.

#include "kilter/measured.hpp"
#include "kilter/trace_table.hpp"
#include "model/availability.hpp"
#include "model/row.hpp"
#include "model/saved.hpp"
#include "model/shape.hpp"
#include "model/slices.hpp"
#include "model/unit_times.hpp"

namespace kilter::model {

class learner {
 public:
  learner(const shape&, const table_options&, availability&, slices&, unit_times&);

  void learn(table_row&, place_id, const measured&, double now_s) noexcept;
  void learn_loop(table_row&, place_id, double items, double work_s, double wall_s,
                  double now_s) noexcept;
  void preset(table_row&, place_id, double seconds) noexcept;
  [[nodiscard]] saved_cell save(const table_row&, place_id) const;
  /// Without publish.
  void restore(table_row&, place_id, const saved_cell&) noexcept;
  void clear(table_row&) noexcept;
  /// Makes what searches read agree with what is known: own times, references, priors. Skipped if
  /// another worker is at it.
  void publish(table_row&) noexcept;

  /// Seconds at a group of peers where the type has no sample, undisturbed.
  [[nodiscard]] double prior_s(const table_row&, std::uint32_t group) const noexcept;

 private:
  /// `known(0)` to `known(count - 1)`: by group, ascending; 0 seconds where the type has no sample.
  template <class At>
  [[nodiscard]] double guess_s(std::uint32_t group, std::uint32_t count,
                               const At& known) const noexcept;
  /// As known_s, without slices that were lost.
  [[nodiscard]] double typical_s(const table_row&, std::uint32_t group) const noexcept;
  void average(table_row&, place_id, double sample_s) noexcept;
  void learn_single(table_row&, place_id, const measured&, double units, double now_s) noexcept;
  void learn_wide(table_row&, place_id, double sample_s, double units, double now_s) noexcept;
  void remember(table_row&, place_id, double sample_s, double observed_s, bool trusted,
                double now_s) noexcept;
  void update_reference(table_row&, place_id, double observed_s, double now_s) noexcept;
  [[nodiscard]] double known_s(const table_row&, std::uint32_t group) const noexcept;
  [[nodiscard]] double nominal_ratio(std::uint32_t asked, std::uint32_t known) const noexcept;

  const shape& shape_;
  const table_options options_;
  availability& availability_;
  slices& slices_;
  unit_times& unit_times_;
  const double old_weight_;  ///< a in new = (a x old + sample) / (a + 1); 4 in the papers
};

}  // namespace kilter::model
