#include "balance/os/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>

#include "balance/os/accounts.hpp"
#include "balance/os/board.hpp"
#include "balance/os/choose_session.hpp"
#include "balance/os/guard.hpp"
#include "balance/os/idle_times.hpp"
#include "balance/os/loosen.hpp"
#include "balance/os/mover.hpp"
#include "balance/os/restore.hpp"
#include "balance/os/signal_scope.hpp"
#include "balance/recording.hpp"
#include "base/replace_file.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

double now_s() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double own_cpu_s() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

/// What a scheduler has to heed where programs that somebody waits for are at stake.
scheduler_options live(scheduler_options o) {
  o.keep_busy = true;
  return o;
}

class session {
 public:
  session(const machine& m, const session_options& o)
      : machine_(m),
        options_(o),
        cores_(m),
        chosen_(choose_session(m, o)),
        accounts_(o.tuning.memory_above) {
    scheduler_ = make_scheduler(chosen_.policy, m, live(o.tuning));
    if (o.record.empty()) return;
    record_.emplace(o.record);
    record_->add(recording_line(recording_header{m.name(), m.core_count(), chosen_.observer_name}));
    if (!record_->why().empty())
      throw input_error(
          fmt::format("--record '{}': cannot be written: {}", o.record, record_->why()));
  }

  session_result run() {
    const signal_scope signals;
    mask_ledger ledger;
    board shown(ledger.board_path(), chosen_.policy, chosen_.observer_name);
    struct cleaner {
      mask_ledger& ledger;
      const bool& owes;
      ~cleaner() {
        if (!owes) ledger.remove_files();
      }
    } const clean{ledger, owes_masks_};
    guard keeper(ledger, signals.setup(), options_.program);
    if (keeper.exec_error() != 0) {
      accounts_.result.exec_error = keeper.exec_error();
      return finish(0.0);
    }
    ledger_ = &ledger;
    guard_ = &keeper;
    board_ = &shown;
    begin_s_ = now_s();
    const double cpu_before_s = own_cpu_s();
    std::optional<mover> moves;
    std::optional<targets> watched;
    struct undo {
      session& s;
      ~undo() { s.put_back(); }
    };
    try {
      mover_ = &moves.emplace(ledger, cores_,
                              [&](const std::string& line) { options_.tell(line, true); });
      target_spec spec = options_.targets;
      if (!spec.cgroup.empty()) spec.cgroup = cgroup_directory(spec.cgroup);
      spec.not_this = ledger.ancestor();
      if (keeper.program() != 0) spec = {{}, "", ledger.ancestor()};
      targets_ = &watched.emplace(spec);
      for (const std::string& line : chosen_.why) options_.tell(line, false);
      const undo always{*this};
      loop(signals.descriptor());
    } catch (const std::exception& e) {
      if (keeper.program() == 0) throw;
      give_up(e);
      wait_for_program(signals.descriptor());
    }
    try {
      if (watched) accounts_.finish_threads(*watched, now_s() - begin_s_);
      return finish(own_cpu_s() - cpu_before_s);
    } catch (const std::bad_alloc& e) {
      if (keeper.program() == 0) throw;
      give_up(e);
      session_result only_the_status;
      only_the_status.program_status = keeper.status();
      return only_the_status;
    }
  }

 private:
  void give_up(const std::exception& e) {
    const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
    options_.tell(
        fmt::format("{}; masks are given back and the program goes on without being balanced",
                    memory ? fmt::format("there is no memory left to watch {} threads",
                                         targets_ ? targets_->threads().size() : 0)
                           : std::string(e.what())),
        true);
  }

  /// Passes signals on and learns how it ended, and nothing else.
  void wait_for_program(int signals) {
    while (!guard_->status()) {
      pollfd fds[] = {{signals, POLLIN, 0}, {guard_->descriptor(), POLLIN, 0}};
      const timespec wait{0, 100'000'000};
      static_cast<void>(::ppoll(fds, 2, &wait, nullptr));
      static_cast<void>(take_signals(signals));
      try {
        guard_->collect();
      } catch (const std::exception&) {
        // No guard any more; without masks of ours nothing needs one.
      }
    }
    accounts_.result.program_status = guard_->status();
  }

  void loop(int signals) {
    double next_tick = scheduler_->first_s(), next_look = 0.0, next_collect = 0.0, last_tick = 0.0;
    for (;;) {
      double now = now_s() - begin_s_;
      if (now >= next_look) {
        look(now);
        if (chosen_.sees && now >= next_collect) {
          chosen_.sees->collect();
          next_collect = now + look_s;
        }
        const double took = now_s() - begin_s_ - now;
        const double rest_s = mover_->holds_any()                  ? look_at_held_s
                              : chosen_.policy == without_counters ? look_seldom_s
                                                                   : look_s;
        next_look = now + std::max(rest_s, took * 50);  // never more than one part in fifty
        if (targets_->empty() && guard_->program() == 0) return;
      }
      if (now >= next_tick) {
        next_tick = now + tick(now, now - last_tick);
        last_tick = now;
        if (mover_->holds_any()) next_look = std::min(next_look, now + look_at_held_s);
      }
      now = now_s() - begin_s_;
      const double wait_s = std::max(0.0, std::min(next_tick, next_look) - now);
      pollfd fds[] = {{signals, POLLIN, 0}, {guard_->descriptor(), POLLIN, 0}};
      const timespec wait{static_cast<time_t>(wait_s),
                          static_cast<long>((wait_s - std::floor(wait_s)) * 1e9)};
      const int ready = ::ppoll(fds, 2, &wait, nullptr);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      // If the kernel cannot tell what is ready, both are tried, which never waits.
      if (ready < 0) ::nanosleep(&wait, nullptr);
      if ((ready < 0 || fds[0].revents != 0) && take_signals(signals)) return;
      if (ready < 0 || fds[1].revents != 0 || child_ended_) {
        child_ended_ = false;
        const bool had = guard_->replaced();
        guard_->collect();
        if (guard_->replaced() && !had)
          options_.tell("the guard process was killed; another one has taken its place", true);
        if (guard_->status()) {
          accounts_.result.program_status = guard_->status();
          return;
        }
      }
    }
  }

  /// True: the watching is to end.
  bool take_signals(int descriptor) {
    signalfd_siginfo s;
    while (::read(descriptor, &s, sizeof s) == sizeof s) {
      const int signal = static_cast<int>(s.ssi_signo);
      if (signal == SIGCHLD) {
        child_ended_ = true;
      } else if (guard_->program() == 0) {
        accounts_.result.stopped_by = signal;
        return true;
      } else if (s.ssi_code != SI_KERNEL) {
        ::kill(guard_->program(), signal);  // what the terminal sends, the program has got itself
      }
    }
    return false;
  }

  void look(double now) {
    const bool changed = targets_->look(now);
    if (changed) come_and_gone(now);
    if (!mover_->holds_any()) return;
    if (!changed) mover_->check(targets_->threads());
    targets_->measure(now);
    loosen(*mover_, cores_, targets_->threads());
  }

  void come_and_gone(double now) {
    for (const auto& t : targets_->ended()) {
      if (chosen_.sees) chosen_.sees->remove(*t);
      mover_->vanished(*t);
      accounts_.ended(*t);
    }
    // Whether a new thread has its mask from us depends on whether those that may have made it have
    // theirs from us.
    if (!targets_->appeared().empty()) mover_->check(targets_->threads());
    for (watched_thread* const t : targets_->appeared()) {
      mover_->appeared(*t, targets_->parent_of(t->pid));
      accounts_.began(*t);
      if (chosen_.sees) chosen_.sees->add(*t);
      place(*t, now);
    }
    targets_->forget();
  }

  [[nodiscard]] const watched_thread* thread_of(thread_id id) const {
    const auto& all = targets_->threads();
    const auto at =
        std::lower_bound(all.begin(), all.end(), id,
                         [](const watched_thread* t, thread_id wanted) { return t->id < wanted; });
    return at == all.end() || (*at)->id != id ? nullptr : *at;
  }

  core_id core_of(const watched_thread& t) const {
    const core_id given = mover_->given(t.id);
    return given != no_core ? given : cores_.core_of(t.os_cpu);
  }

  void place(const watched_thread& t, double now) {
    std::vector<std::uint32_t> taken(cores_.cores());
    for (const watched_thread* const other : targets_->threads())
      if (const core_id c = core_of(*other); c != no_core && other != &t) ++taken[c];
    newcomer n;
    n.thread = t.id;
    n.program = t.program;
    const core_id to = scheduler_->place(n, taken);
    if (to == no_core) return;
    carry_out({t.id, core_of(t), to, reason::placement}, now);
  }

  double tick(double now, double length_s) {
    targets_->measure(now);
    mover_->check(targets_->threads());
    observation o{.now_s = now,
                  .length_s = length_s,
                  .rates = chosen_.sees && chosen_.sees->sees_rates(),
                  .threads = {}};
    std::vector<watched_thread*> living;
    for (watched_thread* const t : targets_->threads()) {
      if (t->gone) continue;
      thread_sample s;
      s.thread = t->id;
      s.program = t->program;
      s.core = core_of(*t);
      s.runnable = t->state == 'R';
      s.movable = !options_.dry_run ? mover_->movable(t->id) : true;
      if (!options_.dry_run) s.may_use = mover_->may_use(t->id);
      accounts_.times(*t, s);
      if (chosen_.sees) chosen_.sees->fill(*t, s);
      o.threads.push_back(s);
      living.push_back(t);
    }
    // It has to be read whole, which takes its time where there are many CPUs; one thread alone is
    // slowed by nobody whom moving others would help.
    if (chosen_.policy == without_counters && living.size() > 1)
      o.idle = idle_.since_last(cores_, now);
    else
      idle_.forget();
    if (chosen_.recording && !play_back(o)) return options_.tuning.quantum_s;
    if (record_) record_->add(recording_line(o));
    accounts_.observed(o);
    const answer a = scheduler_->tick(o);
    accounts_.answered(a);
    for (std::size_t i = 0; i < a.moves.size(); ++i) {
      const bool pair = i + 1 < a.moves.size() && is_exchange(a.moves[i], a.moves[i + 1]);
      // Half an exchange would leave one core with two and the other with none.
      if (pair && !options_.dry_run &&
          !(mover_->may_go(a.moves[i].thread, a.moves[i].to) &&
            mover_->may_go(a.moves[i + 1].thread, a.moves[i + 1].to))) {
        accounts_.result.refused += 2;
        ++i;
        continue;
      }
      carry_out(a.moves[i], now);
      if (pair) carry_out(a.moves[++i], now);
    }
    board_->show(o, living, a, accounts_);
    return a.next_s;
  }

  /// False: the recording has ended.
  bool play_back(observation& o) {
    if (chosen_.recording->put_over(o)) return true;
    if (!replay_ended_) options_.tell("the recording has ended; nothing is moved any more", true);
    replay_ended_ = true;
    return false;
  }

  void carry_out(const move& m, double now) {
    // a thread that is placed where it happens to be has to stay there
    if (m.from == m.to && m.why != reason::placement) return;
    const watched_thread* const t = thread_of(m.thread);
    if (!t) {
      ++accounts_.result.refused;
      return;
    }
    if (options_.dry_run) {
      const std::string from = m.from == no_core ? "?" : std::to_string(m.from);
      options_.tell(fmt::format("{:.1f} s: would move thread {} ({}) from core {} to core {}: {}",
                                now, t->tid, t->name, from, m.to, name_of(m.why)),
                    true);
    } else if (!(m.why == reason::placement ? mover_->hold_on(*t, m.to)
                                            : mover_->put_on(*t, m.to))) {
      ++accounts_.result.refused;
      return;
    }
    accounts_.moved(m, now);
  }

  void put_back() {
    try {
      const restored r = restore_masks(*ledger_);
      accounts_.result.masks_restored = r.threads;
      owes_masks_ = r.owed > 0;
      for (const std::string& line : r.failed) options_.tell(line, true);
    } catch (const std::bad_alloc&) {
      owes_masks_ = true;
      options_.tell("there is no memory left to give masks back; run kilter lab balance --restore",
                    true);
    }
  }

  session_result finish(double cpu_s) {
    session_result& r = accounts_.result;
    r.class_only = !(chosen_.sees && chosen_.sees->sees_rates()) &&
                   !(chosen_.recording && chosen_.recording->saw_rates());
    r.sides_known = machine_.kinds().size() > 1 || !options_.tuning.high_bandwidth.empty();
    r.policy = chosen_.policy;
    r.observer = chosen_.observer_name;
    r.own_cpu_s = cpu_s;
    r.seconds = begin_s_ > 0 ? now_s() - begin_s_ : 0.0;
    if (record_ && r.exec_error == 0) {
      record_->keep();
      if (!record_->why().empty())
        r.record_lost = fmt::format("cannot write {}: {}", options_.record, record_->why());
    }
    if (chosen_.sees) r.remarks = chosen_.sees->remarks();
    return accounts_.conclude();
  }

  static constexpr double look_s = 0.1;
  /// Nobody is placed when it is found, and what lasts for less is left alone.
  static constexpr double look_seldom_s = 0.25;
  /// While a thread is held on a core: whoever it makes is held there with it, and the kernel
  /// cannot move it to a core that is idle.
  static constexpr double look_at_held_s = 0.02;

  const machine& machine_;
  const session_options& options_;
  core_map cores_;
  session_choice chosen_;
  std::unique_ptr<scheduler> scheduler_;
  accounts accounts_;
  std::optional<kilter::detail::replacement> record_;
  idle_times idle_;
  bool replay_ended_ = false, child_ended_ = false, owes_masks_ = false;
  double begin_s_ = 0.0;
  mask_ledger* ledger_ = nullptr;
  guard* guard_ = nullptr;
  mover* mover_ = nullptr;
  targets* targets_ = nullptr;
  board* board_ = nullptr;
};

}  // namespace

std::optional<std::string> replay_file(const std::string& observer) {
  constexpr std::string_view prefix = "replay:";
  return observer.starts_with(prefix) ? std::optional(observer.substr(prefix.size()))
                                      : std::nullopt;
}

session_result run_session(const machine& m, const session_options& o) {
  return session(m, o).run();
}

}  // namespace kilter::balance::os
