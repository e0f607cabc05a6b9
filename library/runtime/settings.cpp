#include "runtime/settings.hpp"

#include "machine/cgroup.hpp"
#include "policy/checked.hpp"
#include "policy/routing.hpp"
#include "runtime/pinning.hpp"

namespace kilter::inline v0::detail {
namespace {

/// A worker more than the quota pays for would only be throttled; a fraction of a core is still
/// worth a worker.
std::shared_ptr<const kilter::machine> machine_for(const runtime_options& o) {
  const auto m = o.machine ? o.machine
                           : std::make_shared<const kilter::machine>(
                                 within_quota(kilter::machine::local(), cgroup_quota_cores()));
  return o.max_workers == 0
             ? m
             : std::make_shared<const kilter::machine>(first_cores(*m, o.max_workers));
}

}  // namespace

engine_settings::engine_settings(runtime_options o, const attachments& a)
    : options(std::move(o)),
      attached(a),
      machine(machine_for(options)),
      policy(checked(options.custom
                         ? options.custom
                         : make_policy(options.policy, *machine, options.policy_settings),
                     *machine)),
      plan(policy->queues(*machine)),
      oversubscribed(machine->core_count() > allowed_cpus()),
      deques(routing::has_deques(plan)),
      standard_learning(plan.learns && !plan.asks_done),
      measures_cpu(options.table.two_factors && (plan.learns || plan.asks_done)),
      samples_rows(options.table.two_factors && !plan.asks_done && !attached.events &&
                   !options.record_decisions) {
  // A recording holds every decision, also those that the policy leaves to the standard way.
  if (options.record_decisions)
    plan.asks_submit = plan.asks_ready_low = plan.asks_ready_high = plan.asks_next =
        plan.asks_take_low = plan.asks_take_high = plan.asks_done = true;
  takes_own = routing::takes_own(plan);
  keeps_low = plan.forward_child && deques && !plan.asks_ready_low;
  keeps_high = plan.forward_child && deques && !plan.asks_ready_high;
}

}  // namespace kilter::inline v0::detail
