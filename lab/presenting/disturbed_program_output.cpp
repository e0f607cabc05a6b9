#include "presenting/disturbed_program_output.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "words/join.hpp"

namespace kilter::lab {

namespace {

using json = nlohmann::ordered_json;

std::string side_text(const timed_side& s, std::size_t width) {
  if (s.seconds.empty()) return fmt::format("  {:<{}}  no run\n", s.disturb, width);
  const spread t = s.times();
  const std::string left =
      s.achieved_share
          ? fmt::format("; {:.0f} % of the disturbed cores' time was left", *s.achieved_share * 100)
          : "";
  return fmt::format("  {:<{}}  {:.4g} s ({:.4g} .. {:.4g}, {}){}\n", s.disturb, width, t.median,
                     t.smallest, t.largest, counted(s.seconds.size(), "run"), left);
}

json side_json(const timed_side& s) {
  const auto number = [&](double v) { return s.seconds.empty() ? json(nullptr) : json(v); };
  const spread t = s.times();
  return {{"disturb", s.disturb},
          {"runs", s.seconds.size()},
          {"median_s", number(t.median)},
          {"min_s", number(t.smallest)},
          {"max_s", number(t.largest)},
          {"achieved_share", s.achieved_share ? json(*s.achieved_share) : json(nullptr)}};
}

/// Exit status, or as a shell says it of a signal: 128 and its number.
int shell_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string timed_run_text(const timed_run& r) {
  return fmt::format("{}, run {}: {:.4g} s", r.disturb, r.repeat, r.seconds);
}

std::string disturbed_text(const disturbed_result& r) {
  const std::size_t width = std::max(
      {r.against.disturb.size(), r.disturbed.disturb.size(), std::string_view("ratio").size()});
  std::string text = printable(r.asked.program.front()) + "\n" + side_text(r.against, width) +
                     side_text(r.disturbed, width);
  if (r.failed)
    text += fmt::format("failed: run {} under {} ended with {}\n", r.failed->repeat,
                        r.failed->disturb, prefix::told_status(r.failed->status));
  if (const auto ratio = r.ratio()) {
    const std::string verdict =
        r.asked.at_most ? fmt::format(", {} {:g} at most",
                                      r.passes() ? "passes:" : "too slow:", *r.asked.at_most)
                        : "";
    text += fmt::format("  {:<{}}  {:.3f}{}\n", "ratio", width, *ratio, verdict);
  }
  return text;
}

std::string disturbed_json(const disturbed_result& r) {
  json runs = json::array();
  for (const timed_run& one : r.runs)
    runs.push_back({{"disturb", one.disturb},
                    {"repeat", one.repeat},
                    {"seconds", one.seconds},
                    {"status", shell_status(one.status)}});
  const auto ratio = r.ratio();
  const json d = {{"schema", "kilter.disturbed/1"},
                  {"program", r.asked.program},
                  {"against", side_json(r.against)},
                  {"disturbed", side_json(r.disturbed)},
                  {"ratio", ratio ? json(*ratio) : json(nullptr)},
                  {"at_most", r.asked.at_most ? json(*r.asked.at_most) : json(nullptr)},
                  {"passes", r.passes()},
                  {"runs", std::move(runs)}};
  return d.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace kilter::lab
