#include "claims/observed.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "statistics/stats.hpp"
#include "words/numbers.hpp"

namespace kilter::lab {

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

std::uint32_t number(std::string_view text) {
  return static_cast<std::uint32_t>(parse_count("number", text, 0, 1'000'000));
}

/// Whether a place is the one that is asked about: core, cores, place or width. See
/// lab/experiments/README.md.
bool selected(const place& p, const selection& what) {
  const auto holds_any = [&](const std::string& list) {
    for (const std::string_view piece : split_list(list)) {
      const auto dash = piece.find('-');
      const std::uint32_t from = number(piece.substr(0, dash)),
                          to = dash == piece.npos ? from : number(piece.substr(dash + 1));
      for (std::uint32_t c = from; c <= to; ++c)
        if (p.contains(c)) return true;
    }
    return false;
  };
  if (const auto core = what.find("core"); core != what.end()) return holds_any(core->second);
  if (const auto cores = what.find("cores"); cores != what.end()) return holds_any(cores->second);
  if (const auto width = what.find("width"); width != what.end())
    return p.width == number(width->second);
  const auto places = what.find("place");
  for (std::string_view rest = places->second; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('+'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto comma = one.find(',');
    if (p.leader == number(one.substr(0, comma)) && p.width == number(one.substr(comma + 1)))
      return true;
  }
  return false;
}

bool wanted(run_part part, const selection& what) {
  const auto when = what.find("when");
  if (when == what.end()) return true;
  if (when->second == "before") return part == run_part::before;
  if (when->second == "during") return part == run_part::during;
  if (when->second == "after") return part == run_part::after;
  return part != run_part::during;  // outside
}

double over(double above, double below) { return below > 0.0 ? above / below : nan; }

}  // namespace

presence_times::presence_times(std::vector<presence_window> all)
    : all_(std::move(all)), first_s_(endless), last_s_(0.0) {
  for (const presence_window& w : all_) {
    first_s_ = std::min(first_s_, w.from_s + w.half_period_s);
    last_s_ = std::max(last_s_, w.to_s < 0.0 ? endless : w.to_s);
  }
}

run_part presence_times::at(double start_s) const noexcept {
  if (start_s < first_s_) return run_part::before;
  if (start_s >= last_s_) return run_part::after;
  for (const presence_window& w : all_) {
    if (start_s < w.from_s || (w.to_s >= 0.0 && start_s >= w.to_s)) continue;
    if (w.half_period_s <= 0.0 ||
        static_cast<std::uint64_t>((start_s - w.from_s) / w.half_period_s) % 2 == 1)
      return run_part::during;
  }
  return run_part::between;
}

observed::observed(std::shared_ptr<const machine> m, presence_times times)
    : machine_(std::move(m)), times_(std::move(times)), on_core_(machine_->core_count()) {
  for (counts& c : parts_) {
    c.critical.resize(machine_->places().size());
    c.other.resize(machine_->places().size());
  }
}

void observed::add(const task_record& t) {
  const place& at = machine_->at(t.where);
  ++tasks_;
  beyond_cache_ += t.beyond_cache;
  for (core_id c = at.leader; c < at.leader + at.width; ++c) ++on_core_[c];
  counts& part = parts_[static_cast<std::size_t>(times_.at(t.start_s))];
  ++(t.critical ? part.critical : part.other)[t.where];
  if (traced_) keep(traced_->starts, task_start{t.start_s, at.leader, at.width, t.critical});
  if (iterations_.size() <= t.iteration) iterations_.resize(t.iteration + 1);
  iteration& s = iterations_[t.iteration];
  if (s.tasks.empty()) s.tasks.resize(machine_->places().size());
  ++s.tasks[t.where];
  s.first_s = s.first_s < 0.0 ? t.start_s : std::min(s.first_s, t.start_s);
  s.last_s = std::max(s.last_s, t.end_s);
}

void observed::trace() { traced_.emplace().cores = machine_->core_count(); }

template <class One>
void observed::keep(std::vector<One>& list, const One& one) {
  if (list.size() < traced_run::most_events)
    list.push_back(one);
  else
    ++traced_->left_out;
}

void observed::add_learned(const learned_time& one) {
  if (traced_) keep(traced_->learned, one);
}

void observed::add_co_runner(double got_s, double there_s) noexcept {
  got_s_ += got_s;
  there_s_ += there_s;
}

void observed::finish(const execution_stats& s, const std::vector<std::string>& types) {
  stats_ = s;
  if (!traced_) return;
  traced_->makespan_s = s.seconds;
  traced_->types = types;
  if (times_.first_s() >= s.seconds) return;
  traced_->disturbed_from_s = times_.first_s();
  traced_->disturbed_to_s = std::min(times_.last_s(), s.seconds);
}

observed::counts observed::of_parts(const selection& what) const {
  counts sum{std::vector<std::uint64_t>(machine_->places().size()),
             std::vector<std::uint64_t>(machine_->places().size())};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!wanted(static_cast<run_part>(i), what)) continue;
    for (place_id p = 0; p < machine_->places().size(); ++p) {
      sum.critical[p] += parts_[i].critical[p];
      sum.other[p] += parts_[i].other[p];
    }
  }
  return sum;
}

/// The one that is asked for, counted from 1; all if none is.
std::span<const observed::iteration> observed::chosen(const selection& what) const {
  const auto at = what.find("iteration");
  if (at == what.end()) return iterations_;
  const std::size_t index = number(at->second);
  return index >= 1 && index <= iterations_.size() ? std::span(iterations_).subspan(index - 1, 1)
                                                   : std::span<const iteration>{};
}

double observed::task_count(const selection& what) const {
  double sum = 0.0;
  for (const iteration& s : chosen(what))
    for (place_id p = 0; p < s.tasks.size(); ++p)
      if (selected(machine_->at(p), what)) sum += s.tasks[p];
  return sum;
}

double observed::iteration_time(const selection& what) const {
  double sum_s = 0.0, count = 0.0;
  for (const iteration& s : chosen(what))
    if (s.first_s >= 0.0 && wanted(times_.at(s.first_s), what)) {
      sum_s += s.last_s - s.first_s;
      count += 1.0;
    }
  return over(sum_s, count);
}

double observed::iteration_disturbed(const selection& what) const {
  double disturbed = 0.0, count = 0.0;
  for (const iteration& s : chosen(what)) {
    if (s.first_s < 0.0 || !wanted(times_.at(s.first_s), what)) continue;
    disturbed += times_.at(s.first_s) == run_part::during ? 1.0 : 0.0;
    count += 1.0;
  }
  return over(disturbed, count);
}

double observed::value(const std::string& measure, const selection& what) const {
  if (measure == "throughput") return over(static_cast<double>(stats_.tasks), stats_.seconds);
  if (measure == "makespan") return stats_.seconds;
  if (measure == "tasks_on_core") return static_cast<double>(on_core_.at(number(what.at("core"))));
  if (measure == "work_time") return stats_.core_work_s.at(number(what.at("core")));
  if (measure == "work_imbalance") {
    const double sum = std::accumulate(stats_.core_work_s.begin(), stats_.core_work_s.end(), 0.0);
    return over(*std::ranges::max_element(stats_.core_work_s) *
                    static_cast<double>(stats_.core_work_s.size()),
                sum);
  }
  if (measure == "beyond_cache_share")
    return over(static_cast<double>(beyond_cache_), static_cast<double>(tasks_));
  if (measure == "co_runner_progress") return over(got_s_, there_s_);
  if (measure == "tasks_until_trained")
    return trained() ? static_cast<double>(until_trained_) : nan;
  if (measure == "iteration_time") return iteration_time(what);
  if (measure == "iteration_disturbed") return iteration_disturbed(what);
  if (measure == "task_count") return task_count(what);

  const counts all = of_parts(what);
  const bool critical = measure.starts_with("critical_"), other = measure.starts_with("other_"),
             width = measure.ends_with("_width");
  double there = 0.0, total = 0.0;
  for (place_id p = 0; p < machine_->places().size(); ++p) {
    const double tasks =
        static_cast<double>((other ? 0 : all.critical[p]) + (critical ? 0 : all.other[p]));
    total += tasks;
    if (width)
      there += tasks * machine_->at(p).width;
    else if (selected(machine_->at(p), what))
      there += tasks;
  }
  return over(there, total);
}

}  // namespace kilter::lab
