#include "core/pool.hpp"

#include <algorithm>
#include <utility>

#include "core/interpreter.hpp"
#include "kilter/error.hpp"
#include "runtime/attachments.hpp"
#include "runtime/engine.hpp"

namespace kilter::python {
namespace {

constexpr const char* type_of_rounds = "(submit)";
constexpr std::size_t most_types = 1'000;  // those that come later share the first

runtime_options options_for(machine here, std::uint32_t count, const std::string& policy) {
  runtime_options o;
  o.policy = policy;
  // More than there are cores: their calls wait for something else than a core.
  o.shares_cores = count <= here.core_count();
  o.machine =
      std::make_shared<const machine>(*o.shares_cores ? std::move(here) : machine::uniform(count));
  o.max_workers = count;
  return o;
}

const detail::attachments lets_go = {.nothing_at_hand = interpreter::let_go};

}  // namespace

struct pool::round {
  graph tasks;
  execution run;
  std::vector<task_type> types;
};

pool::pool(machine here, std::uint32_t count, const std::string& policy, std::string learned)
    : workers(options_for(std::move(here), count, policy), lets_go),
      learned_(std::move(learned)),
      types_(1) {
  types_.front().name = "(others)";
}

pool::~pool() = default;

std::uint32_t pool::type(std::string name) {
  engine().refuse_after_fork();
  const sync::lock_guard hold(lock_);
  if (types_.size() == most_types) return 0;
  types_.push_back({std::move(name)});
  return static_cast<std::uint32_t>(types_.size() - 1);
}

void pool::submit(call* c, std::uint32_t type) {
  engine().refuse_after_fork();
  {
    const sync::lock_guard hold(lock_);
    if (closed_) throw usage_error("cannot schedule new futures after shutdown");
    type_of_calls& t = types_[type];
    (t.last ? t.last->next : t.first) = c;
    t.last = c;
    ++t.untold;
    ++waiting_;
    if (std::exchange(round_is_due_, true)) return;
  }
  try {
    begin_round();
  } catch (...) {
    fail(*c);
  }
}

// By whoever has set round_is_due_. If it fails, the next that is submitted tries again.
void pool::begin_round() try {
  std::unique_ptr<round> mine;
  {
    const sync::lock_guard hold(lock_);
    if (!rounds_.empty() && rounds_.front()->run.done()) {
      mine = std::move(rounds_.front());
      rounds_.pop_front();
    }
  }
  if (mine) {
    mine->run.wait();
  } else {
    mine = std::make_unique<round>();
    mine->tasks.add({.type = mine->tasks.type(type_of_rounds)},
                    [this, r = mine.get()](task_context& here) { add_tasks(here, *r); });
  }
  const sync::lock_guard hold(lock_);
  while (mine->types.size() < types_.size())
    mine->types.push_back(mine->tasks.type(types_[mine->types.size()].name));
  mine->run = workers.submit(mine->tasks);
  rounds_.push_back(std::move(mine));
} catch (...) {
  const sync::lock_guard hold(lock_);
  round_is_due_ = false;
  throw;
}

void pool::add_tasks(task_context& here, round& r) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> untold;
  bool one_more = false;
  {
    const sync::lock_guard hold(lock_);
    for (std::uint32_t t = 0; t < types_.size(); ++t) {
      if (types_[t].untold == 0) continue;
      if (t < r.types.size())
        untold.emplace_back(t, std::exchange(types_[t].untold, 0));
      else
        one_more = true;  // a type that came after this round began
    }
    round_is_due_ = one_more;
  }
  batch added(here);
  for (const auto& [t, count] : untold)
    for (std::uint32_t i = 0; i < count; ++i)
      added.add({.type = r.types[t]}, [this, t = t] { run_oldest(t); });
  added.detach();
  if (one_more) begin_round();
}

call* pool::take_oldest(std::uint32_t type) noexcept {
  const sync::lock_guard hold(lock_);
  type_of_calls& t = types_[type];
  call* const c = t.first;
  if (!c) return nullptr;
  t.first = c->next;
  if (!t.first) t.last = nullptr;
  c->next = nullptr;
  --waiting_;
  return c;
}

void pool::run_oldest(std::uint32_t type) noexcept {
  call* const c = take_oldest(type);
  if (!c) return;
  interpreter::enter();
  if (begin(*c))
    run(*c);
  else
    tell_cancelled(*c);
  into_python([&] { Py_DECREF(reinterpret_cast<PyObject*>(c)); });
  interpreter::breathe();
}

execution pool::start(graph& g) {
  engine().refuse_after_fork();
  const sync::lock_guard hold(lock_);
  if (closed_) throw usage_error("the executor is shut down; a graph needs another");
  std::erase_if(graphs_, [](const execution& e) { return e.done(); });
  graphs_.reserve(graphs_.size() + 1);
  return graphs_.emplace_back(workers.submit(g));
}

std::vector<call*> pool::close(bool take_out) {
  std::vector<call*> out;
  const sync::lock_guard hold(lock_);
  closed_ = true;
  if (!take_out) return out;
  for (type_of_calls& t : types_) {
    for (call* c = t.first; c; c = std::exchange(c->next, nullptr)) out.push_back(c);
    t.first = t.last = nullptr;
  }
  waiting_ = 0;
  return out;
}

std::vector<execution> pool::unfinished() {
  std::vector<execution> all;
  sync::unique_lock hold(lock_);
  while (round_is_due_ && rounds_.empty()) {  // somebody is about to begin it
    hold.unlock();
    sync::yield();
    hold.lock();
  }
  for (const auto& r : rounds_)
    if (!r->run.done()) all.push_back(r->run);
  for (const execution& e : graphs_)
    if (!e.done()) all.push_back(e);
  return all;
}

void pool::end() try {
  for (auto left = unfinished(); !left.empty(); left = unfinished())
    for (execution& e : left) e.wait_for(std::chrono::hours(1));
  if (!learned_.empty()) workers.save_table(learned_);
  workers.stop();
  has_ended(nullptr);
} catch (...) {
  workers.stop();
  has_ended(std::current_exception());
}

void pool::has_ended(std::exception_ptr why) {
  const sync::lock_guard hold(lock_);
  ended_ = true;
  why_ = std::move(why);
  ended_changed_.notify_all();
}

void pool::end_in_background() {
  {
    const sync::lock_guard hold(lock_);
    if (std::exchange(ends_, true)) return;
  }
  in_background([mine = shared_from_this()] { mine->end(); });
}

bool pool::ended_within(std::chrono::milliseconds limit) {
  sync::unique_lock hold(lock_);
  if (!ended_changed_.wait_for(hold, limit, [&] { return ended_; })) return false;
  if (why_) std::rethrow_exception(std::exchange(why_, nullptr));
  return true;
}

bool pool::ends() {
  const sync::lock_guard hold(lock_);
  return ends_;
}

detail::engine& pool::engine() const noexcept {
  return detail::runtime_access::of(const_cast<runtime&>(workers));
}

bool pool::on_own_worker() const noexcept {
  const detail::worker* const w = detail::worker::current();
  return w && &w->owner == &engine();
}

bool pool::forked() const noexcept { return engine().forked(); }

// ---- threads that nobody waits for, but the end of the interpreter ----------------------------

namespace {

sync::atomic<std::uint32_t> in_the_background{0}, forks_then{0};

}  // namespace

void in_background(std::function<void()> what) {
  if (forks_then.exchange(sync::forks()) != sync::forks()) in_the_background = 0;
  ++in_the_background;
  try {
    sync::thread([what = std::move(what)]() mutable {
      what();
      what = nullptr;
      --in_the_background;
    }).detach();
  } catch (...) {
    --in_the_background;
    throw;
  }
}

bool background_is_busy() noexcept {
  return in_the_background.load() != 0 && forks_then.load() == sync::forks();
}

}  // namespace kilter::python
