#include "apps/programs/streamcluster.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// Its loops are those of facility_search, which has one or two of them a step: a long series of
// short parallel regions.
program_run streamcluster::run(executor& how, const std::function<bool()>& stopped) {
  now_ = {};
  search_.reset();
  ended_ = false;
  const step_options options{
      .cut = options_.cut,
      .loops = {facility_search::loop_names.begin(), facility_search::loop_names.end()}};
  return run_in_steps(
      how, options, [this](step_loops& loops) { return step(loops); }, stopped);
}

// ---- what comes between the searches ------------------------------------------------------------

/// False when the centres that the blocks kept have been clustered.
bool streamcluster::step(step_loops& loops) {
  if (!search_) begin_search();
  if (search_->step(loops)) return true;
  located found = search_->result();
  search_.reset();
  if (now_.blocks.size() < blocks()) {
    keep_centres(std::move(found));
    return true;
  }
  now_.last = std::move(found);
  ended_ = true;
  return false;
}

void streamcluster::begin_search() {
  const std::size_t block = now_.blocks.size();
  const weighted_points kept{now_.values, now_.weights, points_.dimensions};
  search_.emplace(
      block < blocks() ? block_of(points_, block * options_.points, options_.points, ones_) : kept,
      search_options{.least = options_.least,
                     .most = options_.most,
                     .divisions = options_.divisions,
                     .seed = options_.seed + block});
}

void streamcluster::keep_centres(located found) {
  const std::size_t first_row = now_.blocks.size() * options_.points, first_kept = now_.kept.size();
  for (const std::uint32_t c : found.centres) {
    now_.kept.push_back(static_cast<std::uint32_t>(first_row + c));
    const auto values = points_.at(first_row + c);
    now_.values.insert(now_.values.end(), values.begin(), values.end());
  }
  now_.weights.resize(now_.kept.size());
  for (const std::uint32_t c : found.nearest) ++now_.weights[first_kept + c];
  now_.blocks.push_back(std::move(found));
}

// ---- before and after ---------------------------------------------------------------------------

weighted_points block_of(const point_set& all, std::size_t first, std::size_t points,
                         std::span<const std::uint32_t> ones) {
  const std::size_t count = std::min(points, all.count - first);
  return {std::span(all.values).subspan(first * all.dimensions, count * all.dimensions),
          ones.first(count), all.dimensions};
}

streamcluster::streamcluster(point_set points, const streamcluster_options& o)
    : points_(std::move(points)), options_(o) {
  const std::string bounds = "--centres " + std::to_string(o.least) + ".." + std::to_string(o.most);
  if (o.least < 1 || o.most < o.least)
    throw input_error(bounds + ": write LEAST..MOST, as 10..20, from 1 on and the larger one last");
  if (o.divisions < 1) throw input_error("--divisions 0: a loop has 1 or more");
  if (o.points <= o.most)
    throw input_error("--points " + std::to_string(o.points) +
                      ": a block needs more points than the " + std::to_string(o.most) +
                      " centres that it may have");
  if (points_.count <= o.most)
    throw input_error(bounds + ": there are " + std::to_string(points_.count) +
                      " points; there have to be more");
  ones_.assign(std::min(o.points, points_.count), 1);
}

std::string streamcluster::about() const {
  return std::to_string(points_.count) + " points of " + std::to_string(points_.dimensions) +
         " numbers in " + std::to_string(blocks()) + " blocks, " + std::to_string(options_.least) +
         " to " + std::to_string(options_.most) + " centres, " +
         std::to_string(options_.divisions) + " tasks a loop";
}

std::vector<std::uint32_t> streamcluster::clusters() const {
  std::vector<std::uint32_t> all;
  if (!ended_) return all;
  std::size_t first_kept = 0;
  for (const located& block : now_.blocks) {
    for (const std::uint32_t c : block.nearest) all.push_back(now_.last.nearest[first_kept + c]);
    first_kept += block.centres.size();
  }
  return all;
}

std::uint64_t streamcluster::fingerprint() const {
  mixed_bits mixed;
  const auto add_search = [&](const located& s) {
    for (const std::uint32_t c : s.centres) mixed.add(c);
    for (const std::uint32_t c : s.nearest) mixed.add(c);
    mixed.add(s.service);
    mixed.add(s.facility);
  };
  for (const located& s : now_.blocks) add_search(s);
  add_search(now_.last);
  return mixed.value();
}

std::string streamcluster::result_file() const {
  if (!ended_) return {};
  std::string text;
  std::vector<std::uint64_t> weights(now_.last.centres.size());
  for (std::size_t k = 0; k < now_.kept.size(); ++k)
    weights[now_.last.nearest[k]] += now_.weights[k];
  for (std::size_t c = 0; c < weights.size(); ++c) {
    text += "centre," + std::to_string(weights[c]);
    for (const float value : points_.at(now_.kept[now_.last.centres[c]])) {
      char digits[32];
      char* const end =
          std::to_chars(digits, digits + sizeof digits, std::ldexp(value, points_.exponent)).ptr;
      text += "," + std::string(digits, end);
    }
    text += "\n";
  }
  for (const std::uint32_t c : clusters()) text += std::to_string(c) + "\n";
  return text;
}

std::vector<std::string> streamcluster::found() const {
  if (!ended_) return {};
  const auto [fewest, most] = std::ranges::minmax_element(
      now_.blocks, {}, [](const located& s) { return s.centres.size(); });
  return {"centres: " + std::to_string(now_.last.centres.size()) + ", of the " +
          std::to_string(now_.kept.size()) + " that the blocks kept (" +
          std::to_string(fewest->centres.size()) + " to " + std::to_string(most->centres.size()) +
          " each)"};
}

}  // namespace kilter::apps
