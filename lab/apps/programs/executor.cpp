#include "apps/programs/executor.hpp"

#include <barrier>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kilter::apps {

namespace {

class one_thread final : public block_loop {
 public:
  void run(std::size_t blocks, const body& f) override {
    for (std::size_t b = 0; b < blocks; ++b) f(b, 0);
  }
};

/// The caller is thread 0.
class equal_shares final : public block_loop {
 public:
  explicit equal_shares(std::uint32_t threads) : threads_(threads), begin_(threads), end_(threads) {
    try {
      for (std::uint32_t t = 1; t < threads; ++t) others_.emplace_back([this, t] { serve(t); });
    } catch (...) {  // those that there are wait for those that there will not be
      for (std::size_t t = others_.size() + 1; t < threads; ++t) begin_.arrive_and_drop();
      let_go();
      throw;
    }
  }
  ~equal_shares() override { let_go(); }
  void run(std::size_t blocks, const body& f) override {
    blocks_ = blocks;
    body_ = &f;
    begin_.arrive_and_wait();
    share(0);
    end_.arrive_and_wait();
  }

 private:
  void let_go() noexcept {
    body_ = nullptr;
    begin_.arrive_and_wait();
  }
  void serve(std::uint32_t thread) {
    for (;;) {
      begin_.arrive_and_wait();
      if (!body_) return;
      share(thread);
      end_.arrive_and_wait();
    }
  }
  void share(std::uint32_t thread) {
    for (std::size_t b = blocks_ * thread / threads_; b < blocks_ * (thread + 1) / threads_; ++b)
      (*body_)(b, thread);
  }

  const std::uint32_t threads_;
  std::size_t blocks_ = 0;
  const body* body_ = nullptr;
  std::barrier<> begin_, end_;
  std::vector<std::jthread> others_;  // the last member: they use all others
};

bool has_runtime(execution_model m) {
  return m == execution_model::task || m == execution_model::kilter;
}

std::unique_ptr<block_loop> make_loop(execution_model m, std::uint32_t threads) {
  switch (m) {
    case execution_model::serial: return std::make_unique<one_thread>();
    case execution_model::static_threads: return std::make_unique<equal_shares>(threads);
    case execution_model::tbb_loop: return make_tbb_loop(threads);
    case execution_model::loop_static:
    case execution_model::loop_dynamic:
    case execution_model::omp_task: return make_openmp_loop(m, threads);
    case execution_model::task:
    case execution_model::kilter: break;  // they have a runtime
  }
  throw std::logic_error("a model with a runtime has no loop of its own");
}

// The machine was given to say how many cores, not whose.
runtime_options sharing_unless_said(runtime_options o) {
  if (!o.shares_cores) o.shares_cores = true;
  return o;
}

}  // namespace

executor::executor(execution_model m, runtime_options o)
    : model_(m), threads_(m == execution_model::serial ? 1 : o.machine->core_count()) {
  if (m == execution_model::task) {
    o.custom = nullptr;
    o.policy = "fifo";
  }
  if (has_runtime(m))
    tasks_ = std::make_unique<kilter::runtime>(sharing_unless_said(std::move(o)));
  else
    loops_ = make_loop(m, threads_);
}

executor::executor(runtime_options o, const kilter::detail::attachments& attached)
    : model_(execution_model::kilter),
      threads_(o.machine->core_count()),
      tasks_(std::make_unique<kilter::runtime>(sharing_unless_said(std::move(o)), attached)) {}

executor::~executor() = default;

bool runs_to_its_end(kilter::execution all, const std::function<bool()>& stopped) {
  do {
    if (stopped()) all.cancel();
  } while (!all.wait_for(std::chrono::milliseconds(50)));
  if (stopped()) return false;
  all.wait();
  return true;
}

}  // namespace kilter::apps
