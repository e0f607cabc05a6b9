// OpenMP tasks. The threads of a team belong to the thread that forms it, so a contender's calls must come from one thread.

#include <omp.h>

#include "peers/affinity.hpp"
#include "peers/peer.hpp"

namespace kilter::bench {

namespace {

class openmp final : public contender {
 public:
  explicit openmp(const threads& t) : threads_(t), count_(static_cast<int>(t.cpus.size())) {
    omp_set_dynamic(0);
    omp_set_num_threads(count_);
#pragma omp parallel
    {
      if (threads_.pinned)
        restrict_thread({threads_.cpus[static_cast<std::size_t>(omp_get_thread_num())]});
      else
        restrict_thread(threads_.cpus);
    }
  }

  void build(const dag& d, const workload& w) override {
    work_ = &w;
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
#pragma omp parallel
#pragma omp single
    for (const std::uint32_t root : roots_) spawn(root);
  }
  void clear() override {
    roots_.clear();
    first_child_.clear();
  }

 private:
  void spawn(std::uint32_t i) {
#pragma omp task firstprivate(i)
    {
      if (!work_->empty()) work_->run(i);
      for (std::uint32_t child = first_child_[i]; child < first_child_[i + 1]; ++child) spawn(child);
    }
  }

  threads threads_;
  int count_;
  const workload* work_ = nullptr;
  std::vector<std::uint32_t> roots_;
  std::vector<std::uint32_t> first_child_;  // task i's children are [i], .. [i + 1] - 1
};

}  // namespace

std::unique_ptr<contender> make_openmp(const threads& t) { return std::make_unique<openmp>(t); }
std::string openmp_version() { return std::to_string(_OPENMP); }

}  // namespace kilter::bench
