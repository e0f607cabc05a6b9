// bench_speed: what Kilter costs, as ratios against oneTBB and against itself, all measured in this
// run. bench/README.md explains the rows.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "kilter/error.hpp"
#include "peers/environment.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "speed/rows.hpp"
#include "words/numbers.hpp"

namespace kilter::bench {

namespace {

struct group {
  std::string_view name;
  rows (*measure)(const plan&);
  std::uint32_t races, entrants;  ///< for the progress line
};
constexpr group groups[] = {
    {"independent", independent_rows, 2, 3}, {"chain", chain_rows, 2, 3},
    {"layered", layered_rows, 1, 3},         {"learning", learning_rows, 3, 2},
    {"search", search_rows, 4, 1},           {"undisturbed", undisturbed_rows, 2, 9},
    {"parallel", parallel_rows, 4, 7},       {"idle", idle_rows, 0, 0},
};

std::vector<const group*> chosen_groups(const std::string& only) {
  std::vector<std::string_view> names;
  for (const group& g : groups) names.push_back(g.name);
  std::vector<const group*> chosen;
  if (only.empty())
    for (const group& g : groups) chosen.push_back(&g);
  else
    for (const std::string_view name : lab::split_list(only))
      chosen.push_back(&groups[lab::parse_choice("--only", name, names)]);
  return chosen;
}

std::string verdict(const row& r) { return !r.met() ? "" : *r.met() ? "met" : "missed"; }

std::string table(const rows& all) {
  std::string text =
      fmt::format("{:<44} {:<10} {:>10}  {:<22} {:>12} {:>7}  {:<15} {:>5}\n", "what", "kilter",
                  "ns", "against", "ns", "ratio", "(min..max)", "goal");
  for (const row& r : all)
    text += fmt::format("{:<44} {:<10} {:>10.4g}  {:<22} {:>12.4g} {:>7.3f}  {:<15} {:>5} {}\n",
                        r.shape, r.kilter, r.kilter_ns, r.peer, r.peer_ns, r.ratio,
                        fmt::format("({:.3f}..{:.3f})", r.ratio_min, r.ratio_max),
                        r.goal ? fmt::format("{:g}", *r.goal) : "", verdict(r));
  return text;
}

nlohmann::ordered_json document(const plan& p, const rows& all, bool complete) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const row& r : all)
    list.push_back(
        {{"shape", r.shape},
         {"kilter", r.kilter},
         {"kilter_ns", r.kilter_ns},
         {"peer", r.peer},
         {"peer_ns", r.peer_ns},
         {"ratio", r.ratio},
         {"ratio_min", r.ratio_min},
         {"ratio_max", r.ratio_max},
         {"goal", r.goal ? nlohmann::ordered_json(*r.goal) : nlohmann::ordered_json(nullptr)},
         {"met", r.met() ? nlohmann::ordered_json(*r.met()) : nlohmann::ordered_json(nullptr)}});
  return {
      {"schema", "kilter.speed/1"},
      {"config", {{"rounds", p.rounds}, {"scale", p.scale}, {"threads", p.where->core_count()}}},
      {"rows", list},
      {"environment", environment_of_bench(complete)}};
}

int measure(plan p, const std::vector<const group*>& chosen, const std::string& json_path,
            bool quiet) {
  std::uint64_t steps = 2;
  for (const group* g : chosen) steps += std::uint64_t{g->races} * g->entrants * (p.rounds + 1);
  lab::progress shown(steps, quiet);
  p.shown = &shown;
  lab::interrupt_guard guard([] { ::_exit(130); });
  rows all;
  for (const group* g : chosen) {
    if (lab::interrupted()) break;
    const rows more = g->measure(p);
    all.insert(all.end(), more.begin(), more.end());
  }
  shown.clear();
  const bool complete = !lab::interrupted();
  if (json_path != "-") {
    fmt::print("{}", table(all));
    const auto missed =
        std::count_if(all.begin(), all.end(), [](const row& r) { return r.met() == false; });
    const auto goals =
        std::count_if(all.begin(), all.end(), [](const row& r) { return r.goal.has_value(); });
    fmt::print("{} of {} goals met; {} rounds, {} threads, {}{}\n", goals - missed, goals, p.rounds,
               p.where->core_count(), onetbb_version(),
               complete ? "" : "; interrupted, this is what was measured");
  }
  if (!json_path.empty()) lab::write_output(json_path, document(p, all, complete).dump(2) + "\n");
  return complete ? 0 : 130;
}

}  // namespace

}  // namespace kilter::bench

int main(int argc, char** argv) {
  using namespace kilter;
  CLI::App app{
      "What Kilter costs a task, against oneTBB in the same run. Empty bodies and the default "
      "policy unless a row says otherwise."};
  app.name("bench/run");
  bool quick = false, quiet = false;
  std::string rounds, json_path, only;
  app.add_flag("--quick", quick,
               "Three rounds on graphs ten times smaller: shows that it works, not what is true");
  app.add_option("--rounds", rounds, "Rounds that count, interleaved (default: 11, quick 3)")
      ->type_name("N");
  app.add_option(
         "--only", only,
         "Some of independent, chain, layered, learning, search, undisturbed, parallel, idle")
      ->type_name("LIST");
  app.add_option("--json", json_path,
                 "Write rows as JSON; - is standard output, and then there is no table")
      ->type_name("F");
  app.add_flag("--quiet", quiet, "No progress line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    fmt::print(stderr, "bench/run: {}\n", e.what());
    return 2;
  }
  try {
    bench::plan p;
    p.rounds = static_cast<std::uint32_t>(
        rounds.empty() ? (quick ? 3 : 11) : lab::parse_count("--rounds", rounds, 1, 1000));
    p.scale = quick ? 10 : 1;
    if (quick) p.idle_s = 2.0;
    const auto chosen = bench::chosen_groups(only);
    lab::check_output("--json", json_path);
    p.where = std::make_shared<const machine>(machine::local());
    return bench::measure(p, chosen, json_path, quiet);
  } catch (const input_error& e) {
    fmt::print(stderr, "bench/run: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench/run: {}\n", e.what());
    return 1;
  }
}
