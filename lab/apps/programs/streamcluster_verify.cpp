// Distances in double, sums in the order of the points, each thing by its definition.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "apps/programs/streamcluster.hpp"

namespace kilter::apps {

namespace {

constexpr double float_rounds = 1e-5;  // what float may lose of a squared distance

double distance(const weighted_points& all, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t i = 0; i < all.dimensions; ++i) {
    const double apart = static_cast<double>(all.at(a)[i]) - static_cast<double>(all.at(b)[i]);
    sum += apart * apart;
  }
  return all.weights[a] * sum;
}

/// What is saved when `candidate` is opened, its nearer points go to it, and each centre is closed
/// whose other points may follow them for less than it costs.
double gain_of(const weighted_points& all, const located& s, std::uint32_t candidate) {
  std::vector<double> closing(s.centres.size(), s.facility);
  double gained = -s.facility;
  for (std::size_t p = 0; p < all.count(); ++p) {
    const double saved = distance(all, p, s.centres[s.nearest[p]]) - distance(all, p, candidate);
    (saved > 0 ? gained : closing[s.nearest[p]]) += saved;
  }
  for (const double each : closing) gained += std::max(0.0, each);
  return gained;
}

}  // namespace

void verify(const weighted_points& all, const located& s, const search_options& o,
            const std::string& what) {
  const auto wrong = [&](const std::string& why) {
    throw wrong_result("streamcluster: " + what + ": " + why);
  };
  const std::size_t k = s.centres.size();
  if (k == 0 || s.nearest.size() != all.count()) wrong("nothing has been computed");
  for (const std::uint32_t c : s.centres)
    if (c >= all.count()) wrong("centre " + std::to_string(c) + " is no point");
  if (s.first >= all.count())
    wrong("the first centre, " + std::to_string(s.first) + ", is no point");
  double service = 0;
  for (std::size_t p = 0; p < all.count(); ++p) {
    if (s.nearest[p] >= k) wrong("point " + std::to_string(p) + " has no centre");
    const double own = distance(all, p, s.centres[s.nearest[p]]);
    for (std::size_t c = 0; c < k; ++c)
      if (distance(all, p, s.centres[c]) < own * (1 - float_rounds))
        wrong("point " + std::to_string(p) + " is nearer to centre " + std::to_string(c) +
              " than to its own, " + std::to_string(s.nearest[p]));
    service += own;
  }
  if (!(std::fabs(service - s.service) <= float_rounds * service))
    wrong("the distances sum up to " + std::to_string(service) + ", not to " +
          std::to_string(s.service));
  if (all.count() <= o.most) {
    if (k != all.count())
      wrong("not each of its " + std::to_string(all.count()) + " points is a centre");
    return;
  }
  double one_centre = 0;
  for (std::size_t p = 0; p < all.count(); ++p) one_centre += distance(all, p, s.first);
  const bool went_on =
      s.high - s.low > narrowest * s.high && s.high > cheapest * (1 + float_rounds) * one_centre;
  if ((k < o.least || k > o.most) && went_on)
    wrong(std::to_string(k) + " centres are not " + std::to_string(o.least) + " to " +
          std::to_string(o.most));
  if (s.candidates.empty()) wrong("there are no candidates");
  const double most = (least_gain + float_rounds) * (service + s.facility * static_cast<double>(k));
  constexpr std::size_t looked_at = 16;
  const std::size_t stride = (s.candidates.size() + looked_at - 1) / looked_at;
  for (std::size_t i = 0; i < s.candidates.size(); i += stride)
    if (const double gained = gain_of(all, s, s.candidates[i]); gained > most)
      wrong("opening point " + std::to_string(s.candidates[i]) + " would gain " +
            std::to_string(gained) + ", more than " + std::to_string(most));
}

void verify(const point_set& points, const streamclusters& c, const streamcluster_options& o) {
  const auto wrong = [](const std::string& why) { throw wrong_result("streamcluster: " + why); };
  const search_options how{.least = o.least, .most = o.most};
  const std::vector<std::uint32_t> ones(std::min(o.points, points.count), 1);
  std::vector<std::size_t> rows;
  std::vector<std::uint64_t> stand_for;
  std::size_t first = 0;
  for (const located& block : c.blocks) {
    if (first >= points.count) wrong("there are more blocks than points");
    verify(block_of(points, first, o.points, ones), block, how,
           "block " + std::to_string(first / o.points));
    for (const std::uint32_t centre : block.centres) rows.push_back(first + centre);
    const std::size_t before = stand_for.size();
    stand_for.resize(rows.size());
    for (const std::uint32_t n : block.nearest) ++stand_for[before + n];
    first += o.points;
  }
  if (first < points.count)
    wrong("block " + std::to_string(c.blocks.size()) + ": nothing has been computed");
  if (!std::ranges::equal(rows, c.kept)) wrong("what is kept are not the centres of the blocks");
  std::uint64_t weight = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (c.weights.size() != rows.size() || c.weights[k] != stand_for[k])
      wrong("kept centre " + std::to_string(k) + " does not stand for the " +
            std::to_string(stand_for[k]) + " points that went to it");
    weight += c.weights[k];
    const auto values = points.at(rows[k]);
    const std::size_t at = k * points.dimensions;
    if (c.values.size() != rows.size() * points.dimensions ||
        !std::ranges::equal(values, std::span(c.values).subspan(at, points.dimensions)))
      wrong("kept centre " + std::to_string(k) + " is not row " + std::to_string(rows[k]));
  }
  if (weight != points.count)
    wrong("the kept centres stand for " + std::to_string(weight) + " points, not for " +
          std::to_string(points.count));
  verify({c.values, c.weights, points.dimensions}, c.last, how, "the last search");
}

}  // namespace kilter::apps
