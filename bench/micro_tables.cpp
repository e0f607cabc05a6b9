// What the trace table costs a task: a search over ten places, a decision, a sample.
#include <benchmark/benchmark.h>

#include "model/tables.hpp"

namespace {

using namespace kilter;

table_options mode(const benchmark::State& s) {
  return s.range(0) ? table_options::robust() : table_options::paper();
}

void learn(benchmark::State& s) {
  const machine m = machine::uniform(4, 2);
  model::tables t(m, mode(s));
  const auto row = t.row("body", 0);
  const double body_s = static_cast<double>(s.range(1)) * 1e-9;
  double now_s = 0.0;
  measured seen;
  std::uint32_t noise = 1;
  for (auto _ : s) {
    noise = noise * 1664525u + 1013904223u;
    seen.sample_s = body_s * (1.0 + (noise >> 24) * (0.05 / 256));
    now_s += seen.sample_s;
    t.learn(row, 0, seen, now_s);
  }
}
BENCHMARK(learn)
    ->ArgNames({"robust", "body_ns"})
    ->Args({0, 16000})
    ->Args({1, 100})
    ->Args({1, 1000})
    ->Args({1, 16000})
    ->Args({1, 1000000});

// Every 260th sample carries a slice of the operating system.
void learn_disturbed(benchmark::State& s) {
  const machine m = machine::uniform(4, 2);
  model::tables t(m, table_options::robust());
  const auto row = t.row("body", 0);
  double now_s = 0.0;
  measured seen;
  int n = 0;
  for (auto _ : s) {
    seen.sample_s = ++n % 260 ? 16e-6 : 4e-3;
    now_s += seen.sample_s;
    t.learn(row, 0, seen, now_s);
  }
}
BENCHMARK(learn_disturbed);

void search_ten_places(benchmark::State& s) {
  const machine m = machine::from_platform("jetson-tx2");
  model::tables t(m, mode(s));
  const auto row = t.row("body", 0);
  for (place_id p = 0; p < m.places().size(); ++p) t.preset(row, p, 1e-5 * (1 + p));
  for (auto _ : s) {
    place_id best = no_place;
    double least = 1e300;
    for (const place_id p : m.scan_order()) {
      const double cost = t.time_s(row, p) * m.at(p).width;
      if (cost < least) {
        least = cost;
        best = p;
      }
    }
    benchmark::DoNotOptimize(best);
  }
}
BENCHMARK(search_ten_places)->ArgName("robust")->Arg(0)->Arg(1);

void settle(benchmark::State& s) {
  const machine m = machine::uniform(4, 2);
  model::tables t(m, mode(s));
  const auto row = t.row("body", 0);
  double now_s = 0.0;
  for (auto _ : s) benchmark::DoNotOptimize(t.settle(row, 0, objective::cost, now_s += 16e-6));
}
BENCHMARK(settle)->ArgName("robust")->Arg(0)->Arg(1);

void row_by_name(benchmark::State& s) {
  const machine m = machine::uniform(4);
  model::tables t(m, table_options::robust());
  for (std::uint32_t i = 0; i < 64; ++i) (void)t.row("some kernel", i);
  for (auto _ : s) benchmark::DoNotOptimize(t.row("some kernel", 63));
}
BENCHMARK(row_by_name);

}  // namespace

BENCHMARK_MAIN();
