// S3's three codes with unequal threads (papers.md D21), as unequal as its Table 4 prints them:
// threads, groups and SymInst. SymLock of dedup and ferret is printed above what its definition
// allows (1/2), so one thread of each group takes all locks, the most that there can be. Times are
// assumed as those of the twelve codes.

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "threads/thread_programs.hpp"

namespace kilter::lab {

namespace {

using sim::step_kind;
using sim::thread_plan;
using sim::thread_program;

// group_s: of the mean thread of all groups together, alone on a fast core
constexpr double stall = 0.37, serial = 0.05, group_s = 8.0;
constexpr std::uint32_t sections_in_all = 400;

struct shape {
  std::string_view name;
  std::uint32_t groups, threads;  // beside the main thread; threads of a group
  // Table 4: the mean over all groups, of which the main thread's counts 0
  double sym_inst;
  // part of a group's work under one lock, all of it by its first thread
  double locked;
};

constexpr std::array shapes = {
    shape{"freqmine-asymmetric", 1, 7, 0.12, 0.0},
    shape{"dedup-asymmetric", 3, 8, 0.009, 0.05},
    shape{"ferret-asymmetric", 5, 7, 0.014, 0.02},
};

/// How often the first thread's work is that of each other, so that the group's deviation over
/// total is as wanted: it is sqrt(n - 1) / n (x - 1) / (x + n - 1).
double first_over_others(const shape& s) {
  const double n = s.threads, wanted = s.sym_inst * (s.groups + 1) / s.groups,
               most = std::sqrt(n - 1) / n;
  return (most + wanted * (n - 1)) / (most - wanted);
}

thread_plan worker(const shape& s, bool first) {
  const double total_s = group_s / s.groups * s.threads, x = first_over_others(s),
               work_s = total_s * (first ? x : 1.0) / (x + s.threads - 1);
  thread_plan plan{.length = work_s};
  const std::uint32_t sections = first && s.locked > 0.0 ? sections_in_all / s.groups : 0;
  const double inside_s = sections > 0 ? std::min(total_s * s.locked, work_s) / sections : 0.0;
  plan.critical_length = s.locked > 0.0 ? std::max(inside_s * sections / work_s, 1e-9) : 0.0;
  const std::uint32_t pieces = std::max(sections, 40u);
  const double outside_s = (work_s - inside_s * sections) / pieces;
  for (std::uint32_t i = 0; i < pieces; ++i) {
    plan.steps.push_back({step_kind::compute, 0, outside_s});
    if (i < sections)
      plan.steps.insert(
          plan.steps.end(),
          {{step_kind::lock}, {step_kind::compute, 0, inside_s}, {step_kind::unlock}});
  }
  return plan;
}

}  // namespace

std::vector<thread_program> asymmetric_program(const std::string& name) {
  const auto s = std::ranges::find(shapes, name, &shape::name);
  if (s == shapes.end()) return {};
  thread_program p{.name = name, .demands = {{.stall = stall}}, .locks = 1};
  p.groups.resize(1 + s->groups);
  thread_plan main;
  for (std::uint32_t g = 1; g <= s->groups; ++g) {
    main.steps.insert(main.steps.end(),
                      {{step_kind::compute, 0, group_s * serial / (1.0 - serial) / s->groups},
                       {step_kind::start, g},
                       {step_kind::join, g}});
    for (std::uint32_t t = 0; t < s->threads; ++t)
      p.groups[g].threads.push_back(worker(*s, t == 0));
  }
  p.groups[0].threads.push_back(std::move(main));
  return {p};
}

}  // namespace kilter::lab
