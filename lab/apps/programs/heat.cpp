#include "apps/programs/heat.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include "kilter/error.hpp"
#include "kilter/graph.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// A step reads one field and writes the other. Whoever reads what others write, or writes what
// others still read, follows them: `depend` says which, by an address for each block and for the
// borders, of either field. The exchange keeps other ranks waiting, so it is critical.
void heat::add_steps(kilter::graph& g, std::uint64_t count, const std::function<bool()>& stopped) {
  const kilter::task_type sweep_type = g.type("sweep"), exchange_type = g.type("exchange");
  const bool alone = std::ranges::none_of(shared_, std::identity{}),
             joins = options_.exchange == exchange_order::join;
  struct addresses {
    std::vector<char> block;
    char borders;
  };
  std::array<addresses, 2> data{
      {{std::vector<char>(blocks()), 0}, {std::vector<char>(blocks()), 0}}};
  for (std::uint64_t s = step_; s < step_ + count; ++s) {
    addresses &read = data[s % 2], &written = data[(s + 1) % 2];
    if (!alone) {
      kilter::depend needs{.out = {&read.borders}};
      for (std::size_t b = 0; b < blocks(); ++b)
        if (joins || at_border(b)) needs.in.push_back(&read.block[b]);
      g.add({.type = exchange_type, .priority = kilter::priority::high}, needs,
            [this, s, &stopped] { (void)exchange(s, stopped); });
    }
    for (std::size_t b = 0; b < blocks(); ++b) {
      kilter::depend needs{.out = {&written.block[b]}};
      for (const std::size_t other : around(b)) needs.in.push_back(&read.block[other]);
      if (!alone && (joins || at_border(b))) needs.in.push_back(&read.borders);
      g.add({.type = sweep_type}, needs, [this, s, b](kilter::team_member& me) {
        const block mine = block_at(b);
        while (const kilter::chunk part = me.next_chunk(mine.rows.size()))
          sweep(s, mine, {mine.rows.first + part.begin, mine.rows.first + part.end});
      });
    }
  }
}

bool heat::steps_in_tasks(kilter::runtime& rt, std::uint64_t count,
                          const std::function<bool()>& stopped) {
  kilter::graph g;
  add_steps(g, count, stopped);
  return runs_to_its_end(rt.submit(g), stopped);
}

bool heat::steps_in_loops(block_loop& loop, std::uint64_t count,
                          const std::function<bool()>& stopped) {
  for (std::uint64_t s = step_; s < step_ + count; ++s) {
    if (stopped() || exchange(s, stopped)) return false;
    loop.run(blocks(),
             [this, s](std::size_t b, std::uint32_t) { sweep(s, block_at(b), block_at(b).rows); });
  }
  return true;
}

std::uint64_t heat::steps_in_a_graph() const noexcept {
  return std::max<std::uint64_t>(1, most_tasks_in_a_graph / (blocks() + 1));
}

program_run heat::run(executor& how, const std::function<bool()>& stopped) {
  start();
  meet(*ranks_);
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t every =
      options_.checkpoint_every ? options_.checkpoint_every : options_.steps;
  while (step_ < options_.steps) {
    const std::uint64_t count =
        std::min({every - step_ % every, options_.steps - step_, steps_in_a_graph()});
    if (kilter::runtime* rt = how.tasks();
        rt ? !steps_in_tasks(*rt, count, stopped) : !steps_in_loops(*how.loops(), count, stopped))
      return {.complete = false};
    step_ += count;
    if (!options_.checkpoint_every || step_ % every != 0) continue;
    const plate reached = now();
    if (ranks_->rank() == 0) options_.checkpoint(reached);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::uint64_t made = options_.steps - begin_.steps;
  return {.seconds = most(*ranks_, seconds.count()),
          .begin = begin,
          .iterations = made,
          .tasks = made * (blocks() + (ranks_->size() > 1))};
}

// ---- one block, and the borders -----------------------------------------------------------------

/// Where no rank is at a side the plate is insulated: beyond it is always what is at it.
void heat::sweep(std::uint64_t step, const block& of, span_of rows) noexcept {
  const auto first = static_cast<std::ptrdiff_t>(of.columns.first),
             last = static_cast<std::ptrdiff_t>(of.columns.last);
  for (auto r = static_cast<std::ptrdiff_t>(rows.first); r < static_cast<std::ptrdiff_t>(rows.last);
       ++r) {
    const double *above = row(step, r - 1), *here = row(step, r), *below = row(step, r + 1);
    double* to = row(step + 1, r);
#pragma omp simd
    for (std::ptrdiff_t c = first; c < last; ++c)
      to[c] = here[c] +
              heat_spread * ((above[c] + below[c]) + (here[c - 1] + here[c + 1]) - 4.0 * here[c]);
    mirror(step + 1, r, first, last);
  }
}

void heat::mirror(std::uint64_t step, std::ptrdiff_t r, std::ptrdiff_t first,
                  std::ptrdiff_t last) noexcept {
  double* to = row(step, r);
  const auto rows = static_cast<std::ptrdiff_t>(rows_.size()),
             columns = static_cast<std::ptrdiff_t>(columns_.size());
  if (first == 0 && !shared_[left]) to[-1] = to[0];
  if (last == columns && !shared_[right]) to[columns] = to[columns - 1];
  if (r == 0 && !shared_[up]) std::copy(to + first, to + last, row(step, -1) + first);
  if (r == rows - 1 && !shared_[down]) std::copy(to + first, to + last, row(step, rows) + first);
}

/// True if it was stopped.
bool heat::exchange(std::uint64_t step, const std::function<bool()>& stopped) {
  const auto rows = static_cast<std::ptrdiff_t>(rows_.size()),
             columns = static_cast<std::ptrdiff_t>(columns_.size());
  const std::array<std::uint32_t, 4> other{ranks_->rank() - across_, ranks_->rank() + across_,
                                           ranks_->rank() - 1, ranks_->rank() + 1};
  std::vector<border> borders;
  for (const side s : {up, down})
    if (shared_[s])
      borders.push_back({other[s],
                         {row(step, s == up ? 0 : rows - 1), columns_.size()},
                         {row(step, s == up ? -1 : rows), columns_.size()}});
  for (const side s : {left, right}) {
    if (!shared_[s]) continue;
    for (std::ptrdiff_t r = 0; r < rows; ++r)
      sent_[s][static_cast<std::size_t>(r)] = row(step, r)[s == left ? 0 : columns - 1];
    borders.push_back({other[s], sent_[s], heard_[s]});
  }
  if (ranks_->exchange(borders, stopped)) return true;
  for (const side s : {left, right})
    if (shared_[s])
      for (std::ptrdiff_t r = 0; r < rows; ++r)
        row(step, r)[s == left ? -1 : columns] = heard_[s][static_cast<std::size_t>(r)];
  return false;
}

heat::span_of heat::part(std::size_t length, std::size_t parts, std::size_t at) noexcept {
  return {length * at / parts, length * (at + 1) / parts};
}

heat::block heat::block_at(std::size_t b) const noexcept {
  return {part(rows_.size(), options_.block_rows, b / options_.block_columns),
          part(columns_.size(), options_.block_columns, b % options_.block_columns)};
}

/// Itself, and those with which it shares a side.
std::vector<std::size_t> heat::around(std::size_t b) const {
  const std::size_t across = options_.block_columns, r = b / across, c = b % across;
  std::vector<std::size_t> all{b};
  if (r > 0) all.push_back(b - across);
  if (r + 1 < options_.block_rows) all.push_back(b + across);
  if (c > 0) all.push_back(b - 1);
  if (c + 1 < across) all.push_back(b + 1);
  return all;
}

bool heat::at_border(std::size_t b) const noexcept {
  const std::size_t across = options_.block_columns, r = b / across, c = b % across;
  return (r == 0 && shared_[up]) || (r + 1 == options_.block_rows && shared_[down]) ||
         (c == 0 && shared_[left]) || (c + 1 == across && shared_[right]);
}

// ---- before and after ---------------------------------------------------------------------------

heat::heat(plate begin, const heat_options& o, std::shared_ptr<ranks> r)
    : begin_(std::move(begin)), options_(o), ranks_(std::move(r)) {
  const std::uint32_t count = ranks_->size(), mine = ranks_->rank();
  if (o.layout == rank_layout::grid)
    for (std::uint32_t a = 1; a * a <= count; ++a)
      if (count % a == 0) across_ = a;
  down_ = count / across_;
  rows_ = part(begin_.rows, down_, mine / across_);
  columns_ = part(begin_.columns, across_, mine % across_);
  shared_ = {mine / across_ > 0, mine / across_ + 1 < down_, mine % across_ > 0,
             mine % across_ + 1 < across_};
  const std::size_t least_rows = begin_.rows / down_, least_columns = begin_.columns / across_;
  if (least_rows < o.block_rows || least_columns < o.block_columns)
    throw input_error("--blocks " + std::to_string(o.block_rows) + "x" +
                      std::to_string(o.block_columns) + ": a rank's part of the plate has " +
                      std::to_string(least_rows) + " x " + std::to_string(least_columns) +
                      " points; use fewer blocks or ranks");
  if (begin_.steps >= o.steps)
    throw input_error("--steps " + std::to_string(o.steps) + ": the plate has already made " +
                      std::to_string(begin_.steps));
}

void heat::start() {
  step_ = begin_.steps;
  for (auto& field : fields_) field.assign((rows_.size() + 2) * stride(), 0.0);
  for (const side s : {left, right}) {
    sent_[s].resize(rows_.size());
    heard_[s].resize(rows_.size());
  }
  const exact_plate drawn(begin_, step_);
  long double sum = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto at = static_cast<std::ptrdiff_t>(r);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t y = rows_.first + r, x = columns_.first + c;
      row(step_, at)[c] =
          begin_.values.empty() ? drawn.at(y, x) : begin_.values[y * begin_.columns + x];
      sum += static_cast<long double>(row(step_, at)[c]);
    }
    mirror(step_, at, 0, static_cast<std::ptrdiff_t>(columns_.size()));
  }
  heat_at_start_ = static_cast<double>(sum);
}

std::string heat::about() const {
  const std::string blocks = std::to_string(options_.block_rows) + " x " +
                             std::to_string(options_.block_columns) + " blocks";
  std::string text = std::to_string(begin_.rows) + " x " + std::to_string(begin_.columns) +
                     " points, " + std::to_string(options_.steps - begin_.steps) + " steps, ";
  if (ranks_->size() == 1) return text + blocks;
  return text + std::to_string(ranks_->size()) + " ranks (" + std::to_string(down_) + " x " +
         std::to_string(across_) + ") of " + blocks;
}

plate heat::now() const {
  std::vector<double> mine;
  mine.reserve(rows_.size() * columns_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const double* values = row(step_, static_cast<std::ptrdiff_t>(r));
    mine.insert(mine.end(), values, values + columns_.size());
  }
  const std::vector<std::vector<double>> all = ranks_->to_first(mine);
  plate whole{begin_.rows, begin_.columns, step_, {}, begin_.waves};
  if (all.empty()) return whole;
  whole.values.resize(whole.rows * whole.columns);
  for (std::uint32_t of = 0; of < all.size(); ++of) {
    const span_of rows = part(begin_.rows, down_, of / across_),
                  columns = part(begin_.columns, across_, of % across_);
    for (std::size_t r = rows.first; r < rows.last; ++r)
      std::copy_n(all[of].data() + (r - rows.first) * columns.size(), columns.size(),
                  whole.values.data() + r * whole.columns + columns.first);
  }
  return whole;
}

namespace {

/// Steps as a book has them.
std::vector<double> one_by_one(const plate& from, std::uint64_t steps) {
  std::vector<double> now = from.values, next = now;
  const std::size_t rows = from.rows, columns = from.columns;
  for (std::uint64_t s = 0; s < steps; ++s) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        const double own = now[r * columns + c];
        double flow = 0;
        if (r > 0) flow += now[(r - 1) * columns + c] - own;
        if (r + 1 < rows) flow += now[(r + 1) * columns + c] - own;
        if (c > 0) flow += now[r * columns + c - 1] - own;
        if (c + 1 < columns) flow += now[r * columns + c + 1] - own;
        next[r * columns + c] = own + heat_spread * flow;
      }
    std::swap(now, next);
  }
  return now;
}

std::string wrong_at(std::size_t row, std::size_t column, double is, double wanted) {
  return "heat: the point in row " + std::to_string(row) + ", column " + std::to_string(column) +
         " is " + std::to_string(is) + ", off by " + std::to_string((is - wanted) * 1e9) + "e-9";
}

}  // namespace

/// Roundings add up over the steps; a border of the step before would be wrong by a thousand times
/// as much.
double heat::tolerance() const noexcept {
  return 1e-12 + 4e-15 * static_cast<double>(step_ - begin_.steps);
}

std::string heat::what_is_wrong() const {
  const exact_plate wanted(begin_, step_);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const double is = row(step_, static_cast<std::ptrdiff_t>(r))[c],
                   exact = wanted.at(rows_.first + r, columns_.first + c);
      if (!(std::fabs(is - exact) <= tolerance()))
        return wrong_at(rows_.first + r, columns_.first + c, is, exact);
    }
  return "";
}

std::string heat::what_differs_from_single_steps() const {
  const plate whole = now();
  if (ranks_->rank() != 0) return "";
  const std::vector<double> wanted = one_by_one(begin_, step_ - begin_.steps);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(std::fabs(whole.values[i] - wanted[i]) <= tolerance()))
      return wrong_at(i / whole.columns, i % whole.columns, whole.values[i], wanted[i]);
  return "";
}

void heat::verify() const {
  if (fields_[0].empty()) throw wrong_result("heat: nothing has been computed");
  std::string wrong = first_said(
      *ranks_, begin_.waves.empty() ? what_differs_from_single_steps() : what_is_wrong());
  long double sum = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < columns_.size(); ++c)
      sum += static_cast<long double>(row(step_, static_cast<std::ptrdiff_t>(r))[c]);
  const double lost =
      total(*ranks_, static_cast<double>(sum - static_cast<long double>(heat_at_start_)));
  if (wrong.empty() &&
      !(std::fabs(lost) <= tolerance() * static_cast<double>(begin_.rows * begin_.columns)))
    wrong = "heat: an insulated plate has lost " + std::to_string(lost) + " of its heat";
  if (!wrong.empty()) throw wrong_result(wrong);
}

std::uint64_t heat::fingerprint() const {
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  std::uint64_t mine = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < columns_.size(); ++c)
      mine += mixed(std::bit_cast<std::uint64_t>(row(step_, static_cast<std::ptrdiff_t>(r))[c]) ^
                    mixed((rows_.first + r) * begin_.columns + columns_.first + c + 1));
  return sum(*ranks_, mine);
}

std::string heat::result_file() const {
  const plate whole = now();
  if (ranks_->rank() != 0) return "";
  return options_.draws ? as_png(picture_of(whole)) : plate_file(whole);
}

}  // namespace kilter::apps
