#include "measuring/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/sync.hpp"
#include "disturbing/disturber_load.hpp"
#include "measuring/experiment.hpp"
#include "measuring/graph_run.hpp"
#include "measuring/moved_lines.hpp"
#include "measuring/rates.hpp"
#include "measuring/worker_costs.hpp"
#include "runtime/attachments.hpp"
#include "runtime/sleeping.hpp"
#include "session/interrupt.hpp"
#include "words/numbers.hpp"

namespace kilter::lab {

namespace {

/// Streams: of the papers' tile, whose pool of buffers is larger than any cache.
constexpr const char* stream_kernel = "copy";
constexpr std::uint32_t stream_tile = 1024;
/// First tasks of a row find cold caches and members that sleep.
constexpr std::uint64_t warm_up = 3, least_tasks = 8, most_row_tasks = 20'000;
/// Shorter gaps in a busy thread are interrupts, not another thread's turn.
constexpr double shortest_slice_s = 0.3e-3;

const cluster& first_of_kind(const machine& m, kind_id k) {
  return *std::ranges::find(m.clusters(), k, &cluster::kind);
}

std::vector<std::uint32_t> widths_of_kind(const machine& m, kind_id k) {
  std::set<std::uint32_t> all;
  for (const cluster& c : m.clusters())
    if (c.kind == k) all.insert(c.widths.begin(), c.widths.end());
  return {all.begin(), all.end()};
}

/// First core of the first cluster of the kind that has places so wide.
core_id core_for(const machine& m, kind_id k, std::uint32_t width) {
  for (const cluster& c : m.clusters())
    if (c.kind == k && std::ranges::find(c.widths, width) != c.widths.end()) return c.first;
  return first_of_kind(m, k).first;
}

/// What a chain of wide tasks shows, in seconds. The last two: from the end of a task to the start
/// of the next by the core that inserted it, and to the start of the last of the others.
struct chain_times {
  std::vector<double> body_s, own_s, others_s;
};

/// A chain of tasks of one width on the place of that width around the core.
chain_times chain_of(const calibration_plan& plan, apps::kernel_instance& kernel, core_id from,
                     std::uint32_t width, std::uint64_t tasks) {
  graph g;
  const std::uint32_t only[] = {width};
  build_layered(g, {.tasks = tasks, .parallelism = 1, .seed = 1}, kernel, only);
  trace::recorder events(plan.machine->core_count());
  runtime_options o;
  o.machine = plan.machine;
  o.policy = "rws";
  o.table = table_options::paper();
  detail d;
  {
    runtime rt(o, kilter::detail::attachments{.events = &events});
    execution_stats stats;
    if (!run_graph(rt, g, from, stats)) {
      kernel.reset();
      return {};
    }
  }
  take_events(d, events);
  std::map<std::uint32_t, std::vector<trace::event>> by_task;
  for (const trace::event& e : d.events)
    if (e.kind == trace::event_kind::task) by_task[e.task].push_back(e);
  chain_times found;
  const std::vector<trace::event>* before = nullptr;
  for (const auto& [task, members] : by_task) {
    const std::vector<trace::event>* const last = std::exchange(before, &members);
    if (task < warm_up || !last) continue;
    std::int64_t worked_ns = 0;
    for (const trace::event& e : members) worked_ns += e.end_ns - e.start_ns;
    found.body_s.push_back(static_cast<double>(std::max<std::int64_t>(1, worked_ns)) * 1e-9 /
                           width);
    if (width == 1 || members.size() < width || last->size() < width) continue;
    const trace::event& ended = *std::ranges::max_element(*last, {}, &trace::event::end_ns);
    std::int64_t others_ns = 0;
    for (const trace::event& e : members) {
      const std::int64_t passed_ns = std::max<std::int64_t>(0, e.start_ns - ended.end_ns);
      if (e.core == ended.core)
        found.own_s.push_back(static_cast<double>(passed_ns) * 1e-9);
      else
        others_ns = std::max(others_ns, passed_ns);
    }
    found.others_s.push_back(static_cast<double>(others_ns) * 1e-9);
  }
  return found;
}

/// How many tasks make a row of the wanted length.
std::uint64_t tasks_in(double row_s, apps::kernel_instance& kernel) {
  double fastest_s = row_s;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::int64_t begin = sync::nanoseconds();
    kernel.run(i);
    fastest_s = std::min(
        fastest_s,
        static_cast<double>(std::max<std::int64_t>(1, sync::nanoseconds() - begin)) * 1e-9);
  }
  return warm_up +
         std::clamp(static_cast<std::uint64_t>(row_s / fastest_s), least_tasks, most_row_tasks);
}

/// Two busy threads on one core: how long each is kept waiting while the other has its turn.
std::vector<double> slices_on(const core& where, double seconds) {
  std::vector<std::vector<double>> gaps(2);
  // those that are there end by themselves if the other cannot be
  std::vector<std::jthread> threads;
  for (auto& mine : gaps)
    threads.emplace_back([&mine, &where, seconds] {
      const int cpu = where.os_index;
      if (!pin_to(std::span(&cpu, 1))) return;
      const std::int64_t end = sync::nanoseconds() + static_cast<std::int64_t>(seconds * 1e9);
      std::int64_t last = sync::nanoseconds();
      while (last < end && !interrupted()) {
        const std::int64_t now = sync::nanoseconds();
        const double gap_s = static_cast<double>(now - last) * 1e-9;
        if (gap_s >= shortest_slice_s) mine.push_back(gap_s);
        last = now;
      }
    });
  for (std::jthread& t : threads) t.join();
  gaps[0].insert(gaps[0].end(), gaps[1].begin(), gaps[1].end());
  return gaps[0];
}

/// Loops of the compute-bound kernel by more and more cores of one cluster at once, and tasks about
/// which policies decide: short and long ones.
constexpr const char* busy_kernel = "matmul";
constexpr std::uint32_t busy_tile = 64, long_tile = 128;

/// How many figures there are of workers that meet.
std::uint64_t counted_figures(const machine& m) {
  const std::uint32_t cores = m.core_count();
  std::uint64_t figures = 0;
  for (kind_id k = 0; k < m.kinds().size(); ++k)
    if (const std::uint32_t size = first_of_kind(m, k).size; size > 1)
      figures += counts_up_to(size).size();
  return cores == 1 ? figures
                    : figures + 2 + 2 * counts_up_to(cores - 1).size() + counts_up_to(cores).size();
}

/// Samples of a figure by how many cores take part.
struct counted_samples {
  std::vector<std::uint32_t> counts;
  std::vector<std::vector<double>> samples{counts.size()};
  void add(std::size_t i, const std::vector<double>& more) {
    samples[i].insert(samples[i].end(), more.begin(), more.end());
  }
  [[nodiscard]] calibration::counted values() const {
    calibration::counted all;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (samples[i].empty()) continue;
      all.counts.push_back(counts[i]);
      all.values.push_back(sampled_value_of(samples[i]));
    }
    return all;
  }
};

/// Standard deviation of the logarithm of what is spread like a log-normal, from its quartiles, so
/// that the few tasks that the operating system interrupted do not make it.
double sigma_of(const sampled_value& f) {
  return f.low > 0.0 ? std::log(f.high / f.low) / 1.349 : 0.0;
}

double sum(const std::vector<double>& all) {
  double s = 0.0;
  for (const double x : all) s += x;
  return s;
}

}  // namespace

sampled_value sampled_value_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double part) {
    const double where = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(where);
    const double rest = where - static_cast<double>(below);
    return below + 1 < values.size() ? values[below] + rest * (values[below + 1] - values[below])
                                     : values[below];
  };
  return {at(0.5), at(0.25), at(0.75), values.size()};
}

mean_value mean_value_of(std::vector<double> values) {
  mean_value v{.all = sampled_value_of(values)};
  if (values.empty()) return v;
  std::ranges::sort(values);
  values.resize(values.size() - values.size() / 100);
  v.mean = sum(values) / static_cast<double>(values.size());
  return v;
}

calibration_plan plan_calibration(const std::string& kernels, const std::string& tiles,
                                  const std::string& repeats, const std::string& cores) {
  calibration_plan plan;
  const auto known = apps::kernel_names();
  for (const std::string_view name : split_list(kernels)) {
    const std::string kernel(known[parse_choice("kernel", name, known)]);
    if (std::ranges::find(plan.kernels, kernel, &sized_kernel::kernel) != plan.kernels.end())
      throw input_error(
          fmt::format("--kernels '{}': {} is there twice; name each kernel once", kernels, kernel));
    plan.kernels.push_back({kernel, apps::default_tile(kernel)});
  }
  if (!tiles.empty())
    for (std::vector<std::string> told;
         const sized_kernel& sized : parse_sized_kernels("--tile", tiles, true)) {
      const auto at = std::ranges::find(plan.kernels, sized.kernel, &sized_kernel::kernel);
      if (at == plan.kernels.end())
        throw input_error(fmt::format(
            "--tile '{}': {} is not among the kernels to measure, {}; add it to --kernels", tiles,
            sized.kernel, kernels));
      if (std::ranges::find(told, sized.kernel) != told.end())
        plan.kernels.push_back(sized);
      else
        at->tile = sized.tile;
      told.push_back(sized.kernel);
    }
  plan.repeats = static_cast<std::uint32_t>(parse_count("--repeats", repeats, 1, 1000));
  plan.machine = local_machine(cores, false);
  return plan;
}

std::uint64_t steps_of(const calibration_plan& plan) {
  std::uint64_t figures =
      1 + counted_figures(*plan.machine) + 2 * asked_policies(*plan.machine).size();
  for (kind_id k = 0; k < plan.machine->kinds().size(); ++k)
    figures += 2 + plan.kernels.size() * widths_of_kind(*plan.machine, k).size();
  const core_pairs pairs = pairs_of(*plan.machine);
  figures += (plan.machine->clusters().size() > 1) + !pairs.in_cluster.empty() +
             !pairs.between_clusters.empty();
  return 1 + plan.repeats * figures;
}

calibration calibrate(const calibration_plan& plan, progress& p) {
  const machine& m = *plan.machine;
  calibration c;
  c.machine = plan.machine;
  c.repeats = plan.repeats;
  struct row {
    apps::kernel_instance* kernel;
    std::uint64_t tasks;
    std::size_t width;   // index
    std::size_t result;  // in c.kernels
    std::vector<double> seconds;
  };
  p.step("preparing");
  std::vector<std::unique_ptr<apps::kernel_instance>> instances;
  std::vector<row> rows;
  const auto made = [&](const std::string& kernel, std::uint32_t tile) {
    return apps::make_kernel(kernel, tile, {.concurrency = std::max(16u, 4 * m.core_count())});
  };
  for (const sized_kernel& what : plan.kernels) {
    if (interrupted()) return c;
    instances.push_back(made(what.kernel, what.tile));
    const std::uint64_t tasks = tasks_in(plan.batch_s, *instances.back());
    for (kind_id k = 0; k < m.kinds().size(); ++k) {
      c.kernels.push_back({what.kernel,
                           what.tile,
                           k,
                           first_of_kind(m, k).first,
                           widths_of_kind(m, k),
                           {},
                           static_cast<double>(instances.back()->bytes_per_task())});
      for (std::size_t w = 0; w < c.kernels.back().widths.size(); ++w)
        rows.push_back({instances.back().get(), tasks, w, c.kernels.size() - 1, {}});
    }
  }
  const auto streams = made(stream_kernel, stream_tile);
  const double stream_bytes = static_cast<double>(streams->bytes_per_task());
  std::vector<std::vector<double>> of_core(m.kinds().size()), of_cluster(m.kinds().size());
  std::vector<double> of_chip, slices;
  lent_core lent;
  const auto stream = [&](std::span<const core> cores, std::vector<double>& to) {
    std::vector<std::vector<core>> each;
    for (const core& one : cores) each.push_back({one});
    if (!interrupted())
      to.push_back(stream_bytes * sum(measure_together(each, *streams, plan.batch_s)));
  };

  const std::uint32_t cores = m.core_count();
  const auto none = std::vector<std::uint32_t>{};
  std::vector<counted_samples> own_s, others_s, slower;  // by kind
  for (kind_id k = 0; k < m.kinds().size(); ++k) {
    auto wide = widths_of_kind(m, k);
    std::erase(wide, 1u);
    own_s.push_back({wide});
    others_s.push_back({wide});
    const std::uint32_t size = first_of_kind(m, k).size;
    slower.push_back({size > 1 ? counts_up_to(size) : none});
  }
  counted_samples look{cores > 1 ? counts_up_to(cores - 1) : none}, steal{look.counts},
      queue{cores > 1 ? counts_up_to(cores) : none};
  const auto of_counts = [&](counted_samples& to, const char* what, auto measure,
                             std::uint32_t repeat) {
    for (std::size_t i = 0; i < to.counts.size(); ++i) {
      p.step(fmt::format("{} {}, repeat {}", what, to.counts[i], repeat + 1));
      if (!interrupted()) to.add(i, measure(m.cores(), to.counts[i], plan.batch_s));
    }
  };
  wake_up woken;
  const std::vector<std::string> policies = asked_policies(m);
  const auto products = made(busy_kernel, busy_tile), long_products = made(busy_kernel, long_tile);
  struct asked {
    std::string policy;
    apps::kernel_instance* kernel;
    std::uint32_t tile;
    std::uint64_t tasks;
    double task_s;
    decision_times times{};
  };
  std::vector<asked> decided;
  for (const auto& [kernel, tile] :
       {std::pair{products.get(), busy_tile}, {long_products.get(), long_tile}}) {
    const std::uint64_t tasks = tasks_in(plan.batch_s, *kernel);
    for (const std::string& policy : policies)
      decided.push_back(
          {policy, kernel, tile, tasks, plan.batch_s / static_cast<double>(tasks - warm_up)});
  }
  const auto grow = [](std::vector<double>& all, const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };

  const core_pairs pairs = pairs_of(m);
  std::vector<double> in_cluster, between_clusters;
  const auto lines = [&](const core_pairs::list& of, std::vector<double>& to) {
    const double each_s = plan.batch_s / static_cast<double>(of.size());
    for (const auto& [one, other] : of) {
      if (interrupted()) return;
      const auto more = moved_line_s(m.cores()[one], m.cores()[other], each_s);
      to.insert(to.end(), more.begin(), more.end());
    }
  };

  // Every figure once, then all of them again, so that what disturbs for a while spreads the
  // figures instead of falsifying some.
  for (std::uint32_t repeat = 0; repeat < plan.repeats && !interrupted(); ++repeat) {
    for (row& r : rows) {
      const calibration::kernel& k = c.kernels[r.result];
      p.step(fmt::format("{} {} on {}, width {}, repeat {}", k.name, k.size, m.kinds()[k.kind].name,
                         k.widths[r.width], repeat + 1));
      const chain_times more = chain_of(plan, *r.kernel, core_for(m, k.kind, k.widths[r.width]),
                                        k.widths[r.width], r.tasks);
      grow(r.seconds, more.body_s);
      const auto wide = std::ranges::find(own_s[k.kind].counts, k.widths[r.width]);
      if (wide == own_s[k.kind].counts.end()) continue;
      const auto i = static_cast<std::size_t>(wide - own_s[k.kind].counts.begin());
      own_s[k.kind].add(i, more.own_s);
      others_s[k.kind].add(i, more.others_s);
    }
    for (kind_id k = 0; k < m.kinds().size(); ++k) {
      const cluster& one = first_of_kind(m, k);
      p.step(fmt::format("streams of a {} core, repeat {}", m.kinds()[k].name, repeat + 1));
      stream(m.cores().subspan(one.first, 1), of_core[k]);
      p.step(fmt::format("streams of a {} cluster, repeat {}", m.kinds()[k].name, repeat + 1));
      if (one.size > 1) stream(m.cores().subspan(one.first, one.size), of_cluster[k]);
    }
    if (m.clusters().size() > 1) {
      p.step(fmt::format("streams of all cores, repeat {}", repeat + 1));
      stream(m.cores(), of_chip);
    }
    if (!pairs.in_cluster.empty()) {
      p.step(fmt::format("lines moved in a cluster, repeat {}", repeat + 1));
      lines(pairs.in_cluster, in_cluster);
    }
    if (!pairs.between_clusters.empty()) {
      p.step(fmt::format("lines moved between clusters, repeat {}", repeat + 1));
      lines(pairs.between_clusters, between_clusters);
    }
    for (kind_id k = 0; k < m.kinds().size(); ++k) {
      const auto same = m.cores().subspan(first_of_kind(m, k).first, first_of_kind(m, k).size);
      double alone_per_s = 0.0;
      for (std::size_t i = 0; i < slower[k].counts.size(); ++i) {
        const std::uint32_t busy = slower[k].counts[i];
        p.step(fmt::format("{} busy cores of {}, repeat {}", busy, m.kinds()[k].name, repeat + 1));
        std::vector<std::vector<core>> each;
        for (const core& one : same.first(busy)) each.push_back({one});
        if (interrupted()) break;
        const double per_s = sum(measure_together(each, *products, plan.batch_s)) / busy;
        if (busy == 1) alone_per_s = per_s;
        if (per_s > 0.0) slower[k].add(i, {std::max(1.0, alone_per_s / per_s)});
      }
    }
    of_counts(look, "lookers", look_s, repeat);
    of_counts(steal, "thieves", steal_s, repeat);
    of_counts(queue, "users of a shared queue", shared_queue_s, repeat);
    if (cores > 1) {
      p.step(fmt::format("sleep, repeat {}", repeat + 1));
      const wake_up more = wake_up_s(
          m.cores()[0], m.cores()[first_of_kind(m, m.cores()[0].kind).size > 1 ? 1 : cores - 1],
          plan.batch_s);
      grow(woken.call_s, more.call_s);
      grow(woken.up_s, more.up_s);
      p.step(fmt::format("lent cores, repeat {}", repeat + 1));
      const lent_core guests = lend_s(m, 1, 0, plan.batch_s);
      grow(lent.lend_s, guests.lend_s);
      grow(lent.keeps_s, guests.keeps_s);
    }
    for (asked& a : decided) {
      p.step(fmt::format("decisions of {}, repeat {}", a.policy, repeat + 1));
      if (interrupted()) break;
      const decision_times more = decision_times_of(a.policy, plan.machine, *a.kernel, a.tasks);
      grow(a.times.ready_s, more.ready_s);
      grow(a.times.take_s, more.take_s);
      grow(a.times.next_s, more.next_s);
    }
    p.step(fmt::format("slices of two threads, repeat {}", repeat + 1));
    const auto more = slices_on(m.cores()[0], plan.batch_s);
    slices.insert(slices.end(), more.begin(), more.end());
  }

  std::vector<double> sigmas;
  for (const row& r : rows) {
    const sampled_value f = sampled_value_of(r.seconds);
    c.kernels[r.result].seconds.push_back(f);
    if (r.width == 0) sigmas.push_back(sigma_of(f));
  }
  for (kind_id k = 0; k < m.kinds().size(); ++k) {
    c.core_bytes_per_s.push_back(sampled_value_of(of_core[k]));
    c.cluster_bytes_per_s.push_back(sampled_value_of(of_cluster[k]));
  }
  c.chip_bytes_per_s = sampled_value_of(of_chip);
  c.in_cluster_line_s = sampled_value_of(in_cluster);
  c.between_clusters_line_s = sampled_value_of(between_clusters);
  for (kind_id k = 0; k < m.kinds().size(); ++k) {
    if (!own_s[k].values().counts.empty())
      c.gather.push_back({k, own_s[k].values(), others_s[k].values()});
    c.slower.push_back(slower[k].values());
  }
  c.look_s = look.values();
  c.steal_s = steal.values();
  c.queue_s = queue.values();
  c.sleeps_after_s = kilter::detail::spin_s;
  c.sleeps_long_after_s = kilter::detail::long_spin_s;
  c.looks_after_s = static_cast<double>(kilter::detail::worth_a_look_ns) * 1e-9;
  c.call_s = sampled_value_of(woken.call_s);
  c.up_s = sampled_value_of(woken.up_s);
  c.lend_s = sampled_value_of(lent.lend_s);
  c.keeps_s = sampled_value_of(lent.keeps_s);
  for (const asked& a : decided)
    c.decisions.push_back({a.policy, a.tile, a.task_s, mean_value_of(a.times.ready_s),
                           mean_value_of(a.times.take_s), mean_value_of(a.times.next_s)});
  c.slice_s = sampled_value_of(slices);
  c.sigma = sampled_value_of(sigmas);
  c.complete = !interrupted();
  return c;
}

}  // namespace kilter::lab
