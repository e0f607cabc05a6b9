#pragma once
// A deterministic stand-in for an engine: virtual cores with scheduled disturbances, tasks placed
// by the tables, samples fed back.

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/tables.hpp"
#include "unit/machines.hpp"

namespace kilter::test {

inline measured sample(double seconds) {
  measured m;
  m.sample_s = m.leader_s = m.span_s = seconds;
  return m;
}

/// What takes performance away from one core between two times.
struct disturbance {
  core_id core = 0;
  double from_s = 0.0, to_s = 1e9;
  double factor = 1.0;              ///< everything takes this much longer
  double run_s = 0.0, gap_s = 0.0;  ///< or: time slices, run first
};

class stream {
 public:
  stream(model::tables& t, const machine& m) : tables(t), m_(m), core_s_(m.core_count(), 0.0) {}

  model::tables& tables;
  std::vector<disturbance> disturbances;
  /// Seconds of work of a task of `row` at a place, undisturbed. Default: body_s of one core,
  /// shared evenly, none for plain bodies.
  std::function<double(model::row_id, place_id, double now_s)> work_s =
      [this](model::row_id, place_id p, double) { return body_s / m_.at(p).width; };
  double body_s = 16e-6;
  bool moldable = false;
  bool cpu_time = false;  ///< the engine measures CPU time of bodies above 1 ms
  objective minimise = objective::cost;
  double now_s = 0.0;

  struct visit {
    double start_s, end_s, lost_s;
    place_id where;
    bool critical;
  };
  std::vector<visit> visits;

  /// When `work` seconds of work that start at `t` on core `c` are done.
  [[nodiscard]] double finish(core_id c, double t, double work) const {
    while (work > 1e-15) {
      double rate = 1.0, until = std::numeric_limits<double>::infinity();
      for (const auto& d : disturbances) {
        if (d.core != c || t >= d.to_s) continue;
        if (t < d.from_s) {
          until = std::min(until, d.from_s);
          continue;
        }
        until = std::min(until, d.to_s);
        rate /= d.factor;
        if (d.gap_s > 0.0) {
          const double period = d.run_s + d.gap_s;
          const double at = t - d.from_s - std::floor((t - d.from_s) / period) * period;
          if (at < d.run_s - 1e-12) {
            until = std::min(until, t + d.run_s - at);
          } else {
            rate = 0.0;
            until = std::min(until, t + std::max(period - at, 1e-9));
          }
        }
      }
      if (rate > 0.0 && t + work / rate <= until) return t + work / rate;
      work -= rate * (until - t);
      t = until;
    }
    return t;
  }

  [[nodiscard]] place_id search(model::row_id row) const {
    place_id best = no_place;
    double best_value = 0.0;
    for (const place_id p : m_.scan_order()) {
      const auto width = m_.at(p).width;
      if (!moldable && width > 1) continue;
      const double t = tables.time_s(row, p);
      const double value = minimise == objective::cost ? t * width : t;
      if (best == no_place || value < best_value ||
          (value == best_value && width < m_.at(best).width)) {
        best = p;
        best_value = value;
      }
    }
    return best;
  }

  /// The place of the next critical task.
  place_id decide(model::row_id row) {
    const auto singles_only = [](const void* m, place_id p) noexcept {
      return static_cast<const machine*>(m)->at(p).width == 1;
    };
    return tables.settle(row, search(row), minimise, now_s,
                         moldable ? model::allowed{} : model::allowed{singles_only, &m_});
  }

  /// Runs one task at `where` from `start` and learns; returns its end. Chunks are shared ideally
  /// among a place's members.
  double run(model::row_id row, place_id where, double start, bool critical = true) {
    const place at = m_.at(where);
    const double work = work_s(row, where, start);
    double end = 0.0;
    if (at.width == 1) {
      end = finish(at.leader, start, work);
    } else if (disturbances.empty()) {
      end = start + work;
    } else {
      const double total = work * at.width;
      double low = start, high = start + 1000.0 * total + 0.1;
      for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        double done = 0.0;
        for (core_id c = at.leader; c < at.leader + at.width; ++c)
          done += progress(c, start, middle, total);
        (done >= total ? high : low) = middle;
      }
      end = high;
    }
    measured seen;
    seen.sample_s = seen.leader_s = seen.span_s = end - start;
    if (cpu_time && at.width == 1 && work > 1e-3) seen.cpu_s = work;
    tables.learn(row, where, seen, end);
    visits.push_back({start, end, end - start - work, where, critical});
    return end;
  }

  /// A chain of critical tasks, until `seconds` later.
  void chain(model::row_id row, double seconds) {
    for (const double stop = now_s + seconds; now_s < stop;) now_s = run(row, decide(row), now_s);
  }

  /// Layers of one critical task and `low` others, the critical one releasing the next layer; free
  /// cores take the others.
  void layers(model::row_id row, double seconds, int low = 1) {
    const double stop = now_s + seconds;
    std::fill(core_s_.begin(), core_s_.end(), now_s);
    std::deque<double> waiting;  // times at which other tasks became ready
    double critical_ready = now_s;
    while (critical_ready < stop) {
      now_s = critical_ready;
      const place_id p = decide(row);
      const place at = m_.at(p);
      for (int i = 0; i < low; ++i) waiting.push_back(critical_ready);
      // Until the critical task can start, everybody serves the others; its own cores are kept for
      // it.
      double start = critical_ready;
      for (core_id c = at.leader; c < at.leader + at.width; ++c)
        start = std::max(start, core_s_[c]);
      for (core_id c = 0; c < m_.core_count(); ++c)
        while (!at.contains(c) && !waiting.empty() && core_s_[c] < start + 1e-9) {
          const double from = std::max(core_s_[c], waiting.front());
          waiting.pop_front();
          core_s_[c] = run(row, m_.single(c), from, false);
        }
      const double end = run(row, p, start);
      for (core_id c = at.leader; c < at.leader + at.width; ++c) core_s_[c] = end;
      critical_ready = end;
      // A backlog stands for parallel slack that the program does not have: the next layer waits
      // for it.
      while (waiting.size() > 4) {
        const auto c = static_cast<core_id>(std::min_element(core_s_.begin(), core_s_.end()) -
                                            core_s_.begin());
        const double from = std::max(core_s_[c], waiting.front());
        waiting.pop_front();
        core_s_[c] = run(row, m_.single(c), from, false);
      }
    }
    now_s = critical_ready;
  }

  /// Seconds lost by tasks that started in [from, to).
  [[nodiscard]] double lost_s(double from, double to = 1e9) const {
    double sum = 0.0;
    for (const auto& v : visits)
      if (v.critical && v.start_s >= from && v.start_s < to) sum += v.lost_s;
    return sum;
  }
  /// Share of the critical tasks' time in [from, to) that was spent at places containing `core`.
  [[nodiscard]] double share(core_id core, double from, double to = 1e9) const {
    double on = 0.0, all = 0.0;
    for (const auto& v : visits) {
      if (!v.critical || v.start_s < from || v.start_s >= to) continue;
      all += v.end_s - v.start_s;
      if (m_.at(v.where).contains(core)) on += v.end_s - v.start_s;
    }
    return all > 0.0 ? on / all : 0.0;
  }
  /// Seconds of work done by critical tasks that started in [from, to).
  [[nodiscard]] double done_s(double from, double to = 1e9) const {
    double sum = 0.0;
    for (const auto& v : visits)
      if (v.critical && v.start_s >= from && v.start_s < to) sum += v.end_s - v.start_s - v.lost_s;
    return sum;
  }

 private:
  [[nodiscard]] double progress(core_id c, double from, double to, double at_most) const {
    if (finish(c, from, at_most) <= to) return at_most;
    double low = 0.0, high = at_most;
    for (int i = 0; i < 40; ++i) {
      const double middle = 0.5 * (low + high);
      (finish(c, from, middle) <= to ? low : high) = middle;
    }
    return low;
  }

  const machine& m_;
  std::vector<double> core_s_;
};

/// The operating system's time slices beside one endless thread.
inline disturbance sliced(core_id core, double from_s = 0.0, double to_s = 1e9,
                          double run_s = 0.004, double gap_s = 0.004) {
  return {core, from_s, to_s, 1.0, run_s, gap_s};
}
inline disturbance slowed(core_id core, double factor, double from_s = 0.0, double to_s = 1e9) {
  return {core, from_s, to_s, factor, 0.0, 0.0};
}

}  // namespace kilter::test
