// A task on several cores: its entries in the assembly queues, its members, and its end.
// docs/inside/decisions/wide-tasks.md says why.

#include <algorithm>
#include <utility>

#include "policy/sample.hpp"
#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {
namespace {

/// Of the exception that is being handled.
std::exception_ptr no_stand_in(core_id core) noexcept {
  try {
    try {
      throw;
    } catch (const std::system_error& why) {
      throw std::system_error(why.code(),
                              "a task of all members found no thread to stand in for core " +
                                  std::to_string(core) + ", whose worker waits inside a task");
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

void worker::insert(node* n, place_id where, bool stolen) {
  const place p = owner.settings.machine->at(where);
  owner.desk_of(p.leader).hand_out([&](assembly& a) {
    // All members are told or none.
    core_id reserved = p.leader;
    try {
      a.set_up(n, &execution_of(n), where, p, graph_of(n).kinds[n->kind].all_members, stolen);
      for (; reserved < p.leader + p.width; ++reserved)
        owner.workers[reserved]->assembly_.reserve();
    } catch (...) {
      while (reserved-- > p.leader) owner.workers[reserved]->assembly_.unreserve();
      throw;
    }
    for (core_id c = p.leader; c < p.leader + p.width; ++c)
      owner.workers[c]->assembly_.push_reserved({assembly_entry::kind::join, n, &a});
  });
  for (core_id c = p.leader; c < p.leader + p.width; ++c)
    if (c != core) owner.workers[c]->wake();
}

bool worker::take_part(assembly& a) {
  const std::uint32_t member = core - a.at.leader;
  if (!a.enter()) return false;
  execution_state& e = *a.execution;
  a.first_in(member);
  member_span& span = a.members[member];
  span.came = true;
  span.start = sync::cycles();
  body_call call{.where = a.at, .member = member, .core = core, .assembly = &a, .task = a.task};
  if (!run_body(a.task, *e.graph.kinds[a.task->kind].code, call, e) || e.stops(a.task)) a.exhaust();
  span.end = sync::cycles();
  return true;
}

void worker::join(assembly& a) {
  const body_on_stack outer = std::exchange(body_, {nullptr, true});
  released_ = nullptr;
  const bool took_part = take_part(a);
  body_ = outer;
  if (took_part) {
    const member_span& span = a.members[core - a.at.leader];
    tally(*a.execution).work_cycles += span.end - span.start;
    if (owner.events)
      owner.events.task(core, a.task, *a.execution, a.at, core - a.at.leader, span.start, span.end,
                        a.stolen);
  }
  if (took_part && a.leave()) finish_wide(a);
  give_back(a);
  wait_for_core();
}

void worker::stand_in(assembly& a) {
  bool reserved = false;
  try {
    assembly_.reserve();
    reserved = true;
    stand_in_.start([this, &a] {
      stands_in(this);
      const bool took_part = take_part(a);
      const bool finisher = took_part && a.leave();
      stand_in_.is_free();
      if (finisher) {
        // What follows belongs to the worker's own thread. It keeps this member's hold on the
        // assembly.
        assembly_.push_front_reserved({assembly_entry::kind::finish, nullptr, &a});
        wake();
      } else {
        assembly_.unreserve();
        give_back(a);
      }
    });
  } catch (...) {
    if (reserved) assembly_.unreserve();
    // The others wait for this member at their barrier, so the run ends: its bodies are told, and
    // this one's is left out.
    a.execution->fail(no_stand_in(core));
    join(a);
  }
}

void worker::give_back(assembly& a) {
  if (a.drop()) owner.desk_of(a.at.leader).take_back(a);
}

void worker::finish_wide(assembly& a) {
  const std::uint64_t now = clock_seen_ = sync::cycles();
  hand_.stamp_cycles = 0;
  execution_state& e = *a.execution;
  worker_tally& t = tally(e);
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  bool anybody = false;
  for (const member_span& s : a.members)
    if (s.came) {
      anybody = true;
      first = std::min(first, s.start);
      last = std::max(last, s.end);
    }
  measured m;
  std::vector<member_time>& members = member_times_;
  members.clear();
  if (anybody && !e.stops(a.task)) {
    ++t.bodies;
    const auto spent = [&](const member_span& s) {
      return owner.clock.seconds(std::max<std::uint64_t>(1, s.end - s.start));
    };
    for (std::uint32_t i = 0; i < a.at.width; ++i)
      if (a.members[i].came)
        members.push_back({a.at.leader + i, spent(a.members[i]), a.members[i].chunks});
    m.members = members;
    m.work = work_of(a.task);
    m.span_s = owner.clock.seconds(std::max<std::uint64_t>(1, last - first));
    m.leader_first = a.members[0].came && a.leader_was_first();
    m.leader_s = a.members[0].came ? spent(a.members[0]) : 0.0;
    m.sample_s = sample_of(owner.settings.options.timing, m);
    if (!m.leader_first) ++t.late_leaders;
    if (last - first > owner.clock.long_body()) owner.have_watched();
    data_now_at(a.task, a.at.leader);
    learn(a.task, e.graph.kinds[a.task->kind], a.where, m, now);
    t.count(a.task, a.where);
  }
  complete(a.task, e);
}

}  // namespace kilter::inline v0::detail
