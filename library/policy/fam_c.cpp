// Fixed asymmetry, moldable, by cost (papers.md S0, Table 1: FAM-C)
//
//   As FA, but the width is learned: on the TX2 a task of high priority runs at (0,1), (1,1) or
//   (0,2).
//
//   ready, high priority:  core <- next fast core, round robin
//                          place <- least time x width among the places that contain it and lie
//                          within the fast cores push to the leader's queue, not stealable
//   ready, low priority:   as RWS
//   taken, low priority:   place <- local search for this core, least time x width
//   done:                  learn

#include <algorithm>

#include "policy/builtin.hpp"
#include "policy/labels.hpp"
#include "policy/search.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class fam_c_policy final : public policy {
 public:
  fam_c_policy(const machine& m, const policy_options& o)
      : fast_(wake_up::fast_cores(m, o)),
        low_(m, o),
        flags_(o.source.value_or(criticality::user), turn_cell + 1, o),
        local_(o.local_search),
        direct_assembly_(o.direct_assembly),
        random_(o.random_fast),
        search_ready_(o.search_when_ready),
        goal_(o, objective::cost),
        start_(start_of(o)) {
    for (const core_id core : fast_) {
      auto& inside = inside_.emplace_back();
      for (const place_id p : m.containing(core))
        if (within_fast(m.at(p))) inside.push_back(p);
    }
  }
  std::string_view name() const noexcept override { return "fam-c"; }
  discipline queues(const machine&) const override {
    discipline d = start_;
    d.asks_ready_high = true;
    d.asks_ready_low = low_.asks() || search_ready_;
    d.asks_take_low = d.asks_take_high = true;
    d.take_stays = true;
    d.asks_machine = true;
    d.learns = true;
    d.cells = turn_cell + 1;
    flags_.add_to(d);
    return d;
  }
  void on_submit(view& v) const override { flags_.on_submit(v); }

  ready_decision on_ready(task_ref task, task_ref parent, core_id waker, view& v) const override {
    flags_.on_ready(task, parent, v);
    if (!v.critical(task))
      return search_ready_
                 ? wake_up::with_place(low_.choose(task, waker, v), task, waker, local_, goal_, v)
                 : low_.choose(task, waker, v);
    if (!flags_.classifies_roots() && wake_up::root_waits_at_home(parent, waker, v))
      return wake_up::root(task, waker, v);
    const std::size_t turn = wake_up::next_fast(fast_.size(), random_, turn_cell, v);
    place_id where = search::among(v, task, inside_[turn], goal_);
    if (where == no_place) where = search::narrowest(v, task, fast_[turn]);
    return wake_up::at_place(where, waker, direct_assembly_, v.machine());
  }

  take_decision on_take(task_ref task, core_id here, bool, view& v) const override {
    return {.where = search::local(v, task, here, local_, goal_)};
  }
  void on_machine(view& v) const override { search::note_offline(v); }

 private:
  static constexpr std::uint32_t turn_cell = search::cells;

  [[nodiscard]] bool within_fast(const place& p) const {
    for (core_id c = p.leader; c < p.leader + p.width; ++c)
      if (!std::ranges::binary_search(fast_, c)) return false;
    return true;
  }

  std::vector<core_id> fast_;
  std::vector<std::vector<place_id>> inside_;  // by position in fast_
  wake_up::low_priority_queue low_;
  labels::rule flags_;
  policy_options::local local_;
  bool direct_assembly_, random_, search_ready_;
  search::aim goal_;
  discipline start_;
};

}  // namespace

made fam_c(const machine& m, const policy_options& o) {
  return std::make_shared<fam_c_policy>(m, o);
}

}  // namespace kilter::builtin
