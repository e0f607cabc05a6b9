#include "kilter/pipeline.hpp"

#include <memory>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

namespace {

/// An item on its way.
struct token {
  void* values = nullptr;
  std::uint64_t number = 0;  ///< from 0, in the order of the first stage
  token* next = nullptr;     ///< behind it in a line
};

/// First come, first served.
class line {
 public:
  void push(token& t) noexcept {
    t.next = nullptr;
    (last_ ? last_->next : first_) = &t;
    last_ = &t;
  }
  token* pop() noexcept {
    token* t = first_;
    if (t && !(first_ = t->next)) last_ = nullptr;
    return t;
  }

 private:
  token *first_ = nullptr, *last_ = nullptr;
};

/// What stands before a stage that has one item in hand.
class station {
 public:
  station(const stage_work& w, task_type t, std::size_t in_flight)
      : work(w), type(t), early_(w.order == stage_order::ordered ? in_flight : 0) {}

  /// Who is to be served now: `t`, or nobody, as others are before it.
  token* come(token& t) noexcept {
    if (work.order == stage_order::parallel) return &t;
    const sync::lock_guard<sync::mutex> hold(mutex_);
    // All from the next one on to `t` are in flight, so no two of them share a cell.
    if (work.order == stage_order::ordered)
      early_[t.number % early_.size()] = &t;
    else
      line_.push(t);
    return busy_ ? nullptr : take();
  }
  /// Who is to be served after one that was.
  token* leave() noexcept {
    if (work.order == stage_order::parallel) return nullptr;
    const sync::lock_guard<sync::mutex> hold(mutex_);
    return take();
  }

  const stage_work& work;
  const task_type type;

 private:
  token* take() noexcept {
    token* t = nullptr;
    if (work.order == stage_order::serial)
      t = line_.pop();
    else if ((t = std::exchange(early_[next_ % early_.size()], nullptr)))
      ++next_;
    busy_ = t != nullptr;
    return t;
  }

  sync::mutex mutex_;
  bool busy_ = false;
  line line_;                  // serial
  std::vector<token*> early_;  // ordered: who came, by number
  std::uint64_t next_ = 0;
};

/// One run: every call of a body is a task of one graph, which the task before it adds.
class pipeline_run {
 public:
  explicit pipeline_run(const pipeline_work& w) : bodies_(w.bodies), tokens_(w.values.size()) {
    for (const stage_work& s : w.stages)
      stations_.push_back(std::make_unique<station>(s, graph_.type(s.type), tokens_.size()));
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      tokens_[i].values = w.values[i];
      free_.push(tokens_[i]);
    }
    token* first = free_.pop();
    graph_.add({.type = stations_[0]->type},
               [this, first](task_context& here) { give(here, *first); });
  }

  std::uint64_t all(runtime& rt, const sync::stop_token& stop) {
    rt.run(graph_, stop);
    return given_;
  }

 private:
  /// A task of the first stage.
  void give(task_context& here, token& t) {
    const station& first = *stations_[0];
    // nobody gives after it, so what is free stays so
    if (!first.work.run(bodies_, t.values)) return;
    t.number = given_++;
    batch next(here);
    if (token* free = another()) add_giver(next, *free);
    come(next, 1, t);
    next.detach();
  }

  /// A task of any other stage.
  void serve(task_context& here, std::size_t stage, token& t) {
    station& at = *stations_[stage];
    at.work.run(bodies_, t.values);
    batch next(here);
    if (token* waiting = at.leave()) add_server(next, stage, *waiting);
    if (stage + 1 < stations_.size())
      come(next, stage + 1, t);
    else if (back(t))
      add_giver(next, t);
    next.detach();
  }

  void come(batch& next, std::size_t stage, token& t) {
    if (token* served = stations_[stage]->come(t)) add_server(next, stage, *served);
  }
  void add_server(batch& next, std::size_t stage, token& t) {
    next.add({.type = stations_[stage]->type},
             [this, stage, &t](task_context& here) { serve(here, stage, t); });
  }
  void add_giver(batch& next, token& t) {
    next.add({.type = stations_[0]->type}, [this, &t](task_context& here) { give(here, t); });
  }

  /// For the first stage to go on at once; null: it stops until a token comes back.
  token* another() noexcept {
    const sync::lock_guard<sync::mutex> hold(mutex_);
    token* t = free_.pop();
    giver_waits_ = t == nullptr;
    return t;
  }
  /// Whether the first stage waits for the token.
  bool back(token& t) noexcept {
    const sync::lock_guard<sync::mutex> hold(mutex_);
    if (std::exchange(giver_waits_, false)) return true;
    free_.push(t);
    return false;
  }

  graph graph_;
  void* const bodies_;
  std::vector<token> tokens_;
  std::vector<std::unique_ptr<station>> stations_;
  std::uint64_t given_ = 0;  // by the first stage, which is one task after another
  sync::mutex mutex_;        // of the two below
  line free_;
  bool giver_waits_ = false;
};

}  // namespace

std::uint32_t usual_in_flight(const runtime& rt) noexcept { return 4 * rt.workers(); }

std::uint64_t run_pipeline(runtime& rt, const pipeline_work& w) {
  return pipeline_run(w).all(rt, w.stop);
}

}  // namespace kilter::inline v0::detail
