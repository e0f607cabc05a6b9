// Dynamic HEFT (the reference of CATS, Chronaki et al. 2015; as the plug-in "versioning" of Nanos++
// does it, papers.md A6.2)
//
//   No graph and no ranks: each ready task goes to the core that is expected to be done with it
//   first.
//
//   for each type and size class, and each kind of core:  sent, done, sum of seconds; mean <- sum /
//   done ready:  a kind to which fewer than three tasks of this type were sent takes it, on its
//   core with the least queued work (learning);
//           else core <- least  (work queued there and running) + mean of its kind
//           append to that core's FIFO; add the mean to its queued work until the task is done
//   done:   done += 1, sum += seconds
//
// What is sent counts, not what came back: otherwise all tasks that are ready before the first one
// ends would be sent to learn on one kind (papers.md A6.2, point 2). Until a kind's first sample is
// back, the mean of the kinds that have one stands in for it. If there is none at all, `unknown_s`
// does, which spreads tasks over the cores by number. Any number of kinds (D19). Ties: the lower
// core.

#include "policy/builtin.hpp"
#include "policy/search.hpp"

namespace kilter::builtin {

namespace {

class dheft_policy final : public policy {
 public:
  explicit dheft_policy(const machine& m) : kinds_(static_cast<std::uint32_t>(m.kinds().size())) {}
  std::string_view name() const noexcept override { return "dheft"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = d.asks_done = true;
    d.type_cells = kinds_ * cells_a_kind;
    return d;
  }

  ready_decision on_ready(task_ref task, task_ref, core_id, view& v) const override {
    for (kind_id k = 0; k < kinds_; ++k) {
      if (v.type_load(task, cell(k, sent)) >= learning) continue;
      const choice c = soonest(task, k, v);
      if (c.core == no_core || v.type_fetch_add(task, cell(k, sent), 1) >= learning) continue;
      return append(task, c, v);
    }
    choice best;
    for (kind_id k = 0; k < kinds_; ++k)
      if (const choice c = soonest(task, k, v);
          c.core != no_core && (best.core == no_core || c.end_s < best.end_s))
        best = c;
    if (best.core == no_core) best = {.core = 0, .end_s = 0.0, .adds_s = unknown_s};
    return append(task, best, v);
  }

  void on_done(task_ref task, place_id where, const measured& seen, view& v) const override {
    const kind_id k = v.machine().cores()[v.machine().at(where).leader].kind;
    // In this order, so that whoever reads between the two finds a mean that is too large and not
    // one of nothing.
    v.type_fetch_add(task, cell(k, sum_ns), static_cast<std::uint64_t>(seen.sample_s * 1e9));
    v.type_fetch_add(task, cell(k, done), 1);
  }

 private:
  static constexpr std::uint64_t learning = 3;
  static constexpr double unknown_s = 1e-6;
  enum counted : std::uint32_t { sent, done, sum_ns, cells_a_kind };
  [[nodiscard]] static constexpr std::uint32_t cell(kind_id k, counted what) noexcept {
    return k * cells_a_kind + what;
  }

  struct choice {
    core_id core = no_core;
    double end_s = 0.0;   // when it is expected to be done, from now
    double adds_s = 0.0;  // of which the task itself
  };

  /// 0 if no task of the type came back from that kind.
  [[nodiscard]] static double mean_s(task_ref task, kind_id k, view& v) noexcept {
    const std::uint64_t count = v.type_load(task, cell(k, done));
    return count == 0 ? 0.0
                      : static_cast<double>(v.type_load(task, cell(k, sum_ns))) * 1e-9 /
                            static_cast<double>(count);
  }

  [[nodiscard]] double expected_s(task_ref task, kind_id k, view& v) const noexcept {
    if (const double own_s = mean_s(task, k, v); own_s > 0.0) return own_s;
    double sum_s = 0.0;
    std::uint32_t known = 0;
    for (kind_id other = 0; other < kinds_; ++other)
      if (const double s = mean_s(task, other, v); s > 0.0) {
        sum_s += s;
        ++known;
      }
    return known == 0 ? unknown_s : sum_s / known;
  }

  /// The core of that kind that would be done first.
  [[nodiscard]] choice soonest(task_ref task, kind_id k, view& v) const noexcept {
    const double adds_s = expected_s(task, k, v);
    choice best;
    for (const core& c : v.machine().cores()) {
      if (c.kind != k || !v.online(c.id)) continue;
      const double end_s = v.busy_s(c.id) + adds_s;
      if (best.core == no_core || end_s < best.end_s) best = {c.id, end_s, adds_s};
    }
    return best;
  }

  [[nodiscard]] static ready_decision append(task_ref task, const choice& c, view& v) noexcept {
    return ready_decision::bind_to(search::narrowest(v, task, c.core), c.adds_s);
  }

  std::uint32_t kinds_;
};

}  // namespace

made dheft(const machine& m, const policy_options&) { return std::make_shared<dheft_policy>(m); }

}  // namespace kilter::builtin
