#include "lab/measuring/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <utility>

#include "base/installation.hpp"
#include "kilter/error.hpp"
#include "lab/measuring/rates.hpp"
#include "lab/measuring/simulation.hpp"
#include "lab/words/numbers.hpp"

namespace kilter::lab {

namespace {

bool planned(std::string_view policy) { return policy == "heft" || policy == "cpop"; }

/// Recorded workflows too: the matrix compares where policies put tasks that any number of cores can share.
constexpr const char* all_widths = "all";

constexpr const char* true_costs_suffix = " (true costs)";

/// Those of `known` that the lists name; all of them if there is none.
std::vector<std::string> chosen(std::string_view what, const std::vector<std::string>& lists, const std::vector<std::string>& known) {
  if (lists.empty()) return known;
  const std::vector<std::string_view> choices(known.begin(), known.end());
  std::vector<std::string> all;
  for (const std::string& list : lists)
    for (const std::string_view name : split_list(list)) all.push_back(known[parse_choice(what, name, choices)]);
  return all;
}

/// Seconds in which the platform can do the graph, undisturbed.
double undisturbed_bound_s(const dag_work& w, const sim::platform& p) {
  graph g;
  const task_graph made = build(g, w, p);
  const auto rates = simulated_rates(p, made.types, {}, false, made.widths);
  const mixed_tasks mix(g, p, made.types, rates);
  const speed all = speed_from({mix.rates(rates)});
  return std::max(static_cast<double>(mix.tasks()) / all.capacity_per_s, static_cast<double>(mix.path_tasks()) / all.freest_per_s);
}

/// The same on equal cores that take for a task what is recorded.
double recorded_bound_s(const dag& d, std::uint32_t cores) {
  std::vector<double> begin_s(d.tasks.size(), 0.0);
  double work_s = 0.0, path_s = 0.0;
  std::size_t edge = 0;
  for (std::uint32_t t = 0; t < d.tasks.size(); ++t) {
    const double own_s = recorded_s(d, t), end_s = begin_s[t] + own_s;
    work_s += own_s;
    path_s = std::max(path_s, end_s);
    for (; edge < d.edges.size() && d.edges[edge].from == t; ++edge) begin_s[d.edges[edge].to] = std::max(begin_s[d.edges[edge].to], end_s);
  }
  return std::max(work_s / cores, path_s);
}

/// Three digits, so that it can be typed.
std::string scale_for(double bound_s, double wanted_s) { return fmt::format("{:.3g}", wanted_s / bound_s); }

}  // namespace

std::vector<matrix_graph> matrix_graphs(std::uint64_t tasks) {
  std::vector<matrix_graph> all;
  for (const char* width : {"2", "4", "16"}) all.push_back({fmt::format("layered-{}", width), fmt::format("layered:tasks={},p={}", tasks, width)});
  all.push_back({"random", fmt::format("random:tasks={}", tasks)});
  all.push_back({"topcuoglu", fmt::format("topcuoglu:tasks={},ccr=0", tasks)});
  for (const char* name : {"cholesky", "lu", "qr", "fft", "gauss", "wavefront", "fork-join", "pipeline", "tree"})
    all.push_back({name, fmt::format("{}:tasks={}", name, tasks)});
  for (const auto& [name, file] :
       {std::pair{"epigenomics", "epigenomics-chameleon-hep-2seq-50k-001"}, {"montage-005d", "montage-chameleon-2mass-005d-001"},
        {"montage-02d", "montage-chameleon-2mass-02d-001"}, {"rnaseq", "rnaseq-dirt02-001"}, {"sarek", "sarek-dirt02-001"},
        {"soykb", "soykb-chameleon-10fastq-10ch-001"}})
    all.push_back({name, std::string(file) + ".json"});
  return all;
}

const std::vector<std::string>& matrix_platforms() {
  static const std::vector<std::string> all{"jetson-tx2", "odroid-xu3", "haswell-16", "intel-i7-1370p", "nvidia-gb10", "server-2x32"};
  return all;
}

const std::vector<std::string>& matrix_disturbances() {
  static const std::vector<std::string> all{"none", "cpu", "share", "wave", "offline", "quota"};
  return all;
}

std::string matrix_disturbance(const std::string& kind, const machine& m) {
  const cluster& fastest = m.clusters().front();
  const auto cores = [&](std::uint32_t count) {
    return count == 1 ? fmt::format("{}", fastest.first) : fmt::format("{}-{}", fastest.first, fastest.first + count - 1);
  };
  if (kind == "cpu") return "cpu@0";
  if (kind == "share") return fmt::format("share@{}:50%", cores(std::max(1u, fastest.size / 2)));
  if (kind == "wave") return fmt::format("wave@{}:17%,0.1", cores(fastest.size));
  if (kind == "offline") return "offline@0@25%..50%";
  return "quota@all:60%";
}

std::string workflows_directory() {
  if (const char* own = std::getenv("KILTER_WORKFLOWS"); own && *own) return own;
  for (std::string& directory : kilter::detail::data_directories("workflows", KILTER_SOURCE_WORKFLOWS))
    if (std::filesystem::is_directory(directory)) return std::move(directory);
  return "";
}

const compare_row* matrix_cell::best() const {
  const auto found = std::ranges::min_element(rows, {}, &compare_row::makespan_s);
  return found == rows.end() ? nullptr : &*found;
}

matrix::matrix(const matrix_arguments& a, bool quiet) : arguments_(a) {
  const std::uint64_t tasks = parse_count("--tasks", a.tasks, 10, 1'000'000);
  (void)parse_count("--seeds", a.seeds, 1, most_repeats);
  const auto threads = static_cast<std::uint32_t>(parse_count("--threads", a.threads, 1, 256));
  std::vector<std::string> names, online, all_planned;
  const std::vector<matrix_graph> graphs = matrix_graphs(tasks);
  for (const matrix_graph& g : graphs) names.push_back(g.name);
  for (const policy_info& info : policy_catalogue()) (planned(info.name) ? all_planned : online).emplace_back(info.name);
  std::vector<std::string> every = online;
  every.insert(every.end(), all_planned.begin(), all_planned.end());
  std::erase(all_planned, "cpop");
  for (const std::string& policy : a.policies.empty() ? std::vector<std::string>{} : chosen("policy", a.policies, every)) (planned(policy) ? planned_ : online_).push_back(policy);
  if (a.policies.empty()) {
    online_ = online;
    planned_ = all_planned;
  }
  if (online_.empty() || online_.front() != "rws") {
    std::erase(online_, "rws");
    online_.insert(online_.begin(), "rws");
  }
  kinds_ = chosen("disturbance", a.disturb, matrix_disturbances());
  std::vector<std::string> machines = matrix_platforms();
  machines.push_back("native");
  const std::vector<std::string> on = a.on.empty() ? matrix_platforms() : chosen("machine", a.on, machines);
  const std::vector<std::string> wanted = chosen("graph", a.graphs, names);
  const std::string folder = a.workflows.empty() ? workflows_directory() : a.workflows;
  for (matrix_graph g : graphs) {
    if (std::ranges::find(wanted, g.name) == wanted.end()) continue;
    if (g.from.ends_with(".json")) {
      const auto path = std::filesystem::path(folder) / g.from;
      if (!std::filesystem::exists(path))
        throw input_error(fmt::format("there is no {}; set KILTER_WORKFLOWS to the folder of the recorded workflows, or leave {} out with --graphs",
                                      path.string(), g.name));
      g.from = path.string();
    }
    for (const std::string& machine : on) {
      pairs_.push_back({g, machine});
      if (machine != "native" && std::ranges::find(planned_, "heft") != planned_.end()) pairs_.push_back({g, machine, true});
    }
  }
  std::vector<comparison::planned> all;
  for (const pair& one : pairs_) all.emplace_back([this, &one] { return plan_one(one); });
  const bool native = std::ranges::find(on, "native") != on.end();
  progress_ = std::make_unique<progress>(pairs_.size(), quiet);
  work_ = std::make_unique<comparison>(std::move(all), native ? 1 : threads, *progress_);
}

void matrix::run() {
  work_->run();
  progress_->clear();
}

experiment matrix::plan_one(const pair& one) const {
  const bool native = one.on == "native";
  bench_arguments a;
  a.workload = "graph";
  a.on = native ? one.on : "sim:" + one.on;
  a.details = false;
  a.seed = arguments_.seed;
  a.repeat = arguments_.seeds;
  a.policies = one.true_costs ? std::vector<std::string>{"heft"} : online_;
  if (!one.true_costs) a.policies.insert(a.policies.end(), planned_.begin(), planned_.end());
  a.costs = one.true_costs ? "true" : "stale";
  const dag_work data = load_dag_work(one.graph.from, "matmul", 1.0, all_widths);
  a.criticality = criticality_for(*data.what);
  std::shared_ptr<const machine> cores;
  if (native) {
    cores = local_machine("", false);
    a.parameters["scale"] = scale_for(recorded_bound_s(*data.what, cores->core_count()), matrix_native_run_s);
  } else {
    const sim::platform p = sim::platform::load(one.on);
    cores = p.cores;
    a.parameters["scale"] = scale_for(undisturbed_bound_s(data, p), matrix_run_s);
  }
  a.parameters["file"] = one.graph.from;
  a.parameters["widths"] = all_widths;
  for (const std::string& kind : kinds_)
    if (kind != "none" && !(native && (kind == "share" || kind == "offline"))) a.disturb.push_back(matrix_disturbance(kind, *cores));
  return kilter::lab::plan(a);
}

std::vector<matrix_cell> matrix::cells() const {
  const comparison::outcome known = work_->result();
  std::vector<matrix_cell> all;
  const auto cell_of = [&](const pair& p, const compare_row& r) -> matrix_cell& {
    const std::string kind = r.disturb.substr(0, r.disturb.find('@'));
    const auto found = std::ranges::find_if(all, [&](const matrix_cell& c) { return c.graph == p.graph.name && c.on == p.on && c.kind == kind; });
    return found != all.end() ? *found : all.emplace_back(matrix_cell{.graph = p.graph.name, .on = p.on, .kind = kind, .disturb = r.disturb});
  };
  for (std::size_t i = 0; i < pairs_.size(); ++i)
    for (compare_row row : known.rows[i]) {
      if (std::ranges::find(kinds_, row.disturb.substr(0, row.disturb.find('@'))) == kinds_.end()) continue;
      matrix_cell& cell = cell_of(pairs_[i], row);
      row.graph = pairs_[i].graph.name;
      row.on = pairs_[i].on;
      if (pairs_[i].true_costs) row.policy += true_costs_suffix;
      (planned(row.policy.substr(0, row.policy.find(' '))) ? cell.bounds : cell.rows).push_back(std::move(row));
    }
  for (matrix_cell& cell : all)
    if (!cell.rows.empty() && cell.rows.front().policy == "rws")
      for (compare_row& bound : cell.bounds) bound.ratio_to_rws = cell.rows.front().makespan_s / bound.makespan_s;
  return all;
}

}  // namespace kilter::lab
