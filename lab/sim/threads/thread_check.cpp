#include "sim/threads/thread_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kilter/error.hpp"

namespace kilter::sim {

namespace {

void check_machine(const thread_machine& m) {
  if (m.cores.empty())
    throw input_error("a machine for threads has no cores; it must have one at least");
  for (std::size_t c = 0; c < m.cores.size(); ++c) {
    const logical_core& one = m.cores[c];
    const std::string name = "core " + std::to_string(c);
    if (!(one.clock > 0.0))
      throw input_error(name + ": clock " + std::to_string(one.clock) + " must be above 0");
    if (one.sibling != no_core &&
        (one.sibling >= m.cores.size() || one.sibling == c || m.cores[one.sibling].sibling != c))
      throw input_error(name + ": its sibling must be another core that names it in turn");
    if (!m.path_bytes_per_s.empty() && one.socket >= m.path_bytes_per_s.size())
      throw input_error(name + ": its socket has no way to memory");
  }
}

class plan_checker {
 public:
  plan_checker(const thread_program& p, std::size_t group, std::size_t index,
               std::vector<std::uint32_t>& started)
      : program_(p),
        name_("program " + p.name + ", group " + std::to_string(group) + ", thread " +
              std::to_string(index)),
        started_(started) {}

  void check(const thread_plan& plan) {
    double work_s = 0.0;
    std::vector<bool> held(program_.locks, false);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const thread_step& s = plan.steps[i];
      at_ = i;
      switch (s.kind) {
        case step_kind::compute:
          below(s.which, program_.demands.size(), "demand");
          if (!(s.amount_s >= 0.0) || !std::isfinite(s.amount_s))
            fail("amount " + std::to_string(s.amount_s) + " must be 0 or more seconds");
          work_s += s.amount_s;
          break;
        case step_kind::pool: below(s.which, program_.pools.size(), "pool"); break;
        case step_kind::lock:
          below(s.which, program_.locks, "lock");
          if (held[s.which]) fail("asks for lock " + std::to_string(s.which) + " that it holds");
          held[s.which] = true;
          break;
        case step_kind::unlock:
          below(s.which, program_.locks, "lock");
          if (!held[s.which])
            fail("releases lock " + std::to_string(s.which) + " that it does not hold");
          held[s.which] = false;
          break;
        case step_kind::barrier: below(s.which, program_.barriers.size(), "barrier"); break;
        case step_kind::start:
          below(s.which, program_.groups.size(), "group");
          if (++started_[s.which] > 1 || s.which == 0)
            fail("starts group " + std::to_string(s.which) + " a second time");
          break;
        case step_kind::join: below(s.which, program_.groups.size(), "group"); break;
      }
      if (plan.endless && s.kind != step_kind::compute) fail("an endless thread may only compute");
    }
    for (std::size_t l = 0; l < held.size(); ++l)
      if (held[l]) fail("ends with lock " + std::to_string(l));
    if (plan.endless && !(work_s > 0.0)) fail("an endless thread must compute");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(name_ + ", step " + std::to_string(at_) + ": " + what);
  }
  void below(std::uint32_t which, std::size_t count, const char* what) const {
    if (which >= count)
      fail(std::string(what) + " " + std::to_string(which) + ": the program has " +
           std::to_string(count));
  }

  const thread_program& program_;
  std::string name_;
  std::vector<std::uint32_t>& started_;
  std::size_t at_ = 0;
};

}  // namespace

void check_threads(const thread_machine& m, std::span<const thread_program> programs) {
  check_machine(m);
  bool ends = false;
  for (const thread_program& p : programs) {
    if (p.groups.empty() || p.groups.front().threads.empty())
      throw input_error("program " + p.name + " has no thread to begin with");
    for (const demand& d : p.demands)
      if (!(d.stall >= 0.0 && d.stall <= 1.0 && d.bytes_per_s >= 0.0 && d.miss_ratio >= 0.0 &&
            d.miss_ratio <= 1.0))
        throw input_error("program " + p.name +
                          ": a demand has a stall or miss ratio outside 0..1, or bytes below 0");
    for (const thread_pool& one : p.pools)
      if (one.demand >= p.demands.size() ||
          (one.amounts_s.empty() ? !(one.amount_s > 0.0)
                                 : one.amounts_s.size() != one.pieces ||
                                       !(*std::ranges::min_element(one.amounts_s) > 0.0)))
        throw input_error("program " + p.name +
                          ": a pool's pieces must be longer than 0 s, as many as it says, and have "
                          "a demand of the program");
    for (std::size_t n = 0; n < p.pools.size(); ++n)
      if (const std::uint32_t by = p.pools[n].fed_by;
          by != thread_pool::nobody && (by >= n || p.pools[by].pieces != p.pools[n].pieces))
        throw input_error("program " + p.name + ": pool " + std::to_string(n) + " is fed by pool " +
                          std::to_string(by) + ", which must be an earlier one of as many pieces");
    std::vector<std::uint32_t> started(p.groups.size(), 0);
    for (std::size_t g = 0; g < p.groups.size(); ++g)
      for (std::size_t t = 0; t < p.groups[g].threads.size(); ++t) {
        plan_checker(p, g, t, started).check(p.groups[g].threads[t]);
        ends = ends || !p.groups[g].threads[t].endless;
      }
    for (std::size_t g = 1; g < p.groups.size(); ++g)
      if (started[g] == 0)
        throw input_error("program " + p.name + ": nobody starts group " + std::to_string(g));
  }
  if (!ends) throw input_error("all threads are endless; one at least must end");
}

}  // namespace kilter::sim
