#pragma once
// Which place the critical tasks of a row use: the one in use until leaving it pays, now and then
// one to be tried again.

#include "kilter/measured.hpp"
#include "kilter/trace_table.hpp"
#include "model/availability.hpp"
#include "model/row.hpp"
#include "model/shape.hpp"
#include "model/tables.hpp"

namespace kilter::model {

class decider {
 public:
  decider(const shape& s, const table_options& o, availability& a)
      : shape_(s), options_(o), availability_(a) {}

  [[nodiscard]] place_id settle(table_row&, place_id best, objective, double now_s,
                                allowed may) noexcept;
  /// A sample of `p` arrived; if it answers the probe under way, the probe is accounted for and
  /// perhaps repeated. At a wide place in use it is held against the place that was left for it.
  void answered(table_row& r, place_id p, double sample_s) noexcept {
    if (r.decision.probing.load(sync::memory_order_relaxed) == p) [[unlikely]]
      answer(r, sample_s);
    if (r.decision.left_for_it_s.load(sync::memory_order_relaxed) > 0.0 &&
        r.decision.in_use.load(sync::memory_order_relaxed) == p) [[unlikely]]
      compare(r, sample_s);
  }
  [[nodiscard]] std::uint64_t explored() const noexcept {
    return explored_.load(sync::memory_order_relaxed);
  }
  void clear(table_row&) noexcept;
  void clear() noexcept { explored_.store(0, sync::memory_order_relaxed); }

 private:
  [[nodiscard]] double time_s(const table_row& r, place_id p) const noexcept {
    return r.read_s[shape_.cell_of[p]].load(sync::memory_order_relaxed) * availability_.slowdown(p);
  }
  [[nodiscard]] double value(const table_row& r, place_id p, objective o) const noexcept {
    return o == objective::cost ? time_s(r, p) * shape_.machine.at(p).width : time_s(r, p);
  }
  place_id first(const table_row&, place_id best, double now_s, allowed may) const noexcept;
  place_id keep(table_row&, place_id best, objective, double now_s, allowed may) noexcept;
  place_id probe(table_row&, place_id chosen, objective, double now_s, allowed may) noexcept;
  place_id candidate(const table_row&, place_id chosen, objective, double now_s,
                     allowed may) const noexcept;
  void answer(table_row&, double sample_s) noexcept;
  void compare(table_row&, double sample_s) noexcept;
  void move_on(table_row&, place_id to, double now_s) noexcept;

  const shape& shape_;
  const table_options options_;
  availability& availability_;
  alignas(sync::cache_line) sync::atomic<std::uint64_t> explored_{0};
};

}  // namespace kilter::model
