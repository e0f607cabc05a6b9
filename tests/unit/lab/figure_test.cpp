// The figures of experiment files: read or refused with a line, and numbers that can be recomputed
// by hand.
#include "claims/figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "claims/experiment_file.hpp"
#include "claims/reproduction.hpp"
#include "kilter/error.hpp"
#include "presenting/figure_json.hpp"
#include "presenting/reproduce_json.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

using test::expect_error;

// -- what is read ---------------------------------------------------------------------------------

const std::string top =
    "schema = \"kilter.experiment/1\"\nname = \"x\"\ntitle = \"t\"\nsource = \"s\"\n"  // lines 1..4
    "[[scenario]]\nname = \"m\"\non = \"sim:grid:1x2\"\nworkload = \"layered\"\nkernel = "
    "\"matmul\"\ntile = 64\n"
    "tasks = 100\nparallelism = [2, 3]\npolicies = [\"rws\", \"da\"]\n"  // lines 5..13
    "[[claim]]\nid = \"S0-1\"\nsource = \"s\"\nstatement = \"s\"\n"      // lines 14..17
    // to line 23
    "[[claim.case]]\nof = { measure = \"throughput\" }\nrelation = \"gt\"\nreference = 1\nmargin = "
    "0.01\nreason = \"r\"\n";

/// Lines 24 to 29, then `more` from line 30.
std::string with_figure(const std::string& more, const std::string& kind = "bars",
                        const std::string& id = "S0-Fig.4") {
  return top + "[[figure]]\nid = \"" + id + "\"\ntitle = \"t\"\nkind = \"" + kind +
         "\"\nclaims = [\"S0-1\"]\nsaid = \"s\"\n" + more;
}

// lines 30, 31
const std::string throughput = "unit = \"tasks a second\"\nof = { measure = \"throughput\" }\n";
// lines 32, 33
const std::string axes = "group = \"parallelism\"\nseries = \"policy\"\n";

TEST(figure, every_number_has_one_place) {
  const auto f = parse_experiment(
      with_figure(
          throughput + axes +
          "published = [{ parallelism = 3, policy = \"da\", value = 7, note = \"about\" }]\n"),
      "x.toml");
  const figure& one = f.figures.at(0);
  EXPECT_EQ(one.group.values, (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(one.series.values, (std::vector<std::string>{"rws", "da"}));
  ASSERT_EQ(one.points.size(), 4u);
  std::set<std::pair<std::size_t, std::size_t>> places;
  for (const figure_point& p : one.points) {
    EXPECT_TRUE(places.emplace(p.group, p.series).second);
    const selection& run = p.of.left.front().run;
    EXPECT_EQ(run.at("parallelism"), one.group.values[p.group]);
    EXPECT_EQ(run.at("policy"), one.series.values[p.series]);
    EXPECT_EQ(p.published.has_value(), p.group == 1 && p.series == 1);
  }
}

TEST(figure, what_ranges_over_values_needs_an_axis) {
  expect_error(with_figure(throughput + "group = \"parallelism\"\n"),
               "x.toml:31: 'policy' ranges over several values (rws, da)");
  expect_error(with_figure(throughput + "series = \"policy\"\n"),
               "x.toml:24: a figure of bars needs 'group'");
  expect_error(with_figure(throughput + "group = \"weight\"\n"),
               "x.toml:32: 'weight' has no value in throughput");
  expect_error(with_figure(throughput + "group = \"polices\"\n"),
               "x.toml:32: unknown axis 'polices': did you mean 'policy'?");
  expect_error(with_figure(throughput + "group = \"policy\"\nseries = \"policy\"\n"),
               "x.toml:33: 'policy' is drawn along another axis already");
}

TEST(figure, what_is_wrong_is_named_with_its_line) {
  expect_error(with_figure(throughput + axes + "colour = 1\n"),
               "x.toml:34: unknown key of [[figure]] 'colour': did you mean 'colours'?");
  expect_error(with_figure(throughput + axes + "except = [{ parallelism = 2 }]\n"),
               "x.toml:34: unknown key of [[figure]] 'except'");
  expect_error(with_figure(throughput + axes, "bar"),
               "x.toml:27: unknown kind 'bar': did you mean 'bars'?");
  expect_error(with_figure(throughput + axes, "bars", "Fig. 4"),
               "x.toml:25: 'id' is 'Fig. 4'; it must be written as S0-Fig.4");
  expect_error(with_figure(throughput + axes + "colours = \"series\"\n"),
               "x.toml:34: 'colours' is for heat");
  expect_error(with_figure(throughput + axes + "learned = \"1,1\"\n"),
               "x.toml:34: 'learned' is for starts");
  expect_error(with_figure(throughput + "panel = \"parallelism\"\nseries = \"policy\"\n", "shares"),
               "x.toml:31: a figure of shares needs a measure that is a share");
  expect_error(with_figure(throughput + axes, "starts"),
               "x.toml:32: a figure of starts has no 'group'");
  expect_error(with_figure("unit = \"x\"\nof = { measure = \"throughputs\" }\n" + axes),
               "x.toml:31: unknown measure 'throughputs'");
  expect_error(with_figure("unit = \"x\"\nof = { measure = \"places\", cores = 4 }\n" + axes),
               "x.toml:31: a figure is of runs");
  expect_error(with_figure(throughput + axes) + with_figure(throughput + axes).substr(top.size()),
               "x.toml:35: figure 'S0-Fig.4' stands here twice");
  std::string other = with_figure(throughput + axes);
  other.replace(other.find("claims = [\"S0-1\"]"), 17, "claims = [\"S0-2\"]");
  expect_error(other, "x.toml:28: unknown claim of this file 'S0-2'");
}

TEST(figure, a_published_number_stands_at_one_place_of_the_figure) {
  const std::string good = throughput + axes + "published = [";
  expect_error(with_figure(good + "{ parallelism = 4, policy = \"da\", value = 7 }]\n"),
               "x.toml:34: unknown parallelism of the figure '4'");
  expect_error(with_figure(good + "{ parallelism = 3, value = 7 }]\n"),
               "x.toml:34: [[published]] lacks 'policy'");
  expect_error(with_figure(good + "{ parallelism = 3, policy = \"da\" }]\n"),
               "x.toml:34: [[published]] lacks 'value'");
  expect_error(with_figure(good + "{ parallelism = 3, policy = \"da\", tile = 64, value = 7 }]\n"),
               "x.toml:34: unknown key of [[published]] 'tile'");
  expect_error(with_figure(good + "{ parallelism = [2, 3], policy = \"da\", value = 7 }]\n"),
               "x.toml:34: 'parallelism' takes one value");
  expect_error(with_figure(good + "{ parallelism = 3, policy = \"da\", value = 7 },\n{ "
                                  "parallelism = 3, policy = \"da\", value = 8 }]\n"),
               "x.toml:35: a second number for the same place");
}

TEST(figure, iterations_are_those_of_the_workload) {
  const std::string kmeans =
      "schema = \"kilter.experiment/1\"\nname = \"x\"\ntitle = \"t\"\nsource = "
      "\"s\"\n[[scenario]]\nname = \"k\"\non = \"sim:grid:1x2\"\n"
      "workload = \"kmeans\"\npoints = 1000\nfeatures = 4\nclusters = 2\niterations = "
      "3\ntasks_per_iteration = 4\ncritical_factor = 1.25\n"
      "policies = \"rws\"\n[[claim]]\nid = \"S0-1\"\nsource = \"s\"\nstatement = "
      "\"s\"\n[[claim.case]]\n"
      "of = { measure = \"iteration_time\", iteration = ";  // line 21
  const std::string rest = " }\nrelation = \"gt\"\nreference = 1\nmargin = 0.01\nreason = \"r\"\n";
  EXPECT_EQ(parse_experiment(kmeans + "\"1-3\"" + rest, "x.toml").claims.at(0).cases.size(), 3u);
  expect_error(kmeans + "4" + rest, "x.toml:21: 'iteration' is '4'; it must be one of 1 to 3");
  expect_error(kmeans + "0" + rest, "x.toml:21: 'iteration' is '0'");
  expect_error(kmeans + "\"3-1\"" + rest, "x.toml:21: 'iteration' is '3-1'");
  expect_error(kmeans + "1, when = \"during\"" + rest,
               "x.toml:21: give 'when' or 'iteration', not both");
  expect_error(
      with_figure("unit = \"x\"\nof = { measure = \"iteration_time\", iteration = 1 }\n" + axes),
      "x.toml:31: scenario 'm' has no iterations");
  expect_error(with_figure("unit = \"x\"\nof = { measure = \"task_count\" }\n" + axes),
               "x.toml:31: task_count needs one of core");
}

// -- those that are shipped -----------------------------------------------------------------------

TEST(figures, of_the_papers_are_all_there) {
  std::set<std::string> found, wanted{"S0-Fig.9a", "S0-Fig.9b", "S0-Fig.9b-sums", "S0-Fig.9c"};
  for (const int i : {4, 5, 6, 7, 8, 10}) wanted.insert("S0-Fig." + std::to_string(i));
  for (int i = 5; i <= 10; ++i) wanted.insert("S2-Fig." + std::to_string(i));
  for (const char* part :
       {"2", "2-mean", "5", "5-slow", "5-energy", "5-others", "6", "6-energy", "8", "9", "9-pairs"})
    wanted.insert(std::string("S3-Fig.") + part);
  for (const char* part : {"3", "3-variation", "3-locks", "3-barriers", "4-threads", "4-groups",
                           "4-instructions", "4-locks", "4-unequal"})
    wanted.insert(std::string("S3-Table.") + part);
  for (const char* part : {"1",
                           "1-stream",
                           "2a-default",
                           "2a-worst",
                           "2b-default",
                           "2b-worst",
                           "4-fairness",
                           "4-speed",
                           "5-fairness",
                           "5-speed",
                           "6a",
                           "6a-means",
                           "6a-slowdowns",
                           "6a-values",
                           "6a-others",
                           "6a-ratios",
                           "6b",
                           "6b-means",
                           "6b-others",
                           "7a",
                           "7b",
                           "7c",
                           "8",
                           "8a-ends",
                           "8b-ends"})
    wanted.insert(std::string("S4-Fig.") + part);
  for (const char* part : {"3", "3-means"}) wanted.insert(std::string("S4-Table.") + part);
  for (const char* part :
       {"3", "4", "5", "6a", "6b", "6c", "6d", "7", "7-eas", "7-policies", "8", "8-eas", "9"})
    wanted.insert(std::string("S1-Fig.") + part);
  for (const experiment_file& f : read_experiments(experiments_directory()))
    for (const figure& one : f.figures) found.insert(one.id);
  EXPECT_EQ(found, wanted);
}

TEST(figures, add_no_run_to_those_of_all_claims) {
  auto files = read_experiments(experiments_directory());
  // But for runs of threads, which are quick: cases and scenarios that no claim speaks of are drawn
  // too.
  std::erase_if(files, [](const experiment_file& f) {
    return f.scenarios.empty() || f.scenarios.front().runs() != run_kind::tasks;
  });
  const auto all = chosen_claims(files, {"all"});
  EXPECT_EQ(reproduction(files, {.draws = true}).steps(all), reproduction(files).steps(all));
}

// -- what is drawn --------------------------------------------------------------------------------

TEST(draw, is_the_mean_and_two_deviations_of_what_was_measured) {
  const auto f = parse_experiment(with_figure(throughput + axes), "x.toml").figures;
  const drawn_figure d = draw(f.at(0), [](const cell& c) {
    const double base =
        10.0 * std::stod(c.run.at("parallelism")) + (c.run.at("policy") == "da" ? 1.0 : 0.0);
    return std::vector<double>{base - 1.0, base + 1.0};
  });
  EXPECT_EQ(d.seeds, 2u);
  ASSERT_EQ(d.got.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const double mean = 10.0 * static_cast<double>(2 + d.what.points[i].group) +
                        static_cast<double>(d.what.points[i].series);
    EXPECT_DOUBLE_EQ(d.got[i].obtained, mean);
    EXPECT_DOUBLE_EQ(d.got[i].high, mean + 2.0 * std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(d.got[i].low, mean - 2.0 * std::sqrt(2.0));
  }
}

TEST(draw, a_number_that_cannot_be_measured_is_null_in_the_report) {
  const auto f = parse_experiment(with_figure(throughput + axes), "x.toml").figures;
  const std::vector<drawn_figure> d{draw(f.at(0), [](const cell&) {
    return std::vector<double>{std::nan(""), 1.0};
  })};
  const auto document = report_document({}, d);
  EXPECT_TRUE(document.at("figures").at(0).at("points").at(0).at("obtained").is_null());
}

/// Three iterations of four tasks, the largest of each critical, on one core; and the same with
/// half a core for half of the time.
constexpr const char* one_core = R"(schema = "kilter.experiment/1"
name = "one-core"
title = "everything runs on the only core"
source = "none"

[[scenario]]
name = "kmeans"
on = "sim:grid:1x1"
workload = "kmeans"
points = 100000
features = 16
clusters = 4
iterations = 3
tasks_per_iteration = 4
critical_factor = 1.25
policies = "da"
table = "paper"
disturb = ["none", "cpu@0@25%..75%"]
seeds = 10

[[claim]]
id = "S0-1"
source = "none"
statement = "a disturbance costs time"

[[claim.case]]
of = { measure = "makespan", disturb = "cpu@0@25%..75%" }
per = { disturb = "none" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"

[[claim]]
id = "S0-2"
source = "none"
statement = "has no figure"

[[claim.case]]
of = { measure = "makespan", disturb = "cpu@0@25%..75%" }
per = { disturb = "none" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"

[[figure]]
id = "S0-Fig.1"
title = "tasks"
kind = "heat"
claims = ["S0-1"]
unit = "tasks"
of = { measure = "task_count", core = 0, iteration = "1-3" }
group = "iteration"
series = "disturb"
said = "nothing"

[[figure]]
id = "S0-Fig.2"
title = "times"
kind = "lines"
claims = ["S0-1"]
unit = "seconds"
of = { measure = "iteration_time", disturb = "none", iteration = "1-3" }
group = "iteration"
said = "nothing"

[[figure]]
id = "S0-Fig.3"
title = "starts"
kind = "starts"
claims = ["S0-1"]
unit = "seconds"
of = { measure = "makespan" }
panel = "disturb"
learned = "0,1"
said = "nothing"
)";

TEST(reproduction, draws_a_run_that_can_be_told_by_hand) {
  reproduction r({parse_experiment(one_core, "one-core.toml")}, {.draws = true});
  progress silent(2, true);
  const reproduced got = r.run({"S0-1"}, silent);
  ASSERT_EQ(got.figures.size(), 3u);
  for (const estimate& e : got.figures[0].got)
    EXPECT_EQ(e.obtained, 4.0) << "every task of each iteration on the only core";
  EXPECT_EQ(got.figures[0].seeds, 10u);
  EXPECT_EQ(got.figures[0].disturbed, (std::vector<double>{0.0, 0.5, 0.0}))
      << "half of the runs drawn have a disturbance, in the middle";

  const drawn_figure& starts = got.figures[2];
  ASSERT_EQ(starts.traces.size(), 2u);
  double iterations_s = 0.0;
  for (const estimate& e : got.figures[1].got) iterations_s += e.obtained;
  EXPECT_NEAR(iterations_s, starts.got[0].obtained, 0.01 * iterations_s)
      << "one iteration follows the other";
  for (const traced_run& t : starts.traces) {
    EXPECT_EQ(t.cores, 1u);
    ASSERT_EQ(t.starts.size(), 12u);
    EXPECT_EQ(t.learned.size(), 12u) << "each task teaches the table";
    EXPECT_EQ(std::ranges::count_if(t.starts, &task_start::critical), 3);
    EXPECT_TRUE(std::ranges::is_sorted(t.starts, {}, &task_start::start_s));
    for (const task_start& s : t.starts) EXPECT_EQ(s.leader + s.width, 1u);
    EXPECT_EQ(t.types.at(t.learned.front().type), "kmeans");
  }
  const traced_run &undisturbed = starts.traces[0], &disturbed = starts.traces[1];
  EXPECT_EQ(undisturbed.disturbed_to_s, 0.0);
  EXPECT_NEAR(disturbed.disturbed_from_s, 0.25 * undisturbed.makespan_s, 1e-9);
  EXPECT_NEAR(disturbed.disturbed_to_s, 0.75 * undisturbed.makespan_s, 1e-9);
  EXPECT_NEAR(undisturbed.learned.front().seconds,
              undisturbed.starts[1].start_s - undisturbed.starts[0].start_s, 1e-5)
      << "the first sample replaces";

  EXPECT_TRUE(r.run({"S0-2"}, silent).figures.empty()) << "no figure belongs to it";
  reproduction plain({parse_experiment(one_core, "one-core.toml")});
  EXPECT_TRUE(plain.run({"S0-1"}, silent).figures.empty()) << "nobody asked for drawings";
}

TEST(report_document, is_the_verdicts_with_the_figures) {
  reproduction r({parse_experiment(one_core, "one-core.toml")}, {.draws = true});
  progress silent(2, true);
  const reproduced got = r.run({"S0-1"}, silent);
  auto document = report_document(got.claims, got.figures);
  ASSERT_EQ(document.at("figures").size(), 3u);
  EXPECT_EQ(document["figures"][0]["group"]["values"], (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(document["figures"][2]["traces"][0]["starts"].size(), 12u);
  document.erase("figures");
  EXPECT_EQ(document, to_json(got.claims));
}

}  // namespace
}  // namespace kilter::lab
