#include "apps/programs/streamcluster_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "apps/programs/squared_distance.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// A step looks at one candidate, or opens one centre. So the control between two loops is short,
// and on Kilter each step begins on the best core.
bool facility_search::step(step_loops& loops) {
  switch (now_) {
    case phase::start: start_with_one(loops); break;
    case phase::open: open_next(loops); break;
    case phase::improve: improve(loops); break;
    case phase::settle: settle(loops); break;
    case phase::ended: break;
  }
  return now_ != phase::ended;
}

void facility_search::open_centre(step_loops& loops, std::uint32_t point) {
  const std::uint32_t slot = free_slot();
  centres_[slot] = point;
  ++open_;
  loops.run(opening, options_.divisions,
            [this, slot](std::size_t d) { open_in(division(d), slot, partials_[d]); });
  add_up_service();
}

/// What opening the candidate gains: points that are nearer to it save something, and a centre
/// whose other points pay less for going there than it costs is closed.
double facility_search::gain_of(step_loops& loops, std::uint32_t candidate) {
  loops.run(gain, options_.divisions,
            [this, candidate](std::size_t d) { compare_in(division(d), candidate, partials_[d]); });
  double all = -facility_;
  for (const partial& p : partials_) all += p.saved;
  for (std::size_t slot = 0; slot < centres_.size(); ++slot) {
    if (centres_[slot] == nobody) continue;
    double closing = facility_;
    for (const partial& p : partials_) closing -= p.extra[slot];
    closes_[slot] = closing > 0;
    if (closing > 0) all += closing;
  }
  return all;
}

/// Opens the candidate that gain_of looked at last, and closes what it replaces.
void facility_search::move_to(step_loops& loops, std::uint32_t candidate) {
  const std::uint32_t slot = free_slot();
  for (std::size_t s = 0; s < centres_.size(); ++s)
    if (closes_[s]) {
      centres_[s] = nobody;
      --open_;
    }
  centres_[slot] = candidate;
  ++open_;
  loops.run(moving, options_.divisions,
            [this, slot](std::size_t d) { move_in(division(d), slot, partials_[d]); });
  add_up_service();
  std::ranges::fill(closes_, char{0});
}

// ---- one division of the points -----------------------------------------------------------------

namespace {

/// From 0 to 1, without 1.
double drawn_part(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(random() >> 11), -53);
}

/// Of a search among about k centres: how many points are looked at, so that with high probability
/// there is one in each large cluster (section 4).
std::size_t enough(std::size_t k) {
  const auto centres = static_cast<double>(k);
  return static_cast<std::size_t>(std::ceil(3.0 * centres * std::max(1.0, std::log(centres))));
}

}  // namespace

float facility_search::distance(std::size_t point, std::uint32_t other) const noexcept {
  return static_cast<float>(points_.weights[point]) *
         squared_distance(points_.at(point), points_.at(other), points_.dimensions);
}

void facility_search::open_in(range mine, std::uint32_t slot, partial& sums) noexcept {
  sums.service = 0;
  for (std::size_t p = mine.first; p < mine.last; ++p) {
    if (const float d = distance(p, centres_[slot]); d < costs_[p]) {
      costs_[p] = d;
      slots_[p] = slot;
    }
    sums.service += costs_[p];
  }
}

void facility_search::compare_in(range mine, std::uint32_t candidate, partial& sums) {
  sums.saved = 0;
  sums.extra.assign(centres_.size(), 0.0);
  for (std::size_t p = mine.first; p < mine.last; ++p) {
    const float d = others_[p] = distance(p, candidate);
    const double more = static_cast<double>(d) - static_cast<double>(costs_[p]);
    if (more < 0)
      sums.saved -= more;
    else
      sums.extra[slots_[p]] += more;
  }
}

/// Points of a closed centre go to the nearest that is open, which is not always the new one.
void facility_search::move_in(range mine, std::uint32_t slot, partial& sums) noexcept {
  sums.service = 0;
  for (std::size_t p = mine.first; p < mine.last; ++p) {
    if (others_[p] < costs_[p]) {
      costs_[p] = others_[p];
      slots_[p] = slot;
    } else if (closes_[slots_[p]]) {
      take_nearest(p);
    }
    sums.service += costs_[p];
  }
}

void facility_search::take_nearest(std::size_t p) noexcept {
  costs_[p] = std::numeric_limits<float>::infinity();
  for (std::uint32_t slot = 0; slot < centres_.size(); ++slot)
    if (centres_[slot] != nobody)
      if (const float d = distance(p, centres_[slot]); d < costs_[p]) {
        costs_[p] = d;
        slots_[p] = slot;
      }
}

// ---- what comes between the loops ---------------------------------------------------------------

/// All points have one centre. What that costs is the most that a centre can be worth.
void facility_search::start_with_one(step_loops& loops) {
  shuffle(order_);
  centres_.clear();
  closes_.clear();
  open_ = 0;
  std::ranges::fill(costs_, std::numeric_limits<float>::infinity());
  open_centre(loops, order_[0]);
  if (highest_ < 0) {
    first_ = order_[0];
    highest_ = high_ = service_;
    facility_ = high_ / 2;
  }
  asked_ = 1;
  now_ = phase::open;
}

/// The next point that opens, with a chance of its cost over that of a centre (Meyerson). If none
/// is left and there are too few, centres become cheaper.
void facility_search::open_next(step_loops& loops) {
  while (asked_ < points_.count()) {
    const std::uint32_t p = order_[asked_++];
    if (drawn_part(random_) * facility_ < costs_[p]) return open_centre(loops, p);
  }
  if (open_ < options_.least && !narrow()) {
    next_facility_cost();
    now_ = phase::start;
    return;
  }
  choose_candidates();
  begin_rounds();
}

/// Rounds in which whatever gains is opened, until a round gains no more than a tenth. Where the
/// number of centres is then far off, their cost changes.
void facility_search::improve(step_loops& loops) {
  constexpr double enough_gained = 0.1;
  const std::uint32_t candidate = candidates_[turn_++ % candidates_.size()];
  if (const double all = gain_of(loops, candidate); all > 0) {
    const double before = cost();
    move_to(loops, candidate);
    gained_ += before - cost();
  }
  if (turn_ < std::max(enough(options_.most), candidates_.size())) return;
  if (gained_ > enough_gained * cost()) return begin_rounds();
  if (!near_bounds() && !narrow()) {
    next_facility_cost();
    return begin_rounds();
  }
  now_ = phase::settle;
  turn_ = idle_ = 0;
}

/// One candidate after another, until all of them in a row gain too little to be opened.
void facility_search::settle(step_loops& loops) {
  const std::uint32_t candidate = candidates_[turn_++ % candidates_.size()];
  ++idle_;
  if (gain_of(loops, candidate) > least_gain * cost()) {
    move_to(loops, candidate);
    idle_ = 0;
  }
  if (idle_ == candidates_.size()) judge();
}

void facility_search::judge() {
  if (in_bounds() || narrow()) {
    now_ = phase::ended;
    return;
  }
  next_facility_cost();
  begin_rounds();
}

void facility_search::begin_rounds() {
  shuffle(candidates_);
  turn_ = 0;
  gained_ = 0;
  now_ = phase::improve;
}

void facility_search::next_facility_cost() {
  (open_ > options_.most ? low_ : high_) = facility_;
  facility_ = (low_ + high_) / 2;
}

/// Points are drawn by their weight, and may be drawn more than once.
void facility_search::choose_candidates() {
  const std::size_t wanted = enough(options_.least);
  candidates_.clear();
  if (wanted >= points_.count()) {
    candidates_.resize(points_.count());
    std::iota(candidates_.begin(), candidates_.end(), 0u);
    return;
  }
  std::vector<std::uint64_t> up_to(points_.count());
  std::inclusive_scan(points_.weights.begin(), points_.weights.end(), up_to.begin(), std::plus<>(),
                      std::uint64_t{0});
  for (std::size_t i = 0; i < wanted; ++i)
    candidates_.push_back(static_cast<std::uint32_t>(
        std::ranges::upper_bound(up_to, random_() % up_to.back()) - up_to.begin()));
}

bool facility_search::near_bounds() const noexcept {
  const auto k = static_cast<double>(open_), least = static_cast<double>(options_.least),
             most = static_cast<double>(options_.most);
  return k >= std::min(0.9 * least, least - 2) && k <= std::max(1.1 * most, most + 2);
}

bool facility_search::narrow() const noexcept {
  return high_ - low_ <= narrowest * high_ || high_ <= cheapest * highest_;
}

void facility_search::add_up_service() noexcept {
  service_ = 0;
  for (const partial& p : partials_) service_ += p.service;
}

std::uint32_t facility_search::free_slot() {
  const auto free = std::ranges::find(centres_, nobody);
  const auto slot = static_cast<std::uint32_t>(free - centres_.begin());
  if (free == centres_.end()) {
    centres_.push_back(nobody);
    closes_.push_back(0);
  }
  return slot;
}

facility_search::range facility_search::division(std::size_t d) const noexcept {
  return {points_.count() * d / options_.divisions, points_.count() * (d + 1) / options_.divisions};
}

// The standard says what std::mt19937_64 gives, not what std::shuffle makes of it.
template <class T>
void facility_search::shuffle(std::vector<T>& all) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_() % i]);
}

// ---- before and after ---------------------------------------------------------------------------

facility_search::facility_search(const weighted_points& points, const search_options& o)
    : points_(points),
      options_(o),
      random_(o.seed),
      slots_(points.count()),
      costs_(points.count()),
      others_(points.count()),
      partials_(o.divisions),
      order_(points.count()) {
  std::iota(order_.begin(), order_.end(), 0u);
  if (points_.count() > options_.most) return;
  centres_ = slots_ = order_;
  open_ = centres_.size();
  now_ = phase::ended;
}

located facility_search::result() const {
  located r{.centres = {},
            .nearest = {},
            .candidates = candidates_,
            .service = service_,
            .facility = facility_,
            .low = low_,
            .high = high_,
            .first = first_};
  std::vector<std::uint32_t> number(centres_.size());
  for (std::size_t slot = 0; slot < centres_.size(); ++slot) {
    if (centres_[slot] == nobody) continue;
    number[slot] = static_cast<std::uint32_t>(r.centres.size());
    r.centres.push_back(centres_[slot]);
  }
  for (const std::uint32_t slot : slots_) r.nearest.push_back(number[slot]);
  return r;
}

}  // namespace kilter::apps
