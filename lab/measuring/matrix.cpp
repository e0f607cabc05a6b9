#include "measuring/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>
#include <utility>

#include "base/installation.hpp"
#include "kilter/error.hpp"
#include "measuring/rates.hpp"
#include "measuring/rows.hpp"
#include "measuring/simulation.hpp"
#include "words/numbers.hpp"

namespace kilter::lab {

namespace {

constexpr std::array disturbed{disturbance_kind::cpu, disturbance_kind::share,
                               disturbance_kind::wave, disturbance_kind::offline,
                               disturbance_kind::quota};

std::vector<core_id> cores_of(const machine& m) {
  std::vector<core_id> all(m.core_count());
  std::iota(all.begin(), all.end(), core_id{0});
  return all;
}

/// Recorded workflows too: the matrix compares where policies put tasks that any number of cores
/// can share.
constexpr const char* all_widths = "all";

constexpr const char* true_costs_suffix = " (true costs)";

/// Those of `known` that the lists name; all of them if there is none.
std::vector<std::string> chosen(std::string_view what, const std::vector<std::string>& lists,
                                const std::vector<std::string>& known) {
  if (lists.empty()) return known;
  const std::vector<std::string_view> choices(known.begin(), known.end());
  std::vector<std::string> all;
  for (const std::string& list : lists)
    for (const std::string_view name : split_list(list))
      all.push_back(known[parse_choice(what, name, choices)]);
  return all;
}

/// Where the lists say. Platforms are read to see that they can be: the first run may be hours
/// before the last.
std::vector<engine_choice> machines_of(const std::vector<std::string>& lists) {
  std::vector<engine_choice> all;
  for (const std::string& list : lists)
    for (const std::string_view text : split_list(list)) {
      engine_choice on = read_engine("--on", text);
      if (on.ideal || on.emulated)
        throw input_error(fmt::format(
            "--on '{}': the matrix has native and sim:PLATFORM, as sim:jetson-tx2", text));
      if (!on.native()) (void)platform_of(on);
      all.push_back(std::move(on));
    }
  return all;
}

/// Seconds in which the platform can do the graph, undisturbed.
double undisturbed_bound_s(const dag_work& w, const sim::platform& p) {
  graph g;
  const task_graph made = build(g, w, p);
  const auto rates = simulated_rates(p, made.types, {}, false, made.widths);
  const mixed_tasks mix(g, p, made.types, rates);
  const speed all = speed_from({mix.rates(rates)});
  return std::max(static_cast<double>(mix.tasks()) / all.capacity_per_s,
                  static_cast<double>(mix.path_tasks()) / all.freest_per_s);
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
    for (; edge < d.edges.size() && d.edges[edge].from == t; ++edge)
      begin_s[d.edges[edge].to] = std::max(begin_s[d.edges[edge].to], end_s);
  }
  return std::max(work_s / cores, path_s);
}

/// Three digits, so that it can be typed.
double scale_for(double bound_s, double wanted_s) {
  return std::stod(fmt::format("{:.3g}", wanted_s / bound_s));
}

}  // namespace

std::vector<matrix_graph> matrix_graphs(std::uint64_t tasks) {
  std::vector<matrix_graph> all;
  for (const char* width : {"2", "4", "16"})
    all.push_back(
        {fmt::format("layered-{}", width), fmt::format("layered:tasks={},p={}", tasks, width)});
  all.push_back({"random", fmt::format("random:tasks={}", tasks)});
  all.push_back({"topcuoglu", fmt::format("topcuoglu:tasks={},ccr=0", tasks)});
  for (const char* name :
       {"cholesky", "lu", "qr", "fft", "gauss", "wavefront", "fork-join", "pipeline", "tree"})
    all.push_back({name, fmt::format("{}:tasks={}", name, tasks)});
  for (const auto& [name, file] :
       {std::pair{"epigenomics", "epigenomics-chameleon-hep-2seq-50k-001"},
        {"montage-005d", "montage-chameleon-2mass-005d-001"},
        {"montage-02d", "montage-chameleon-2mass-02d-001"},
        {"rnaseq", "rnaseq-dirt02-001"},
        {"sarek", "sarek-dirt02-001"},
        {"soykb", "soykb-chameleon-10fastq-10ch-001"}})
    all.push_back({name, std::string(file) + ".json.gz"});
  return all;
}

const std::vector<std::string>& matrix_platforms() {
  static const std::vector<std::string> all{"sim:jetson-tx2",  "sim:odroid-xu3",
                                            "sim:haswell-16",  "sim:intel-i7-1370p",
                                            "sim:nvidia-gb10", "sim:server-2x32"};
  return all;
}

const std::vector<std::string>& matrix_disturbances() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"none"};
    for (const disturbance_kind kind : disturbed) names.emplace_back(name_of(kind));
    return names;
  }();
  return all;
}

disturbance matrix_disturbance(disturbance_kind kind, const machine& m) {
  using enum disturbance_kind;
  const cluster& fastest = m.clusters().front();
  const auto cores = [&](std::uint32_t count) {
    std::vector<core_id> first(count);
    std::iota(first.begin(), first.end(), fastest.first);
    return first;
  };
  switch (kind) {
    case share: return {.kind = kind, .cores = cores(std::max(1u, fastest.size / 2)), .share = 0.5};
    case wave:
      return {.kind = kind, .cores = cores(fastest.size), .share = 0.17, .half_period_s = 0.1};
    case offline:
      return {.kind = kind,
              .cores = {0},
              .window = disturbance_window{.from = 0.25, .to = 0.5, .fractions = true}};
    case quota: return {.kind = kind, .cores = cores_of(m), .share = 0.6};
    case cpu:
    case mem:
    case session:
    case floating:
    case freq: break;
  }
  return {.kind = kind, .cores = {0}};
}

std::string workflows_directory() {
  if (const char* own = std::getenv("KILTER_WORKFLOWS"); own && *own) return own;
  for (std::string& directory :
       kilter::detail::data_directories("workflows", KILTER_SOURCE_WORKFLOWS))
    if (std::filesystem::is_directory(directory)) return std::move(directory);
  return "";
}

const result_row* matrix_cell::best() const {
  const auto found = std::ranges::min_element(rows, {}, &result_row::makespan_s);
  return found == rows.end() ? nullptr : &*found;
}

matrix::matrix(const matrix_specification& a, bool quiet) : asked_(a) {
  std::vector<std::string> names, online, all_planned;
  const std::vector<matrix_graph> graphs = matrix_graphs(a.tasks);
  for (const matrix_graph& g : graphs) names.push_back(g.name);
  for (const policy_info& info : policy_catalogue())
    (is_planned(info.name) ? all_planned : online).emplace_back(info.name);
  std::vector<std::string> every = online;
  every.insert(every.end(), all_planned.begin(), all_planned.end());
  std::erase(all_planned, "cpop");
  for (const std::string& policy :
       a.policies.empty() ? std::vector<std::string>{} : chosen("policy", a.policies, every))
    (is_planned(policy) ? planned_ : online_).push_back(policy);
  if (a.policies.empty()) {
    online_ = online;
    planned_ = all_planned;
  }
  if (online_.empty() || online_.front() != "rws") {
    std::erase(online_, "rws");
    online_.insert(online_.begin(), "rws");
  }
  for (const std::string& name : chosen("disturbance", a.disturb, matrix_disturbances())) {
    const auto at =
        std::ranges::find(disturbed, name, [](disturbance_kind kind) { return name_of(kind); });
    if (at == disturbed.end())
      undisturbed_ = true;
    else
      kinds_.push_back(*at);
  }
  const std::vector<engine_choice> on = machines_of(a.on.empty() ? matrix_platforms() : a.on);
  const std::vector<std::string> wanted = chosen("graph", a.graphs, names);
  const std::string folder = a.workflows.empty() ? workflows_directory() : a.workflows;
  for (matrix_graph g : graphs) {
    if (std::ranges::find(wanted, g.name) == wanted.end()) continue;
    if (g.from.ends_with(".json.gz")) {
      const auto path = std::filesystem::path(folder) / g.from;
      if (!std::filesystem::exists(path))
        throw input_error(
            fmt::format("there is no {}; set KILTER_WORKFLOWS to the folder of the recorded "
                        "workflows, or leave {} out with --graphs",
                        path.string(), g.name));
      g.from = path.string();
    }
    for (const engine_choice& machine : on) {
      pairs_.push_back({g, machine});
      if (!machine.native() && std::ranges::find(planned_, "heft") != planned_.end())
        pairs_.push_back({g, machine, true});
    }
  }
  std::vector<comparison::planned> all;
  for (const pair& one : pairs_) all.emplace_back([this, &one] { return plan_one(one); });
  const bool native = std::ranges::any_of(on, &engine_choice::native);
  progress_ = std::make_unique<progress>(pairs_.size(), quiet);
  work_ = std::make_unique<comparison>(std::move(all), native ? 1 : a.threads,
                                       comparison::keeping::rows, *progress_);
}

void matrix::run() {
  work_->run();
  progress_->clear();
}

experiment matrix::plan_one(const pair& one) const {
  const bool native = one.on.native();
  specification s;
  s.on = one.on;
  s.details = false;
  s.seed = asked_.seed;
  s.repeats = asked_.seeds;
  std::vector<std::string> policies = one.true_costs ? std::vector<std::string>{"heft"} : online_;
  if (!one.true_costs) policies.insert(policies.end(), planned_.begin(), planned_.end());
  s.policy_lists = read_policies(policies);
  s.costs = one.true_costs ? known_costs::truth : known_costs::stale;
  dag_work data = load_dag_work(one.graph.from, "matmul", 1.0, all_widths);
  s.criticality = criticality_for(*data.what);
  std::shared_ptr<const machine> cores;
  if (native) {
    cores = local_machine("", false);
    data.scale = scale_for(recorded_bound_s(*data.what, cores->core_count()), matrix_native_run_s);
  } else {
    const sim::platform p = platform_of(one.on);
    cores = p.cores;
    data.scale = scale_for(undisturbed_bound_s(data, p), matrix_run_s);
  }
  s.work = std::move(data);
  for (const disturbance_kind kind : kinds_)
    if (!(native && (kind == disturbance_kind::share || kind == disturbance_kind::offline)))
      s.disturb.push_back({asked_disturbance(matrix_disturbance(kind, *cores))});
  return kilter::lab::plan(s);
}

std::vector<matrix_cell> matrix::cells() const {
  const comparison::outcome known = work_->result();
  std::vector<matrix_cell> all;
  const auto cell_of = [&](const pair& p, const result_row& r) -> matrix_cell& {
    const std::string kind(r.kinds.empty() ? "none" : name_of(r.kinds.front()));
    const auto found = std::ranges::find_if(all, [&](const matrix_cell& c) {
      return c.graph == p.graph.name && c.on == p.on.written && c.kind == kind;
    });
    return found != all.end() ? *found
                              : all.emplace_back(matrix_cell{.graph = p.graph.name,
                                                             .on = p.on.written,
                                                             .kind = kind,
                                                             .disturb = r.disturb});
  };
  for (std::size_t i = 0; i < pairs_.size(); ++i)
    for (result_row row : known.rows[i]) {
      if (row.kinds.empty() && !undisturbed_) continue;
      matrix_cell& cell = cell_of(pairs_[i], row);
      row.graph = pairs_[i].graph.name;
      std::vector<result_row>& among = is_planned(row.policy) ? cell.bounds : cell.rows;
      if (pairs_[i].true_costs) row.policy += true_costs_suffix;
      among.push_back(std::move(row));
    }
  for (matrix_cell& cell : all)
    if (!cell.rows.empty() && cell.rows.front().policy == "rws")
      for (result_row& bound : cell.bounds)
        bound.ratio_to_rws = cell.rows.front().makespan_s / bound.makespan_s;
  return all;
}

}  // namespace kilter::lab
