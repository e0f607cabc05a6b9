#include "presenting/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "kilter/error.hpp"
#include "measuring/simulation.hpp"
#include "presenting/compare_json.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

/// A result on two cores, filled task by task. Without `slowdown` the table is the papers'.
class made_result {
 public:
  explicit made_result(const char* table = "robust") {
    result_ = {{"config", {{"table", table}}},
               {"runs", document::array()},
               {"details", document::array()}};
    document places = document::array();
    for (const auto& [leader, width] : {std::pair{0, 1}, {1, 1}, {0, 2}})
      places.push_back({{"leader", leader}, {"width", width}});
    result_["machine"] = {{"cores", {0, 1}}, {"places", places}};
  }
  void begin(const char* disturb) {
    result_["details"].push_back({{"policy", "auto"},
                                  {"disturb", disturb},
                                  {"seconds", 0.0},
                                  {"table", document::array()},
                                  {"spans", document::array()},
                                  {"span_windows", {{0.0, 1.0}}},
                                  {"spans_total", 0}});
    free_s_[0] = free_s_[1] = 0.0;
    task_ = 0;
  }
  /// The next task of a core takes so long; then the table says `learned_s` and `slowdown`.
  void task(std::uint32_t core, double seconds, bool critical, double learned_s, double slowdown,
            const char* type = "sort") {
    document& d = result_["details"].back();
    const double start_s = free_s_[core];
    free_s_[core] += seconds;
    d["spans"].push_back({{"core", core},
                          {"start_s", start_s},
                          {"end_s", free_s_[core]},
                          {"type", type},
                          {"leader", core},
                          {"width", 1},
                          {"critical", critical},
                          {"member", 0},
                          {"task", task_++}});
    d["table"].push_back({{"t_s", free_s_[core]},
                          {"type", type},
                          {"leader", core},
                          {"width", 1},
                          {"seconds", learned_s},
                          {"slowdown", result_["config"]["table"] == "paper" ? document(nullptr)
                                                                             : document(slowdown)},
                          {"core", core}});
    d["seconds"] = std::max(free_s_[0], free_s_[1]);
    d["spans_total"] = task_;
  }
  [[nodiscard]] document& get() { return result_; }
  /// As `kilter compare` writes it.
  [[nodiscard]] document whole() const {
    return {{"schema", "kilter.compare/2"}, {"experiments", document::array({result_})}};
  }
  [[nodiscard]] explained_run last() const { return explain(whole(), {}).back(); }

 private:
  document result_;
  double free_s_[2] = {0.0, 0.0};
  std::uint64_t task_ = 0;
};

/// Both cores run `count` tasks of 1 ms, every second of them critical.
void undisturbed(made_result& r, int count) {
  for (int i = 0; i < count; ++i)
    for (const std::uint32_t core : {0u, 1u}) r.task(core, 1e-3, i % 2 == 0, 1e-3, 1.0);
}

TEST(explain, a_slowed_core_without_critical_tasks_helped_until_it_came_back) {
  made_result r;
  r.begin("none");
  undisturbed(r, 40);
  r.begin("share@0:50%@10%..50%");
  undisturbed(r, 10);
  for (int i = 0; i < 40; ++i) {
    r.task(0, 2e-3, false, 2e-3, 2.0);
    r.task(1, 1e-3, true, 1e-3, 1.0);
    r.task(1, 1e-3, false, 1e-3, 1.0);
  }
  undisturbed(r, 60);
  const explained_run run = r.last();
  ASSERT_EQ(run.periods.size(), 1u);
  const slow_period& p = run.periods[0];
  EXPECT_EQ(p.core, 0u);
  EXPECT_EQ(p.how, treatment::helped);
  EXPECT_DOUBLE_EQ(p.most, 2.0);
  EXPECT_NEAR(p.from_s, 12e-3, 1e-9) << "when the first slow task had been learned from";
  EXPECT_NEAR(p.to_s.value(), 91e-3, 1e-9) << "when the first task as usual had been learned from";
  EXPECT_EQ(p.critical.there, 1u) << "the one that showed that it was back";
  EXPECT_NEAR(p.critical.expected, 1.0 / 3.0, 0.02) << "half the speed of the other core";
  ASSERT_TRUE(p.critical.undisturbed);
  EXPECT_DOUBLE_EQ(*p.critical.undisturbed, 0.5);
  ASSERT_EQ(p.samples.size(), 3u);
  EXPECT_NEAR(p.samples[0].start_s, 10e-3, 1e-9) << "the first one is the one it was learned from";
  EXPECT_NEAR(p.samples[0].seconds, 2e-3, 1e-9);
  EXPECT_NEAR(p.samples[0].usual_s, 1e-3, 1e-9);
  ASSERT_TRUE(p.back);
  EXPECT_NEAR(p.back->seconds, 1e-3, 1e-9);
  const std::string text = explain_text({run});
  for (const char* said :
       {"core 0, from 12.0 ms to 91.0 ms", "critical tasks went elsewhere; it helped with others",
        "(sort) at (0,1) took 2.00 ms from 10.0 ms; 1.00 ms are usual there",
        "back from 91.0 ms on", "sort never at (0,2)",
        "So core 0 may stay: auto keeps away from it what others wait for."})
    EXPECT_NE(text.find(said), std::string::npos) << said << " is missing in\n" << text;
}

TEST(explain, a_core_that_keeps_its_part_was_not_avoided) {
  made_result r;
  r.begin("share@0:50%");
  for (int i = 0; i < 40; ++i) {
    r.task(0, 2e-3, i % 2 == 0, 2e-3, 2.0);
    r.task(1, 1e-3, true, 1e-3, 1.0);
    r.task(1, 1e-3, false, 1e-3, 1.0);
  }
  const explained_run run = r.last();
  ASSERT_EQ(run.periods.size(), 1u);
  EXPECT_EQ(run.periods[0].how, treatment::as_always);
  EXPECT_FALSE(run.periods[0].to_s) << "it lasts to the end";
  EXPECT_NE(explain_text({run}).find("no core was avoided for that"), std::string::npos);
  EXPECT_NE(explain_text({run}).find("So core 0 may stay: it got 33 % of the tasks, about"),
            std::string::npos);
}

TEST(explain, a_slow_core_that_gets_as_much_as_others_holds_them_up) {
  made_result r;
  r.begin("share@0:75%");
  for (int i = 0; i < 40; ++i) {
    r.task(0, 4e-3, i % 2 == 0, 4e-3, 4.0);
    r.task(1, 1e-3, i % 2 == 0, 1e-3, 1.0);
  }
  const std::string text = explain_text({r.last()});
  EXPECT_NE(text.find("So core 0 held others up: it got"), std::string::npos) << text;
  EXPECT_NE(text.find("and its speed is worth 20 %"), std::string::npos) << text;
}

TEST(explain, a_core_that_nothing_is_sent_to_was_avoided) {
  made_result r;
  r.begin("share@1:25%");
  r.task(1, 4e-3, true, 4e-3, 4.0);
  for (int i = 0; i < 200; ++i) r.task(0, 1e-3, i % 2 == 0, 1e-3, 1.0);
  r.task(1, 1e-3, false, 4e-3, 4.0);
  const explained_run run = r.last();
  ASSERT_EQ(run.periods.size(), 1u);
  EXPECT_EQ(run.periods[0].core, 1u);
  EXPECT_EQ(run.periods[0].how, treatment::avoided);
  ASSERT_EQ(run.seldom.size(), 1u);
  EXPECT_EQ(run.seldom[0].leader, 1u);
  EXPECT_EQ(run.seldom[0].tasks, 2u);
  EXPECT_EQ(run.seldom[0].best_leader, 0u);
  EXPECT_DOUBLE_EQ(run.seldom[0].seconds, 4e-3);
}

TEST(explain, a_core_that_is_never_given_critical_tasks_is_not_called_avoided) {
  made_result r;
  const auto run_with = [&](const char* disturb, double slow) {
    r.begin(disturb);
    for (int i = 0; i < 60; ++i) {
      r.task(0, 1e-3, true, 1e-3, 1.0);
      r.task(1, slow * 1e-3, false, slow * 1e-3, slow);
    }
  };
  run_with("none", 1.0);
  run_with("share@1:80%", 1.25);
  const explained_run run = r.last();
  ASSERT_EQ(run.periods.size(), 1u);
  EXPECT_NE(run.periods[0].how, treatment::avoided);
  EXPECT_NE(run.periods[0].how, treatment::helped);
}

TEST(explain, short_pauses_of_a_slowdown_do_not_end_its_period) {
  made_result r;
  r.begin("cpu@0");
  for (int i = 0; i < 100; ++i) {
    r.task(0, 1e-3, false, 1e-3, i % 10 == 0 ? 1.0 : 1.5);
    r.task(1, 1e-3, true, 1e-3, 1.0);
  }
  ASSERT_EQ(r.last().periods.size(), 1u);
}

TEST(explain, the_papers_table_tells_a_slowdown_by_its_times) {
  made_result r("paper");
  r.begin("share@1:50%");
  for (int i = 0; i < 30; ++i) {
    r.task(0, 1e-3, true, 1e-3, 0.0);
    r.task(1, i < 10 ? 1e-3 : 2e-3, false, i < 10 ? 1e-3 : 2e-3, 0.0);
  }
  const explained_run run = r.last();
  ASSERT_EQ(run.periods.size(), 1u);
  EXPECT_EQ(run.periods[0].core, 1u);
  EXPECT_DOUBLE_EQ(run.periods[0].most, 2.0);
}

TEST(explain, more_work_in_a_task_is_not_cited_as_interference) {
  made_result r;
  r.begin("share@0:50%");
  for (int i = 0; i < 40; ++i) {
    // tasks of this type differ tenfold on both cores
    r.task(0, i == 20 ? 20e-3 : i % 2 == 0 ? 10e-3 : 1e-3, false, 2e-3, 2.0);
    r.task(1, i % 2 == 0 ? 10e-3 : 1e-3, false, 1e-3, 1.0);
  }
  const slow_period p = r.last().periods.at(0);
  ASSERT_EQ(p.samples.size(), 1u) << "only the one that took longer than any on the other core";
  EXPECT_NEAR(p.samples[0].seconds, 20e-3, 1e-9);
  EXPECT_EQ(p.samples[0].usual_s, 0.0) << "there is no usual time if tasks differ tenfold";
}

TEST(explain, critical_tasks_with_more_work_are_not_cited_as_interference) {
  made_result r;
  r.begin("share@0:50%");
  for (int i = 0; i < 100; ++i)
    for (const std::uint32_t core : {0u, 1u}) {
      const double slowdown = core == 0 ? 2.0 : 1.0;
      const bool critical = i % 20 == 0;
      r.task(core, (critical ? 10e-3 : 1e-3) * (core == 0 && !critical ? 2.0 : 1.0), critical,
             1e-3 * slowdown, slowdown);
    }
  const slow_period p = r.last().periods.at(0);
  EXPECT_FALSE(p.samples.empty());
  for (const cited_task& t : p.samples)
    EXPECT_NEAR(t.seconds, 2e-3, 1e-9)
        << "task " << t.task << " has ten times the work, and took ten times as long";
}

TEST(explain, usual_times_are_those_of_a_task_where_the_table_learns_per_unit_of_work) {
  made_result r;
  r.begin("share@0:50%");
  for (int i = 0; i < 40; ++i) {
    r.task(0, 20e-3, false, 2e-3, 2.0);
    r.task(1, 10e-3, false, 1e-3, 1.0);
  }
  const explained_run run = r.last();
  EXPECT_NEAR(run.periods.at(0).samples.at(0).usual_s, 10e-3, 1e-9);
  EXPECT_NE(explain_text({run}).find("per unit of work; a typical task takes 10 times"),
            std::string::npos);
}

TEST(explain, without_slowdowns_it_says_so_in_one_line) {
  made_result r;
  r.begin("none");
  undisturbed(r, 40);
  EXPECT_TRUE(r.last().periods.empty());
  EXPECT_NE(explain_text({r.last()}).find("no core was learned to be 1.1 times slower"),
            std::string::npos);
  EXPECT_NE(explain_text({r.last()}).find("So all cores may stay"), std::string::npos);
  r.get()["details"][0]["table"] = document::array();
  EXPECT_NE(explain_text({r.last()}).find("nothing was learned"), std::string::npos);
  r.get()["details"][0]["policy"] = "rws";
  EXPECT_NE(explain_text({r.last()}).find("So a slow core holds others up unseen; auto"),
            std::string::npos);
}

TEST(explain, what_is_left_out_of_the_result_is_said_once) {
  made_result r;
  r.begin("none");
  undisturbed(r, 40);
  r.get()["details"][0]["span_windows"] = {{0.0, 0.02}, {0.03, 0.04}};
  r.get()["runs"].push_back({{"policy", "auto"}, {"disturb", "none"}, {"tasks", 5000}});
  EXPECT_NE(explain_text({r.last()})
                .find("5000 tasks\n  the result keeps 80 of the tasks, in 2 stretches"),
            std::string::npos);
}

TEST(explain, refuses_what_it_cannot_explain_in_one_line) {
  const std::string path = testing::TempDir() + "explain_test_" +
                           std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
                           ".json";
  const auto refusal = [&](const std::string& content) {
    std::ofstream(path) << content;
    try {
      (void)read_result(path);
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("{").find("not JSON, at byte 2"), std::string::npos);
  EXPECT_NE(refusal("[1]").find("'none'"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "kilter.matrix/1"})")
                .find("'kilter.matrix/1'; expected kilter.compare/2"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(400'000, '[')).find(path + ": nested more than 100 deep"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"schema": )" + std::string(200'000, '[') + std::string(200'000, ']') + "}")
                .find("nested more than 100 deep"),
            std::string::npos);
  std::remove(path.c_str());

  made_result r;
  r.begin("none");
  undisturbed(r, 40);
  EXPECT_THROW((void)explain(r.whole(), {.policies = {"dam-c"}, .disturbs = {}}), input_error);
  EXPECT_THROW((void)explain(r.whole(), {.policies = {}, .disturbs = {"cpu@0"}}), input_error);
  r.get()["details"][0]["spans"][3].erase("task");
  EXPECT_THROW((void)explain(r.whole(), {}), input_error);
}

/// Numbers that no result has: each would be turned into another one, without an end to the work or
/// to the digits.
TEST(explain, numbers_out_of_range_are_named) {
  const auto said_of = [](const char* list, const char* key, document value) {
    made_result r;
    r.begin("none");
    undisturbed(r, 40);
    r.get()["details"][0][list][3][key] = std::move(value);
    try {
      (void)explain(r.whole(), {});
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(said_of("spans", "leader", -1)
                .find("'leader' is -1; it must be a whole number from 0 to 65535"),
            std::string::npos);
  EXPECT_NE(said_of("spans", "width", 1e300).find("'width' is 1e+300"), std::string::npos);
  EXPECT_NE(
      said_of("spans", "width", 0).find("'width' is 0; it must be a whole number from 1 to 65536"),
      std::string::npos);
  EXPECT_NE(said_of("spans", "end_s", 1e308).find("'end_s' is 1e+308"), std::string::npos);
  EXPECT_NE(said_of("spans", "end_s", -1.0).find("not before 'start_s'"), std::string::npos);
  EXPECT_NE(said_of("spans", "task", 1.5).find("'task' is 1.5"), std::string::npos);
  EXPECT_NE(said_of("table", "seconds", -2).find("'seconds' is -2"), std::string::npos);
  EXPECT_NE(said_of("table", "slowdown", 1e300).find("'slowdown' is 1e+300"), std::string::npos);
  EXPECT_EQ(said_of("table", "slowdown", 0.0), "accepted") << "one that four digits do not show";
}

/// Done 6 of the policy auto: the disturbance on the other core gets the other answer and the other
/// explanation.
TEST(explain, the_disturbance_on_the_other_core_gets_the_other_explanation) {
  for (const std::uint32_t disturbed : {0u, 1u}) {
    specification a;
    a.on = read_engine("--on", "sim:grid:2x1");
    a.work = make_workload("layered", {{"tasks", "1000"}, {"parallelism", "4"}});
    a.policy_lists = read_policies({"auto"});
    a.disturb = test::scenarios({"share@" + std::to_string(disturbed) + ":50%"});
    a.repeats = 1;
    progress quiet(1, true);
    simulation s(plan(a), quiet);
    s.run();
    const document result = to_document(test::outcome_of(s.plan(), s.result()), {});
    const auto runs = explain(result, {.policies = {}, .disturbs = {written(a.disturb[0])}});
    ASSERT_EQ(runs.size(), 1u);
    ASSERT_FALSE(runs[0].periods.empty()) << "core " << disturbed << " was slowed";
    std::uint64_t critical = 0, there = 0;
    for (const slow_period& p : runs[0].periods) {
      EXPECT_EQ(p.core, disturbed);
      EXPECT_TRUE(p.how == treatment::avoided || p.how == treatment::helped) << explain_text(runs);
      EXPECT_FALSE(p.samples.empty());
      for (const cited_task& t : p.samples) EXPECT_EQ(t.leader, disturbed);
      critical += p.critical.all;
      there += p.critical.there;
    }
    EXPECT_GT(critical, 50u);
    EXPECT_LT(there * 5, critical) << "critical tasks ran on the other core";
    const std::string text = explain_text(runs),
                      other = "core " + std::to_string(1 - disturbed) + ", from";
    EXPECT_NE(text.find("core " + std::to_string(disturbed) + ", from"), std::string::npos) << text;
    EXPECT_EQ(text.find(other), std::string::npos) << text;
    const auto undisturbed_runs = explain(result, {.policies = {}, .disturbs = {"none"}});
    EXPECT_TRUE(undisturbed_runs.at(0).periods.empty()) << explain_text(undisturbed_runs);
  }
}

TEST(fuzz_corpus, of_results) {
  kilter::test::replay_corpus("result", [](const std::string& path, const std::string&) {
    (void)explain_text(explain(read_result(path), {}));
  });
}

}  // namespace
}  // namespace kilter::lab
