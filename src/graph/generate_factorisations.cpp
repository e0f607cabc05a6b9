// Dense factorisations of a matrix of n x n tiles of b x b numbers. Their tasks cost what their flops are; the costliest one has cost 1.
// Source of the algorithms and of the flops (in b^3 / 3): Buttari, Langou, Kurzak, Dongarra, "A class of parallel tiled linear algebra
// algorithms for multicore architectures", Parallel Computing 35 (2009).

#include <vector>

#include "graph/generator.hpp"

namespace kilter::dags {

namespace {

/// The task that wrote a tile last; a task follows those that wrote what it reads or writes.
class tile_writers {
 public:
  explicit tile_writers(std::uint64_t n) : n_(n), last_(n * n, none) {}
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t& at(std::uint64_t row, std::uint64_t column) { return last_[row * n_ + column]; }

 private:
  std::uint64_t n_;
  std::vector<std::uint32_t> last_;
};

void follow(dag_maker& made, std::uint32_t task, std::initializer_list<std::uint32_t> writers) {
  for (const std::uint32_t w : writers)
    if (w != tile_writers::none) made.edge(w, task);
}

}  // namespace

// for k: potrf(k,k); for i > k: trsm(i,k); for i > k: syrk(i,i,k); for i > j > k: gemm(i,j,k)
dag make_cholesky(generator_options& o) {
  const auto n = o.count_for_tasks("n", 20, 1, [](double k) { return k * (k + 1) * (k + 2) / 6; });
  dag_maker made(o);
  const std::uint32_t potrf = made.type("potrf"), trsm = made.type("trsm"), syrk = made.type("syrk"), gemm = made.type("gemm");
  tile_writers tile(n);
  const auto put = [&](std::uint32_t type, std::string id, double relative, std::uint32_t& target, std::initializer_list<std::uint32_t> read) {
    const std::uint32_t t = made.task(type, std::move(id), relative);
    follow(made, t, read);
    follow(made, t, {target});
    target = t;
  };
  for (std::uint64_t k = 0; k < n; ++k) {
    put(potrf, task_id("potrf", {k}), 1.0 / 6, tile.at(k, k), {});
    for (std::uint64_t i = k + 1; i < n; ++i) put(trsm, task_id("trsm", {i, k}), 0.5, tile.at(i, k), {tile.at(k, k)});
    for (std::uint64_t i = k + 1; i < n; ++i) {
      put(syrk, task_id("syrk", {i, k}), 0.5, tile.at(i, i), {tile.at(i, k)});
      for (std::uint64_t j = k + 1; j < i; ++j) put(gemm, task_id("gemm", {i, j, k}), 1.0, tile.at(i, j), {tile.at(i, k), tile.at(j, k)});
    }
  }
  return made.finish();
}

}  // namespace kilter::dags
