#include "policy/ask.hpp"

#include <array>
#include <bit>

#include "policy/view_source.hpp"

namespace kilter::ask {

namespace {

constexpr std::uint64_t bits(double v) noexcept { return std::bit_cast<std::uint64_t>(v); }
constexpr double real(std::uint64_t v) noexcept { return std::bit_cast<double>(v); }

// the trace table's options, once a tape: policies may read them at no cost, so the view does not
// record them

constexpr std::size_t option_count = 15;

std::array<std::uint64_t, option_count> packed(const table_options& o) noexcept {
  return {bits(o.sample_weight),
          o.explore_first,
          o.refresh_every,
          o.two_factors,
          o.neutral_prior,
          o.lost_time,
          o.idle_decay,
          o.ageing,
          bits(o.window_s),
          bits(o.idle_decay_s),
          bits(o.move_after_s),
          bits(o.move_gain),
          bits(o.probe_budget),
          bits(o.probe_after_s),
          o.by_work};
}

table_options unpacked(const std::array<std::uint64_t, option_count>& w) noexcept {
  table_options o;
  o.sample_weight = real(w[0]);
  o.explore_first = w[1] != 0;
  o.refresh_every = static_cast<std::uint32_t>(w[2]);
  o.two_factors = w[3] != 0;
  o.neutral_prior = w[4] != 0;
  o.lost_time = w[5] != 0;
  o.idle_decay = w[6] != 0;
  o.ageing = w[7] != 0;
  o.window_s = real(w[8]);
  o.idle_decay_s = real(w[9]);
  o.move_after_s = real(w[10]);
  o.move_gain = real(w[11]);
  o.probe_budget = real(w[12]);
  o.probe_after_s = real(w[13]);
  o.by_work = w[14] != 0;
  return o;
}

// recording and replaying use the same functions: on a replaying tape an entry is compared instead
// of appended

class question {
 public:
  question(view& v, tape_item item) : view_(v), tape_(*detail::asking::of(v).log()), item_(item) {
    if (!tape_.replaying() && tape_.entries().empty()) {
      tape_.table = v.table();
      const auto words = packed(tape_.table);
      for (std::size_t i = 0; i < words.size(); ++i)
        tape_.exchange(tape_item::table_option, i, words[i]);
    }
    argument(std::uint64_t{v.asker()});
  }
  question& argument(std::uint64_t value) {
    tape_.exchange(item_, arguments_++, value, true);
    return *this;
  }
  question& argument(double value) { return argument(bits(value)); }
  question& argument(task_ref t) { return argument(detail::asking::of(view_).name_of(t)); }
  void answer(std::initializer_list<std::uint64_t> words) {
    std::uint64_t i = 0;
    for (const std::uint64_t w : words) tape_.exchange(tape_item::answer, i++, w, true);
    tape_.seal();
  }

 private:
  view& view_;
  tape& tape_;
  tape_item item_;
  std::uint64_t arguments_ = 0;
};

}  // namespace

namespace recorded {

void submit(const policy& p, view& v) {
  question q(v, tape_item::submit);
  p.on_submit(v);
  q.answer({});
}

ready_decision ready(const policy& p, task_ref task, task_ref parent, core_id waker, view& v) {
  question q(v, tape_item::ready);
  q.argument(task).argument(parent).argument(std::uint64_t{waker});
  const ready_decision d = p.on_ready(task, parent, waker, v);
  q.answer({static_cast<std::uint64_t>(d.what) | std::uint64_t{d.stealable} << 8 |
                std::uint64_t{d.queue} << 32,
            d.where, d.key, bits(d.busy_s)});
  return d;
}

next_decision next(const policy& p, core_id worker, std::uint32_t attempt, view& v) {
  question q(v, tape_item::next);
  q.argument(std::uint64_t{worker}).argument(std::uint64_t{attempt});
  const next_decision d = p.next(worker, attempt, v);
  q.answer({static_cast<std::uint64_t>(d.what) | std::uint64_t{d.queue} << 32,
            detail::asking::of(v).kept_name_of(d.task), bits(d.until_s), d.skip});
  return d;
}

take_decision take(const policy& p, task_ref task, core_id here, bool stolen, view& v) {
  question q(v, tape_item::take);
  q.argument(task).argument(std::uint64_t{here}).argument(std::uint64_t{stolen});
  const take_decision d = p.on_take(task, here, stolen, v);
  q.answer({std::uint64_t{d.where} | std::uint64_t{d.put_back} << 32, bits(d.busy_s)});
  return d;
}

void done(const policy& p, task_ref task, place_id place, const measured& m, view& v) {
  question q(v, tape_item::done);
  q.argument(task).argument(std::uint64_t{place});
  q.argument(m.sample_s).argument(m.leader_s).argument(m.span_s).argument(m.cpu_s).argument(m.work);
  q.argument(std::uint64_t{m.tasks}).argument(std::uint64_t{m.leader_first});
  q.argument(std::uint64_t{m.members.size()});
  for (const member_time& one : m.members)
    q.argument(std::uint64_t{one.core}).argument(one.seconds).argument(std::uint64_t{one.chunks});
  p.on_done(task, place, m, v);
  q.answer({});
}

void machine(const policy& p, view& v) {
  question q(v, tape_item::machine);
  p.on_machine(v);
  q.answer({});
}

}  // namespace recorded

// ---- replay -------------------------------------------------------------------------------------

namespace {

/// Reads a question's arguments ahead of the tape, so that the question can be put; the tape then
/// compares them again in passing.
class arguments {
 public:
  arguments(const tape& t, const kilter::machine& m)
      : entries_(t.entries()), machine_(m), at_(t.position()), item_(entries_[at_].item) {}
  std::uint64_t word() {
    if (at_ == entries_.size() || entries_[at_].item != item_)
      throw replay_mismatch("entry " + std::to_string(at_) + ": a question '" +
                            std::string(tape_item_name(item_)) + "' is cut short");
    return entries_[at_++].value;
  }
  double number() { return real(word()); }
  core_id core() {
    const std::uint64_t c = word();
    if (c >= machine_.core_count() && c != no_core) impossible(c);
    return static_cast<core_id>(c);
  }
  place_id where() {
    const std::uint64_t p = word();
    if (p >= machine_.places().size()) impossible(p);
    return static_cast<place_id>(p);
  }
  task_ref task() { return {static_cast<std::uintptr_t>(word())}; }

 private:
  [[noreturn]] void impossible(std::uint64_t value) const {
    throw replay_mismatch("entry " + std::to_string(at_ - 1) + ": a question '" +
                          std::string(tape_item_name(item_)) + "' about " + std::to_string(value) +
                          ", which is not on this machine");
  }

  const std::vector<tape_entry>& entries_;
  const kilter::machine& machine_;
  std::size_t at_;
  tape_item item_;
};

void put(const policy& p, const kilter::machine& m, tape& t) {
  const tape_item item = t.entries()[t.position()].item;
  arguments a(t, m);
  detail::asked_view v(m, nullptr, a.core(), &t);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wswitch-enum"  // of what a tape holds only questions begin an entry
  switch (item) {
#pragma GCC diagnostic pop
    case tape_item::submit: return recorded::submit(p, v);
    case tape_item::machine: return recorded::machine(p, v);
    case tape_item::ready: {
      const task_ref task = a.task(), parent = a.task();
      recorded::ready(p, task, parent, a.core(), v);
      return;
    }
    case tape_item::next: {
      const core_id worker = a.core();
      recorded::next(p, worker, static_cast<std::uint32_t>(a.word()), v);
      return;
    }
    case tape_item::take: {
      const task_ref task = a.task();
      const core_id here = a.core();
      recorded::take(p, task, here, a.word() != 0, v);
      return;
    }
    case tape_item::done: {
      const task_ref task = a.task();
      const place_id where = a.where();
      measured seen;
      seen.sample_s = a.number();
      seen.leader_s = a.number();
      seen.span_s = a.number();
      seen.cpu_s = a.number();
      seen.work = a.number();
      seen.tasks = static_cast<std::uint32_t>(a.word());
      seen.leader_first = a.word() != 0;
      const std::uint64_t count = a.word();
      std::vector<member_time> members;
      for (std::uint64_t i = 0; i < count; ++i) {
        const core_id core = a.core();
        const double seconds = a.number();
        members.push_back({core, seconds, static_cast<std::uint32_t>(a.word())});
      }
      seen.members = members;
      return recorded::done(p, task, where, seen, v);
    }
    default:
      throw replay_mismatch("entry " + std::to_string(t.position()) +
                            ": expected a question, the recording has '" +
                            std::string(tape_item_name(item)) + "'");
  }
}

}  // namespace

std::size_t replay(const policy& p, const kilter::machine& m,
                   const std::vector<tape_entry>& entries) {
  if (entries.empty()) return 0;
  // Before the policy sees any of it: a value that no engine gave might be no core, no place, an
  // endless count.
  if (const std::size_t broken = tape::first_broken_seal(entries); broken != entries.size())
    throw replay_mismatch("entry " + std::to_string(broken) +
                          ": something before this seal is not as it was recorded");
  tape t(entries);
  std::array<std::uint64_t, option_count> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const tape_entry* e = t.take();
    if (!e || e->item != tape_item::table_option || e->key != i)
      throw replay_mismatch("entry " + std::to_string(i) +
                            ": a recording starts with the options of its trace table");
    words[i] = e->value;
  }
  t.table = unpacked(words);
  std::size_t answers = 0;
  for (; !t.at_end(); ++answers) {
    put(p, m, t);
    if (!t.mismatch().empty()) throw replay_mismatch(t.mismatch());
  }
  return answers;
}

}  // namespace kilter::ask
