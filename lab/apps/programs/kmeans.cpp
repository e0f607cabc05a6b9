#include "apps/programs/kmeans.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <unordered_set>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "apps/programs/squared_distance.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"
#include "kilter/parallel.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// Each iteration is a task of its own, and critical, so that it begins on the best core: a task
// that ran all of them would stay where it began, also when somebody else came to that core.
void kmeans::iterate(kilter::task_context& here) {
  if (options_.cut == loop_cut::loop)
    assign_in_a_loop(here);
  else
    assign_in_tasks(here);
  if (here.cancelled() || !move_centres()) return;
  kilter::batch next(here);
  next.add({.type = iterate_type_, .priority = kilter::priority::high},
           [this](kilter::task_context& there) { iterate(there); });
  next.detach();
}

// A piece of the loop borrows a sum that nobody else adds to.
void kmeans::assign_in_a_loop(kilter::task_context& here) {
  const auto assign_blocks = [this](std::size_t first, std::size_t last) {
    partial* mine = nullptr;
    {
      const std::lock_guard lock(mutex_);
      mine = free_partials_.back();
      free_partials_.pop_back();
    }
    assign({block(first).first, block(last - 1).last}, *mine);
    const std::lock_guard lock(mutex_);
    free_partials_.push_back(mine);
  };
  kilter::parallel_for(here, std::size_t{0}, blocks(), assign_blocks,
                       {.type = "assign", .grain = 1});
}

// A batch of tasks, each of which may run on several cores, which share its points out. The largest
// one is critical: it ends last if nobody looks after it.
void kmeans::assign_in_tasks(kilter::task_context& here) {
  kilter::batch added(here);
  for (std::size_t b = 0; b < blocks(); ++b) {
    const auto priority = b == 0 ? kilter::priority::high : kilter::priority::low;
    added.add({.type = assign_type_, .priority = priority}, [this, b](kilter::team_member& me) {
      const range mine = block(b);
      while (const kilter::chunk part = me.next_chunk(mine.last - mine.first))
        assign({mine.first + part.begin, mine.first + part.end}, partials_[me.core()]);
    });
  }
  added.wait();
}

void kmeans::iterate_in_loops(block_loop& loop, const std::function<bool()>& stopped) {
  do {
    loop.run(blocks(),
             [this](std::size_t b, std::uint32_t thread) { assign(block(b), partials_[thread]); });
  } while (move_centres() && !stopped());
}

program_run kmeans::run(executor& how, const std::function<bool()>& stopped) {
  start(how.threads());
  const auto begin = std::chrono::steady_clock::now();
  if (kilter::runtime* rt = how.tasks()) {
    kilter::graph g;
    assign_type_ = g.type("assign");
    iterate_type_ = g.type("iterate");
    g.add({.type = iterate_type_, .priority = kilter::priority::high},
          [this](kilter::task_context& here) { iterate(here); });
    runs_to_its_end(rt->submit(g), stopped);
  } else {
    iterate_in_loops(*how.loops(), stopped);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {.seconds = seconds.count(),
          .begin = begin,
          .iterations = iterations_,
          .tasks = iterations_ * blocks(),
          .barriers = iterations_,
          .complete = ended_};
}

// ---- one block, and what comes between two iterations -------------------------------------------

namespace {

std::uint32_t nearest(const float* point, const std::vector<float>& centres,
                      std::size_t n) noexcept {
  std::uint32_t best = 0;
  float least = std::numeric_limits<float>::infinity();
  for (std::uint32_t c = 0; c < centres.size() / n; ++c)
    if (const float d = squared_distance(point, centres.data() + c * n, n); d < least) {
      least = d;
      best = c;
    }
  return best;
}

}  // namespace

void kmeans::assign(range points, partial& mine) noexcept {
  const std::size_t n = points_.dimensions;
  for (std::size_t p = points.first; p < points.last; ++p) {
    const float* values = points_.values.data() + p * n;
    const std::uint32_t c = nearest(values, now_.centres, n);
    mine.changed += std::exchange(now_.clusters[p], c) != c;
    ++mine.counts[c];
    double* sums = mine.sums.data() + c * n;
    for (std::size_t i = 0; i < n; ++i) sums[i] += values[i];
  }
}

/// Whether another iteration is wanted. A centre without points stays where it is.
bool kmeans::move_centres() {
  const std::size_t n = points_.dimensions;
  now_.before = now_.centres;
  std::uint64_t changed = 0;
  for (std::size_t c = 0; c < options_.clusters; ++c) {
    std::uint64_t count = 0;
    for (const partial& p : partials_) count += p.counts[c];
    if (count == 0) continue;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (const partial& p : partials_) sum += p.sums[c * n + i];
      now_.centres[c * n + i] = static_cast<float>(sum / static_cast<double>(count));
    }
  }
  for (partial& p : partials_) {
    changed += std::exchange(p.changed, 0);
    std::ranges::fill(p.sums, 0.0);
    std::ranges::fill(p.counts, 0);
  }
  ++iterations_;
  ended_ =
      iterations_ == options_.most_iterations ||
      static_cast<double>(changed) <= options_.least_changed * static_cast<double>(points_.count);
  return !ended_;
}

std::size_t kmeans::blocks() const noexcept {
  const std::size_t first = options_.block + options_.block / 4;
  return points_.count <= first ? 1
                                : 1 + (points_.count - first + options_.block - 1) / options_.block;
}

kmeans::range kmeans::block(std::size_t b) const noexcept {
  const std::size_t more = options_.block / 4;
  return {b == 0 ? 0 : b * options_.block + more,
          std::min(points_.count, (b + 1) * options_.block + more)};
}

// ---- before and after ---------------------------------------------------------------------------

namespace {

point_set pixels_of(const picture& p) {
  point_set all{p.width * p.height, 3, {}};
  all.values.assign(p.rgb.begin(), p.rgb.end());
  return all;
}

}  // namespace

kmeans::kmeans(point_set points, const kmeans_options& o)
    : points_(std::move(points)), options_(o) {
  if (points_.count < o.clusters)
    throw input_error("--clusters " + std::to_string(o.clusters) + ": there are " +
                      std::to_string(points_.count) + " points");
  make_sums_exact(points_);
}

kmeans::kmeans(picture p, const kmeans_options& o) : kmeans(pixels_of(p), o) {
  picture_ = std::move(p);
}

void kmeans::start(std::uint32_t threads) {
  const std::size_t n = points_.dimensions;
  now_.centres.clear();
  std::mt19937_64 random(options_.seed);
  std::unordered_set<std::size_t> taken;
  while (taken.size() < options_.clusters) {
    const std::size_t p = random() % points_.count;
    if (taken.insert(p).second)
      now_.centres.insert(now_.centres.end(), points_.at(p).begin(), points_.at(p).end());
  }
  now_.clusters.assign(points_.count, std::numeric_limits<std::uint32_t>::max());
  partials_.assign(threads, {std::vector<double>(options_.clusters * n),
                             std::vector<std::uint64_t>(options_.clusters)});
  free_partials_.clear();
  for (partial& p : partials_) free_partials_.push_back(&p);
  iterations_ = 0;
  ended_ = false;
}

std::string kmeans::about() const {
  return std::to_string(points_.count) +
         (picture_ ? " pixels" : " points of " + std::to_string(points_.dimensions) + " numbers") +
         ", " + std::to_string(options_.clusters) + " clusters, " + std::to_string(blocks()) +
         " tasks an iteration";
}

void verify(const point_set& points, const clustering& c) {
  const std::size_t n = points.dimensions, count = c.before.size() / n;
  if (c.clusters.size() != points.count || count == 0)
    throw wrong_result("kmeans: nothing has been computed");
  const auto distance = [&](std::size_t p, std::size_t centre) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += std::pow(static_cast<double>(points.at(p)[i]) - c.before[centre * n + i], 2);
    return sum;
  };
  std::vector<long double> sums(count * n);
  std::vector<std::size_t> counts(count);
  for (std::size_t p = 0; p < points.count; ++p) {
    const std::uint32_t mine = c.clusters[p];
    if (mine >= count)
      throw wrong_result("kmeans: point " + std::to_string(p) + " is in no cluster");
    const double own = distance(p, mine);
    for (std::size_t other = 0; other < count; ++other)
      if (distance(p, other) < own * (1 - 1e-5))
        throw wrong_result("kmeans: point " + std::to_string(p) + " is nearer to centre " +
                           std::to_string(other) + " than to its own, " + std::to_string(mine));
    ++counts[mine];
    for (std::size_t i = 0; i < n; ++i) sums[mine * n + i] += points.at(p)[i];
  }
  for (std::size_t k = 0; k < count * n; ++k) {
    const std::size_t of = counts[k / n];
    const double wanted =
        of ? static_cast<double>(sums[k] / static_cast<long double>(of)) : c.before[k];
    if (std::fabs(c.centres[k] - wanted) > 1e-5 * std::max(1.0, std::fabs(wanted)))
      throw wrong_result("kmeans: centre " + std::to_string(k / n) +
                         " is not the mean of its points");
  }
}

std::uint64_t kmeans::fingerprint() const {
  mixed_bits mixed;
  for (const float value : now_.centres) mixed.add(value);
  for (const std::uint32_t c : now_.clusters) mixed.add(c);
  return mixed.value();
}

std::unique_ptr<kmeans> read_kmeans(std::string_view bytes, const std::string& file,
                                    const kmeans_options& o) {
  if (is_picture(bytes)) return std::make_unique<kmeans>(read_picture(bytes, file), o);
  if (bytes.find('\0') != std::string_view::npos)
    throw input_error(
        "'" + file +
        "' is neither a picture that is read (PNG, binary PPM) nor a table of numbers (CSV)");
  point_set table = read_table(bytes, file);
  bring_near_one(table);
  return std::make_unique<kmeans>(std::move(table), o);
}

std::string kmeans::result_file() const {
  const std::size_t n = points_.dimensions;
  if (picture_) {
    picture p = *picture_;
    for (std::size_t i = 0; i < p.rgb.size(); ++i)
      p.rgb[i] = static_cast<std::uint8_t>(
          std::lround(std::clamp(now_.centres[now_.clusters[i / 3] * 3 + i % 3], 0.0f, 255.0f)));
    return as_png(p);
  }
  std::string text;
  for (std::size_t c = 0; c < options_.clusters; ++c) {
    text += "centre";
    for (std::size_t i = 0; i < n; ++i) {
      char digits[32];
      char* const end = std::to_chars(digits, digits + sizeof digits,
                                      std::ldexp(now_.centres[c * n + i], points_.exponent))
                            .ptr;
      text += "," + std::string(digits, end);
    }
    text += "\n";
  }
  for (const std::uint32_t c : now_.clusters) text += std::to_string(c) + "\n";
  return text;
}

}  // namespace kilter::apps
