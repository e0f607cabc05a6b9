#include "apps/programs/ferret_index.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace kilter::apps {

namespace {

/// Nearly normal: the sum of twelve even ones (Irwin, Hall), which is the same on every computer.
float drawn_normal(std::mt19937_64& random) {
  std::int64_t sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<std::int64_t>(random() >> 40) - (1 << 23);
  return static_cast<float>(sum) / static_cast<float>(1 << 24);
}

std::array<double, region_numbers> middle_of(const std::vector<picture_signature>& all) {
  std::array<double, region_numbers> sums{};
  double count = 0;
  for (const picture_signature& s : all)
    for (const picture_region& r : s) {
      for (std::size_t i = 0; i < region_numbers; ++i) sums[i] += r.features[i];
      ++count;
    }
  for (double& s : sums) s /= count;
  return sums;
}

}  // namespace

region_index::region_index(const std::vector<picture_signature>& all, const limits& l,
                           std::uint64_t seed)
    : most_(l.candidates), tables_(l.tables) {
  const std::array<double, region_numbers> middle = middle_of(all);
  std::mt19937_64 random(seed);
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    tables_[t].planes.resize(l.bits);
    for (plane& p : tables_[t].planes) {
      double offset = 0;
      for (std::size_t i = 0; i < region_numbers; ++i) {
        p.normal[i] = drawn_normal(random);
        offset += p.normal[i] * middle[i];
      }
      p.offset = static_cast<float>(offset);
    }
    fill(tables_[t], t, all);
  }
}

/// Counted first, then put in their places.
void region_index::fill(table& t, std::size_t number,
                        const std::vector<picture_signature>& all) const {
  t.first.assign((std::size_t{1} << t.planes.size()) + 2, 0);
  for (const picture_signature& s : all)
    for (const picture_region& r : s) ++t.first[key(number, r.features) + 2];
  std::partial_sum(t.first.begin(), t.first.end(), t.first.begin());
  t.pictures.resize(t.first.back());
  for (std::uint32_t p = 0; p < all.size(); ++p)
    for (const picture_region& r : all[p]) t.pictures[t.first[key(number, r.features) + 1]++] = p;
  t.first.pop_back();
}

std::uint32_t region_index::key(std::size_t t, const region_features& f) const noexcept {
  std::uint32_t sides = 0;
  for (const plane& p : tables_[t].planes) {
    float sum = 0;
    for (std::size_t i = 0; i < region_numbers; ++i) sum += p.normal[i] * f[i];
    sides = sides << 1 | (sum > p.offset);
  }
  return sides;
}

void region_index::candidates(const picture_signature& query, std::vector<std::uint16_t>& shared,
                              std::vector<std::uint32_t>& to) const {
  to.clear();
  for (std::size_t t = 0; t < tables_.size(); ++t)
    for (const picture_region& r : query) {
      const std::uint32_t k = key(t, r.features);
      for (std::uint32_t i = tables_[t].first[k]; i < tables_[t].first[k + 1]; ++i)
        if (const std::uint32_t p = tables_[t].pictures[i]; shared[p]++ == 0) to.push_back(p);
    }
  const std::size_t kept = std::min(most_, to.size());
  std::ranges::nth_element(to, to.begin() + static_cast<std::ptrdiff_t>(kept),
                           [&](std::uint32_t a, std::uint32_t b) {
                             return shared[a] != shared[b] ? shared[a] > shared[b] : a < b;
                           });
  for (const std::uint32_t p : to) shared[p] = 0;
  to.resize(kept);
}

}  // namespace kilter::apps
