#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "words/join.hpp"

namespace kilter::lab {

namespace {

template <class... F>
struct each : F... {
  using F::operator()...;
};
template <class... F>
each(F...) -> each<F...>;

std::string parts_text(const random_dag& r, std::string_view between, std::string_view next) {
  std::string text;
  for (const random_dag::part& p : r.kernels)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : next, p.kernel, between, p.tile);
  return text;
}

std::uint64_t tasks_of_all(const vgg16& v) {
  std::uint64_t tasks = 0;
  for (const gemm_layer& l : gemm_layers_of(v))
    tasks += v.chains ? 2 * tasks_of(v, l) + 1 : tasks_of(v, l);
  return tasks;
}

}  // namespace

task_graph build(graph& g, const workload& w, const sim::platform& p, body_runner* bodies) {
  return std::visit([&](const auto& one) { return build(g, one, p, bodies); }, w);
}

bool runs_natively(const workload& w) noexcept { return workload_catalogue()[w.index()].native; }

void set_seed(workload& w, std::uint64_t seed) noexcept {
  std::visit(
      each{[&](layered_work& l) { l.shape.seed = seed; }, [&](random_dag& r) { r.seed = seed; },
           [&](kmeans& k) { k.seed = seed; }, [](heat&) {}, [](vgg16&) {}, [](dag_work&) {}},
      w);
}

graph_size size_of(const workload& w) {
  return std::visit(
      each{[](const layered_work& l) {
             return graph_size{l.shape.tasks, static_cast<double>(l.shape.tasks)};
           },
           [](const random_dag& r) {
             return graph_size{
                 r.tasks, static_cast<double>(r.tasks) * std::min(random_reach, 2 * r.parallelism)};
           },
           [](const kmeans& k) {
             const std::uint64_t tasks = std::uint64_t{k.iterations} * k.tasks_per_iteration;
             return graph_size{tasks, static_cast<double>(tasks) * k.tasks_per_iteration};
           },
           [](const heat& h) {
             const std::uint32_t each = h.tasks_per_rank + (h.ranks > 1 ? 1 : 0);
             const std::uint64_t tasks = std::uint64_t{h.iterations} * h.ranks * each;
             return graph_size{tasks, 4.0 * static_cast<double>(tasks)};
           },
           [](const vgg16& v) {
             if (v.chains) {
               const std::uint64_t tasks = tasks_of_all(v);
               return graph_size{tasks, 1.5 * static_cast<double>(tasks)};
             }
             graph_size s;
             std::uint64_t before = 0;
             for (const gemm_layer& l : gemm_layers_of(v)) {
               const std::uint64_t tasks = tasks_of(v, l);
               s.tasks += tasks;
               s.most_edges += static_cast<double>(before) * static_cast<double>(tasks);
               before = tasks;
             }
             return s;
           },
           [](const dag_work& d) {
             return graph_size{d.what->tasks.size(), static_cast<double>(d.what->edges.size())};
           }},
      w);
}

std::string_view name_of(const workload& w) noexcept {
  return workload_catalogue()[w.index()].name;
}

std::string title_of(const workload& w) {
  return std::visit(
      each{
          [](const layered_work& l) {
            return fmt::format("layered DAG of {}, tile {}: {} tasks, parallelism {}", l.kernel,
                               l.tile, l.shape.tasks, l.shape.parallelism);
          },
          [](const random_dag& r) {
            return fmt::format("random DAG of {}: {} tasks, level width {}, edge rate {:g} %",
                               parts_text(r, " ", ", "), r.tasks, r.parallelism,
                               100.0 * r.edge_rate);
          },
          [](const kmeans& k) {
            return fmt::format(
                "k-means, {} points of {} features, {} clusters: {} iterations of {} tasks",
                k.points, k.features, k.clusters, k.iterations, k.tasks_per_iteration);
          },
          [](const heat& h) {
            if (h.ranks == 1)
              return fmt::format("2D heat, {} x {}: {} iterations of {} blocks", h.rows, h.columns,
                                 h.iterations, h.tasks_per_rank);
            return fmt::format(
                "2D heat, {} x {} on {} ranks{}: {} iterations of {} blocks and an exchange a rank",
                h.rows, h.columns, h.ranks, h.apart ? " with a runtime each" : "", h.iterations,
                h.tasks_per_rank);
          },
          [](const vgg16& v) {
            return fmt::format("VGG-16 of a {} x {} picture, block length {}: {} tasks", v.input,
                               v.input, v.block_length, tasks_of_all(v));
          },
          [](const dag_work& d) {
            return fmt::format(
                "graph {}: {} of {}, {}", d.from, counted(d.what->tasks.size(), "task"),
                counted(d.what->types.size(), "type"), counted(d.what->edges.size(), "edge"));
          }},
      w);
}

nlohmann::ordered_json config_of(const workload& w) {
  using json = nlohmann::ordered_json;
  json config =
      std::visit(each{[](const layered_work& l) {
                        return json{{"workload", ""},
                                    {"kernel", l.kernel},
                                    {"tile", l.tile},
                                    {"sweeps", l.sweeps},
                                    {"tasks", l.shape.tasks},
                                    {"parallelism", l.shape.parallelism},
                                    {"longest_path", longest_path(l.shape)}};
                      },
                      [](const random_dag& r) {
                        json c{{"workload", ""},
                               {"kernel", r.kernels.size() == 1 ? r.kernels[0].kernel : "mix"}};
                        c["tile"] = r.kernels.size() == 1 ? json(r.kernels[0].tile)
                                                          : json(parts_text(r, "=", ","));
                        c["tasks"] = r.tasks;
                        c["parallelism"] = r.parallelism;
                        c["edge_rate"] = r.edge_rate;
                        return c;
                      },
                      [](const kmeans& k) {
                        return json{{"workload", ""},
                                    {"points", k.points},
                                    {"features", k.features},
                                    {"clusters", k.clusters},
                                    {"iterations", k.iterations},
                                    {"tasks_per_iteration", k.tasks_per_iteration},
                                    {"critical_factor", k.critical_factor}};
                      },
                      [](const heat& h) {
                        return json{{"workload", ""},
                                    {"rows", h.rows},
                                    {"columns", h.columns},
                                    {"ranks", h.ranks},
                                    {"tasks_per_rank", h.tasks_per_rank},
                                    {"iterations", h.iterations},
                                    {"nodes", h.apart ? "apart" : "shared"}};
                      },
                      [](const vgg16& v) {
                        return json{{"workload", ""},
                                    {"input", v.input},
                                    {"block_length", v.block_length},
                                    {"tasks_of_block", v.chains ? "chain" : "one"}};
                      },
                      [](const dag_work& d) {
                        return json{{"workload", ""},
                                    {"file", d.from},
                                    {"like", d.like},
                                    {"scale", d.scale},
                                    {"widths", widths_text(d.widths)},
                                    {"edges", d.what->edges.size()}};
                      }},
                 w);
  config["workload"] = name_of(w);
  config["tasks"] = size_of(w).tasks;
  return config;
}

}  // namespace kilter::lab
