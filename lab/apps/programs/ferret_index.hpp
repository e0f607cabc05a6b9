#pragma once
// Which pictures are worth a closer look: those with regions on the same side of random planes
// (Charikar, Similarity estimation techniques from rounding algorithms, STOC 2002; Indyk and
// Motwani, STOC 1998, for several tables).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/programs/ferret_signature.hpp"

namespace kilter::apps {

class region_index {
 public:
  struct limits {
    std::size_t tables = 6;  ///< 1 .. 64; more find more
    unsigned bits = 16;      ///< planes of a table, 1 .. 24; more find fewer
    /// pictures that are looked at more closely, at most; from 1 on
    std::size_t candidates = 100;
  };

  /// Of these pictures, which have numbers from 0. Planes are drawn by `seed` and go through the
  /// middle of all regions.
  region_index(const std::vector<picture_signature>&, const limits&, std::uint64_t seed);

  /// On which sides of a table's planes a region is.
  [[nodiscard]] std::uint32_t key(std::size_t t, const region_features&) const noexcept;
  /// The pictures that share most keys with the query, counted for each table and pair of regions;
  /// of as many the lower numbers. `shared`: as long as there are pictures, all 0 before and after.
  void candidates(const picture_signature& query, std::vector<std::uint16_t>& shared,
                  std::vector<std::uint32_t>& to) const;
  [[nodiscard]] std::size_t tables() const noexcept { return tables_.size(); }

 private:
  struct plane {
    region_features normal;
    float offset;
  };
  struct table {
    std::vector<plane> planes;
    /// those of key k are pictures[first[k]] .. pictures[first[k + 1] - 1]
    std::vector<std::uint32_t> first, pictures;
  };

  void fill(table&, std::size_t number, const std::vector<picture_signature>&) const;

  std::size_t most_;  ///< candidates
  std::vector<table> tables_;
};

}  // namespace kilter::apps
