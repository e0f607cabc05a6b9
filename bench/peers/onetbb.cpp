// oneTBB: parallelism limited by global_control and an arena of as many slots, so that the calling
// thread is one of the threads.

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>
#include <tbb/version.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "peers/affinity.hpp"
#include "peers/loops.hpp"
#include "peers/peer.hpp"

namespace kilter::bench {

namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

/// Gives each thread its CPUs once. oneTBB's threads outlive arenas, so unpinned runs must undo
/// what pinned ones did.
class placement final : public tbb::task_scheduler_observer {
 public:
  placement(tbb::task_arena& a, const threads& t) : task_scheduler_observer(a), threads_(t) {
    observe(true);
  }
  ~placement() override { observe(false); }
  void on_scheduler_entry(bool) override {
    const auto slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    if (threads_.pinned)
      restrict_thread({threads_.cpus[slot % threads_.cpus.size()]});
    else
      restrict_thread(threads_.cpus);
  }

 private:
  const threads& threads_;
};

class tbb_threads {
 public:
  explicit tbb_threads(const threads& t)
      : threads_(t),
        count_(static_cast<int>(t.cpus.size())),
        limit_(tbb::global_control::max_allowed_parallelism, t.cpus.size()),
        arena_(count_, 1) {
    arena_.initialize();
    {
      const placement placing(arena_, threads_);
      gather();
    }
  }

  template <class F>
  void inside(F&& f) {
    arena_.execute(std::forward<F>(f));
  }

 private:
  /// As many tasks as threads that wait for one another: when they are done, every thread has been
  /// here.
  void gather() {
    using clock = std::chrono::steady_clock;
    const auto give_up = clock::now() + std::chrono::milliseconds(200);
    std::atomic<int> here{0};
    inside([&] {
      tbb::task_group group;
      for (int i = 0; i < count_; ++i)
        group.run([&] {
          here.fetch_add(1);
          while (here.load() < count_ && clock::now() < give_up) std::this_thread::yield();
        });
      group.wait();
    });
  }

  threads threads_;
  int count_;
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

class onetbb_graph final : public contender {
 public:
  onetbb_graph(const threads& t, bool priorities) : threads_(t), priorities_(priorities) {}
  ~onetbb_graph() override { clear(); }

  void build(const dag& d, const workload& w) override {
    layers_of_ = d.barrier;
    tasks_ = d.size();
    work_ = &w;
    if (d.barrier > 0) return;
    threads_.inside([&] {
      graph_.emplace();
      nodes_ = static_cast<node*>(
          ::operator new (d.size() * sizeof(node), std::align_val_t{alignof(node)}));
      if (w.empty())
        add_all(d, [](std::uint32_t) { return [](const tbb::flow::continue_msg&) {}; });
      else
        add_all(d, [&w](std::uint32_t i) {
          return [&w, i](const tbb::flow::continue_msg&) { w.run(i); };
        });
    });
  }
  void run(core_id) override {
    threads_.inside([&] {
      if (layers_of_ > 0) {
        loops();
        return;
      }
      for (node* root : roots_) root->try_put(tbb::flow::continue_msg());
      graph_->wait_for_all();
    });
  }
  void clear() override {
    while (made_ > 0) nodes_[--made_].~node();
    ::operator delete (nodes_, std::align_val_t{alignof(node)});
    nodes_ = nullptr;
    roots_.clear();
    graph_.reset();
  }

 private:
  void loops() {
    for (std::uint32_t first = 0; first < tasks_; first += layers_of_)
      tbb::parallel_for(
          tbb::blocked_range<std::uint32_t>(first, first + layers_of_, 1),
          [this](const tbb::blocked_range<std::uint32_t>& r) {
            for (std::uint32_t i = r.begin(); i < r.end(); ++i) work_->run(i);
          },
          tbb::simple_partitioner{});
  }

  // One block for all nodes: they cannot move, and this is the cheapest way to hold them.
  template <class MakeBody>
  void add_all(const dag& d, MakeBody&& body_of) {
    for (std::uint32_t i = 0; i < d.size(); ++i) {
      node* const n = priorities_ && d.critical[i]
                          ? ::new (nodes_ + i)
                                node(*graph_, body_of(i), tbb::flow::node_priority_t{1})
                          : ::new (nodes_ + i) node(*graph_, body_of(i));
      ++made_;
      if (d.parent[i] == dag::none)
        roots_.push_back(n);
      else
        tbb::flow::make_edge(nodes_[d.parent[i]], *n);
    }
  }

  tbb_threads threads_;
  bool priorities_;
  std::optional<tbb::flow::graph> graph_;
  node* nodes_ = nullptr;
  std::uint32_t made_ = 0;
  std::vector<node*> roots_;
  std::uint32_t layers_of_ = 0, tasks_ = 0;
  const workload* work_ = nullptr;
};

class onetbb_group final : public contender {
 public:
  explicit onetbb_group(const threads& t) : threads_(t) {}
  void build(const dag& d, const workload&) override { tasks_ = d.size(); }
  void run(core_id) override {
    threads_.inside([&] {
      tbb::task_group group;
      for (std::uint32_t i = 0; i < tasks_; ++i) group.run([] {});
      group.wait();
    });
  }
  void clear() override {}

 private:
  tbb_threads threads_;
  std::uint32_t tasks_ = 0;
};

class onetbb_loops final : public loop_contender {
 public:
  onetbb_loops(const threads& t, tbb_partitioner p, loop_arrays& a)
      : threads_(t), partitioner_(p), arrays_(a) {}
  std::uint64_t run(loop_sort what) override {
    std::uint64_t sum = 0;
    threads_.inside([&] {
      switch (partitioner_) {
        case tbb_partitioner::simple_auto: sum = with(what, tbb::auto_partitioner{}); return;
        case tbb_partitioner::equal: sum = with(what, tbb::static_partitioner{}); return;
        case tbb_partitioner::affinity:
          sum = with(what, affinity_[static_cast<std::size_t>(what)]);
          return;
      }
    });
    return sum;
  }

 private:
  using range = tbb::blocked_range<std::size_t>;
  template <class Partitioner>
  std::uint64_t with(loop_sort what, Partitioner&& p) {
    if (what == loop_sort::light)
      return tbb::parallel_reduce(
          range(0, arrays_.n), std::uint64_t{0},
          [](const range& r, std::uint64_t sum) {
            for (std::size_t i = r.begin(); i < r.end(); ++i) sum += loop_arrays::light(i);
            return sum;
          },
          std::plus<>{}, p);
    tbb::parallel_for(
        range(0, arrays_.n), [this](const range& r) { arrays_.stream(r.begin(), r.end()); }, p);
    return 0;
  }

  tbb_threads threads_;
  tbb_partitioner partitioner_;
  tbb::affinity_partitioner affinity_[2];
  loop_arrays& arrays_;
};

}  // namespace

std::unique_ptr<loop_contender> make_onetbb_loops(const threads& t, tbb_partitioner p,
                                                  loop_arrays& a) {
  return std::make_unique<onetbb_loops>(t, p, a);
}
std::unique_ptr<contender> make_onetbb(const threads& t, bool priorities) {
  return std::make_unique<onetbb_graph>(t, priorities);
}
std::unique_ptr<contender> make_onetbb_group(const threads& t) {
  return std::make_unique<onetbb_group>(t);
}
std::string onetbb_version() { return TBB_VERSION_STRING; }

}  // namespace kilter::bench
