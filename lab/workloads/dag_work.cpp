#include "workloads/dag_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_source.hpp"
#include "kilter/error.hpp"
#include "words/join.hpp"
#include "words/numbers.hpp"

namespace kilter::lab {

namespace {

/// Work that takes no time which any clock here shows. A task's work of 0 would mean that none is
/// known.
constexpr double no_work = 1e-12;

/// Tasks of one type are told apart by the power of two that their seconds lie in, as a program
/// tells apart calls on small and large data.
class size_classes {
 public:
  explicit size_classes(const dag& d) {
    for (std::uint32_t t = 0; t < d.tasks.size(); ++t)
      if (const double s = recorded_s(d, t); s > 0.0) lowest_ = std::min(lowest_, std::ilogb(s));
  }
  [[nodiscard]] std::uint32_t of(double seconds) const {
    return seconds > 0.0 ? static_cast<std::uint32_t>(std::ilogb(seconds) - lowest_ + 1) : 0;
  }

 private:
  int lowest_ = std::numeric_limits<int>::max();
};

const std::vector<std::uint32_t>& widths_of(const dag_work& w, const dag::task& t) {
  return t.widths.empty() ? w.widths : t.widths;
}

/// What the graph says of a task whoever runs it.
task_options options_of(const dag_work& w, std::uint32_t t, const size_classes& classes) {
  const dag& d = *w.what;
  const dag::task& task = d.tasks[t];
  task_options o;
  o.size_class = classes.of(recorded_s(d, t));
  o.priority = task.priority;
  o.widths = widths_of(w, task);
  o.name = task.id;
  return o;
}

std::vector<std::uint32_t> widths_on(const machine& m) {
  std::vector<std::uint32_t> all;
  for (const place& p : m.places()) all.push_back(p.width);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool meet(const std::vector<std::uint32_t>& allowed, const std::vector<std::uint32_t>& there) {
  return allowed.empty() || std::ranges::find_first_of(allowed, there) != allowed.end();
}

/// By type, what its tasks allow together; empty: all.
std::vector<std::vector<std::uint32_t>> widths_by_type(const dag_work& w,
                                                       const std::vector<task_type>& types) {
  std::vector<std::set<std::uint32_t>> allowed;
  std::vector<bool> all;
  for (const dag::task& t : w.what->tasks) {
    const std::size_t type = types[t.type].index();
    if (allowed.size() <= type) {
      allowed.resize(type + 1);
      all.resize(type + 1);
    }
    const auto& own = widths_of(w, t);
    all[type] = all[type] || own.empty();
    allowed[type].insert(own.begin(), own.end());
  }
  std::vector<std::vector<std::uint32_t>> by_type(allowed.size());
  for (std::size_t t = 0; t < by_type.size(); ++t)
    if (!all[t]) by_type[t].assign(allowed[t].begin(), allowed[t].end());
  return by_type;
}

std::vector<std::uint32_t> parse_widths(const std::string& text) {
  std::vector<std::uint32_t> widths;
  if (text == "all") return widths;
  for (const std::string_view piece : split_list(text)) {
    if (piece.empty() || piece.find_first_not_of("0123456789") != piece.npos)
      throw input_error(
          fmt::format("--widths '{}': give all, or a list of core counts, as 1,2,4", text));
    widths.push_back(static_cast<std::uint32_t>(parse_count("--widths", piece, 1, 65535)));
  }
  std::ranges::sort(widths);
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  if (widths.size() > width_list::most)
    throw input_error(
        fmt::format("--widths '{}': at most {} widths, or all", text, width_list::most));
  return widths;
}

void add_edges(graph& g, const dag_work& w, const std::vector<task>& tasks) {
  for (const dag::edge& e : w.what->edges) g.edge(tasks[e.from], tasks[e.to], e.cost_s * w.scale);
}

/// A task's data are those that its edges hand over most bytes of, the first of several; none if no
/// edge says how many it does.
std::vector<sim::task_data> data_of(const dag& d) {
  std::vector<sim::task_data> data(d.tasks.size());
  bool told = false;
  for (const dag::edge& e : d.edges) {
    if (e.bytes <= data[e.to].bytes) continue;
    data[e.to].read = e.from;
    data[e.to].bytes = e.bytes;
    told = true;
  }
  for (std::uint32_t t = 0; t < data.size(); ++t) data[t].written = t;
  return told ? data : std::vector<sim::task_data>{};
}

std::string kernel_of(const dag_work& w, const dag::type& t) {
  return t.kernel.empty() ? w.like : t.kernel;
}

/// Seconds of one run of a kernel at width 1 on the kind that does it fastest.
double fastest_s(const sim::platform& p, const sim::type_work& what) {
  double least = std::numeric_limits<double>::infinity();
  for (kind_id k = 0; k < p.cores->kinds().size(); ++k)
    least = std::min(least, sim::cost_of(p, what, k).seconds.front());
  return least;
}

}  // namespace

double size_of_kernel(const dag::type& t, const std::string& kernel) {
  return t.size > 0.0 ? t.size : apps::default_tile(kernel);
}

double recorded_s(const dag& d, std::uint32_t task) noexcept {
  if (d.tasks[task].seconds > 0.0 || d.processors.empty()) return d.tasks[task].seconds;
  const auto row = d.seconds_on.begin() + static_cast<std::ptrdiff_t>(task * d.processors.size());
  return *std::min_element(row, row + static_cast<std::ptrdiff_t>(d.processors.size()));
}

std::string widths_text(const std::vector<std::uint32_t>& widths) {
  return widths.empty() ? "all" : joined(widths, ",");
}

void check_widths(const dag_work& w, const machine& m) {
  const dag& d = *w.what;
  const std::vector<std::uint32_t> there = widths_on(m);
  for (const dag::task& t : d.tasks) {
    if (meet(widths_of(w, t), there)) continue;
    if (t.widths.empty() && w.widths != d.widths)
      throw input_error(fmt::format("--widths {}: {} has no place of such a width; it has {}",
                                    widths_text(w.widths), dags::shown(m.name()),
                                    joined(there, ", ")));
    throw input_error(fmt::format(
        "task '{}' of graph {} allows the widths {} only, and {} has none of them; it has {}",
        dags::shown(t.id), dags::shown(d.name), joined(widths_of(w, t), ", "),
        dags::shown(m.name()), joined(there, ", ")));
  }
}

std::string widths_note(const dag_work& w, const machine& m) {
  const dag& d = *w.what;
  std::vector<std::uint32_t> there = widths_on(m);
  const bool wide_places = there.back() > 1;
  if (!w.widths.empty())
    std::erase_if(there, [&](std::uint32_t width) {
      return std::ranges::find(w.widths, width) == w.widths.end();
    });
  const auto own = static_cast<std::size_t>(
      std::ranges::count_if(d.tasks, [](const dag::task& t) { return !t.widths.empty(); }));
  const std::string who =
      own == 0 ? "tasks"
               : fmt::format("{} of {} tasks run on as many cores as the graph names, the others",
                             own, d.tasks.size());
  if (own == d.tasks.size()) return "tasks run on as many cores as the graph names for each";
  if (there == std::vector<std::uint32_t>{1})
    return fmt::format("{} run on one core each{}", who,
                       wide_places && w.widths == std::vector<std::uint32_t>{1}
                           ? "; --widths all lets them run on several"
                           : "");
  std::string counts = joined(there, ", ");
  if (const auto comma = counts.rfind(", "); comma != counts.npos) counts.replace(comma, 2, " or ");
  return fmt::format("{} run on {} cores at once; --widths 1 keeps each on one", who, counts);
}

dag_work load_dag_work(const std::string& from, std::string like, double scale,
                       const std::string& widths) {
  return make_dag_work(load_dag(from), from, std::move(like), scale, widths);
}

dag_work make_dag_work(dag made, const std::string& from, std::string like, double scale,
                       const std::string& widths) {
  (void)parse_choice("--like", like, apps::kernel_names());
  dag_work w{.from = from,
             .what = std::make_shared<const dag>(std::move(made)),
             .like = std::move(like),
             .scale = scale};
  const dag& d = *w.what;
  w.widths = widths.empty() ? d.widths : parse_widths(widths);
  if (d.tasks.empty()) throw input_error(fmt::format("graph '{}' has no task", from));
  for (std::uint32_t t = 0; t < d.tasks.size(); ++t)
    if (recorded_s(d, t) > 0.0 || !d.types[d.tasks[t].type].kernel.empty()) return w;
  throw input_error(fmt::format(
      "graph '{}': none of its {} tasks takes any time; give one of them seconds or a kernel", from,
      d.tasks.size()));
}

task_graph build(graph& g, const dag_work& w, const sim::platform& p, body_runner* bodies) {
  const dag& d = *w.what;
  check_widths(w, *p.cores);
  task_graph made(g);
  struct kind_of_task {
    task_type type{};
    double run_s = 1.0;
  };
  std::vector<kind_of_task> types;
  for (const dag::type& t : d.types) {
    sim::type_work what;
    kind_of_task k;
    what.given = w.given;
    if (!w.given) {
      const std::string kernel = kernel_of(w, t);
      what = {.kernel = kernel, .size = size_of_kernel(t, kernel)};
      k.run_s = fastest_s(p, what);
    }
    k.type = made.type(g, t.name, std::move(what));
    types.push_back(k);
  }
  const size_classes classes(d);
  std::vector<task> tasks;
  std::vector<double> given;
  for (std::uint32_t t = 0; t < d.tasks.size(); ++t) {
    const dag::task& one = d.tasks[t];
    task_options o = options_of(w, t, classes);
    o.type = types[one.type].type;
    const double seconds = recorded_s(d, t) * w.scale;
    const bool once = seconds == 0.0 && !d.types[one.type].kernel.empty();
    o.work = once ? 1.0 : std::max(no_work, seconds / types[one.type].run_s);
    if (w.given) {
      given.clear();
      for (std::uint32_t c = 0; c < d.processors.size(); ++c)
        given.push_back(d.given_s(t, c) * w.scale);
      o.core_seconds = given;
    }
    tasks.push_back(g.add(o, body_of(bodies)));
  }
  add_edges(g, w, tasks);
  std::vector<task_type> numbers;
  for (const kind_of_task& k : types) numbers.push_back(k.type);
  made.widths = widths_by_type(w, numbers);
  made.data = data_of(d);
  return made;
}

native_kernels build_native(graph& g, const dag_work& w, const machine& m) {
  const dag& d = *w.what;
  check_widths(w, m);
  native_kernels kernels;
  kernels.of_type = {no_kernel};
  const std::uint32_t concurrency = std::max(16u, 4 * m.core_count());
  std::size_t burning = no_kernel;
  std::vector<task_type> types;
  for (const dag::type& t : d.types) {
    types.push_back(g.type(t.name));
    kernels.of_type.resize(std::max<std::size_t>(kernels.of_type.size(), types.back().index() + 1u),
                           no_kernel);
    std::size_t& at = kernels.of_type[types.back().index()];
    at = t.kernel.empty() ? burning : no_kernel;
    if (at != no_kernel) continue;
    at = kernels.all.size();
    if (t.kernel.empty()) burning = at;
    kernels.all.push_back(
        t.kernel.empty()
            ? make_burn_kernel(concurrency)
            : apps::make_kernel(t.kernel, static_cast<std::uint64_t>(size_of_kernel(t, t.kernel)),
                                {.concurrency = concurrency}));
  }
  const double piece_s = seconds_of_piece(m.cores().front());
  const size_classes classes(d);
  std::vector<task> tasks;
  for (std::uint32_t t = 0; t < d.tasks.size(); ++t) {
    task_options o = options_of(w, t, classes);
    o.type = types[d.tasks[t].type];
    if (const std::size_t at = kernels.of_type[o.type.index()]; at != burning) {
      o.work = 1.0;
      tasks.push_back(g.add(o, kernel_body(*kernels.all[at], t)));
      continue;
    }
    const auto pieces =
        static_cast<std::uint64_t>(std::llround(recorded_s(d, t) * w.scale / piece_s));
    o.work = std::max(no_work, static_cast<double>(pieces) / pieces_of_burn);
    tasks.push_back(g.add(o, [pieces](team_member& c) {
      while (const chunk some = c.next_chunk(pieces)) burn_pieces(some.end - some.begin);
    }));
  }
  add_edges(g, w, tasks);
  kernels.widths = widths_by_type(w, types);
  return kernels;
}

}  // namespace kilter::lab
