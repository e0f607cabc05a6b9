// Recorded observations come back as they were, and bad files are refused with one line that names
// the place.

#include <gtest/gtest.h>
#include <sstream>

#include "balance/recording.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/support.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::test;

namespace {

const std::string header =
    "{\"schema\":\"kilter.observations/1\",\"machine\":\"m\",\"cores\":2,\"observer\":\"pmu\"}\n";

std::string with_thread(const std::string& members) {
  return header + "{\"now_s\":1,\"length_s\":1,\"threads\":[{" + members + "}]}\n";
}

}  // namespace

TEST(recording, everything_that_an_observation_holds_comes_back) {
  observation o{.now_s = 1.5, .length_s = 0.5, .rates = true, .threads = {}};
  thread_sample full{.thread = 3,
                     .program = 1,
                     .core = 1,
                     .background = true,
                     .runnable = false,
                     .movable = false,
                     .ran_s = 0.25,
                     .waited_s = 0.125,
                     .misses = 1e6,
                     .miss_ratio = 0.1,
                     .instructions = 0.0,
                     .told = thread_class::memory};
  thread_sample bare;
  bare.thread = 4;
  bare.program = 2;
  o.threads = {full, bare};
  o.idle = {0.25, 1.0};
  std::istringstream in(recording_line(recording_header{"two \"cores\"", 2, "pmu"}) +
                        recording_line(o));
  recording_reader reader(in, "f");
  EXPECT_EQ(reader.header().machine, "two \"cores\"");
  EXPECT_EQ(reader.header().cores, 2u);
  EXPECT_EQ(reader.header().observer, "pmu");
  const auto back = reader.next();
  ASSERT_TRUE(back);
  EXPECT_EQ(back->now_s, 1.5);
  EXPECT_EQ(back->length_s, 0.5);
  EXPECT_TRUE(back->rates);
  EXPECT_EQ(back->idle, o.idle);
  ASSERT_EQ(back->threads.size(), 2u);
  const thread_sample& t = back->threads[0];
  EXPECT_EQ(t.thread, 3u);
  EXPECT_EQ(t.program, 1u);
  EXPECT_EQ(t.core, 1u);
  EXPECT_TRUE(t.background);
  EXPECT_FALSE(t.runnable);
  EXPECT_FALSE(t.movable);
  EXPECT_EQ(t.ran_s, 0.25);
  EXPECT_EQ(t.waited_s, 0.125);
  EXPECT_EQ(t.misses, 1e6);
  EXPECT_EQ(t.miss_ratio, 0.1);
  EXPECT_EQ(t.instructions, 0.0);
  EXPECT_EQ(t.told, thread_class::memory);
  const thread_sample& b = back->threads[1];
  EXPECT_EQ(b.core, no_core);
  EXPECT_TRUE(b.runnable);
  EXPECT_TRUE(b.movable);
  EXPECT_FALSE(b.misses);
  EXPECT_FALSE(b.miss_ratio);
  EXPECT_EQ(b.told, thread_class::unknown);
  EXPECT_FALSE(reader.next());
}

TEST(recording, bad_files_are_refused_where_they_are_wrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "empty"},
      {"[]\n", "f:1: not a JSON object"},
      {"{\"schema\":\"kilter.table/1\"}\n", "f:1: 'schema' is \"kilter.table/1\""},
      {"{\"schema\":\"kilter.observations/1\",\"machine\":\"m\",\"cores\":0,\"observer\":\"x\"}\n",
       "'cores' is 0"},
      {header + "{\n", "f:2: not JSON, at byte 2"},
      {header + "{\"now_s\":1,\"length_s\":1,\"threads\":[]}", "f:2: the file ends within a line"},
      {header + "{\"length_s\":1,\"threads\":[]}\n", "has no 'now_s'"},
      {header + "{\"now_s\":1,\"length_s\":0,\"threads\":[]}\n", "'length_s' is 0"},
      {header + "{\"now_s\":1,\"length_s\":-1,\"threads\":[]}\n", "'length_s' is -1"},
      {header + "{\"now_s\":1,\"length_s\":1,\"threads\":{}}\n", "'threads' must be a list"},
      {header + "{\"now_s\":1,\"length_s\":1,\"threads\":[],\"cores\":2}\n",
       "'cores' is no member"},
      {header + "{\"now_s\":1,\"length_s\":1,\"threads\":[]}\n{\"now_s\":1,\"length_s\":1,"
                "\"threads\":[]}\n",
       "f:3: 'now_s' is 1; it must be later"},
      {with_thread("\"program\":0"), "has no 'thread'"},
      {with_thread("\"thread\":-1,\"program\":0"), "'thread' is -1"},
      {with_thread("\"thread\":4294967295,\"program\":0"), "'thread' is 4294967295"},
      {with_thread("\"thread\":0,\"program\":0,\"core\":2"),
       "'core' is 2; it must be a whole number from 0 to 1"},
      {with_thread("\"thread\":0,\"program\":0,\"miss_ratio\":1.5"),
       "'miss_ratio' is 1.5; it must be a number from 0 to 1"},
      {with_thread("\"thread\":0,\"program\":0,\"misses\":1e999"),
       "f:2: not JSON: a number is out of range"},
      {with_thread("\"thread\":0,\"program\":0,\"ran_s\":1e308"),
       "'ran_s' is 1e+308; it must be a number from 0 to 1e18"},
      {with_thread("\"thread\":0,\"program\":0,\"class\":\"io\""), "'class' is \"io\""},
      {with_thread("\"thread\":0,\"program\":0,\"runnable\":1"), "'runnable' is 1"},
      {header + "{\"now_s\":1,\"length_s\":1,\"threads\":[{\"thread\":1,\"program\":0},{\"thread\":"
                "1,\"program\":0}]}\n",
       "thread 2 of the list has id 1"},
      {header + "{\"now_s\":1,\"length_s\":1,\"threads\":[{\"thread\":1,\"program\":0,"
                "\"mis\\nses\":0}]}\n",
       "'mis\\x0ases' is no member"},
      {header + std::string(400'000, '[') + "\n", "f:2: nested more than 100 deep, at byte 101"},
      {with_thread("\"thread\":" + std::string(200'000, '[') + std::string(200'000, ']')),
       "f:2: nested more than 100 deep"},
      {with_thread("\"thread\":" + std::string(95, '[') + std::string(95, ']') + ",\"program\":0"),
       "'thread' is [["},
  };
  for (const auto& [text, expected] : cases) {
    std::istringstream in(text);
    expect_names(refusal([&] {
                   recording_reader reader(in, "f");
                   while (reader.next()) {
                   }
                 }),
                 {expected});
  }
}

TEST(fuzz_corpus, of_recordings) {
  replay_corpus("recording", [](const std::string&, const std::string& text) {
    std::istringstream in(text);
    recording_reader reader(in, "f");
    while (reader.next()) {
    }
  });
}
