// What the runtime tells the trace. Called only if somebody records.

#include "runtime/engine.hpp"

namespace kilter::detail {

void engine::record_park(core_id core, std::int64_t begin_ns) noexcept {
  trace::event e;
  e.kind = trace::event_kind::park;
  e.start_ns = begin_ns;
  e.end_ns = now_ns();
  e.core = e.leader = core;
  events->append(core, e);
}

void engine::record_task(core_id core, const node* n, const execution_state& x, place p, std::uint32_t member, std::uint64_t begin,
                         std::uint64_t end, bool stolen) noexcept {
  trace::event e;
  e.kind = trace::event_kind::task;
  e.start_ns = ns_at(begin);
  e.end_ns = ns_at(end);
  e.core = core;
  e.task = static_cast<std::uint32_t>(id_of(n));
  e.graph = static_cast<std::uint32_t>(x.number);
  e.leader = p.leader;
  e.width = static_cast<std::uint16_t>(p.width);
  e.type = x.graph.kinds[n->kind].type;
  e.member = static_cast<std::uint16_t>(member);
  e.flags = static_cast<std::uint8_t>((n->flags & flag_critical ? trace::event_flag::critical : 0) |
                                      (stolen ? trace::event_flag::stolen : 0) | (p.width > 1 ? trace::event_flag::wide : 0));
  events->append(core, e);
}

void engine::record_learned(core_id core, const task_kind& k, place_id where) noexcept {
  trace::event e;
  e.kind = trace::event_kind::table;
  e.start_ns = e.end_ns = now_ns();
  e.core = core;
  e.leader = machine->at(where).leader;
  e.width = static_cast<std::uint16_t>(machine->at(where).width);
  e.type = k.type;
  e.value = static_cast<float>(tables.time_s(k.row, where));
  e.aux = static_cast<float>(tables.slowdown(core));
  events->append(core, e);
}

void engine::record_decision(core_id core, const node* n, place_id where) noexcept {
  const task_kind& k = graph_of(n).kinds[n->kind];
  trace::event e;
  e.kind = trace::event_kind::decision;
  e.start_ns = e.end_ns = now_ns();
  e.core = core;
  e.task = static_cast<std::uint32_t>(id_of(n));
  e.leader = machine->at(where).leader;
  e.width = static_cast<std::uint16_t>(machine->at(where).width);
  e.type = k.type;
  e.flags = trace::event_flag::critical;
  e.value = static_cast<float>(tables.time_s(k.row, where));
  events->append(core, e);
}

}  // namespace kilter::detail
