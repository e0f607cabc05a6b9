#include "balance/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "balance/dike.hpp"
#include "balance/dio.hpp"
#include "balance/eas.hpp"
#include "balance/gts.hpp"
#include "balance/in_cluster.hpp"
#include "balance/keep_busy.hpp"
#include "balance/longest_first.hpp"
#include "balance/optimizer.hpp"
#include "balance/placed_once.hpp"
#include "balance/spread.hpp"
#include "balance/switching.hpp"
#include "kilter/error.hpp"

namespace kilter::balance {

namespace {

using maker = std::unique_ptr<scheduler> (*)(std::string_view name, const machine&,
                                             const scheduler_options&);

struct entry {
  scheduler_info info;
  maker make;
  /// whether keep_busy has something to do: false if it moves nothing, or only to cores that are
  /// idle
  bool crowds = true;
};

constexpr entry entries[] = {
    {{"dike",
      "S4: pairs that break the placement rule change places if a prediction says they gain", true},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_dike(n, m, o, goal::none);
     }},
    {{"dike-af", "dike that adapts quantum and number of swaps for fairness", true},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_dike(n, m, o, goal::fairness);
     }},
    {{"dike-ap", "dike that adapts quantum and number of swaps for performance", true},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_dike(n, m, o, goal::performance);
     }},
    {{"spread",
      "a thread that waits goes to an idle core; threads take turns on a core that others hold; "
      "else nothing",
      true},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_spread(m, o);
     },
     false},
    {{"dio",
      "S4's baseline: sorted by miss rate, the ends paired, every pair exchanged each quantum",
      true},
     [](std::string_view, const machine&, const scheduler_options& o) { return make_dio(o); }},
    {{"dio-original",
      "keeps the miss rates of the clusters' threads balanced, and moves only who changes its "
      "cluster",
      true},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_dio_original(m, o);
     }},
    {{"ljfpf", "S3: threads announced as long begin on fast cores", true},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_longest_first(n, m, o, {});
     },
     false},
    {{"cjfpf", "S3: threads announced with long critical sections begin on fast cores", true},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_longest_first(n, m, o, {.key = job_key::critical_length});
     },
     false},
    {{"ljfpf-idle", "ljfpf, and an idle fast core takes the longest thread of a slow one", false},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_longest_first(n, m, o, {.idle_fast = true});
     }},
    {{"rr", "S3's baseline: each new thread on the next core", true},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_round_robin(m, o);
     }},
    {{"none", "the operating system alone", true},
     [](std::string_view, const machine&, const scheduler_options& o) { return make_none(o); },
     false},
    {{"random", "each new thread on the next core of a random order", false},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_random(m, o);
     }},
    {{"worst", "ljfpf the wrong way round: threads announced as short begin on fast cores", false},
     [](std::string_view n, const machine& m, const scheduler_options& o) {
       return make_longest_first(n, m, o, {.shortest = true});
     }},
    {{"pinned", "static: the core with the fewest threads, for good", false},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_pinned(m, o);
     }},
    {{"in-cluster",
      "static, in a cluster: the core with the fewest threads; those that wait go to idle cores of "
      "its cluster",
      false},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_in_cluster(m, o);
     },
     false},
    {{"gts", "global task scheduling of big.LITTLE: threads of high tracked load on fast cores",
      false},
     [](std::string_view, const machine& m, const scheduler_options& o) { return make_gts(m, o); }},
    {{"eas",
      "energy-aware scheduling of Linux: while nothing is full, where a thread takes the least "
      "energy; else idle cores take who waits",
      false},
     [](std::string_view, const machine& m, const scheduler_options& o) { return make_eas(m, o); },
     false},
    {{"cs",
      "cluster switching: all threads on the fast cores or all on the slow ones, by utilisation",
      false},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_cluster_switch(m, o);
     }},
    {{"iks",
      "in-kernel switch: pairs of a fast and a slow core, of which one works, by utilisation",
      false},
     [](std::string_view, const machine& m, const scheduler_options& o) {
       return make_pair_switch(m, o);
     }},
};

constexpr auto infos = [] {
  std::array<scheduler_info, std::size(entries)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = entries[i].info;
  return all;
}();

std::string number(double v) {
  std::string text = std::to_string(v);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void need(bool right, const std::string& option, double value, const std::string& rule) {
  if (!right) throw input_error(option + " is " + number(value) + "; it must be " + rule);
}

void check_cores(const std::string& option, std::span<const core_id> cores, const machine& m) {
  for (const core_id c : cores)
    if (c >= m.core_count())
      throw input_error(option + " names core " + std::to_string(c) + "; '" + m.name() +
                        "' has cores 0 to " + std::to_string(m.core_count() - 1));
}

void check(std::string_view name, const machine& m, const scheduler_options& o) {
  need(std::isfinite(o.quantum_s) && o.quantum_s > 0.0 && o.quantum_s <= 3600.0,
       "the quantum in seconds", o.quantum_s, "above 0 and at most 3600");
  need(o.swap_size >= (o.pairs ? 1u : 2u) && o.swap_size <= 1u << 20 &&
           (o.pairs || o.swap_size % 2 == 0),
       "the swap size", o.swap_size,
       o.pairs ? "at least 1 pair" : "an even number of threads, at least 2");
  need(o.fair_below >= 0.0 && std::isfinite(o.fair_below), "the fairness threshold", o.fair_below,
       "0 or more");
  need(o.memory_above >= 0.0 && o.memory_above <= 1.0, "the miss ratio of class memory",
       o.memory_above, "from 0 to 1");
  need(std::isfinite(o.profit_margin), "the profit margin", o.profit_margin, "a finite number");
  need(o.swap_overhead_s >= 0.0 && std::isfinite(o.swap_overhead_s), "the swap overhead in seconds",
       o.swap_overhead_s, "0 or more");
  need(o.window <= 1u << 20, "the window of CoreBW", o.window, "at most 1048576 quanta");
  need(o.optimizer_every >= 1, "the optimizer's period", o.optimizer_every, "at least 1 quantum");
  need(o.gts_down >= 0.0 && o.gts_down <= o.gts_up && o.gts_up <= 1023.0,
       "the lower threshold of gts", o.gts_down, "from 0 to the upper one, which is at most 1023");
  need(std::isfinite(o.eas_power) && o.eas_power > 0.0,
       "the watts of a fast core over those of a slow one", o.eas_power, "above 0");
  need(o.switch_down >= 0.0 && o.switch_down <= o.switch_up && o.switch_up <= 1.0,
       "the lower utilisation of cs and iks", o.switch_down,
       "from 0 to the upper one, which is at most 1");
  check_cores("the list of high-bandwidth cores", o.high_bandwidth, m);
  check_cores("the list of fast cores", o.fast_cores, m);
  if (name == "dike-af" || name == "dike-ap")
    need(std::find(adaptive_quanta_s.begin(), adaptive_quanta_s.end(), o.quantum_s) !=
             adaptive_quanta_s.end(),
         "the quantum of " + std::string(name) + " in seconds", o.quantum_s, "0.1, 0.2, 0.5 or 1");
}

}  // namespace

std::span<const scheduler_info> schedulers() noexcept { return infos; }

std::unique_ptr<scheduler> make_scheduler(std::string_view name, const machine& m,
                                          const scheduler_options& options) {
  for (const entry& e : entries)
    if (e.info.name == name) {
      check(name, m, options);
      auto made = e.make(e.info.name, m, options);
      return options.keep_busy && e.crowds ? keep_busy(std::move(made), m.core_count())
                                           : std::move(made);
    }
  std::string message = "unknown thread scheduler '" + std::string(name) + "'. There are: ";
  for (const entry& e : entries)
    message += std::string(&e == entries ? "" : ", ") + std::string(e.info.name);
  throw input_error(message);
}

}  // namespace kilter::balance
