#pragma once
// Finds the pictures of a database that look most like each query: Lv, Josephson, Wang, Charikar,
// Li: Ferret, a toolkit for content-based similarity search of feature-rich data, EuroSys 2006. One
// of the applications of S1 (papers.md A2.2).
//
// Unlike in the public code: pictures are drawn, or read from folders; six tables of random planes
// as index.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/ferret_index.hpp"
#include "apps/programs/ferret_pictures.hpp"
#include "apps/programs/ferret_signature.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/stages.hpp"

namespace kilter::apps {

/// How Kilter is given the stages: as a pipeline, or as tasks that name what they use, as the task
/// version of the public code behind S1 has them.
enum class ferret_form : std::uint8_t { pipeline, tasks };
/// As on a command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> ferret_form_names{"pipeline", "tasks"};

struct ferret_options {
  /// pictures that are kept of each query, 1 .. 10,000
  std::size_t top = 10;
  ferret_form form = ferret_form::pipeline;
  /// with tasks: pictures that are read at once, 1 .. 1024; a pipeline reads one
  std::size_t reads = 4;
  /// queries that may be on their way at once, 1 .. 4096; 0: four a thread
  std::size_t slots = 0;
  region_index::limits index{};
  std::uint64_t seed = 1;  ///< of the index
};

/// Drawn pictures.
struct ferret_size {
  std::string_view name;
  std::size_t database, queries, top, candidates;
};
/// `native` is S1, Table 1.
inline constexpr std::array<ferret_size, 4> ferret_sizes{{{"small", 200, 24, 10, 60},
                                                          {"medium", 4'000, 200, 20, 100},
                                                          {"large", 20'000, 1'000, 50, 150},
                                                          {"native", 59'695, 3'500, 50, 200}}};

struct ferret_match {
  std::uint32_t picture;  ///< of the database
  double distance;

  bool operator==(const ferret_match&) const = default;
};

class ferret final : public program {
 public:
  /// Looks at all pictures of the database, and keeps what it knows of them. input_error for
  /// options out of range or pictures that are none.
  ferret(std::unique_ptr<const picture_source> database,
         std::unique_ptr<const picture_source> queries, const ferret_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  /// Of 16 queries: that their regions hold the colours of the picture; which pictures share most
  /// keys, without the index; that their distances, by another method, in this order, are the ones
  /// found. Of all: that a picture which is in the database is found first, at distance 0.
  void verify() const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// A line for each picture found (CSV): query, rank, picture, distance.
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  /// Of each query, the nearest first; those as near as each other by their number. Fewer than
  /// `top` if there are fewer candidates.
  [[nodiscard]] const std::vector<std::vector<ferret_match>>& matches() const noexcept {
    return matches_;
  }
  /// For tests of verify().
  void replace_matches(std::vector<std::vector<ferret_match>> m) { matches_ = std::move(m); }

 private:
  /// A query on its way; its memory is used again.
  struct query {
    std::size_t number = 0;
    picture pixels;
    segmented_picture regions;
    picture_signature signature;
    std::vector<std::uint16_t> shared;
    std::vector<std::uint32_t> candidates;
    std::vector<ferret_match> ranked;
  };

  void start(std::uint32_t threads);
  program_run run_in_a_pipeline(kilter::runtime&, const std::function<bool()>& stopped);
  program_run run_in_tasks(kilter::runtime&, const std::function<bool()>& stopped);
  [[nodiscard]] item_pipeline stages();
  bool load_next(query&);
  void load(query&, std::size_t number) const;
  void look_up(query&) const;
  void rank(query&) const;
  void keep(query&);
  using keys_of_regions = std::vector<std::vector<std::uint32_t>>;  ///< of each table
  [[nodiscard]] keys_of_regions keys_of(const picture_signature&) const;
  void verify_query(std::size_t number, const std::vector<keys_of_regions>& known) const;
  void verify_copies() const;

  const std::unique_ptr<const picture_source> database_, queries_;
  const ferret_options options_;
  std::vector<picture_signature> known_;  ///< of the database
  std::unique_ptr<region_index> index_;
  std::deque<query> slots_;
  std::size_t loaded_ = 0;                          ///< the first stage's, of a pipeline
  std::uint64_t compared_ = 0;                      ///< the last stage's
  std::vector<std::vector<ferret_match>> matches_;  ///< the last stage's
};

/// The earth mover's distance by its definition: from any way to move the cells to ones that cost
/// less, until no round of moves saves anything (Klein 1967).
[[nodiscard]] double distance_by_rounds(const picture_signature&, const picture_signature&);

}  // namespace kilter::apps
