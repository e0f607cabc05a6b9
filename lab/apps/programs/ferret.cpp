#include "apps/programs/ferret.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"
#include "kilter/pipeline.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// Queries leave the last stage in the order in which they came, so a query can use the slot of the
// one that came `slots` queries before it.
program_run ferret::run_in_a_pipeline(kilter::runtime& rt, const std::function<bool()>& stopped) {
  const auto begin = std::chrono::steady_clock::now();
  const auto next = [&]() -> std::optional<query*> {
    query& q = slots_[loaded_ % slots_.size()];
    return !stopped() && load_next(q) ? std::optional(&q) : std::nullopt;
  };
  kilter::parallel_pipeline(
      rt, {.in_flight = static_cast<std::uint32_t>(slots_.size())},
      kilter::ordered_stage("load", next),
      kilter::parallel_stage("segment",
                             [](query* q) { return apps::segment(q->pixels, q->regions), q; }),
      kilter::parallel_stage("extract",
                             [](query* q) { return apps::extract(q->regions, q->signature), q; }),
      kilter::parallel_stage("vec", [this](query* q) { return look_up(*q), q; }),
      kilter::parallel_stage("rank", [this](query* q) { return rank(*q), q; }),
      kilter::ordered_stage("out", [this](query* q) { keep(*q); }));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::size_t answered = matches_.size();
  return {.seconds = seconds.count(),
          .begin = begin,
          .iterations = answered,
          .tasks = 6 * answered,
          .complete = answered == queries_->count()};
}

// A task writes the slot of its query, so it follows what was done there before, also by the query
// that had the slot before. Each of the places where a picture is read is for one at a time, and so
// is the output; their tasks are added in the order of the queries.
program_run ferret::run_in_tasks(kilter::runtime& rt, const std::function<bool()>& stopped) {
  // queries, so that memory does not grow with their number
  constexpr std::size_t most_in_a_graph = 8000;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<char> reading(options_.reads);
  char output = 0;
  program_run r{.begin = begin, .complete = true};
  for (std::size_t first = 0; first < queries_->count() && r.complete; first += most_in_a_graph) {
    kilter::graph g;
    const auto type = [&](const char* name) { return g.type(name); };
    const std::array types{type("load"), type("segment"), type("extract"),
                           type("vec"),  type("rank"),    type("out")};
    for (std::size_t n = first; n < std::min(first + most_in_a_graph, queries_->count()); ++n) {
      query& q = slots_[n % slots_.size()];
      g.add({.type = types[0]}, kilter::depend{.out = {&reading[n % reading.size()], &q}},
            [this, &q, n] { load(q, n); });
      g.add({.type = types[1]}, kilter::depend{.out = {&q}},
            [&q] { apps::segment(q.pixels, q.regions); });
      g.add({.type = types[2]}, kilter::depend{.out = {&q}},
            [&q] { apps::extract(q.regions, q.signature); });
      g.add({.type = types[3]}, kilter::depend{.out = {&q}}, [this, &q] { look_up(q); });
      g.add({.type = types[4]}, kilter::depend{.out = {&q}}, [this, &q] { rank(q); });
      g.add({.type = types[5], .priority = kilter::priority::high},
            kilter::depend{.out = {&q, &output}}, [this, &q] { keep(q); });
    }
    r.complete = runs_to_its_end(rt.submit(g), stopped);
    ++r.barriers;
  }
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  r.iterations = matches_.size();
  r.tasks = 6 * r.iterations;
  return r;
}

item_pipeline ferret::stages() {
  const auto of = [this](auto work) {
    return [this, work](std::size_t slot) { return work(slots_[slot]); };
  };
  return {slots_.size(),
          of([this](query& q) { return load_next(q); }),
          {{"segment", false, of([](query& q) { apps::segment(q.pixels, q.regions); })},
           {"extract", false, of([](query& q) { apps::extract(q.regions, q.signature); })},
           {"vec", false, of([this](query& q) { look_up(q); })},
           {"rank", false, of([this](query& q) { rank(q); })},
           {"out", true, of([this](query& q) { keep(q); })}}};
}

program_run ferret::run(executor& how, const std::function<bool()>& stopped) {
  start(how.threads());
  if (!how.tasks()) return run_stages(how, stages(), stopped);
  return options_.form == ferret_form::tasks ? run_in_tasks(*how.tasks(), stopped)
                                             : run_in_a_pipeline(*how.tasks(), stopped);
}

// ---- one query in each stage --------------------------------------------------------------------

bool ferret::load_next(query& q) {
  if (loaded_ == queries_->count()) return false;
  load(q, loaded_++);
  return true;
}

void ferret::load(query& q, std::size_t number) const {
  q.number = number;
  q.pixels = queries_->load(number);
}

void ferret::look_up(query& q) const { index_->candidates(q.signature, q.shared, q.candidates); }

void ferret::rank(query& q) const {
  q.ranked.clear();
  for (const std::uint32_t p : q.candidates)
    q.ranked.push_back({p, picture_distance(q.signature, known_[p])});
  const auto nearer = [](const ferret_match& a, const ferret_match& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.picture < b.picture;
  };
  const std::size_t kept = std::min(options_.top, q.ranked.size());
  std::ranges::partial_sort(q.ranked, q.ranked.begin() + static_cast<std::ptrdiff_t>(kept), nearer);
  q.ranked.resize(kept);
}

void ferret::keep(query& q) {
  compared_ += q.candidates.size();
  matches_.push_back(q.ranked);
}

// ---- before and after ---------------------------------------------------------------------------

namespace {

void check(const char* option, std::size_t value, std::size_t least, std::size_t most,
           const std::string& what) {
  if (value < least || value > most)
    throw input_error(std::string(option) + " " + std::to_string(value) + ": " + what + ", from " +
                      std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

ferret::ferret(std::unique_ptr<const picture_source> database,
               std::unique_ptr<const picture_source> queries, const ferret_options& o)
    : database_(std::move(database)), queries_(std::move(queries)), options_(o) {
  check("--top", o.top, 1, 10'000, "pictures that are kept of each query");
  check("--reads", o.reads, 1, 1024, "pictures that are read at once");
  check("--slots", o.slots, 0, 4096, "queries on their way at once; 0: four a thread");
  check("--tables", o.index.tables, 1, 64, "tables of the index");
  check("--bits", o.index.bits, 1, 24, "planes of a table");
  check("--candidates", o.index.candidates, 1, 1'000'000,
        "pictures that are compared with a query");
  segmented_picture regions;
  for (std::size_t p = 0; p < database_->count(); ++p) {
    apps::segment(database_->load(p), regions);
    apps::extract(regions, known_.emplace_back());
  }
  index_ = std::make_unique<region_index>(known_, o.index, o.seed);
}

void ferret::start(std::uint32_t threads) {
  slots_.resize(options_.slots ? options_.slots : std::size_t{4} * threads);
  for (query& q : slots_) q.shared.assign(known_.size(), 0);
  matches_.clear();
  matches_.reserve(queries_->count());
  loaded_ = 0;
  compared_ = 0;
}

std::string ferret::about() const {
  return std::to_string(queries_->count()) + " queries, " + std::to_string(database_->count()) +
         " pictures, the " + std::to_string(options_.top) + " nearest of each, six tasks a query";
}

std::uint64_t ferret::fingerprint() const {
  mixed_bits mixed;
  for (const auto& of_query : matches_) {
    mixed.add(of_query.size());
    for (const ferret_match& m : of_query) {
      mixed.add(m.picture);
      mixed.add(m.distance);
    }
  }
  return mixed.value();
}

namespace {

/// A field of CSV: in quotes if it could be taken for more than one.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string ferret::result_file() const {
  std::string text = "query,rank,picture,distance\n";
  for (std::size_t q = 0; q < matches_.size(); ++q) {
    const std::string name = csv_field(queries_->name(q));
    for (std::size_t rank = 0; rank < matches_[q].size(); ++rank) {
      char digits[32];
      char* const end =
          std::to_chars(digits, digits + sizeof digits, matches_[q][rank].distance).ptr;
      text += name + "," + std::to_string(rank + 1) + "," +
              csv_field(database_->name(matches_[q][rank].picture)) + "," +
              std::string(digits, end) + "\n";
    }
  }
  return text;
}

std::vector<std::string> ferret::found() const {
  if (matches_.empty()) return {};
  const auto themselves = std::ranges::count_if(
      matches_, [](const auto& m) { return !m.empty() && m[0].distance == 0; });
  const auto nothing = std::ranges::count_if(matches_, [](const auto& m) { return m.empty(); });
  return {std::to_string(compared_ / matches_.size()) + " pictures of " +
          std::to_string(database_->count()) + " were compared with a query on average; " +
          std::to_string(themselves) + " queries have an equal picture, " +
          std::to_string(nothing) + " have no picture near them"};
}

}  // namespace kilter::apps
