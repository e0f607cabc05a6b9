#include "apps/programs/executor.hpp"
#include "kilter/error.hpp"

#ifdef KILTER_HAS_TBB

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace kilter::apps {

namespace {

class tbb_loop final : public block_loop {
 public:
  explicit tbb_loop(std::uint32_t threads)
      : limit_(tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads)) {
    arena_.initialize();
    // so that its threads are there
    arena_.execute([] { tbb::parallel_for(0, 1000, [](int) {}); });
  }

  void run(std::size_t blocks, const body& f) override {
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, blocks),
                        [&](const tbb::blocked_range<std::size_t>& part) {
                          const auto thread = static_cast<std::uint32_t>(
                              tbb::this_task_arena::current_thread_index());
                          for (std::size_t b = part.begin(); b < part.end(); ++b) f(b, thread);
                        });
    });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace

bool has_tbb() noexcept { return true; }
std::unique_ptr<block_loop> make_tbb_loop(std::uint32_t threads) {
  return std::make_unique<tbb_loop>(threads);
}

}  // namespace kilter::apps

#else

namespace kilter::apps {

bool has_tbb() noexcept { return false; }
std::unique_ptr<block_loop> make_tbb_loop(std::uint32_t) {
  throw input_error("model tbb-loop: this kilter was built without oneTBB (Debian: libtbb-dev)");
}

}  // namespace kilter::apps

#endif
