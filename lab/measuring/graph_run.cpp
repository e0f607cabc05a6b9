#include "measuring/graph_run.hpp"

#include <algorithm>
#include <limits>

#include "kilter/error.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

bool run_graph(runtime& rt, graph& g, std::optional<core_id> root, execution_stats& stats) {
  execution e = rt.submit(g, root.value_or(no_core));
  if (interrupt_guard* guard = interrupt_guard::current()) guard->watch(e);
  try {
    e.wait();
  } catch (const cancelled_error&) {
    return false;
  }
  stats = e.stats();
  return true;
}

void take_events(detail& d, trace::recorder& events) {
  d.dropped = events.dropped();
  d.dropped_from_ns = events.dropped_from_ns();
  d.types = events.type_names();
  d.labels = events.labels();
  d.events = events.drain();
  d.start_ns = std::numeric_limits<std::int64_t>::max();
  for (const trace::event& e : d.events)
    if (e.kind == trace::event_kind::task) d.start_ns = std::min(d.start_ns, e.start_ns);
}

}  // namespace kilter::lab
