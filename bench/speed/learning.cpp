// What learning costs: rwsm-c against the same policy whose table is filled and never written.

#include "policy/builtin.hpp"
#include "speed/rows.hpp"

namespace kilter::bench {

namespace {

class frozen final : public policy {
 public:
  // or its answers are checked
  explicit frozen(std::shared_ptr<const policy> inner, const machine& m)
      : inner_(std::move(inner)) {
    detail::trusting::on(*this, m);
  }
  std::string_view name() const noexcept override { return "frozen"; }
  discipline queues(const machine& m) const override {
    discipline d = inner_->queues(m);
    d.learns = false;
    return d;
  }
  void on_submit(view& v) const override { inner_->on_submit(v); }
  ready_decision on_ready(task_ref t, task_ref parent, core_id waker, view& v) const override {
    return inner_->on_ready(t, parent, waker, v);
  }
  next_decision next(core_id w, std::uint32_t attempt, view& v) const override {
    return inner_->next(w, attempt, v);
  }
  take_decision on_take(task_ref t, core_id here, bool stolen, view& v) const override {
    return inner_->on_take(t, here, stolen, v);
  }
  void on_done(task_ref, place_id, const measured&, view&) const override {}
  void on_machine(view& v) const override { inner_->on_machine(v); }

 private:
  std::shared_ptr<const policy> inner_;
};

}  // namespace

rows learning_rows(const plan& p) {
  struct shape {
    std::string name;
    dag graph;
  };
  const std::vector<shape> shapes{
      {"independent", independent(1'000'000 / p.scale)},
      {"chain", chain(200'000 / p.scale, false)},
      {"layered P=2", layered({.tasks = 32'000 / p.scale, .parallelism = 2})}};
  runtime_options still = options_of(p, "rwsm-c");
  still.custom = std::make_shared<frozen>(make_policy("rwsm-c", *p.where), *p.where);
  const std::vector<runtime_preset> filled{{"empty", 50e-9}};
  const auto learning = make_kilter(options_of(p, "rwsm-c")), stopped = make_kilter(still, filled);
  rows all;
  for (const shape& s : shapes) {
    const std::vector<entrant> entrants{{"rwsm-c", learning.get()},
                                        {"rwsm-c, frozen table", stopped.get()}};
    const auto t = race(p, "learning, " + s.name, s.graph, {}, entrants);
    if (auto r = compare("learning, " + s.name + ": run", entrants[0], t[0].first_s,
                         entrants[1].name, t[1].first_s, s.graph.size(), 1.05))
      all.push_back(std::move(*r));
  }
  return all;
}

}  // namespace kilter::bench
