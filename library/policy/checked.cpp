#include "policy/checked.hpp"

#include <cmath>
#include <optional>
#include <string>

#include "graph/node.hpp"
#include "kilter/error.hpp"
#include "policy/asking.hpp"
#include "policy/builtin.hpp"
#include "policy/standard.hpp"
#include "policy/view_source.hpp"

namespace kilter {
namespace {

using complaint = std::optional<std::string>;  // what is wrong with an answer; empty: nothing

constexpr double longest_s = 1e9;  // engines count in nanoseconds of 64 bits
constexpr std::uint32_t most_cells = 1u << 24;

view_source* source_of(const view& v) noexcept { return detail::asking::of(v).source(); }

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

std::string text(double v) {
  return std::isnan(v)   ? "NaN"
         : std::isinf(v) ? (v < 0 ? "-infinity" : "infinity")
                         : std::to_string(v);
}
std::string up_to(std::uint64_t count) {
  return count == 1 ? "there is only 0" : "there are 0 to " + std::to_string(count - 1);
}

/// What `ask` answers; if it throws, the complaint is set.
template <class Ask>
auto asked_for(complaint& wrong, Ask&& ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (const std::exception& e) {
    wrong = "it threw '" + one_line(e.what()) + "'";
  } catch (...) {
    wrong = "it threw something that is no std::exception";
  }
  return decltype(ask())();
}

complaint wrong_queues(const discipline& d, const machine& m) {
  const auto no_such_core = [&](core_id c) {
    return std::to_string(c) + ", which does not exist; " + up_to(m.core_count());
  };
  for (std::size_t i = 0; i < d.queues.size(); ++i) {
    const queue_spec& q = d.queues[i];
    const std::string queue = "queue " + std::to_string(i);
    if (q.owner != no_core && q.owner >= m.core_count())
      return queue + " belongs to core " + no_such_core(q.owner);
    for (const core_id c : q.takers)
      if (c >= m.core_count()) return queue + " may be taken from by core " + no_such_core(c);
    if (q.order > queue_order::by_key)
      return queue + " has order " + std::to_string(static_cast<int>(q.order)) +
             ", which does not exist";
  }
  if (d.steal_from > victims::cluster_first)
    return "steal_from is " + std::to_string(static_cast<int>(d.steal_from)) +
           ", which does not exist";
  if (d.cells > most_cells || d.type_cells > most_cells)
    return std::to_string(std::max(d.cells, d.type_cells)) + " shared cells; there may be " +
           std::to_string(most_cells);
  return {};
}

class checked_policy final : public policy {
 public:
  checked_policy(std::shared_ptr<const policy> asked, const kilter::machine& m)
      : asked_(std::move(asked)) {
    complaint wrong;
    plan_ = asked_for(wrong, [&] { return asked_->queues(m); });
    if (!wrong) wrong = wrong_queues(plan_, m);
    if (wrong) throw usage_error(sentence("question 0, queues", *wrong));
    queue_count_ =
        plan_.queues.size() + (plan_.queues.empty() || plan_.deques_too ? m.core_count() : 0);
    first_declared_ = plan_.queues.empty() ? m.core_count() : queue_count_ - plan_.queues.size();
  }

  [[nodiscard]] std::string_view name() const noexcept override { return asked_->name(); }
  [[nodiscard]] discipline queues(const kilter::machine&) const override { return plan_; }

  void on_submit(view& v) const override {
    told("question 1, on_submit", v, [&] { asked_->on_submit(v); });
  }
  [[nodiscard]] ready_decision on_ready(task_ref task, task_ref parent, core_id waker,
                                        view& v) const override {
    if (!out(v)) {
      complaint wrong;
      const ready_decision d =
          asked_for(wrong, [&] { return asked_->on_ready(task, parent, waker, v); });
      if (!wrong) wrong = wrong_answer(d, task, waker == no_core ? v.asker() : waker, v);
      if (!wrong) return d;
      fail("question 2, on_ready", about(task), *wrong, v);
    }
    return standard::ready(plan_, waker, v);
  }
  [[nodiscard]] next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    if (!out(v) && !(source_of(v) && source_of(v)->clears_up())) {
      complaint wrong;
      const std::uint64_t ended = source_of(v) ? source_of(v)->runs_ended() : 0;
      const next_decision d = asked_for(wrong, [&] { return asked_->next(worker, attempt, v); });
      if (!wrong) wrong = wrong_answer(d, ended, v);
      if (!wrong) return d;
      fail("question 3, next", " for worker " + std::to_string(worker), *wrong, v);
    }
    return standard::next(plan_, worker, attempt, v.machine());
  }
  [[nodiscard]] take_decision on_take(task_ref task, core_id here, bool stolen,
                                      view& v) const override {
    if (!out(v)) {
      complaint wrong;
      const take_decision d =
          asked_for(wrong, [&] { return asked_->on_take(task, here, stolen, v); });
      if (!wrong && !d.put_back)
        wrong = d.where == no_place ? "it gave neither a place nor put_back"
                                    : wrong_place(d.where, task, v);
      if (!wrong && !d.put_back) wrong = wrong_busy(d.busy_s);
      if (!wrong) return d;
      fail("question 4, on_take", about(task), *wrong, v);
    }
    return standard::take(task, here, v);
  }
  void on_done(task_ref task, place_id where, const measured& m, view& v) const override {
    told("question 5, on_done", v, [&] { asked_->on_done(task, where, m, v); });
  }
  void on_machine(view& v) const override {
    told("question 6, on_machine", v, [&] { asked_->on_machine(v); });
  }

 private:
  template <class Tell>
  void told(const char* question, view& v, Tell&& tell) const {
    if (out(v)) return;
    complaint wrong;
    asked_for(wrong, tell);
    if (wrong) fail(question, "", *wrong, v);
  }

  // Past the view: what is looked up here is no part of what the policy read, and must not be on
  // its tape.
  static bool out(const view& v) noexcept { return source_of(v) && source_of(v)->policy_is_out(); }
  static std::string about(task_ref t) {
    return " for task '" + detail::graph_of(detail::node_of(t)).label(detail::node_of(t)) + "'";
  }
  [[nodiscard]] std::string sentence(std::string_view question, const std::string& wrong) const {
    return "policy '" + one_line(std::string(name())) + "' breaks the contract at " +
           std::string(question) + ": " + wrong;
  }
  void fail(const char* question, const std::string& whom, const std::string& wrong,
            view& v) const {
    source_of(v)->policy_failed(sentence(question + whom, wrong));
  }

  [[nodiscard]] complaint wrong_answer(const ready_decision& d, task_ref task, core_id runs_next,
                                       const view& v) const {
    using kind = ready_decision::kind;
    if (d.what > kind::bind)
      return "kind of answer " + std::to_string(static_cast<int>(d.what)) + " does not exist";
    if (d.where != no_place) {
      if (complaint wrong = wrong_place(d.where, task, v)) return wrong;
    } else if (d.what == kind::bind) {
      return "it answered bind without a place";
    }
    if (d.what == kind::queue && d.queue >= queue_count_) return no_such_queue(d.queue);
    if (const place p = d.where == no_place ? place{runs_next, 1} : v.machine().at(d.where);
        d.what == kind::run_next && p.leader != runs_next)
      return "it answered run_next at place " + std::to_string(d.where) + ", which core " +
             std::to_string(p.leader) + " leads; the waker is core " + std::to_string(runs_next);
    if (d.where == no_place && d.busy_s != 0.0 && !std::isnan(d.busy_s))
      return "busy_s is " + text(d.busy_s) + " s without a place whose leader would be busy";
    return wrong_busy(d.busy_s);
  }

  [[nodiscard]] complaint wrong_answer(const next_decision& d, std::uint64_t ended,
                                       const view& v) const {
    using kind = next_decision::kind;
    switch (d.what) {
      case kind::nothing: return {};
      case kind::take_from:
        if (d.queue >= queue_count_) return no_such_queue(d.queue);
        if (d.skip > 0 && d.queue < first_declared_)
          return "skip is " + std::to_string(d.skip) + " for the deque of core " +
                 std::to_string(d.queue) + "; only a declared queue can be entered further behind";
        return {};
      case kind::steal:
        if (plan_.queues.empty() || plan_.deques_too) return {};
        return "it answered steal, and there are no deques: declare deques_too, or take_from a "
               "queue";
      case kind::hold_task:
        if (!d.task) return "it answered hold_task without a task";
        if (!source_of(v)->has_task(d.task, ended))
          return "it answered hold_task of a task that no running graph has";
        return {};
      case kind::hold_until:
        if (std::isfinite(d.until_s) && d.until_s < longest_s) return {};
        return "it answered hold_until " + text(d.until_s) +
               " s; engine time is a number below 1e9";
    }
    return "kind of answer " + std::to_string(static_cast<int>(d.what)) + " does not exist";
  }

  [[nodiscard]] std::string no_such_queue(queue_id q) const {
    return "queue " + std::to_string(q) + " does not exist; " + up_to(queue_count_);
  }

  [[nodiscard]] static complaint wrong_place(place_id where, task_ref task, const view& v) {
    const std::span<const place> places = v.machine().places();
    if (where >= places.size())
      return "place " + std::to_string(where) + " does not exist; " + up_to(places.size());
    const detail::node* n = detail::node_of(task);
    const detail::task_kind& k = detail::graph_of(n).kinds[n->kind];
    if (detail::allows_width(k, places[where].width)) return {};
    // A task that allows nothing that this machine has runs on one core.
    const bool none = std::ranges::none_of(
        places, [&](const place& p) { return detail::allows_width(k, p.width); });
    if (none && places[where].width == 1) return {};
    return "place " + std::to_string(where) + " is " + std::to_string(places[where].width) +
           " wide, which the task does not allow";
  }

  [[nodiscard]] static complaint wrong_busy(double busy_s) {
    if (busy_s >= 0.0 && busy_s < longest_s) return {};
    return "busy_s is " + text(busy_s) + " s; a busy estimate is a number from 0 to 1e9";
  }

  std::shared_ptr<const policy> asked_;
  discipline plan_;
  std::size_t queue_count_ = 0, first_declared_ = 0;
};

}  // namespace

std::shared_ptr<const policy> checked(std::shared_ptr<const policy> asked, const machine& m) {
  if (asked->trusted() && !asked->made_for(m))
    throw usage_error("policy '" + one_line(std::string(asked->name())) +
                      "' was made for another machine than this one of " +
                      std::to_string(m.core_count()) +
                      " cores: make it with the machine that it is to run on");
  if (asked->trusted()) return asked;
  auto looked_at = std::make_shared<checked_policy>(std::move(asked), m);
  detail::trusting::on(*looked_at, m);
  return looked_at;
}

}  // namespace kilter
