#include "apps/programs/steps.hpp"

#include <chrono>

#include "kilter/graph.hpp"
#include "kilter/parallel.hpp"

namespace kilter::apps {

namespace {

class loops_of_threads final : public step_loops {
 public:
  explicit loops_of_threads(block_loop& how) : how_(how) {}

 private:
  void run_blocks(std::size_t, std::size_t count,
                  const std::function<void(std::size_t)>& body) override {
    how_.run(count, [&](std::size_t block, std::uint32_t) { body(block); });
  }

  block_loop& how_;
};

/// Steps that together take less are one task: next to the time slices of an operating system it is
/// nothing.
constexpr std::chrono::microseconds short_time(200);

/// Of a program on Kilter; `here` is the step that runs now.
class loops_of_tasks final : public step_loops {
 public:
  loops_of_tasks(kilter::graph& g, const step_options& o) : options_(o), step_(g.type("step")) {
    for (const std::string_view name : o.loops) types_.push_back(g.type(name));
  }

  /// The first step, which adds the others.
  void begin(kilter::graph& g, const std::function<bool(step_loops&)>& step) {
    g.add({.type = step_, .priority = kilter::priority::high},
          [this, &step](kilter::task_context& here) { run_step(here, step); });
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  void run_step(kilter::task_context& here, const std::function<bool(step_loops&)>& step) {
    here_ = &here;
    const auto begin = std::chrono::steady_clock::now();
    do {
      const bool more = step(*this);
      if (here.cancelled()) return;
      ++steps_;
      ended_ = !more;
    } while (!ended_ && std::chrono::steady_clock::now() - begin < short_time);
    if (ended_) return;
    kilter::batch next(here);
    next.add({.type = step_, .priority = kilter::priority::high},
             [this, &step](kilter::task_context& there) { run_step(there, step); });
    next.detach();
  }

  void run_blocks(std::size_t loop, std::size_t count,
                  const std::function<void(std::size_t)>& body) override {
    if (options_.cut == loop_cut::loop) {
      kilter::parallel_for(*here_, std::size_t{0}, count,
                           [&body](std::size_t block) { body(block); },
                           {.type = options_.loops[loop], .grain = 1});
      return;
    }
    kilter::batch blocks(*here_);
    for (std::size_t b = 0; b < count; ++b)
      blocks.add({.type = types_[loop]}, [&body, b] { body(b); });
    blocks.wait();
  }

  const step_options& options_;
  const kilter::task_type step_;
  std::vector<kilter::task_type> types_;
  kilter::task_context* here_ = nullptr;
  std::uint64_t steps_ = 0;
  bool ended_ = false;
};

}  // namespace

program_run run_in_steps(executor& how, const step_options& o,
                         const std::function<bool(step_loops&)>& step,
                         const std::function<bool()>& stopped) {
  const auto begin = std::chrono::steady_clock::now();
  program_run r{.begin = begin};
  const auto finish = [&](const step_loops& loops, std::uint64_t steps, bool complete) {
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    r.iterations = steps;
    r.tasks = loops.tasks();
    r.barriers = loops.barriers();
    r.complete = complete;
    return r;
  };
  if (kilter::runtime* const rt = how.tasks()) {
    kilter::graph g;
    loops_of_tasks loops(g, o);
    loops.begin(g, step);
    runs_to_its_end(rt->submit(g), stopped);
    return finish(loops, loops.steps(), loops.ended());
  }
  loops_of_threads loops(*how.loops());
  std::uint64_t steps = 0;
  for (bool more = true; more; ++steps) {
    if (stopped()) return finish(loops, steps, false);
    more = step(loops);
  }
  return finish(loops, steps, true);
}

}  // namespace kilter::apps
