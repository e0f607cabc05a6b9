// Steps that change every block, then meet: where are the data? Tasks of Kilter that name their
// blocks against loops that give each thread the same blocks every time. Then steps that do not
// meet: tasks that name nothing and follow one another. `--line` only tells what moving a cache
// line costs.

#include <omp.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

#include "kilter/graph.hpp"
#include "kilter/parallel.hpp"
#include "kilter/runtime.hpp"
#include "line.hpp"

namespace kilter::bench {
namespace {

struct blocks {
  std::vector<std::vector<double>> all;
  double steps = 0.0;  // that have met

  blocks(std::size_t count, std::size_t bytes)
      : all(count, std::vector<double>(bytes / sizeof(double), 1.0)) {}
  // One copy for all: where the compiler put each made it up to twice as fast.
  [[gnu::noinline]] void change(std::size_t i) {
    for (double& x : all[i]) x = x * 0.999 + 0.001;
  }
};

template <class Run>
double seconds_of(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double by_tasks(blocks& b, int steps, const char* policy) {
  runtime_options options;
  options.policy = policy;
  runtime rt(options);
  graph g;
  const task_type change = g.type("change"), meet = g.type("meet");
  std::vector<char> name(b.all.size());
  std::vector<const void*> all_names;
  for (const char& n : name) all_names.push_back(&n);
  char met = 0;
  for (int s = 0; s < steps; ++s) {
    for (std::size_t i = 0; i < name.size(); ++i)
      g.add({.type = change}, {.in = {&met}, .inout = {&name[i]}}, [&b, i] { b.change(i); });
    g.add({.type = meet}, {.in = all_names, .inout = {&met}}, [&b] { b.steps += 1.0; });
  }
  rt.run(g);  // what was learned belongs to a program that runs for longer than this
  return seconds_of([&] { rt.run(g); });
}

double by_loops(blocks& b, int steps) {
  runtime rt;
  graph g;
  g.add([&](task_context& here) {
    for (int s = 0; s < steps; ++s) {
      parallel_for(here, std::size_t{0}, b.all.size(), [&](std::size_t i) { b.change(i); });
      b.steps += 1.0;
    }
  });
  rt.run(g);
  return seconds_of([&] { rt.run(g); });
}

double by_chains(blocks& b, int steps, const char* policy) {
  runtime_options options;
  options.policy = policy;
  runtime rt(options);
  graph g;
  const task_type change = g.type("change");
  std::vector<task> last(b.all.size());
  for (int s = 0; s < steps; ++s)
    for (std::size_t i = 0; i < last.size(); ++i) {
      const task next = g.add({.type = change}, [&b, i] { b.change(i); });
      if (s > 0) g.edge(last[i], next);
      last[i] = next;
    }
  rt.run(g);
  return seconds_of([&] { rt.run(g); });
}

double each_whole(blocks& b, int steps) {
  return seconds_of([&] {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < b.all.size(); ++i)
      for (int s = 0; s < steps; ++s) b.change(i);
  });
}

// Chains that stay together, but take turns, as tasks do.
double by_turns(blocks& b, int steps) {
  return seconds_of([&] {
#pragma omp parallel
    for (int s = 0; s < steps; ++s)
#pragma omp for schedule(static) nowait
      for (std::size_t i = 0; i < b.all.size(); ++i) b.change(i);
  });
}

double by_openmp(blocks& b, int steps) {
  return seconds_of([&] {
    for (int s = 0; s < steps; ++s) {
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < b.all.size(); ++i) b.change(i);
      b.steps += 1.0;
    }
  });
}

double by_onetbb(blocks& b, int steps) {
  tbb::affinity_partitioner same;
  return seconds_of([&] {
    for (int s = 0; s < steps; ++s) {
      tbb::parallel_for(
          std::size_t{0}, b.all.size(), [&](std::size_t i) { b.change(i); }, same);
      b.steps += 1.0;
    }
  });
}

struct shape {
  std::size_t bytes, count;
  int steps;
};

using ways = std::vector<std::function<double(blocks&, int)>>;

void compare(const shape& s, const ways& all, int rounds) {
  blocks b(s.count, s.bytes);
  std::vector<std::vector<double>> took(all.size());
  const double before_ns = moved_line_ns();
  for (int r = 0; r < rounds; ++r)
    for (std::size_t w = 0; w < all.size(); ++w) took[w].push_back(all[w](b, s.steps));
  const double after_ns = moved_line_ns();
  std::printf("%8zu %6zu", s.bytes, s.count);
  for (std::vector<double>& t : took) {
    std::ranges::sort(t);
    const double threads = omp_get_max_threads();
    std::printf(" %10.2f",
                t[t.size() / 2] * threads / static_cast<double>(s.count) / s.steps * 1e6);
  }
  std::printf("   %.1f %.1f\n", before_ns, after_ns);
  std::fflush(stdout);
}

}  // namespace
}  // namespace kilter::bench

int main(int count, char** words) {
  using namespace kilter::bench;
  if (count == 2 && std::string_view(words[1]) == "--line") {
    std::printf("%.2f\n", moved_line_ns());
    return 0;
  }
  if (count > 1) {
    std::fprintf(stderr, "bench/blocks: '%s' is no option; there is --line\n", words[1]);
    return 2;
  }
  const auto table = [](const char* heads, const ways& all) {
    std::printf("   bytes blocks %s   ns a moved line, before and after\n", heads);
    for (const shape& s : {shape{4096, 64, 400}, shape{16384, 64, 300}, shape{65536, 32, 200},
                           shape{262144, 16, 100}, shape{1048576, 16, 30}, shape{4194304, 8, 15}})
      compare(s, all, 5);
  };
  const auto by = [](double (*run)(blocks&, int, const char*), const char* policy) {
    return [=](blocks& b, int steps) { return run(b, steps, policy); };
  };
  std::printf("microseconds of a core a block; the median of five rounds\n");
  table("      auto        rws       loop     static     oneTBB",
        {by(by_tasks, "auto"), by(by_tasks, "rws"), by_loops, by_openmp, by_onetbb});
  std::printf("chains\n");
  table("      auto        rws   in turns  one whole",
        {by(by_chains, "auto"), by(by_chains, "rws"), by_turns, each_whole});
  return 0;
}
