// A policy for the command, in forty lines: kilter compare --policy rws,./libmine.so, and in sim
// too. Each ready task goes to the core that is done with it first, by what is waiting there and
// the learned time of its type.
#include <kilter/policy_plugin.hpp>

class soonest final : public kilter::policy {
 public:
  std::string_view name() const noexcept override { return "soonest"; }

  kilter::discipline queues(const kilter::machine&) const override {
    kilter::discipline d;
    d.asks_ready_low = d.asks_ready_high = true;  // I say where every ready task goes
    d.learns = true;                              // the engine keeps the trace table for me
    return d;
  }

  kilter::ready_decision on_ready(kilter::task_ref task, kilter::task_ref, kilter::core_id,
                                  kilter::view& see) const override {
    kilter::place_id best = kilter::no_place;
    double soonest_s = 0.0, own_s = 0.0;
    for (const kilter::core& c : see.machine().cores()) {
      if (!see.online(c.id)) continue;
      const kilter::place_id here = see.machine().single(c.id);
      const double seconds = see.time_s(task, here), end_s = see.busy_s(c.id) + seconds;
      if (best != kilter::no_place && end_s >= soonest_s) continue;
      best = here;
      soonest_s = end_s;
      own_s = seconds;
    }
    if (best == kilter::no_place) best = see.machine().single(0);
    // the estimate is taken off again when the task is done
    return kilter::ready_decision::bind_to(best, own_s);
  }
};

KILTER_POLICY_PLUGIN(soonest)
