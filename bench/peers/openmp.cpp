// OpenMP tasks. The threads of a team belong to the thread that forms it, so a contender's calls
// must come from one thread.

#include <omp.h>

#include "peers/affinity.hpp"
#include "peers/loops.hpp"
#include "peers/peer.hpp"

namespace kilter::bench {

namespace {

/// A team whose threads exist and are where they may be.
void form_team(const threads& t) {
  omp_set_dynamic(0);
  omp_set_num_threads(static_cast<int>(t.cpus.size()));
#pragma omp parallel
  {
    if (t.pinned)
      restrict_thread({t.cpus[static_cast<std::size_t>(omp_get_thread_num())]});
    else
      restrict_thread(t.cpus);
  }
}

class openmp final : public contender {
 public:
  explicit openmp(const threads& t) : count_(static_cast<int>(t.cpus.size())) { form_team(t); }

  void build(const dag& d, const workload& w) override {
    work_ = &w;
    layers_of_ = d.barrier;
    tasks_ = d.size();
    if (d.barrier > 0) return;
    roots_.clear();
    first_child_.assign(d.size() + 1, 0);
    // Roots come first and parents ascend, so the children of a task are neighbours.
    for (std::uint32_t i = 0; i < d.size(); ++i) {
      if (d.parent[i] == dag::none)
        roots_.push_back(i);
      else
        ++first_child_[d.parent[i] + 1];
    }
    first_child_[0] = static_cast<std::uint32_t>(roots_.size());
    for (std::uint32_t i = 0; i < d.size(); ++i) first_child_[i + 1] += first_child_[i];
  }
  void run(core_id) override {
    omp_set_num_threads(count_);
    if (layers_of_ > 0) {
      loops();
      return;
    }
#pragma omp parallel
#pragma omp single
    for (const std::uint32_t root : roots_) spawn(root);
  }
  void clear() override {
    roots_.clear();
    first_child_.clear();
  }

 private:
  void loops() {
#pragma omp parallel
    for (std::uint32_t first = 0; first < tasks_; first += layers_of_)
#pragma omp for schedule(dynamic, 1)
      for (std::uint32_t i = first; i < first + layers_of_; ++i) work_->run(i);
  }
  void spawn(std::uint32_t i) {
#pragma omp task firstprivate(i)
    {
      if (!work_->empty()) work_->run(i);
      for (std::uint32_t child = first_child_[i]; child < first_child_[i + 1]; ++child)
        spawn(child);
    }
  }

  int count_;
  std::uint32_t layers_of_ = 0, tasks_ = 0;
  const workload* work_ = nullptr;
  std::vector<std::uint32_t> roots_;
  std::vector<std::uint32_t> first_child_;  // task i's children are [i], .. [i + 1] - 1
};

class openmp_loops final : public loop_contender {
 public:
  openmp_loops(const threads& t, omp_schedule s, loop_arrays& a)
      : count_(static_cast<int>(t.cpus.size())), schedule_(s), arrays_(a) {
    form_team(t);
  }

  std::uint64_t run(loop_sort what) override {
    omp_set_num_threads(count_);
    return what == loop_sort::light ? light() : stream();
  }

 private:
  std::uint64_t light() {
    const std::size_t n = arrays_.n;
    std::uint64_t sum = 0;
    switch (schedule_) {
      case omp_schedule::equal:
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (std::size_t i = 0; i < n; ++i) sum += loop_arrays::light(i);
        break;
      case omp_schedule::dynamic:
#pragma omp parallel for schedule(dynamic, 65536) reduction(+ : sum)
        for (std::size_t i = 0; i < n; ++i) sum += loop_arrays::light(i);
        break;
      case omp_schedule::guided:
#pragma omp parallel for schedule(guided) reduction(+ : sum)
        for (std::size_t i = 0; i < n; ++i) sum += loop_arrays::light(i);
        break;
    }
    return sum;
  }
  std::uint64_t stream() {
    const std::size_t n = arrays_.n;
    float* const x = arrays_.x.data();
    const float* const y = arrays_.y.data();
    switch (schedule_) {
      case omp_schedule::equal:
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < n; ++i) x[i] = x[i] * 0.5f + y[i];
        break;
      case omp_schedule::dynamic:
#pragma omp parallel for schedule(dynamic, 65536)
        for (std::size_t i = 0; i < n; ++i) x[i] = x[i] * 0.5f + y[i];
        break;
      case omp_schedule::guided:
#pragma omp parallel for schedule(guided)
        for (std::size_t i = 0; i < n; ++i) x[i] = x[i] * 0.5f + y[i];
        break;
    }
    return 0;
  }

  int count_;
  omp_schedule schedule_;
  loop_arrays& arrays_;
};

}  // namespace

std::unique_ptr<loop_contender> make_openmp_loops(const threads& t, omp_schedule s,
                                                  loop_arrays& a) {
  return std::make_unique<openmp_loops>(t, s, a);
}
std::unique_ptr<contender> make_openmp(const threads& t) { return std::make_unique<openmp>(t); }
std::string openmp_version() { return std::to_string(_OPENMP); }

}  // namespace kilter::bench
