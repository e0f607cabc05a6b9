// Dense factorisations of a matrix of n x n tiles of b x b numbers. Their tasks cost what their
// flops are; the costliest one has cost 1. Source of the algorithms and of the flops (in b^3 / 3):
// Buttari, Langou, Kurzak, Dongarra, "A class of parallel tiled linear algebra algorithms for
// multicore architectures", Parallel Computing 35 (2009).

#include <vector>

#include "graph/generator.hpp"

namespace kilter::dags {

namespace {

/// Puts tasks in the order of a sequential program; each follows the tasks that last wrote the
/// tiles that it reads or writes.
class tiled_program {
 public:
  using tile = std::uint32_t;  ///< the task that wrote it last

  tiled_program(generator_options& o, std::uint64_t n) : made_(o), n_(n), last_(n * n, nobody) {}
  std::uint32_t type(const char* name) { return made_.type(name); }
  tile& at(std::uint64_t row, std::uint64_t column) { return last_[row * n_ + column]; }
  void run(std::uint32_t type, std::initializer_list<std::uint64_t> indices, double relative,
           std::initializer_list<tile> read, std::initializer_list<tile*> written) {
    const std::uint32_t task =
        made_.task(type, task_id(made_.graph().types[type].name, indices), relative);
    for (const tile r : read) follow(task, r);
    for (tile* w : written) {
      follow(task, *w);
      *w = task;
    }
  }
  dag finish() { return made_.finish(); }

 private:
  static constexpr tile nobody = ~tile{0};
  void follow(std::uint32_t task, tile writer) {
    if (writer != nobody) made_.edge(writer, task);
  }

  dag_maker made_;
  std::uint64_t n_;
  std::vector<tile> last_;
};

}  // namespace

// for k: potrf(k,k); for i > k: trsm(i,k); for i > k: syrk(i,i,k), for i > j > k: gemm(i,j,k)
dag make_cholesky(generator_options& o) {
  const auto n = o.count_for_tasks("n", 20, 1, [](double k) { return k * (k + 1) * (k + 2) / 6; });
  tiled_program p(o, n);
  const auto potrf = p.type("potrf"), trsm = p.type("trsm"), syrk = p.type("syrk"),
             gemm = p.type("gemm");
  for (std::uint64_t k = 0; k < n; ++k) {
    p.run(potrf, {k}, 1.0 / 6, {}, {&p.at(k, k)});
    for (std::uint64_t i = k + 1; i < n; ++i) p.run(trsm, {i, k}, 0.5, {p.at(k, k)}, {&p.at(i, k)});
    for (std::uint64_t i = k + 1; i < n; ++i) {
      p.run(syrk, {i, k}, 0.5, {p.at(i, k)}, {&p.at(i, i)});
      for (std::uint64_t j = k + 1; j < i; ++j)
        p.run(gemm, {i, j, k}, 1.0, {p.at(i, k), p.at(j, k)}, {&p.at(i, j)});
    }
  }
  return p.finish();
}

// for k: getrf(k,k); for i > k: trsm of row k and of column k; for i, j > k: gemm(i,j,k). No
// pivoting.
dag make_lu(generator_options& o) {
  const auto n =
      o.count_for_tasks("n", 14, 1, [](double k) { return k * (k + 1) * (2 * k + 1) / 6; });
  tiled_program p(o, n);
  const auto getrf = p.type("getrf"), trsm_row = p.type("trsm_row"),
             trsm_column = p.type("trsm_column"), gemm = p.type("gemm");
  for (std::uint64_t k = 0; k < n; ++k) {
    p.run(getrf, {k}, 1.0 / 3, {}, {&p.at(k, k)});
    for (std::uint64_t j = k + 1; j < n; ++j)
      p.run(trsm_row, {k, j}, 0.5, {p.at(k, k)}, {&p.at(k, j)});
    for (std::uint64_t i = k + 1; i < n; ++i)
      p.run(trsm_column, {i, k}, 0.5, {p.at(k, k)}, {&p.at(i, k)});
    for (std::uint64_t i = k + 1; i < n; ++i)
      for (std::uint64_t j = k + 1; j < n; ++j)
        p.run(gemm, {i, j, k}, 1.0, {p.at(i, k), p.at(k, j)}, {&p.at(i, j)});
  }
  return p.finish();
}

// for k: geqrt(k,k); for j > k: unmqr(k,j); for i > k: tsqrt(i,k), for j > k: tsmqr(i,j,k)
// unmqr reads the lower triangle of (k,k), tsqrt changes the upper one: neither waits for the
// other.
dag make_qr(generator_options& o) {
  const auto n =
      o.count_for_tasks("n", 14, 1, [](double k) { return k * (k + 1) * (2 * k + 1) / 6; });
  tiled_program p(o, n);
  const auto geqrt = p.type("geqrt"), unmqr = p.type("unmqr"), tsqrt = p.type("tsqrt"),
             tsmqr = p.type("tsmqr");
  for (std::uint64_t k = 0; k < n; ++k) {
    p.run(geqrt, {k}, 1.0 / 3, {}, {&p.at(k, k)});
    for (std::uint64_t j = k + 1; j < n; ++j)
      p.run(unmqr, {k, j}, 0.5, {p.at(k, k)}, {&p.at(k, j)});
    for (std::uint64_t i = k + 1; i < n; ++i) {
      p.run(tsqrt, {i, k}, 0.5, {}, {&p.at(k, k), &p.at(i, k)});
      for (std::uint64_t j = k + 1; j < n; ++j)
        p.run(tsmqr, {i, j, k}, 1.0, {p.at(i, k)}, {&p.at(k, j), &p.at(i, j)});
    }
  }
  return p.finish();
}

}  // namespace kilter::dags
