#include "apps/programs/fluidanimate.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "kilter/error.hpp"
#include "kilter/graph.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

namespace {

enum phase : std::size_t {
  clearing,
  inserting,
  initialising,
  densities,
  normalising,
  accelerations,
  collisions,
  advancing,
  phases
};
static_assert(phases == fluid_phases);
constexpr std::array<std::string_view, phases> phase_names{
    "clear",     "insert",        "initialise", "densities",
    "normalise", "accelerations", "collisions", "advance"};

/// So that memory need not hold the tasks of all frames, and no core waits long for the first.
constexpr std::uint64_t tasks_made_at_once = 2'000;

}  // namespace

// A phase of a block follows the phase before of this block and of those around it, whose particles
// it needs; a block far away may be phases ahead. `depend` says so, by an address for what each
// task leaves behind. The end of a frame keeps all of the next waiting, so it is critical.
void fluidanimate::add_frames(kilter::graph& g, std::uint64_t after, std::uint64_t count) {
  const std::vector<char> data(count * tasks_in_a_frame());
  const auto left_by = [&](std::uint64_t f, std::size_t p, std::size_t b) {
    return data.data() + f * tasks_in_a_frame() + p * blocks() + b;
  };
  const auto left_by_end_of = [&](std::uint64_t f) { return left_by(f, phases, 0); };
  std::vector<kilter::task_type> types;
  for (const std::string_view name : phase_names) types.push_back(g.type(name));
  const kilter::task_type end_type = g.type("end of frame");
  for (std::uint64_t f = 0; f < count; ++f) {
    const std::uint64_t frame = after + 1 + f;
    for (std::size_t p = 0; p < phases; ++p)
      for (std::size_t b = 0; b < blocks(); ++b) {
        kilter::depend needs{.out = {left_by(f, p, b)}};
        if (p > 0)
          for (const std::size_t other : around(b)) needs.in.push_back(left_by(f, p - 1, other));
        else if (f > 0)
          needs.in.push_back(left_by_end_of(f - 1));
        if (p == densities || p == accelerations)
          g.add({.type = types[p]}, needs, [this, p, frame, b](kilter::team_member& me) {
            while (const kilter::chunk part = me.next_chunk(columns(b)))
              add_pairs(p, frame, b, {part.begin, part.end});
          });
        else
          g.add({.type = types[p]}, needs, [this, p, frame, b] { work(p, frame, b); });
      }
    kilter::depend all{.out = {left_by_end_of(f)}};
    for (std::size_t b = 0; b < blocks(); ++b) all.in.push_back(left_by(f, advancing, b));
    g.add({.type = end_type, .priority = kilter::priority::high}, all, [this] { ++made_; });
  }
}

std::uint64_t fluidanimate::tasks_in_a_frame() const noexcept {
  return fluid_tasks_in_a_frame(blocks());
}

program_run fluidanimate::run_joined_at_frames(kilter::runtime& rt,
                                               const std::function<bool()>& stopped) {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t at_once = std::max<std::uint64_t>(1, tasks_made_at_once / tasks_in_a_frame());
  std::array<kilter::graph, 2> graphs;
  std::uint64_t planned = 0;
  const auto plan_next = [&](kilter::graph& g) {
    const std::uint64_t count = std::min(at_once, options_.frames - planned);
    g.clear();
    add_frames(g, planned, count);
    planned += count;
  };
  plan_next(graphs[0]);
  bool complete = true;
  for (std::size_t turn = 0; complete && made_ < options_.frames; ++turn) {
    kilter::execution runs = rt.submit(graphs[turn % 2]);
    plan_next(graphs[(turn + 1) % 2]);  // meanwhile
    complete = runs_to_its_end(std::move(runs), stopped);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {.seconds = seconds.count(),
          .begin = begin,
          .iterations = made_,
          .tasks = made_ * tasks_in_a_frame(),
          .barriers = made_,
          .complete = complete};
}

program_run fluidanimate::run_joined_at_phases(executor& how,
                                               const std::function<bool()>& stopped) {
  const auto frame = [this](step_loops& loops) {
    for (std::size_t p = 0; p < phases; ++p)
      loops.run(p, blocks(), [this, p](std::size_t b) { work(p, made_ + 1, b); });
    return ++made_ < options_.frames;
  };
  return run_in_steps(how, {.cut = options_.cut, .loops = {phase_names.begin(), phase_names.end()}},
                      frame, stopped);
}

program_run fluidanimate::run(executor& how, const std::function<bool()>& stopped) {
  start();
  kilter::runtime* const rt = how.tasks();
  return rt && options_.joins == fluid_joins::frame ? run_joined_at_frames(*rt, stopped)
                                                    : run_joined_at_phases(how, stopped);
}

// ---- one block ----------------------------------------------------------------------------------

void fluidanimate::work(std::size_t p, std::uint64_t frame, std::size_t b) {
  switch (p) {
    case clearing: return clear(frame, b);
    case inserting: return insert(frame, b);
    case initialising: return initialise(frame, b);
    case densities:
    case accelerations: return add_pairs(p, frame, b, {0, columns(b)});
    case normalising: return normalise(frame, b);
    case collisions: return collide(frame, b);
    default: return advance(frame, b);
  }
}

void fluidanimate::add_pairs(std::size_t p, std::uint64_t frame, std::size_t b, span_of columns) {
  if (p == densities)
    add_densities(frame, b, columns);
  else
    add_accelerations(frame, b, columns);
}

/// Empties the cells, and says where those are now that the frame before had in them: here, or in a
/// block around, as nobody moves further than a cell.
void fluidanimate::clear(std::uint64_t frame, std::size_t b) {
  place& here = places_[b];
  const block& before = after_frame(frame - 1)[b];
  after_frame(frame)[b].first.assign(columns(b) * rules_.cells[1] + 1, 0);
  for (auto& list : here.leaving) list.clear();
  const auto side = [](std::size_t cell, span_of of) -> std::size_t {
    return cell < of.first ? 0 : cell < of.last ? 1 : 2;
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t along = side(cell_along(0, before.of[x][i]), here.along),
                      deep = side(cell_along(2, before.of[z][i]), here.deep);
    here.leaving[deep * 3 + along].push_back(static_cast<std::uint32_t>(i));
  }
}

/// Takes in who is here now, sorted by cell, and by number in each.
void fluidanimate::insert(std::uint64_t frame, std::size_t b) {
  place& here = places_[b];
  block& now = after_frame(frame)[b];
  const std::vector<block>& before = after_frame(frame - 1);
  here.arriving.clear();
  for (std::size_t d = 0; d < 9; ++d) {
    if (!has_neighbour(b, d)) continue;
    const std::size_t from = neighbour(b, d);
    const block& there = before[from];
    // the direction from there to here
    for (const std::uint32_t i : places_[from].leaving[8 - d]) {
      const std::size_t column =
          column_of(here, cell_along(0, there.of[x][i]), cell_along(2, there.of[z][i]));
      const auto cell = static_cast<std::uint32_t>(column + cell_along(1, there.of[y][i]));
      here.arriving.push_back({cell, there.number[i], static_cast<std::uint32_t>(from), i});
      ++now.first[cell + 1];
    }
  }
  for (std::size_t cell = 1; cell < now.first.size(); ++cell)
    now.first[cell] += now.first[cell - 1];
  now.resize(here.arriving.size());
  here.order.resize(here.arriving.size());
  here.filled.assign(now.first.begin(), now.first.end());
  for (const arrival& a : here.arriving) {
    std::uint32_t at = here.filled[a.cell]++;
    for (; at > now.first[a.cell] && here.order[at - 1].number > a.number; --at)
      here.order[at] = here.order[at - 1];
    here.order[at] = a;
  }
  for (std::size_t i = 0; i < here.order.size(); ++i) {
    const arrival& a = here.order[i];
    now.number[i] = a.number;
    for (const quantity q : {x, y, z, vx, vy, vz}) now.of[q][i] = before[a.from].of[q][a.at];
  }
}

void fluidanimate::initialise(std::uint64_t frame, std::size_t b) {
  block& now = after_frame(frame)[b];
  for (const quantity q : {density, ax, az}) std::ranges::fill(now.of[q], 0.0f);
  std::ranges::fill(now.of[ay], static_cast<float>(-earth_gravity));
}

/// Copies of the first so many quantities of particles, side by side, of the 27 cells that a
/// particle can see into. They always lie alike in memory, so that vector instructions add them up
/// in the same order.
template <std::size_t Quantities>
struct fluidanimate::candidates {
  static constexpr std::size_t most = 256;
  alignas(64) float of[Quantities][most];
  std::size_t count = 0;

  /// As many as there is room for.
  std::size_t take(const block& from, std::size_t first, std::size_t last) noexcept {
    const std::size_t n = std::min(last - first, most - count);
    for (std::size_t q = 0; q < Quantities; ++q)
      std::copy_n(from.of[q].data() + first, n, of[q] + count);
    count += n;
    return n;
  }
};

/// Calls `add` with each cell's particles and all candidates for being near them, if there are many
/// in parts.
template <std::size_t Quantities, class F>
void fluidanimate::each_cell(std::uint64_t frame, std::size_t b, span_of columns, const F& add) {
  const place& here = places_[b];
  std::vector<block>& now = after_frame(frame);
  const std::size_t top = rules_.cells[1];
  candidates<Quantities> near;
  for (std::size_t column = columns.first; column < columns.last; ++column) {
    const std::size_t along = here.along.first + column % here.along.size(),
                      deep = here.deep.first + column / here.along.size();
    struct column_near {
      const block* in;
      const std::uint32_t* first;  // of its cells
    };
    std::array<column_near, 9> nine;
    std::size_t count = 0;
    for (std::size_t d = deep - (deep > 0); d < std::min(deep + 2, rules_.cells[2]); ++d)
      for (std::size_t a = along - (along > 0); a < std::min(along + 2, rules_.cells[0]); ++a) {
        const std::size_t other = block_of(a, d);
        nine[count++] = {&now[other], now[other].first.data() + column_of(places_[other], a, d)};
      }
    const std::uint32_t* const cells = now[b].first.data() + column * top;
    for (std::size_t up = 0; up < top; ++up) {
      const span_of mine{cells[up], cells[up + 1]};
      if (mine.size() == 0) continue;
      near.count = 0;
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t last = nine[c].first[std::min(up + 2, top)];
        for (std::size_t first = nine[c].first[up - (up > 0)]; first < last;) {
          first += near.take(*nine[c].in, first, last);
          if (near.count < near.most) continue;
          add(now[b], mine, near);
          near.count = 0;
        }
      }
      if (near.count) add(now[b], mine, near);
    }
  }
}

/// Müller (3), with the kernel (20) but for its factor. A particle is in its own sight.
void fluidanimate::add_densities(std::uint64_t frame, std::size_t b, span_of columns) {
  const auto squared = static_cast<float>(rules_.radius * rules_.radius);
  each_cell<3>(frame, b, columns, [squared](block& now, span_of mine, const candidates<3>& near) {
    alignas(64) std::array<float, candidates<3>::most> seen;
    for (std::size_t i = mine.first; i < mine.last; ++i) {
      const float xi = now.of[x][i], yi = now.of[y][i], zi = now.of[z][i];
#pragma omp simd
      for (std::size_t k = 0; k < near.count; ++k) {
        const float dx = near.of[x][k] - xi, dy = near.of[y][k] - yi, dz = near.of[z][k] - zi;
        const float left = squared - (dx * dx + dy * dy + dz * dz);
        seen[k] = left > 0.0f ? left : 0.0f;
      }
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t k = 0; k < near.count; ++k) sum += seen[k] * seen[k] * seen[k];
      now.of[density][i] += sum;
    }
  });
}

/// Müller (12): the pressure of an ideal gas, less that at rest; but no less than none, which at
/// the surface would draw the water together.
void fluidanimate::normalise(std::uint64_t frame, std::size_t b) {
  block& now = after_frame(frame)[b];
  const auto factor = static_cast<float>(rules_.mass * rules_.poly6()),
             stiffness = static_cast<float>(rules_.stiffness),
             at_rest = static_cast<float>(water_density);
  for (std::size_t i = 0; i < now.size(); ++i) {
    now.of[density][i] *= factor;
    now.of[pressure][i] = std::max(0.0f, stiffness * (now.of[density][i] - at_rest));
  }
}

/// Müller (10) and (14), with the kernels (21) and (22): both the same for the other of a pair, but
/// for the sign.
void fluidanimate::add_accelerations(std::uint64_t frame, std::size_t b, span_of columns) {
  const auto radius = static_cast<float>(rules_.radius), squared = radius * radius;
  const auto factor = static_cast<float>(rules_.mass * rules_.spiky()),
             viscosity = static_cast<float>(rules_.viscosity);
  each_cell<pressure + 1>(
      frame, b, columns, [=](block& now, span_of mine, const candidates<pressure + 1>& near) {
        alignas(64) std::array<float, candidates<pressure + 1>::most> distance;
        std::array<std::uint32_t, candidates<pressure + 1>::most> seen;
        for (std::size_t i = mine.first; i < mine.last; ++i) {
          const float xi = now.of[x][i], yi = now.of[y][i], zi = now.of[z][i],
                      pi = now.of[pressure][i];
          const float vxi = now.of[vx][i], vyi = now.of[vy][i], vzi = now.of[vz][i];
#pragma omp simd
          for (std::size_t k = 0; k < near.count; ++k) {
            const float dx = near.of[x][k] - xi, dy = near.of[y][k] - yi, dz = near.of[z][k] - zi;
            distance[k] = dx * dx + dy * dy + dz * dz;
          }
          std::size_t count = 0;
          // one in six is near, which no processor guesses
          for (std::uint32_t k = 0; k < near.count; ++k) {
            seen[count] = k;
            count += std::size_t{distance[k] < squared} & std::size_t{distance[k] > 0.0f};
          }
          float sx = 0, sy = 0, sz = 0;
          for (std::size_t s = 0; s < count; ++s) {
            const std::size_t k = seen[s];
            const float r = std::sqrt(distance[k]), left = radius - r,
                        share = left / (r * near.of[density][k]);
            const float push = share * left * 0.5f * (pi + near.of[pressure][k]),
                        drag = share * r * viscosity;
            sx += drag * (near.of[vx][k] - vxi) - push * (near.of[x][k] - xi);
            sy += drag * (near.of[vy][k] - vyi) - push * (near.of[y][k] - yi);
            sz += drag * (near.of[vz][k] - vzi) - push * (near.of[z][k] - zi);
          }
          const float own = factor / now.of[density][i];
          now.of[ax][i] += own * sx;
          now.of[ay][i] += own * sy;
          now.of[az][i] += own * sz;
        }
      });
}

/// Who is near a wall is pushed away, by a damped spring.
void fluidanimate::collide(std::uint64_t frame, std::size_t b) {
  block& now = after_frame(frame)[b];
  const auto reach = static_cast<float>(rules_.wall_reach),
             stiffness = static_cast<float>(rules_.wall_stiffness),
             damping = static_cast<float>(rules_.wall_damping);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto end = static_cast<float>(tank_size[axis]);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const float at = now.of[x + axis][i], speed = now.of[vx + axis][i];
      if (const float inside = reach - at; inside > 0)
        now.of[ax + axis][i] += stiffness * inside - damping * speed;
      if (const float inside = reach - (end - at); inside > 0)
        now.of[ax + axis][i] -= stiffness * inside + damping * speed;
    }
  }
}

/// Whoever would be in a wall is put at it, and its speed turned round.
void fluidanimate::advance(std::uint64_t frame, std::size_t b) {
  block& now = after_frame(frame)[b];
  const auto seconds = static_cast<float>(rules_.frame),
             most = static_cast<float>(rules_.most_speed);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto end = static_cast<float>(tank_size[axis]);
    for (std::size_t i = 0; i < now.size(); ++i) {
      float speed = std::clamp(now.of[vx + axis][i] + seconds * now.of[ax + axis][i], -most, most),
            at = now.of[x + axis][i] + seconds * speed;
      if (at < 0 || at > end) {
        at = std::clamp(at, 0.0f, end);
        speed = -speed;
      }
      now.of[x + axis][i] = at;
      now.of[vx + axis][i] = speed;
    }
  }
}

// ---- the grid -----------------------------------------------------------------------------------

void fluidanimate::block::resize(std::size_t particles) {
  for (auto& values : of) values.resize(particles);
  number.resize(particles);
}

/// Directions are 0 to 8, row by row of the nine blocks; 4 is the block itself, and 8 - d leads
/// back.
bool fluidanimate::has_neighbour(std::size_t b, std::size_t direction) const noexcept {
  const std::size_t along = b % blocks_along_ + direction % 3,
                    deep = b / blocks_along_ + direction / 3;
  return along >= 1 && along <= blocks_along_ && deep >= 1 && deep <= blocks_deep_;
}

std::size_t fluidanimate::neighbour(std::size_t b, std::size_t direction) const noexcept {
  return (b / blocks_along_ + direction / 3 - 1) * blocks_along_ + b % blocks_along_ +
         direction % 3 - 1;
}

/// Itself, and the up to eight that touch it.
std::vector<std::size_t> fluidanimate::around(std::size_t b) const {
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d < 9; ++d)
    if (has_neighbour(b, d)) all.push_back(neighbour(b, d));
  return all;
}

std::size_t fluidanimate::cell_along(std::size_t axis, float at) const noexcept {
  return std::min(rules_.cells[axis] - 1,
                  static_cast<std::size_t>(static_cast<double>(at) / tank_size[axis] *
                                           static_cast<double>(rules_.cells[axis])));
}

// ---- before and after ---------------------------------------------------------------------------

namespace {

const fluidanimate_options& checked(const fluidanimate_options& o) {
  if (o.particles < least_fluid_particles || o.particles > most_fluid_particles)
    throw input_error("--particles " + std::to_string(o.particles) + ": write a number from " +
                      std::to_string(least_fluid_particles) + " to " +
                      std::to_string(most_fluid_particles));
  if (o.frames == 0) throw input_error("--frames 0: write 1 or more");
  if (!std::has_single_bit(o.divisions) || o.divisions > most_fluid_divisions)
    throw input_error("--divisions " + std::to_string(o.divisions) +
                      ": write a power of two, as 16 or 32, up to " +
                      std::to_string(most_fluid_divisions));
  return o;
}

/// The longer side of the tank is cut once more, if they cannot be cut alike.
std::pair<std::size_t, std::size_t> cut_in_two_directions(std::size_t divisions) noexcept {
  const int twos = std::countr_zero(divisions);
  return {std::size_t{1} << (twos + 1) / 2, std::size_t{1} << twos / 2};
}

}  // namespace

fluidanimate::fluidanimate(const fluidanimate_options& o)
    : options_(checked(o)),
      rules_(rules_of_fluid(o.particles)),
      start_(dam_of_water(o.particles, o.seed)),
      block_of_along_(rules_.cells[0]),
      block_of_deep_(rules_.cells[2]) {
  const auto fit = [&](std::size_t divisions) {
    const auto [along, deep] = cut_in_two_directions(divisions);
    return along <= rules_.cells[0] && deep <= rules_.cells[2];
  };
  if (!fit(o.divisions)) {
    std::size_t most = o.divisions;
    while (!fit(most)) most /= 2;
    throw input_error(
        "--divisions " + std::to_string(o.divisions) + ": with " + std::to_string(o.particles) +
        " particles the tank is " + std::to_string(rules_.cells[0]) + " cells long and " +
        std::to_string(rules_.cells[2]) + " deep, so write " + std::to_string(most) + " or less");
  }
  std::tie(blocks_along_, blocks_deep_) = cut_in_two_directions(o.divisions);
  places_.resize(blocks());
  for (std::size_t b = 0; b < blocks(); ++b) {
    const auto part = [](std::size_t cells, std::size_t parts, std::size_t at) {
      return span_of{cells * at / parts, cells * (at + 1) / parts};
    };
    const span_of along = places_[b].along =
        part(rules_.cells[0], blocks_along_, b % blocks_along_);
    const span_of deep = places_[b].deep = part(rules_.cells[2], blocks_deep_, b / blocks_along_);
    std::fill_n(block_of_along_.begin() + static_cast<std::ptrdiff_t>(along.first), along.size(),
                b % blocks_along_);
    std::fill_n(block_of_deep_.begin() + static_cast<std::ptrdiff_t>(deep.first), deep.size(),
                b / blocks_along_);
  }
}

void fluidanimate::start() {
  made_ = 0;
  for (auto& blocks_of_a_frame : blocks_) blocks_of_a_frame.assign(blocks(), {});
  for (std::size_t p = 0; p < start_.at.size(); ++p) {
    const auto& at = start_.at[p];
    block& b = after_frame(0)[block_of(cell_along(0, at[0]), cell_along(2, at[2]))];
    b.number.push_back(static_cast<std::uint32_t>(p));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      b.of[x + axis].push_back(at[axis]);
      b.of[vx + axis].push_back(start_.speed[p][axis]);
    }
  }
  for (block& b : after_frame(0)) b.resize(b.size());
}

std::string fluidanimate::about() const {
  return std::to_string(options_.particles) + " particles in " + std::to_string(blocks_along_) +
         " x " + std::to_string(blocks_deep_) + " blocks, " + std::to_string(options_.frames) +
         (options_.frames == 1 ? " frame" : " frames");
}

}  // namespace kilter::apps
