#include "apps/programs/ferret_signature.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

namespace kilter::apps {

// ---- regions ------------------------------------------------------------------------------------

namespace {

/// Means of the pixels under each cell; a picture that is smaller than the grid has pixels under
/// several.
void shrink(const picture& p, segmented_picture& s) {
  const auto pixels = [](std::size_t cell, std::size_t length) {
    const std::size_t first = cell * length / grid_side;
    return std::pair(first, std::max(first + 1, (cell + 1) * length / grid_side));
  };
  for (std::size_t cell = 0; cell < grid_cells; ++cell) {
    const auto [top, bottom] = pixels(cell / grid_side, p.height);
    const auto [left, right] = pixels(cell % grid_side, p.width);
    std::array<std::uint64_t, 3> sums{};
    std::uint64_t steps = 0;
    for (std::size_t y = top; y < bottom; ++y)
      for (std::size_t x = left; x < right; ++x)
        for (std::size_t c = 0; c < 3; ++c) {
          const std::uint8_t* const here = p.rgb.data() + (y * p.width + x) * 3 + c;
          sums[c] += *here;
          steps += static_cast<std::uint64_t>(std::abs(*here - (x > 0 ? here[-3] : *here)));
        }
    const float count = 255 * static_cast<float>((bottom - top) * (right - left));
    for (std::size_t c = 0; c < 3; ++c) s.colour[cell][c] = static_cast<float>(sums[c]) / count;
    s.roughness[cell] = static_cast<float>(steps) / (3 * count);
  }
}

struct neighbours {
  std::uint16_t one, other;
  int difference;  ///< of their colours, in some 16ths of a byte's step
};

std::vector<neighbours> all_neighbours(const segmented_picture& s) {
  std::vector<neighbours> all;
  const auto add = [&](std::size_t one, std::size_t other) {
    float sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::fabs(s.colour[one][c] - s.colour[other][c]);
    all.push_back({static_cast<std::uint16_t>(one), static_cast<std::uint16_t>(other),
                   static_cast<int>(sum * 4096)});
  };
  for (std::size_t cell = 0; cell < grid_cells; ++cell) {
    if (cell % grid_side + 1 < grid_side) add(cell, cell + 1);
    if (cell + grid_side < grid_cells) add(cell, cell + grid_side);
  }
  std::ranges::stable_sort(all, {}, &neighbours::difference);
  return all;
}

/// Which cells are together; a set is known by one of its cells.
class cell_sets {
 public:
  explicit cell_sets(const segmented_picture& s) : sums_(s.colour) {
    std::iota(parent_.begin(), parent_.end(), std::uint16_t{0});
    cells_.fill(1);
    inner_.fill(0);
  }
  std::uint16_t find(std::uint16_t c) noexcept {
    while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
    return c;
  }
  void join(std::uint16_t a, std::uint16_t b, int difference) noexcept {
    parent_[b] = a;
    cells_[a] += cells_[b];
    inner_[a] = std::max({inner_[a], inner_[b], difference});
    for (std::size_t c = 0; c < 3; ++c) sums_[a][c] += sums_[b][c];
  }
  [[nodiscard]] int cells(std::uint16_t set) const noexcept { return cells_[set]; }
  /// The largest difference within it, and what a small one may have besides.
  [[nodiscard]] int bound(std::uint16_t set) const noexcept {
    return inner_[set] + 4000 / cells_[set];
  }
  [[nodiscard]] float difference(std::uint16_t a, std::uint16_t b) const noexcept {
    float sum = 0;
    for (std::size_t c = 0; c < 3; ++c)
      sum += std::fabs(sums_[a][c] / static_cast<float>(cells_[a]) -
                       sums_[b][c] / static_cast<float>(cells_[b]));
    return sum;
  }

 private:
  std::array<std::uint16_t, grid_cells> parent_;
  std::array<int, grid_cells> cells_, inner_;
  std::array<std::array<float, 3>, grid_cells> sums_;
};

/// The smallest set joins the one beside it that looks most alike.
void join_smallest(cell_sets& sets, const std::vector<neighbours>& all,
                   std::vector<std::uint16_t>& roots) {
  const auto smallest =
      std::ranges::min_element(roots, {}, [&](std::uint16_t r) { return sets.cells(r); });
  const std::uint16_t small = *smallest;
  std::uint16_t best = small;
  float least = std::numeric_limits<float>::infinity();
  for (const neighbours& n : all) {
    const std::uint16_t a = sets.find(n.one), b = sets.find(n.other);
    if (a == b || (a != small && b != small)) continue;
    const std::uint16_t beside = a == small ? b : a;
    if (const float d = sets.difference(small, beside); d < least) {
      least = d;
      best = beside;
    }
  }
  sets.join(best, small, 0);
  roots.erase(smallest);
}

}  // namespace

void segment(const picture& p, segmented_picture& s) {
  constexpr int least_cells = 8;
  shrink(p, s);
  const std::vector<neighbours> all = all_neighbours(s);
  cell_sets sets(s);
  const auto join_if = [&](auto&& wanted) {
    for (const neighbours& n : all)
      if (const std::uint16_t a = sets.find(n.one), b = sets.find(n.other);
          a != b && wanted(a, b, n.difference))
        sets.join(a, b, n.difference);
  };
  join_if([&](std::uint16_t a, std::uint16_t b, int difference) {
    return difference <= std::min(sets.bound(a), sets.bound(b));
  });
  join_if([&](std::uint16_t a, std::uint16_t b, int) {
    return std::min(sets.cells(a), sets.cells(b)) < least_cells;
  });
  std::vector<std::uint16_t> roots;
  for (std::uint16_t c = 0; c < grid_cells; ++c)
    if (sets.find(c) == c) roots.push_back(c);
  while (roots.size() > most_regions) join_smallest(sets, all, roots);
  s.regions = roots.size();
  for (std::uint16_t c = 0; c < grid_cells; ++c)
    s.region[c] = static_cast<std::uint8_t>(std::ranges::find(roots, sets.find(c)) - roots.begin());
}

void extract(const segmented_picture& s, picture_signature& to) {
  struct sums {
    std::array<double, 3> colour{}, squares{};
    double x = 0, y = 0, roughness = 0;
    std::size_t left = grid_side, right = 0, top = grid_side, bottom = 0;
    int cells = 0;
  };
  std::array<sums, most_regions> all;
  for (std::size_t cell = 0; cell < grid_cells; ++cell) {
    sums& r = all[s.region[cell]];
    const std::size_t x = cell % grid_side, y = cell / grid_side;
    for (std::size_t c = 0; c < 3; ++c) {
      const double value = s.colour[cell][c];
      r.colour[c] += value;
      r.squares[c] += value * value;
    }
    r.x += static_cast<double>(x);
    r.y += static_cast<double>(y);
    r.roughness += s.roughness[cell];
    r.left = std::min(r.left, x);
    r.right = std::max(r.right, x + 1);
    r.top = std::min(r.top, y);
    r.bottom = std::max(r.bottom, y + 1);
    ++r.cells;
  }
  to.clear();
  // Colours count most; places and sizes tell apart what has the same colours.
  constexpr double colour = 1, spread = 0.5, place = 0.4, extent = 0.2, size = 0.3, rough = 1,
                   across = grid_side;
  for (std::size_t i = 0; i < s.regions; ++i) {
    const sums& r = all[i];
    const double n = r.cells;
    region_features f;
    for (std::size_t c = 0; c < 3; ++c) {
      const double mean = r.colour[c] / n;
      f[c] = static_cast<float>(colour * mean);
      f[3 + c] =
          static_cast<float>(spread * std::sqrt(std::max(0.0, r.squares[c] / n - mean * mean)));
    }
    f[6] = static_cast<float>(place * r.x / (n * across));
    f[7] = static_cast<float>(place * r.y / (n * across));
    f[8] = static_cast<float>(extent * static_cast<double>(r.right - r.left) / across);
    f[9] = static_cast<float>(extent * static_cast<double>(r.bottom - r.top) / across);
    f[10] = static_cast<float>(size * std::sqrt(n / grid_cells));
    f[11] = static_cast<float>(rough * r.roughness / n);
    to.push_back({f, r.cells});
  }
}

// ---- distances ----------------------------------------------------------------------------------

double region_distance(const region_features& a, const region_features& b) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < region_numbers; ++i)
    sum += std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
  return sum;
}

namespace {

/// Cells go from regions of one picture (0 .. from - 1) to those of the other, along paths that are
/// the shortest as long as some are left. Lengths are measured with a height for each region, which
/// keeps them from being negative (Edmonds and Karp 1972, Tomizawa 1971).
class cell_mover {
 public:
  cell_mover(const picture_signature& a, const picture_signature& b) noexcept
      : from_(a.size()), to_(b.size()) {
    for (std::size_t i = 0; i < from_; ++i) {
      left_[i] = a[i].cells;
      for (std::size_t j = 0; j < to_; ++j)
        cost_[i][j] = region_distance(a[i].features, b[j].features);
    }
    for (std::size_t j = 0; j < to_; ++j) wanted_[j] = b[j].cells;
  }

  double work() noexcept {
    for (int moved = 0; moved < static_cast<int>(grid_cells);) moved += move();
    double sum = 0;
    for (std::size_t i = 0; i < from_; ++i)
      for (std::size_t j = 0; j < to_; ++j) sum += flow_[i][j] * cost_[i][j];
    return sum / grid_cells;
  }

 private:
  /// regions of the other picture count from from_ on
  static constexpr std::size_t none = 2 * most_regions;

  /// Along the shortest path; returns how many cells.
  int move() noexcept {
    constexpr double far = std::numeric_limits<double>::infinity();
    std::array<double, 2 * most_regions> length;
    std::array<std::size_t, 2 * most_regions> before;
    std::array<bool, 2 * most_regions> known{};
    length.fill(far);
    before.fill(none);
    for (std::size_t i = 0; i < from_; ++i)
      if (left_[i] > 0) length[i] = 0;
    std::size_t end = none;
    for (;;) {
      std::size_t here = none;
      for (std::size_t k = 0; k < from_ + to_; ++k)
        if (!known[k] && length[k] < far && (here == none || length[k] < length[here])) here = k;
      known[here] = true;
      if (here >= from_ && wanted_[here - from_] > 0) {
        end = here;
        break;
      }
      const auto reach = [&](std::size_t there, double step) {
        if (const double d = length[here] + std::max(0.0, step + height_[here] - height_[there]);
            !known[there] && d < length[there]) {
          length[there] = d;
          before[there] = here;
        }
      };
      if (here < from_) {
        for (std::size_t j = 0; j < to_; ++j) reach(from_ + j, cost_[here][j]);
      } else {
        for (std::size_t i = 0; i < from_; ++i)
          if (flow_[i][here - from_] > 0) reach(i, -cost_[i][here - from_]);
      }
    }
    for (std::size_t k = 0; k < from_ + to_; ++k) height_[k] += std::min(length[k], length[end]);
    return along(before, end);
  }

  int along(const std::array<std::size_t, 2 * most_regions>& before, std::size_t end) noexcept {
    int most = wanted_[end - from_];
    std::size_t begin = end;
    for (; before[begin] != none; begin = before[begin])
      if (begin < from_) most = std::min(most, flow_[begin][before[begin] - from_]);
    most = std::min(most, left_[begin]);
    for (std::size_t k = end; before[k] != none; k = before[k]) {
      if (k >= from_)
        flow_[before[k]][k - from_] += most;
      else
        flow_[k][before[k] - from_] -= most;
    }
    left_[begin] -= most;
    wanted_[end - from_] -= most;
    return most;
  }

  const std::size_t from_, to_;
  std::array<std::array<double, most_regions>, most_regions> cost_;
  std::array<std::array<int, most_regions>, most_regions> flow_{};
  std::array<int, most_regions> left_{}, wanted_{};
  std::array<double, 2 * most_regions> height_{};
};

}  // namespace

double picture_distance(const picture_signature& a, const picture_signature& b) noexcept {
  return cell_mover(a, b).work();
}

}  // namespace kilter::apps
