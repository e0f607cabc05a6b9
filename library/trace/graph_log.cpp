#include "trace/graph_log.hpp"

#include <iterator>
#include <utility>

namespace kilter::trace {

void graph_log::add(std::vector<task> tasks, const std::vector<edge>& edges) {
  const sync::lock_guard hold(lock_);
  all_.tasks.insert(all_.tasks.end(), std::move_iterator(tasks.begin()),
                    std::move_iterator(tasks.end()));
  all_.edges.insert(all_.edges.end(), edges.begin(), edges.end());
}

void graph_log::add(release r) {
  const sync::lock_guard hold(lock_);
  all_.releases.push_back(std::move(r));
}

void graph_log::add(const wait& w) {
  const sync::lock_guard hold(lock_);
  all_.waits.push_back(w);
}

void graph_log::lose() noexcept {
  const sync::lock_guard hold(lock_);
  all_.complete = false;
}

graph_log::content graph_log::take() {
  const sync::lock_guard hold(lock_);
  return std::exchange(all_, {});
}

}  // namespace kilter::trace
