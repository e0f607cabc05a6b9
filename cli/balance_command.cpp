#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "balance/os/board.hpp"
#include "balance/os/cannot_balance.hpp"
#include "balance/os/report.hpp"
#include "balance/os/restore.hpp"
#include "balance/os/session.hpp"
#include "balance/preload/placed_run.hpp"
#include "balance/preload/settings.hpp"
#include "child/program.hpp"
#include "child/tell.hpp"
#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"
#include "words/join.hpp"
#include "words/suggest.hpp"

namespace kilter::cli {

namespace {

namespace os = balance::os;
namespace preload = balance::preload;

struct balance_options {
  os::session_options what;
  double quantum_ms = 500, swap_overhead_ms = 0;
  std::string lengths, history, fast;
  std::string json;
  bool restore = false, quiet = false;
};

void say(const std::string& line) { prefix::tell_user("kilter balance: " + line + "\n"); }

int restore(const balance_options& o) {
  const os::mended m = os::restore_all();
  os::remove_stale_boards();
  for (const std::string& line : m.masks.failed) say(line);
  if (!o.quiet)
    lab::show(m.files == 0 && m.in_use == 0
                  ? "nothing to restore\n"
                  : fmt::format("masks of {} threads restored, {} files removed, {} runs of kilter "
                                "balance still at work\n",
                                m.masks.threads, m.files, m.in_use));
  return m.masks.failed.empty() ? 0 : prefix::own_failure;
}

void check_policy(const std::string& name) {
  std::vector<std::string_view> live;
  for (const balance::scheduler_info& s : balance::schedulers()) {
    if (!s.live) continue;
    if (s.name == name) return;
    live.push_back(s.name);
  }
  if (name == os::automatic) return;
  live.push_back(os::automatic);
  throw input_error(lab::unknown_name("policy", name, live));
}

/// ljfpf and cjfpf place threads before they run, which only somebody inside of the program can do.
void place_by_length(const balance_options& o, const machine& here) {
  const auto& what = o.what;
  if (what.program.empty())
    throw input_error(
        fmt::format("policy '{}' places threads when they are created, so it needs a program that "
                    "Kilter starts: give -- PROGRAM ARGS...",
                    what.policy));
  if (what.dry_run)
    throw input_error(
        fmt::format("--dry-run: policy '{}' moves nothing later, and placing is all it does; leave "
                    "--dry-run out",
                    what.policy));
  preload::placed_run r{
      .policy = what.policy, .lengths = o.lengths, .history = o.history, .fast_cpus = {}};
  if (here.kinds().size() > 1 || !o.fast.empty())
    for (const core_id c :
         what.tuning.fast_cores.empty() ? here.fastest_cores() : what.tuning.fast_cores)
      r.fast_cpus.push_back(here.cores()[c].os_index);
  preload::place_threads_of_programs(r);
  if (o.quiet) return;
  say(r.fast_cpus.empty()
          ? "all cores look alike, so no thread is placed; --fast CORES says which are fast"
          : fmt::format("{} places threads as they are created, long ones on the fast cores, and "
                        "moves none",
                        what.policy));
}

int run_unbalanced(const balance_options& o, const std::string& why) {
  if (o.what.program.empty()) throw input_error(why);
  say(fmt::format("{}; '{}' runs without being balanced{}", why, o.what.program.front(),
                  o.json.empty() ? "" : ", and --json gets no result"));
  return prefix::not_run(o.what.program.front(), prefix::run_alone(o.what.program));
}

bool write_result(const balance_options& o, const os::session_result& r) {
  if (o.json.empty()) return true;
  const prefix::no_sigpipe quiet;
  try {
    lab::write_output(o.json, os::session_json(r));
    return true;
  } catch (const std::exception& e) {
    say(fmt::format("--json '{}': {}", o.json, e.what()));
    return false;
  }
}

int run(balance_options& o) {
  auto& what = o.what;
  const int given = static_cast<int>(!what.program.empty()) +
                    static_cast<int>(!what.targets.pids.empty()) +
                    static_cast<int>(!what.targets.cgroup.empty());
  const auto replay = os::replay_file(what.observer);
  if (given > 1) throw input_error("give one of: -- PROGRAM ARGS..., --pid, --cgroup");
  if (given == 0 && !replay)
    throw input_error("nothing to balance: give -- PROGRAM ARGS..., --pid P or --cgroup PATH");
  check_policy(what.policy);
  lab::check_output("--json", o.json);
  lab::check_output("--record", what.record);
  lab::check_output("--history", o.history);
  if (what.record == "-")
    throw input_error("--record '-': observations need a file of their own; name one");
  std::fflush(nullptr);
  std::optional<os::session_result> r;
  try {
    const machine here = machine::local({.smt = true});
    const machine watched = given == 0 ? os::machine_of_recording(here, *replay) : here;
    if (!o.fast.empty())
      what.tuning.fast_cores = what.tuning.high_bandwidth = parse_cores(o.fast, watched);
    if (what.policy == "ljfpf" || what.policy == "cjfpf")
      place_by_length(o, here);
    else if (!o.lengths.empty() || !o.history.empty())
      throw input_error(fmt::format("--{}: policy '{}' does not go by lengths; ljfpf and cjfpf do",
                                    o.lengths.empty() ? "history" : "lengths", what.policy));
    r = given == 0 ? os::replay_only(watched, what, *replay) : os::run_session(here, what);
  } catch (const os::cannot_balance& e) {
    return run_unbalanced(o, e.what());
  } catch (const std::bad_alloc&) {
    return run_unbalanced(o, "there is not enough memory to watch anything");
  }
  if (r->exec_error != 0) return prefix::not_run(what.program.front(), r->exec_error);
  if (!o.quiet) prefix::tell_user("kilter balance: " + os::session_text(*r));
  const int ended = r->program_status ? 0 : r->stopped_by == 0 ? 0 : 128 + r->stopped_by;
  if (!r->record_lost.empty()) prefix::tell_user("kilter: " + r->record_lost + "\n");
  const bool written = write_result(o, *r) && r->record_lost.empty();
  const int status = written || r->program_status ? ended : prefix::own_failure;
  return r->program_status ? prefix::end_like(*r->program_status) : status;
}

/// Whatever happens to what Kilter itself writes, a program that has run ends as it ended.
int run_safely(balance_options& o) {
  prefix::hold_standard_descriptors();
  try {
    return o.restore ? restore(o) : run(o);
  } catch (const std::bad_alloc&) {
    prefix::tell_user("kilter: balance: there is not enough memory\n");
  } catch (const std::exception& e) {
    std::string line = e.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    prefix::tell_user("kilter: " + line + "\n");
  }
  return prefix::own_failure;
}

std::vector<std::string> live_policies() {
  std::vector<std::string> live;
  for (const balance::scheduler_info& s : balance::schedulers())
    if (s.live) live.emplace_back(s.name);
  return live;
}

std::string policy_list() {
  return "auto: dike with counters or --fast, else spread. " + lab::joined(live_policies(), ", ");
}

void add_tuning(CLI::App& c, balance_options& o) {
  balance::scheduler_options& t = o.what.tuning;
  const auto number = [&](const char* name, auto& value, const char* text, const char* unit) {
    c.add_option(name, value, text)->type_name(unit)->group("Dike");
  };
  const auto flag = [&](const char* name, bool& value, const char* text) {
    c.add_flag(name, value, text)->group("Dike");
  };
  number("--swap-size", t.swap_size,
         "Threads that change places in a quantum at most, an even number", "N");
  number("--fair-below", t.fair_below,
         "Fair enough: nothing moves while the coefficient of variation is below", "X");
  number("--memory-above", t.memory_above, "Miss ratio above which a thread counts as memory-bound",
         "X");
  number("--cool-down", t.cool_down, "Quanta in which a thread that was exchanged stays", "N");
  number("--window", t.window, "Quanta over which a core's bandwidth is averaged; 0: all", "N");
  number("--profit-margin", t.profit_margin,
         "An exchange must promise more than this, in misses a second", "X");
  number("--swap-overhead", o.swap_overhead_ms, "What a move costs in the prediction", "MS");
  number("--optimize-every", t.optimizer_every, "dike-af, dike-ap: quanta between two adaptations",
         "N");
  flag("--pairs", t.pairs, "--swap-size counts pairs");
  flag("--strict-pairs", t.strict_pairs, "Only a memory-bound and a computing thread are a pair");
  flag("--global-cv", t.global_cv, "Fairness over all threads at once, not program by program");
  flag("--bidirectional", t.bidirectional,
       "dike-af, dike-ap: back towards the defaults while all is fair");
  c.add_flag_callback(
       "--no-turns", [&t] { t.turns = false; },
       "Threads of the class that is too large for its side do not take turns there")
      ->group("Dike");
}

}  // namespace

action add_balance(CLI::App& app, const std::vector<std::string>& program) {
  auto o = std::make_shared<balance_options>();
  o->what.program = program;
  CLI::App* command = app.add_subcommand(
      "balance",
      "Run a program as it is (kilter lab balance [OPTIONS] -- PROGRAM ARGS...), or "
      "watch running ones, and move their threads between the cores");
  command
      ->add_option("--pid", o->what.targets.pids,
                   "Watch these processes and what descends from them")
      ->type_name("P...");
  command
      ->add_option("--cgroup", o->what.targets.cgroup,
                   "Watch the processes of a control group and of the groups below it")
      ->type_name("PATH");
  takes(command->add_option("--policy", o->what.policy, policy_list())->type_name("NAME"),
        {.words = [] {
          std::vector<std::string> names = live_policies();
          names.emplace_back(os::automatic);
          return names;
        }});
  command->add_option("--quantum", o->quantum_ms, "Between two decisions; at least 20")
      ->type_name("MS")
      ->check([](const std::string& text) {
        double ms = 0;
        return CLI::detail::lexical_cast(text, ms) && ms >= 20 && ms <= 3.6e6
                   ? std::string()
                   : "'" + text + "' is no time in milliseconds from 20 to 3600000";
      });
  command
      ->add_option(
          "--observer", o->what.observer,
          "auto, pmu, resctrl, software, times or replay:FILE; auto: the best that works here")
      ->type_name("NAME");
  command
      ->add_option("--fast", o->fast,
                   "The fast cores: for ljfpf and cjfpf (default: the fastest kind), and for dike "
                   "(default: it learns which have the bandwidth)")
      ->type_name("CORES");
  command
      ->add_option("--lengths", o->lengths,
                   "ljfpf, cjfpf: relative lengths of the program's threads in the order of their "
                   "creation, as 2,1,1; or @FILE")
      ->type_name("LIST")
      ->check([](const std::string& text) {
        try {
          static_cast<void>(preload::read_lengths(text));
          return std::string();
        } catch (const input_error& e) {
          return std::string(e.what());
        }
      });
  command
      ->add_option("--history", o->history,
                   "ljfpf, cjfpf: learns lengths; read at the start, renewed at the end")
      ->type_name("FILE");
  command->add_flag("--dry-run", o->what.dry_run, "Say what would be moved, and move nothing");
  command
      ->add_option("--record", o->what.record,
                   "Write what is observed to this file, for --observer replay:FILE")
      ->type_name("FILE");
  command
      ->add_option("--json", o->json,
                   "Write the result as JSON to this file; -: to standard output, as the last line")
      ->type_name("FILE");
  command->add_flag("--quiet", o->quiet, "Nothing on standard error but what went wrong");
  command->add_flag("--restore", o->restore,
                    "Give back the masks that a killed Kilter and its killed guard left changed");
  command->footer(
      "All masks come back when the program ends, at Ctrl-C, and if Kilter is killed. Cores are "
      "those of kilter topo --smt.\n"
      "Exit status: the program's; 125 if Kilter fails, 126 if the program cannot be run, 127 if "
      "it is not found.\n"
      "Examples:\n"
      "  kilter lab balance -- make -j8\n"
      "  kilter lab balance --policy dio --pid 4711 --json -\n"
      "  kilter lab balance --policy ljfpf --fast 0-3 --history lengths -- ./program\n"
      "  kilter lab balance --dry-run --cgroup user.slice\n"
      "  kilter lab balance --policy dike --observer replay:seen.jsonl\n"
      "  kilter lab balance --restore");
  add_tuning(*command, *o);
  return [o] {
    o->what.tuning.quantum_s = o->quantum_ms * 1e-3;
    o->what.tuning.swap_overhead_s = o->swap_overhead_ms * 1e-3;
    o->what.tell = [quiet = o->quiet](const std::string& line, bool important) {
      if (important || !quiet) say(line);
    };
    return run_safely(*o);
  };
}

}  // namespace kilter::cli
