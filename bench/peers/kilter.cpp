#include <optional>

#include "kilter/parallel.hpp"
#include "peers/loops.hpp"
#include "peers/peer.hpp"
#include "session/interrupt.hpp"

namespace kilter::bench {

namespace {

/// Waits; Ctrl-C cancels the run meanwhile.
void finish(const execution& e) {
  struct watching {
    lab::interrupt_guard* guard = lab::interrupt_guard::current();
    explicit watching(const execution& run) {
      if (guard) guard->watch(run);
    }
    ~watching() {
      if (guard) guard->watch({});
    }
  } const until_done(e);
  execution(e).wait();
}

/// Threads exist, and parked workers have been woken once.
void warm_up(runtime& rt) {
  graph g;
  for (std::uint32_t i = 0; i < 4 * rt.workers(); ++i) g.add([] {});
  rt.run(g);
}

class kilter_static final : public contender {
 public:
  kilter_static(const runtime_options& o, const std::vector<runtime_preset>& filled) : runtime_(o) {
    warm_up(runtime_);
    for (const runtime_preset& p : filled)
      for (const place& where : runtime_.machine().places())
        runtime_.preset(p.type, 0, where, p.seconds * where.width);
  }

  void build(const dag& d, const workload& w) override {
    graph_.emplace();
    tasks_.clear();
    tasks_.reserve(d.size());
    if (w.empty())
      add_all(d, "empty", [](std::uint32_t) { return [] {}; });
    else
      add_all(d, w.kernel->name(), [&w](std::uint32_t i) {
        return [&w, i](team_member& context) {
          const std::uint32_t parts = w.kernel->parts(context.width());
          while (const chunk c = context.next_chunk(parts, 1))
            for (std::size_t part = c.begin; part < c.end; ++part)
              w.kernel->run_part(i, static_cast<std::uint32_t>(part), parts);
          w.note_end(i);
        };
      });
  }
  void run(core_id root) override {
    last_ = runtime_.submit(*graph_, root);
    finish(last_);
  }
  void clear() override {
    last_ = {};
    graph_.reset();
  }
  std::optional<double> critical_on_core_0() const override {
    const execution_stats stats = last_.stats();
    std::uint64_t there = 0, all = 0;
    for (place_id p = 0; p < stats.places.size(); ++p) {
      all += stats.places[p].critical;
      if (runtime_.machine().at(p).contains(0)) there += stats.places[p].critical;
    }
    if (all == 0) return std::nullopt;
    return static_cast<double>(there) / static_cast<double>(all);
  }

 private:
  template <class MakeBody>
  void add_all(const dag& d, std::string_view type, MakeBody&& body_of) {
    task_options options;
    options.type = graph_->type(type);
    std::optional<task> barrier;
    for (std::uint32_t i = 0; i < d.size(); ++i) {
      if (d.barrier > 0 && i > 0 && i % d.barrier == 0) {
        const task next = graph_->add({.type = graph_->type("barrier")}, [] {});
        for (std::uint32_t k = i - d.barrier; k < i; ++k) graph_->edge(tasks_[k], next);
        barrier = next;
      }
      options.priority = d.critical[i] ? priority::high : priority::low;
      const task t = graph_->add(options, body_of(i));
      if (d.parent[i] != dag::none) graph_->edge(tasks_[d.parent[i]], t);
      if (barrier) graph_->edge(*barrier, t);
      tasks_.push_back(t);
    }
  }

  runtime runtime_;
  std::optional<graph> graph_;
  std::vector<task> tasks_;
  execution last_;
};

class kilter_batch final : public contender {
 public:
  explicit kilter_batch(const runtime_options& o) : runtime_(o) { warm_up(runtime_); }

  void build(const dag& d, const workload&) override { tasks_ = d.size(); }
  void run(core_id root) override {
    graph g;
    g.add([n = tasks_](task_context& context) {
      batch adding(context);
      for (std::uint32_t i = 0; i < n; ++i) adding.add([] {});
      adding.wait();
    });
    finish(runtime_.submit(g, root));
  }
  void clear() override {}

 private:
  runtime runtime_;
  std::uint32_t tasks_ = 0;
};

class kilter_loops final : public loop_contender {
 public:
  kilter_loops(const runtime_options& o, loop_arrays& a) : runtime_(o), arrays_(a) {
    warm_up(runtime_);
  }
  std::uint64_t run(loop_sort what) override {
    if (what == loop_sort::light)
      return parallel_reduce(runtime_, std::size_t{0}, arrays_.n, std::uint64_t{0},
                             [](std::size_t first, std::size_t last, std::uint64_t sum) {
                               for (std::size_t i = first; i < last; ++i)
                                 sum += loop_arrays::light(i);
                               return sum;
                             },
                             std::plus<>{}, {.type = "light"});
    parallel_for(runtime_, std::size_t{0}, arrays_.n,
                 [this](std::size_t first, std::size_t last) { arrays_.stream(first, last); },
                 {.type = "stream"});
    return 0;
  }

 private:
  runtime runtime_;
  loop_arrays& arrays_;
};

}  // namespace

std::unique_ptr<loop_contender> make_kilter_loops(const runtime_options& o, loop_arrays& a) {
  return std::make_unique<kilter_loops>(o, a);
}
std::unique_ptr<contender> make_kilter(const runtime_options& o,
                                       const std::vector<runtime_preset>& filled) {
  return std::make_unique<kilter_static>(o, filled);
}
std::unique_ptr<contender> make_kilter_batch(const runtime_options& o) {
  return std::make_unique<kilter_batch>(o);
}

}  // namespace kilter::bench
