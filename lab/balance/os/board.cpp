#include "balance/os/board.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "balance/os/mask_ledger.hpp"
#include "base/json_text.hpp"
#include "host/proc.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& v) {
  return v ? json(*v) : json(nullptr);
}

json core_or_null(core_id c) { return c == no_core ? json(nullptr) : json(c); }

const char* name_of_class(thread_class c) {
  switch (c) {
    case thread_class::compute: return "compute";
    case thread_class::memory: return "memory";
    case thread_class::unknown: return "";
  }
  return "";
}

/// What is no JSON is null.
json read_board(const std::string& path) {
  constexpr std::size_t most = std::size_t{16} << 20;
  const int fd = mask_ledger::open_own(path, O_RDONLY);
  std::string text;
  char block[1 << 16];
  for (ssize_t n; fd >= 0 && text.size() < most && (n = ::read(fd, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  if (fd >= 0) ::close(fd);
  try {
    return parse_json(text);
  } catch (const input_error&) {
    return nullptr;
  }
}

bool alive(const json& b) {
  if (!b.is_object() || !b.contains("pid") || !b.contains("start") ||
      !b["pid"].is_number_integer() || !b["start"].is_number_unsigned())
    return false;
  const pid_t pid = b["pid"].get<pid_t>();
  const auto s = host::stat_of(pid, pid);
  return s && s->start == b["start"].get<std::uint64_t>();
}

json move_json(const board_thread::last_move& m) {
  return {{"ago_s", m.ago_s},
          {"from", core_or_null(m.from)},
          {"to", core_or_null(m.to)},
          {"why", m.why}};
}

json thread_json(const board_thread& t) {
  return {{"thread", t.thread},
          {"pid", t.pid},
          {"tid", t.tid},
          {"name", t.name},
          {"class", t.kind.empty() ? json(nullptr) : json(t.kind)},
          {"core", core_or_null(t.core)},
          {"busy", t.busy},
          {"waited", t.waited},
          {"movable", t.movable},
          {"misses_per_s", or_null(t.misses_per_s)},
          {"predicted_per_s", or_null(t.expected_per_s)},
          {"last_move", t.moved ? move_json(*t.moved) : json(nullptr)}};
}

json view_json(const board_view& v) {
  json threads = json::array();
  for (const board_thread& t : v.threads) threads.push_back(thread_json(t));
  return {{"pid", v.pid},       {"policy", v.policy},       {"observer", v.observer},
          {"quanta", v.quanta}, {"quantum_s", v.quantum_s}, {"swaps", v.swaps},
          {"moves", v.moves},   {"seconds", v.seconds},     {"threads", std::move(threads)}};
}

core_id core_from(const json& o, const char* key) {
  return o.contains(key) && o[key].is_number_unsigned() ? o[key].get<core_id>() : no_core;
}

std::optional<double> number_from(const json& o, const char* key) {
  return o.contains(key) && o[key].is_number() ? std::optional(o[key].get<double>()) : std::nullopt;
}

board_view view_from(const json& b) {
  board_view v{.pid = b.value("pid", 0),
               .policy = b.value("policy", ""),
               .observer = b.value("observer", ""),
               .quanta = b.value("quanta", std::uint64_t{0}),
               .swaps = b.value("swaps", std::uint64_t{0}),
               .moves = b.value("moves", std::uint64_t{0}),
               .seconds = b.value("seconds", 0.0),
               .quantum_s = b.value("quantum_s", 0.0),
               .threads = {}};
  for (const json& t : b.value("threads", json::array())) {
    board_thread row{
        .thread = t.value("thread", 0U),
        .pid = t.value("pid", 0),
        .tid = t.value("tid", 0),
        .name = t.value("name", ""),
        .kind = t.contains("class") && t["class"].is_string() ? t["class"].get<std::string>() : "",
        .core = core_from(t, "core"),
        .busy = t.value("busy", 0.0),
        .waited = t.value("waited", 0.0),
        .movable = t.value("movable", true),
        .misses_per_s = number_from(t, "misses_per_s"),
        .expected_per_s = number_from(t, "predicted_per_s"),
        .moved = {}};
    if (t.contains("last_move") && t["last_move"].is_object()) {
      const json& m = t["last_move"];
      row.moved = {m.value("ago_s", 0.0), core_from(m, "from"), core_from(m, "to"),
                   m.value("why", "")};
    }
    v.threads.push_back(std::move(row));
  }
  return v;
}

}  // namespace

board::board(std::string path, std::string policy, std::string observer)
    : path_(std::move(path)), policy_(std::move(policy)), observer_(std::move(observer)) {
  if (const auto s = host::stat_of(::getpid(), ::getpid())) start_ = s->start;
}

board::~board() {
  ::unlink(path_.c_str());
  ::unlink((path_ + "~").c_str());
}

void board::show(const observation& o, const std::vector<watched_thread*>& living, const answer& a,
                 const accounts& sums) {
  board_view v{.pid = ::getpid(),
               .policy = policy_,
               .observer = observer_,
               .quanta = sums.result.quanta,
               .swaps = sums.result.swaps,
               .moves = sums.result.moves,
               .seconds = o.now_s,
               .quantum_s = a.next_s,
               .threads = {}};
  for (std::size_t i = 0; i < o.threads.size(); ++i) {
    const thread_sample& s = o.threads[i];
    board_thread t{.thread = s.thread,
                   .pid = living[i]->pid,
                   .tid = living[i]->tid,
                   .name = living[i]->name,
                   .kind = name_of_class(sums.class_of(s)),
                   .core = s.core,
                   .busy = s.ran_s / o.length_s,
                   .waited = s.waited_s / o.length_s,
                   .movable = s.movable,
                   .misses_per_s = s.misses ? std::optional(*s.misses / o.length_s) : std::nullopt,
                   .expected_per_s = sums.expected(s.thread),
                   .moved = {}};
    if (const move_row* const m = sums.last_move(s.thread)) {
      t.moved = {o.now_s - m->at_s, m->from, m->to, std::string(name_of(m->why))};
      t.core = m->to;
    }
    v.threads.push_back(std::move(t));
  }
  json b = view_json(v);
  b["start"] = start_;
  const std::string text = b.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string draft = path_ + "~";
  ::unlink(draft.c_str());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;  // nobody's run fails because nobody can look at it
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  if (whole) static_cast<void>(std::rename(draft.c_str(), path_.c_str()));
}

shown_boards read_boards() {
  shown_boards all;
  for (const std::string& path : mask_ledger::files(".board")) {
    const json b = read_board(path);
    try {
      // One of a run that has ended is nobody's concern, whatever is in it; who it is of must be
      // readable for that.
      if (!b.is_object()) throw std::runtime_error("it is not a JSON object");
      for (const char* const key : {"pid", "start"})
        if (!b.contains(key) || !b[key].is_number_unsigned())
          throw std::runtime_error(fmt::format("its '{}' is not a whole number", key));
      if (alive(b)) all.views.push_back(view_from(b));
    } catch (const std::exception& e) {
      if (std::error_code gone; fs::exists(path, gone))
        all.passed_over.push_back(fmt::format(
            "{} is passed over, since it is no board of a kilter balance: {}", path, e.what()));
    }
  }
  return all;
}

json boards_json(const std::vector<board_view>& all) {
  json balances = json::array();
  for (const board_view& v : all) balances.push_back(view_json(v));
  return balances;
}

void remove_stale_boards() {
  for (const std::string& path : mask_ledger::files(".board"))
    if (!alive(read_board(path))) ::unlink(path.c_str());
}

}  // namespace kilter::balance::os
