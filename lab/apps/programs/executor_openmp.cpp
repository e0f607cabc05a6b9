#include <algorithm>

#include <omp.h>

#include "apps/programs/executor.hpp"

namespace kilter::apps {

namespace {

class openmp_loop final : public block_loop {
 public:
  openmp_loop(execution_model m, std::uint32_t threads)
      : model_(m), threads_(static_cast<int>(threads)) {}

  void run(std::size_t blocks, const body& f) override {
    if (model_ == execution_model::loop_static) {
#pragma omp parallel for schedule(static) num_threads(threads_)
      for (std::size_t b = 0; b < blocks; ++b) f(b, thread());
    } else if (model_ == execution_model::loop_dynamic) {
      const std::size_t at_a_time =
          std::max<std::size_t>(1, blocks / (16 * static_cast<std::size_t>(threads_)));
#pragma omp parallel for schedule(dynamic, at_a_time) num_threads(threads_)
      for (std::size_t b = 0; b < blocks; ++b) f(b, thread());
    } else {
#pragma omp parallel num_threads(threads_)
#pragma omp single
      for (std::size_t b = 0; b < blocks; ++b) {
#pragma omp task firstprivate(b)
        f(b, thread());
      }
    }
  }

 private:
  static std::uint32_t thread() noexcept {
    return static_cast<std::uint32_t>(omp_get_thread_num());
  }

  const execution_model model_;
  const int threads_;
};

}  // namespace

std::unique_ptr<block_loop> make_openmp_loop(execution_model m, std::uint32_t threads) {
  return std::make_unique<openmp_loop>(m, threads);
}

}  // namespace kilter::apps
