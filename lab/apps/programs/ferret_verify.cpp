// Whether ferret found the right pictures, by other means.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "apps/programs/ferret.hpp"

namespace kilter::apps {

namespace {

/// A ring of regions, alternately of one picture and the other: cells go from each of the first to
/// the next, and come back on the way between.
struct ring {
  /// pairs that get cells, and pairs that lose them
  std::vector<std::pair<std::size_t, std::size_t>> more, less;
};

/// One that saves something, or an empty one. Bellman and Ford's search in what may be changed: all
/// moves may grow, those that there are may shrink.
ring saving_ring(const std::vector<std::vector<double>>& cost,
                 const std::vector<std::vector<int>>& flow) {
  const std::size_t n = cost.size(), m = cost[0].size();
  constexpr double least_saving = 1e-13;
  std::vector<double> length(n + m, 0.0);
  std::vector<std::size_t> before(n + m, n + m);
  std::size_t changed = n + m;
  const auto reach = [&](std::size_t from, std::size_t to, double step) {
    if (length[from] + step >= length[to] - least_saving) return;
    length[to] = length[from] + step;
    before[to] = from;
    changed = to;
  };
  for (std::size_t round = 0; round < n + m; ++round) {
    changed = n + m;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) {
        reach(i, n + j, cost[i][j]);
        if (flow[i][j] > 0) reach(n + j, i, -cost[i][j]);
      }
    if (changed == n + m) return {};
  }
  std::size_t at = changed;  // changed in the last round, so a ring lies before it
  for (std::size_t k = 0; k < n + m; ++k) at = before[at];
  ring r;
  const std::size_t begin = at;
  do {
    const std::size_t from = before[at];
    if (from < n)
      r.more.emplace_back(from, at - n);
    else
      r.less.emplace_back(at, from - n);
    at = from;
  } while (at != begin);
  return r;
}

}  // namespace

double distance_by_rounds(const picture_signature& a, const picture_signature& b) {
  std::vector<std::vector<double>> cost(a.size(), std::vector<double>(b.size()));
  std::vector<std::vector<int>> flow(a.size(), std::vector<int>(b.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      for (std::size_t k = 0; k < region_numbers; ++k)
        cost[i][j] += std::fabs(static_cast<double>(a[i].features[k]) -
                                static_cast<double>(b[j].features[k]));
  std::vector<int> left, wanted;
  for (const picture_region& r : a) left.push_back(r.cells);
  for (const picture_region& r : b) wanted.push_back(r.cells);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      flow[i][j] = std::min(left[i], wanted[j]);
      left[i] -= flow[i][j];
      wanted[j] -= flow[i][j];
    }
  for (ring r = saving_ring(cost, flow); !r.more.empty(); r = saving_ring(cost, flow)) {
    int most = static_cast<int>(grid_cells);
    for (const auto& [i, j] : r.less) most = std::min(most, flow[i][j]);
    for (const auto& [i, j] : r.more) flow[i][j] += most;
    for (const auto& [i, j] : r.less) flow[i][j] -= most;
  }
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum += flow[i][j] * cost[i][j];
  return sum / grid_cells;
}

namespace {

constexpr double near_enough = 1e-9;

[[noreturn]] void wrong(std::size_t query, const std::string& why) {
  throw wrong_result("ferret: query " + std::to_string(query) + ": " + why);
}

/// That nothing of the picture was lost or made up: the regions, by their sizes, have its mean
/// colour.
void check_colours(std::size_t query, const picture& p, const segmented_picture& s,
                   const picture_signature& regions) {
  int cells = 0;
  std::array<double, 3> of_cells{}, of_regions{}, of_pixels{};
  for (std::size_t c = 0; c < 3; ++c) {
    for (const picture_region& r : regions)
      of_regions[c] += static_cast<double>(r.features[c]) * r.cells / grid_cells;
    for (const auto& colour : s.colour) of_cells[c] += static_cast<double>(colour[c]) / grid_cells;
    for (std::size_t i = c; i < p.rgb.size(); i += 3)
      of_pixels[c] += p.rgb[i] / (255.0 * static_cast<double>(p.width * p.height));
    if (std::fabs(of_cells[c] - of_regions[c]) > 1e-5)
      wrong(query, "its regions together do not have its mean colour");
    // else cells have unlike numbers of pixels
    const bool even = p.width % grid_side == 0 && p.height % grid_side == 0;
    if (even && std::fabs(of_cells[c] - of_pixels[c]) > 1e-5)
      wrong(query, "its cells together do not have its mean colour");
  }
  for (const picture_region& r : regions) cells += r.cells;
  if (cells != static_cast<int>(grid_cells))
    wrong(query,
          "its regions have " + std::to_string(cells) + " cells of " + std::to_string(grid_cells));
}

}  // namespace

ferret::keys_of_regions ferret::keys_of(const picture_signature& s) const {
  keys_of_regions keys(index_->tables());
  for (std::size_t t = 0; t < keys.size(); ++t)
    for (const picture_region& r : s) keys[t].push_back(index_->key(t, r.features));
  return keys;
}

void ferret::verify_query(std::size_t number, const std::vector<keys_of_regions>& known) const {
  const picture pixels = queries_->load(number);
  segmented_picture cells;
  picture_signature regions;
  apps::segment(pixels, cells);
  apps::extract(cells, regions);
  check_colours(number, pixels, cells, regions);
  const keys_of_regions own_keys = keys_of(regions);
  // less than 0, so that the most are first
  std::vector<std::pair<std::int64_t, std::uint32_t>> shared;
  for (std::uint32_t p = 0; p < known.size(); ++p) {
    std::int64_t count = 0;
    for (std::size_t t = 0; t < own_keys.size(); ++t)
      for (const std::uint32_t k : own_keys[t]) count -= std::ranges::count(known[p][t], k);
    if (count < 0) shared.emplace_back(count, p);
  }
  std::ranges::sort(shared);
  if (shared.size() > options_.index.candidates) shared.resize(options_.index.candidates);
  std::vector<ferret_match> wanted;
  for (const auto& [count, p] : shared)
    wanted.push_back({p, distance_by_rounds(regions, known_[p])});
  std::ranges::stable_sort(wanted, {}, &ferret_match::distance);
  const std::vector<ferret_match>& found = matches_[number];
  if (found.size() != std::min(options_.top, wanted.size()))
    wrong(number, std::to_string(found.size()) + " pictures were found, of " +
                      std::to_string(wanted.size()) + " that share most keys with it");
  std::map<std::uint32_t, double> distances;
  for (const ferret_match& w : wanted) distances[w.picture] = w.distance;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto own = distances.find(found[i].picture);
    if (own == distances.end())
      wrong(number, "picture " + std::to_string(found[i].picture) +
                        " is none of those that share most keys with it, or was found twice");
    if (std::fabs(own->second - found[i].distance) > near_enough)
      wrong(number, "picture " + std::to_string(found[i].picture) + " is not as far as was said");
    if (std::fabs(wanted[i].distance - found[i].distance) > near_enough)
      wrong(number, "picture " + std::to_string(found[i].picture) + " is not number " +
                        std::to_string(i + 1));
    distances.erase(own);
  }
}

/// A picture with just the same regions is at distance 0, whatever the index did.
void ferret::verify_copies() const {
  const auto key = [](const picture_signature& s) {
    std::string bits;
    for (const picture_region& r : s) bits.append(reinterpret_cast<const char*>(&r), sizeof r);
    return bits;
  };
  static_assert(sizeof(picture_region) == sizeof(region_features) + sizeof(int),
                "bits between the two would be any");
  std::map<std::string, std::uint32_t> lowest;
  for (std::uint32_t p = 0; p < known_.size(); ++p) lowest.try_emplace(key(known_[p]), p);
  segmented_picture cells;
  picture_signature regions;
  for (std::size_t q = 0; q < matches_.size(); ++q) {
    apps::segment(queries_->load(q), cells);
    apps::extract(cells, regions);
    const auto copy = lowest.find(key(regions));
    if (copy == lowest.end()) continue;
    if (matches_[q].empty() || matches_[q][0] != ferret_match{copy->second, 0.0})
      wrong(q, "picture " + std::to_string(copy->second) +
                   " is the same, but is not found first at distance 0");
  }
}

void ferret::verify() const {
  constexpr std::size_t sample = 16;
  if (matches_.size() != queries_->count())
    throw wrong_result("ferret: " + std::to_string(matches_.size()) + " queries of " +
                       std::to_string(queries_->count()) + " have been answered");
  std::vector<keys_of_regions> known;
  for (const picture_signature& s : known_) known.push_back(keys_of(s));
  const std::size_t step = std::max<std::size_t>(1, matches_.size() / sample);
  for (std::size_t q = 0; q < matches_.size(); q += step) verify_query(q, known);
  verify_copies();
}

}  // namespace kilter::apps
