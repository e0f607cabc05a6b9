#include "balance/os/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace kilter::balance::os {

namespace {

using json = nlohmann::ordered_json;

json or_null(const std::optional<double>& v) { return v ? json(*v) : json(nullptr); }
json core_or_null(core_id c) { return c == no_core ? json(nullptr) : json(c); }
std::string core_text(core_id c) { return c == no_core ? "?" : std::to_string(c); }

std::string per_s_text(const std::optional<double>& per_s) {
  if (!per_s) return "-";
  if (*per_s >= 1e9) return fmt::format("{:.1f}G", *per_s * 1e-9);
  if (*per_s >= 1e6) return fmt::format("{:.1f}M", *per_s * 1e-6);
  if (*per_s >= 1e3) return fmt::format("{:.1f}k", *per_s * 1e-3);
  return fmt::format("{:.0f}", *per_s);
}

std::string move_text(const board_thread& t) {
  if (!t.moved) return t.movable ? "-" : "left alone";
  return fmt::format("{}>{} {} {:.0f}s ago", core_text(t.moved->from), core_text(t.moved->to),
                     t.moved->why, t.moved->ago_s);
}

/// Why a scheduler that is there to move threads moved none, as far as that is certain.
std::string idle_text(const session_result& r) {
  if (r.moves > 0 || r.quanta == 0 || r.policy == "none") return "";
  if (!r.class_only || !r.policy.starts_with("dike")) return "";
  if (!r.classes_seen)
    return "nothing was moved: without counters no class of a thread is known, which " + r.policy +
           " goes by; dio moves nevertheless\n";
  if (!r.sides_known)
    return "nothing was moved: threads have classes, but without counters " + r.policy +
           " cannot tell which of equal cores gives more bandwidth; --fast says it, and dio needs "
           "only the classes\n";
  return "";
}

}  // namespace

std::string session_json(const session_result& r) {
  json programs = json::array();
  for (const program_row& p : r.programs)
    programs.push_back(
        {{"pid", p.pid}, {"name", p.name}, {"threads", p.threads}, {"seconds", p.seconds}});
  json moves = json::array();
  for (const move_row& m : r.log)
    moves.push_back({{"at_s", m.at_s},
                     {"thread", m.thread},
                     {"from", core_or_null(m.from)},
                     {"to", core_or_null(m.to)},
                     {"why", name_of(m.why)}});
  const json d = {{"schema", "kilter.balance/1"},
                  {"policy", r.policy},
                  {"observer", r.observer},
                  {"class_only", r.class_only},
                  {"quanta", r.quanta},
                  {"swaps", r.swaps},
                  {"rejected", r.rejected},
                  {"fairness", or_null(r.fairness)},
                  {"prediction_error", or_null(r.prediction_error)},
                  {"moves_done", r.moves},
                  {"moves_refused", r.refused},
                  {"threads", r.threads},
                  {"masks_restored", r.masks_restored},
                  {"programs", std::move(programs)},
                  {"moves", std::move(moves)},
                  {"remarks", r.remarks},
                  {"environment", {{"seconds", r.seconds}, {"own_cpu_s", r.own_cpu_s}}}};
  return d.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string session_text(const session_result& r) {
  std::string text = fmt::format(
      "{} for {:.1f} s: {} threads, {} quanta, {} moves, {} of them in {} swaps; {} pairs "
      "rejected\n",
      r.policy, r.seconds, r.threads, r.quanta, r.moves, r.swaps * 2, r.swaps, r.rejected);
  if (r.refused > 0)
    text += fmt::format(
        "{} moves were not possible: outside of a thread's own mask, or it was gone\n", r.refused);
  text += idle_text(r);
  if (r.fairness) text += fmt::format("fairness {:.3f}\n", *r.fairness);
  if (r.prediction_error)
    text += fmt::format("prediction error {:+.1f} % in the mean\n", *r.prediction_error * 100);
  for (const std::string& line : r.remarks) text += printable(line) + "\n";
  return text;
}

std::vector<std::string> top_lines(const std::vector<board_view>& all) {
  std::vector<std::string> lines;
  for (const board_view& v : all) {
    lines.push_back(fmt::format(
        "kilter lab balance {}: {}, observer {}, {:.0f} s, {} quanta of {:.0f} ms, {} moves, {} "
        "swaps",
        v.pid, v.policy, v.observer, v.seconds, v.quanta, v.quantum_s * 1e3, v.moves, v.swaps));
    lines.push_back(fmt::format("{:>7} {:<15} {:>4} {:>5} {:>5}  {:<8} {:>8} {:>8}  {}", "TID",
                                "NAME", "CORE", "RAN", "WAIT", "CLASS", "MISSES/S", "EXPECTED",
                                "LAST MOVE"));
    for (const board_thread& t : v.threads)
      lines.push_back(fmt::format("{:>7} {:<15} {:>4} {:>4.0f}% {:>4.0f}%  {:<8} {:>8} {:>8}  {}",
                                  t.tid, t.name, core_text(t.core), t.busy * 100, t.waited * 100,
                                  t.kind.empty() ? "unknown" : t.kind, per_s_text(t.misses_per_s),
                                  per_s_text(t.expected_per_s), move_text(t)));
  }
  return lines;
}

}  // namespace kilter::balance::os
