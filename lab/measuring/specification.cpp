#include "measuring/specification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "kilter/error.hpp"
#include "kilter/policy.hpp"
#include "measuring/user_policy.hpp"
#include "words/numbers.hpp"

namespace kilter::lab {

namespace {

struct told {
  std::string_view type_name, group, meaning;
};

template <auto Field>
using type_of = std::remove_cvref_t<decltype(std::declval<specification>().*Field)>;

/// A field whose values have a word each, in the order of the words.
template <auto Field>
setting of_words(std::string_view name, std::vector<std::string_view> words, told t,
                 in_files files = in_files::no) {
  return {
      .name = name,
      .looks = wording::word,
      .words = std::move(words),
      .files = files,
      .read =
          [](const setting& own, specification& s, std::string_view label, std::string_view text) {
            s.*Field = static_cast<type_of<Field>>(parse_choice(label, text, own.words));
          },
      .text =
          [](const setting& own, const specification& s) {
            return std::string(own.words[static_cast<std::size_t>(s.*Field)]);
          },
      .type_name = t.type_name,
      .group = t.group,
      .meaning = t.meaning};
}

/// Whole numbers.
template <auto Field, std::uint64_t Least, std::uint64_t Most>
setting of_count(std::string_view name, told t) {
  return {.name = name,
          .looks = wording::count,
          .read =
              [](const setting&, specification& s, std::string_view label, std::string_view text) {
                s.*Field = static_cast<type_of<Field>>(parse_count(label, text, Least, Most));
              },
          .text = [](const setting&, const specification& s) { return fmt::to_string(s.*Field); },
          .type_name = t.type_name,
          .group = t.group,
          .meaning = t.meaning};
}

/// Lists of cores and names of files.
template <auto Field>
setting of_text(std::string_view name, told t, in_files files = in_files::no,
                wording looks = wording::text) {
  return {.name = name,
          .looks = looks,
          .files = files,
          .read = [](const setting&, specification& s, std::string_view,
                     std::string_view text) { s.*Field = text; },
          .text = [](const setting&, const specification& s) { return s.*Field; },
          .type_name = t.type_name,
          .group = t.group,
          .meaning = t.meaning};
}

template <auto Field>
setting of_flag(std::string_view name, told t, in_files files = in_files::no) {
  return {
      .name = name,
      .looks = wording::flag,
      .words = {"no", "yes"},
      .files = files,
      .read = [](const setting& own, specification& s, std::string_view label,
                 std::string_view text) { s.*Field = parse_choice(label, text, own.words) == 1; },
      .text = [](const setting& own,
                 const specification& s) { return std::string(own.words[s.*Field ? 1 : 0]); },
      .flag = Field,
      .type_name = t.type_name,
      .group = t.group,
      .meaning = t.meaning};
}

void read_weight(const setting&, specification& s, std::string_view label, std::string_view text) {
  s.weight = {parse_fraction(label, text), std::string(text)};
}

void read_refresh(const setting&, specification& s, std::string_view label, std::string_view text) {
  s.refresh = {};
  if (text == "age")
    s.refresh.by_age = true;
  else
    s.refresh.every = static_cast<std::uint32_t>(parse_count(label, text, 0, 1'000'000));
}

std::vector<setting> all_settings() {
  using s = specification;
  constexpr in_files no = in_files::no, fixed = in_files::fixed, axis = in_files::axis;
  return {
      {.name = "policy",
       .read =
           [](const setting&, specification& spec, std::string_view, std::string_view text) {
             spec.policy_lists.push_back(read_policies({std::string(text)}).front());
           },
       .text = [](const setting&,
                  const specification& spec) { return spec.policy_lists.front().written; }},
      {.name = "disturb",
       .read = [](const setting&, specification& spec, std::string_view,
                  std::string_view text) { spec.disturb.push_back(read_disturbances(text)); },
       .text =
           [](const setting&, const specification& spec) {
             return spec.disturb.empty() ? "none" : written(spec.disturb.front());
           }},
      {.name = "on",
       .read = [](const setting&, specification& spec, std::string_view label,
                  std::string_view text) { spec.on = read_engine(label, text); },
       .text = [](const setting&, const specification& spec) { return spec.on.written; },
       .type_name = "WHERE",
       .group = "Machine",
       .meaning = "native: here; sim:PLATFORM: in virtual time, as sim:jetson-tx2 or sim:grid:4x8; "
                  "emulate:PLATFORM[,SCALE]: the threads of the "
                  "runtime, whose bodies sleep for as long as they take there, SCALE times longer "
                  "(default: what the shortest task needs)"},
      of_count<&s::repeats, 1, most_repeats>(
          "repeat", {"R", "Comparison",
                     "Runs of each policy in each scenario; the root's core changes with each"}),
      of_count<&s::graphs, 1, most_repeats>(
          "graphs",
          {"G", "Workload",
           "Graphs run one after the other on one runtime; the later ones are warm rows"}),
      of_count<&s::seed, 0, ~std::uint64_t{0}>(
          "seed",
          {"N", "Comparison", "Of the DAG, the order of the runs and the policies' random draws"}),
      of_words<&s::root>(
          "root", {"core", "outside"},
          {"WHO", "Comparison",
           "Who submits: core (each worker in turn) or outside (a thread that is none)"}),
      {.name = "weight",
       .files = axis,
       .read = read_weight,
       .text = [](const setting&, const specification& spec) { return spec.weight.written; },
       .type_name = "A/B",
       .group = "Policy",
       .meaning = "Weight of a new sample in the papers' moving average"},
      // in files: the first so many cores
      of_text<&s::cores>("workers", {}, axis, wording::count),
      of_text<&s::cores>(
          "cores",
          {"CORES", "Machine", "A count (2) or a list (0-3 or 1,); they are numbered anew from 0"},
          fixed),
      of_words<&s::table>("table", {"paper", "robust"},
                          {"MODE", "Policy", "Trace table: paper (as published) or robust"}, fixed),
      of_words<&s::co_runner>("co_runner", {"slice", "fluid"},
                              {"HOW", "Machine",
                               "Simulated and emulated co-runners: slice (the core is theirs and "
                               "ours in turn) or fluid (half of it)"},
                              fixed),
      of_words<&s::timing>("timing", {"honest", "leader", "own", "span", "slowest", "mean"},
                           {"MODE", "Policy",
                            "Sample of a wide task: honest, leader as published, own (the leader's "
                            "even if it came too late), span, or slowest or mean of its members"},
                           fixed),
      {.name = "criticality",
       .looks = wording::word,
       .words = {"own", "user", "chain", "diff1", "chain-closed", "hops", "fanout", "ranks",
                 "online"},
       .files = fixed,
       .read =
           [](const setting& own, specification& spec, std::string_view label,
              std::string_view text) {
             const std::size_t word = parse_choice(label, text, own.words);
             spec.criticality.reset();
             if (word > 0) spec.criticality = static_cast<criticality>(word - 1);
           },
       .text =
           [](const setting& own, const specification& spec) {
             return std::string(
                 own.words[spec.criticality ? 1 + static_cast<std::size_t>(*spec.criticality) : 0]);
           },
       .type_name = "HOW",
       .group = "Policy",
       .meaning =
           "Critical tasks: own (each policy's own: perf finds a chain, the others take what the "
           "graph says), user, chain, diff1, chain-closed, hops, fanout, ranks, online"},
      of_words<&s::local>("local", {"containing", "row", "x19"},
                          {"HOW", "Policy",
                           "Places of a local search: containing the core, its row, or x19: the "
                           "widest, as an index slip in S2's public code has it"},
                          fixed),
      of_words<&s::search>("search", {"taken", "ready"},
                           {"WHEN", "Policy",
                            "When tasks of low priority get their place: taken, or ready (only a "
                            "thief searches again)"},
                           fixed),
      of_words<&s::fast_order>(
          "fast_order", {"turns", "random"},
          {"HOW", "Policy",
           "fa, fam-c: which fast core a critical task goes to: in turns, or random"},
          fixed),
      of_words<&s::steal>("steal", {"random", "richest", "cluster-first"},
                          {"HOW", "Policy", "Victims: random, richest, cluster-first"}, fixed),
      of_text<&s::fast>("fast",
                        {"CORES", "Machine",
                         "Cores that fa, fam-c, bias, cats and cats-2q take for fast (default: the "
                         "fastest kind)"},
                        fixed),
      of_words<&s::children>(
          "children", {"forward", "queue", "slow-cluster"},
          {"HOW", "Policy",
           "Where a task made ready waits: forward (one runs next), queue, slow-cluster"},
          fixed),
      of_words<&s::explore>("explore", {"first", "compete", "prior"},
                            {"HOW", "Policy",
                             "Untried places, in the papers' table: first; compete as if they took "
                             "no time; prior: as their peers and other widths let expect"},
                            fixed),
      {.name = "refresh",
       .looks = wording::count,
       .files = fixed,
       .read = read_refresh,
       .text =
           [](const setting&, const specification& spec) {
             return spec.refresh.by_age ? std::string("age") : fmt::to_string(spec.refresh.every);
           },
       .type_name = "N",
       .group = "Policy",
       .meaning = "A local search takes a random place once in N times, 0: never; age: critical "
                  "tasks try stale places again, within 1 % of the time (robust: always)"},
      of_flag<&s::direct>("direct", {"", "Policy", "Bind critical tasks to their place at wake-up"},
                          fixed),
      of_words<&s::thieves>(
          "thieves", {"any", "first", "spare-two"},
          {"WHO", "Machine",
           "Simulated: of several idle workers any steals, as polling ones do, or the first, as "
           "Kilter's runtime wakes them; spare-two: nobody steals from cores 0 and 1"},
          fixed),
      of_words<&s::blocks>(
          "blocks", {"member", "task"},
          {"WHAT", "Machine",
           "Simulated: wide tasks are cut into eight blocks a member, or eight a task"},
          fixed),
      of_words<&s::data>("data", {"free", "moved"},
                         {"COST", "Machine",
                          "Simulated: data that another core's cache has cost nothing (free), or "
                          "what the platform "
                          "says of moved lines (moved)"},
                         fixed),
      of_words<&s::costs>("costs", {"stale", "true"},
                          {"WHAT", "Machine",
                           "Simulated: planned policies know costs as if nothing disturbed "
                           "(stale), or what disturbances leave on average (true)"},
                          no),
      of_words<&s::objective>("objective", {"own", "cost", "time", "energy", "edp"},
                              {"WHAT", "Policy",
                               "What searches minimise: cost, time, with power figures energy and "
                               "edp, or the policy's own"},
                              no),
      of_count<&s::cats_tries, 1, 1'000'000>(
          "cats_tries",
          {"N", "Policy", "cats: looks into a core's own queue before it goes on to another"}),
      of_words<&s::cats_update>(
          "cats_update", {"batched", "each"},
          {"HOW", "Policy",
           "cats, hops: bottom levels batched, once for all tasks that come together, or each"},
          no),
      of_flag<&s::cats_strict>(
          "cats_strict",
          {"", "Policy", "cats, hops: a bottom level equal to the highest so far is not critical"}),
      of_flag<&s::cats_bidirectional>(
          "cats_bidirectional",
          {"", "Policy", "cats: slow cores take critical tasks when they find no others"}),
      of_flag<&s::smt>("smt",
                       {"", "Machine", "Every logical CPU is a core, not every physical one"}),
      of_flag<&s::unpinned>("unpinned",
                            {"", "Machine", "Leave the workers to the operating system"}),
      of_text<&s::load_table>(
          "load_table", {"FILE", "Policy", "Every run begins with the trace table of that file"}),
      of_text<&s::save_table>(
          "save_table",
          {"FILE", "Policy", "Write the trace table as the last run leaves it; one policy only"}),
  };
}

}  // namespace

std::vector<policy_list> read_policies(const std::vector<std::string>& lists) {
  std::vector<std::string_view> known;
  for (const policy_info& info : policy_catalogue()) known.push_back(info.name);
  std::vector<policy_list> all;
  for (const std::string& list : lists) {
    policy_list& read = all.emplace_back(policy_list{list, {}});
    for (const std::string_view name : split_list(list))
      if (is_user_policy(name))
        read.names.emplace_back(name);
      else if (name == "all")
        read.names.insert(read.names.end(), known.begin(), known.end());
      else
        read.names.emplace_back(known[parse_choice("policy", name, known)]);
  }
  return all;
}

std::string setting::option() const {
  std::string dashed = "--" + std::string(name);
  std::ranges::replace(dashed, '_', '-');
  return dashed;
}

std::span<const setting> settings() {
  static const std::vector<setting> all = all_settings();
  return all;
}

const setting* find_setting(std::string_view name) noexcept {
  const auto at = std::ranges::find(settings(), name, &setting::name);
  return at == settings().end() ? nullptr : &*at;
}

std::string text_of(const specification& s, std::string_view name) {
  const setting& one = *find_setting(name);
  return one.text(one, s);
}

void read_setting(specification& s, std::string_view name, std::string_view text) {
  const setting& one = *find_setting(name);
  one.read(one, s, one.option(), text);
}

}  // namespace kilter::lab
