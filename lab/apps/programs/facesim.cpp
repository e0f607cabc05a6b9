#include "apps/programs/facesim.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

namespace {

enum loop_of_facesim : std::size_t { turning, forces, product, advance_loop, direction_loop };

// A frame at rest needs some three Newton steps. The bounds are for faces that do not come to rest,
// of which verify() then tells.
constexpr std::size_t most_newton_steps = 30, most_gradient_steps = 300;
// A Newton step is worth no more than a tenth: the next one turns the flesh anew.
constexpr double solve_to = .1;

}  // namespace

program_run facesim::run(executor& how, const std::function<bool()>& stopped) {
  start();
  const step_options loops{.cut = options_.cut,
                           .loops = {"turn", "forces", "product", "advance", "direction"}};
  return run_in_steps(
      how, loops, [this](step_loops& here) { return step(here); }, stopped);
}

/// Whether another one is wanted.
bool facesim::step(step_loops& loops) {
  if (!solving_) return newton_step(loops);
  gradient_step(loops);
  return true;
}

// Looks how the flesh is turned and which forces that makes. If they are small the frame is done;
// else a linear system says where to move.
bool facesim::newton_step(step_loops& loops) {
  if (newton_in_frame_ == 0) begin_frame();
  ++newton_steps_;
  loops.run(turning, options_.partitions, [this](std::size_t p) { turn(p); });
  loops.run(forces, options_.partitions, [this](std::size_t p) { add_forces(p); });
  double strongest = 0;
  for (const partial& p : partials_) strongest = std::max(strongest, p.strongest);
  if (strongest <= facesim_tolerance || newton_in_frame_ == most_newton_steps) {
    newton_in_frame_ = 0;
    return ++now_.frames < options_.frames;
  }
  ++newton_in_frame_;
  first_preconditioned_ = preconditioned_ = sum(&partial::preconditioned);
  gradients_in_solve_ = 0;
  solving_ = true;
  return true;
}

// An iteration of conjugate gradients: three loops, and after each of them all wait, because the
// next needs a sum of all or the neighbours' results.
void facesim::gradient_step(step_loops& loops) {
  ++gradient_steps_;
  loops.run(product, options_.partitions, [this](std::size_t p) { multiply(p); });
  length_ = preconditioned_ / sum(&partial::curvature);
  loops.run(advance_loop, options_.partitions, [this](std::size_t p) { advance(p); });
  preconditioned_before_ = std::exchange(preconditioned_, sum(&partial::preconditioned));
  keep_ = preconditioned_ / preconditioned_before_;
  loops.run(direction_loop, options_.partitions, [this](std::size_t p) { choose_direction(p); });
  solving_ = preconditioned_ > solve_to * solve_to * first_preconditioned_ &&
             ++gradients_in_solve_ < most_gradient_steps;
}

/// In the order of the partitions, so that it is rounded alike whoever computed them.
double facesim::sum(double partial::*what) const noexcept {
  double all = 0;
  for (const partial& p : partials_) all += p.*what;
  return all;
}

// ---- one partition ------------------------------------------------------------------------------

namespace {

using matrix = std::array<face_point, 3>;  // row by row

face_point between(const face_point& from, const face_point& to) noexcept {
  return {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
}
double dot(const face_point& a, const face_point& b) noexcept {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
face_point cross(const face_point& a, const face_point& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
void add(face_point& to, const face_point& v) noexcept {
  for (std::size_t i = 0; i < 3; ++i) to[i] += v[i];
}
void subtract(face_point& from, const face_point& v) noexcept {
  for (std::size_t i = 0; i < 3; ++i) from[i] -= v[i];
}

/// The rotation in it: the mean of a matrix and its inverse transposed, again and again (Higham
/// 1986). Quadratic, so a few times are enough.
matrix rotation_of(matrix m) noexcept {
  for (int i = 0; i < 30; ++i) {
    const matrix cofactors{cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])};
    const double part = .5 / dot(m[0], cofactors[0]);
    double change = 0;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) {
        const double next = .5 * m[r][c] + part * cofactors[r][c];
        change = std::max(change, std::fabs(next - m[r][c]));
        m[r][c] = next;
      }
    if (change < 1e-9) break;  // the error is now some 1e-18
  }
  return m;
}

/// sum of d x g over nodes 1, 2, 3
matrix spread(const std::array<face_point, 3>& d, const std::array<face_point, 3>& g) noexcept {
  matrix m;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c)
      m[r][c] = d[0][r] * g[0][c] + d[1][r] * g[1][c] + d[2][r] * g[2][c];
  return m;
}

/// Of a small stretch, which need not be symmetric, times the volume: xx, yy, zz, xy, xz, yz.
std::array<double, 6> stress_of(const matrix& m, double volume) noexcept {
  const double all = flesh_lambda * (m[0][0] + m[1][1] + m[2][2]), mu = volume * flesh_mu;
  return {volume * (2 * flesh_mu * m[0][0] + all),
          volume * (2 * flesh_mu * m[1][1] + all),
          volume * (2 * flesh_mu * m[2][2] + all),
          mu * (m[0][1] + m[1][0]),
          mu * (m[0][2] + m[2][0]),
          mu * (m[1][2] + m[2][1])};
}

/// On nodes 1, 2, 3
std::array<face_point, 3> pulls(const std::array<double, 6>& s,
                                const std::array<face_point, 3>& g) noexcept {
  std::array<face_point, 3> f;
  for (std::size_t n = 0; n < 3; ++n)
    f[n] = {s[0] * g[n][0] + s[3] * g[n][1] + s[4] * g[n][2],
            s[3] * g[n][0] + s[1] * g[n][1] + s[5] * g[n][2],
            s[4] * g[n][0] + s[5] * g[n][1] + s[2] * g[n][2]};
  return f;
}

}  // namespace

/// The rotation of each tetrahedron, its shape functions' gradients turned by it, and its stress.
void facesim::turn(std::size_t partition) noexcept {
  const range mine = part(elements_.size(), partition);
  for (std::size_t t = mine.first; t < mine.last; ++t) {
    element& e = elements_[t];
    const std::array<face_point, 3>& rest = rest_gradients_[t];
    std::array<face_point, 3> edges;
    for (std::size_t n = 0; n < 3; ++n)
      edges[n] = between(now_.places[e.nodes[0]], now_.places[e.nodes[n + 1]]);
    const matrix turned = rotation_of(spread(edges, rest));
    for (std::size_t n = 0; n < 3; ++n)
      e.gradients[n] = {dot(turned[0], rest[n]), dot(turned[1], rest[n]), dot(turned[2], rest[n])};
    // F turned back on the right is the symmetric stretch in space.
    matrix stretch = spread(edges, e.gradients);
    for (std::size_t i = 0; i < 3; ++i) stretch[i][i] -= 1;
    stresses_[t] = stress_of(stretch, e.volume);
  }
}

// A tetrahedron with nodes in several partitions is computed in each of them, and each adds to its
// own nodes alone. So nobody waits for a lock, and each node gets its parts in the order of the
// tetrahedra.
template <class Use>
void facesim::add_to_own_nodes(std::size_t partition, Use&& use) noexcept {
  const range mine = part(now_.places.size(), partition);
  for (const std::uint32_t t : touching_[partition]) {
    const element& e = elements_[t];
    use(t, e, [&](std::size_t n, auto&& add_it) {
      if (e.nodes[n] - mine.first < mine.last - mine.first) add_it(e.nodes[n]);
    });
  }
}

/// And what conjugate gradients begin with: the residual, the diagonal that makes it comparable,
/// the first direction.
void facesim::add_forces(std::size_t partition) noexcept {
  const range mine = part(now_.places.size(), partition);
  for (std::size_t n = mine.first; n < mine.last; ++n)
    now_.forces[n] = inverse_diagonal_[n] = {0, 0, 0};
  add_to_own_nodes(partition, [this](std::uint32_t t, const element& e, auto&& own) {
    std::array<face_point, 3> f = pulls(stresses_[t], e.gradients);
    if (e.pull != 0) {
      face_point fibre{0, 0, 0};
      for (std::size_t n = 0; n < 3; ++n) {
        const face_point edge = between(now_.places[e.nodes[0]], now_.places[e.nodes[n + 1]]);
        for (std::size_t i = 0; i < 3; ++i) fibre[i] += e.along[n] * edge[i];
      }
      for (std::size_t n = 0; n < 3; ++n)
        for (std::size_t i = 0; i < 3; ++i) f[n][i] += e.pull * e.along[n] * fibre[i];
    }
    const auto add_diagonal = [&](std::uint32_t node, const face_point& g, double along) {
      const double square = dot(g, g);
      for (std::size_t i = 0; i < 3; ++i)
        inverse_diagonal_[node][i] +=
            e.volume * (flesh_mu * (square + g[i] * g[i]) + flesh_lambda * g[i] * g[i]) +
            e.pull * along * along;
    };
    face_point first_gradient{0, 0, 0};
    double first_along = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      subtract(first_gradient, e.gradients[n]);
      first_along -= e.along[n];
      own(n + 1, [&](std::uint32_t node) {
        subtract(now_.forces[node], f[n]);
        add_diagonal(node, e.gradients[n], e.along[n]);
      });
    }
    own(0, [&](std::uint32_t node) {
      for (const face_point& each : f) add(now_.forces[node], each);
      add_diagonal(node, first_gradient, first_along);
    });
  });
  partial& p = partials_[partition];
  p = {};
  for (std::size_t n = mine.first; n < mine.last; ++n) {
    residual_[n] = now_.forces[n];
    // Fixed nodes have no direction, so they stay where they are.
    for (double& d : inverse_diagonal_[n]) d = face_.fixed[n] ? 0 : 1 / d;
    for (std::size_t i = 0; i < 3; ++i) {
      direction_[n][i] = inverse_diagonal_[n][i] * residual_[n][i];
      p.preconditioned += direction_[n][i] * residual_[n][i];
      if (!face_.fixed[n]) p.strongest = std::max(p.strongest, std::fabs(residual_[n][i]));
    }
  }
}

/// How the forces change along the direction, as if the flesh did not turn further: linear
/// elasticity with the turned gradients, which resists every move.
void facesim::multiply(std::size_t partition) noexcept {
  const range mine = part(now_.places.size(), partition);
  for (std::size_t n = mine.first; n < mine.last; ++n) product_[n] = {0, 0, 0};
  add_to_own_nodes(partition, [this](std::uint32_t, const element& e, auto&& own) {
    std::array<face_point, 3> moves;
    for (std::size_t n = 0; n < 3; ++n)
      moves[n] = between(direction_[e.nodes[0]], direction_[e.nodes[n + 1]]);
    const matrix m = spread(moves, e.gradients);  // how the move stretches it
    std::array<face_point, 3> f = pulls(stress_of(m, e.volume), e.gradients);
    if (e.pull != 0)
      for (std::size_t i = 0; i < 3; ++i) {
        const double fibre =
            e.along[0] * moves[0][i] + e.along[1] * moves[1][i] + e.along[2] * moves[2][i];
        for (std::size_t n = 0; n < 3; ++n) f[n][i] += e.pull * e.along[n] * fibre;
      }
    for (std::size_t n = 0; n < 3; ++n)
      own(n + 1, [&](std::uint32_t node) { add(product_[node], f[n]); });
    own(0, [&](std::uint32_t node) {
      for (const face_point& each : f) subtract(product_[node], each);
    });
  });
  partials_[partition].curvature = 0;
  for (std::size_t n = mine.first; n < mine.last; ++n)
    partials_[partition].curvature += dot(direction_[n], product_[n]);
}

void facesim::advance(std::size_t partition) noexcept {
  const range mine = part(now_.places.size(), partition);
  double preconditioned = 0;
  for (std::size_t n = mine.first; n < mine.last; ++n)
    for (std::size_t i = 0; i < 3; ++i) {
      now_.places[n][i] += length_ * direction_[n][i];
      residual_[n][i] -= length_ * product_[n][i];
      preconditioned += residual_[n][i] * inverse_diagonal_[n][i] * residual_[n][i];
    }
  partials_[partition].preconditioned = preconditioned;
}

void facesim::choose_direction(std::size_t partition) noexcept {
  const range mine = part(now_.places.size(), partition);
  for (std::size_t n = mine.first; n < mine.last; ++n)
    for (std::size_t i = 0; i < 3; ++i)
      direction_[n][i] = inverse_diagonal_[n][i] * residual_[n][i] + keep_ * direction_[n][i];
}

facesim::range facesim::part(std::size_t length, std::size_t partition) const noexcept {
  return {length * partition / options_.partitions, length * (partition + 1) / options_.partitions};
}

// ---- before and after ---------------------------------------------------------------------------

double pull_of(const face_muscle& m, std::size_t frame) noexcept {
  return strongest_pull * .5 *
         (1 - std::cos(2 * std::numbers::pi * static_cast<double>(frame + 1) / m.frames));
}

void facesim::begin_frame() {
  std::array<double, face_muscles.size()> pull;
  for (std::size_t m = 0; m < pull.size(); ++m) pull[m] = pull_of(face_muscles[m], now_.frames);
  for (std::size_t t = 0; t < elements_.size(); ++t)
    if (face_.muscles[t] != face_mesh::no_muscle)
      elements_[t].pull = elements_[t].volume * pull[face_.muscles[t]];
}

facesim::facesim(face_mesh face, const facesim_options& o) : face_(std::move(face)), options_(o) {
  const auto refuse = [](const char* option, std::size_t value, std::size_t most) {
    if (value == 0 || value > most)
      throw input_error(std::string(option) + " " + std::to_string(value) + ": write 1 to " +
                        std::to_string(most));
  };
  refuse("--frames", o.frames, most_facesim_frames);
  refuse("--partitions", o.partitions, std::min(most_facesim_partitions, face_.nodes.size()));
  for (std::size_t t = 0; t < face_.tetrahedra.size(); ++t) {
    const auto& nodes = face_.tetrahedra[t];
    std::array<face_point, 3> edges;
    for (std::size_t n = 0; n < 3; ++n)
      edges[n] = between(face_.nodes[nodes[0]], face_.nodes[nodes[n + 1]]);
    const double six = dot(edges[0], cross(edges[1], edges[2]));
    std::array<face_point, 3> gradients{cross(edges[1], edges[2]), cross(edges[2], edges[0]),
                                        cross(edges[0], edges[1])};
    for (face_point& g : gradients)
      for (double& x : g) x /= six;
    rest_gradients_.push_back(gradients);
    element e{nodes, six / 6, 0, {0, 0, 0}, gradients};
    if (face_.muscles[t] != face_mesh::no_muscle)
      for (std::size_t n = 0; n < 3; ++n) e.along[n] = dot(gradients[n], face_.fibres[t]);
    elements_.push_back(e);
  }
  touching_.resize(o.partitions);
  for (std::size_t p = 0; p < o.partitions; ++p) {
    const range mine = part(face_.nodes.size(), p);
    for (std::uint32_t t = 0; t < face_.tetrahedra.size(); ++t)
      if (std::ranges::any_of(face_.tetrahedra[t],
                              [&](std::uint32_t n) { return n >= mine.first && n < mine.last; }))
        touching_[p].push_back(t);
  }
}

void facesim::start() {
  const std::size_t nodes = face_.nodes.size();
  now_ = {face_.nodes, std::vector<face_point>(nodes), 0};
  stresses_.assign(elements_.size(), {});
  for (std::vector<face_point>* each : {&residual_, &direction_, &product_, &inverse_diagonal_})
    each->assign(nodes, {0, 0, 0});
  partials_.assign(options_.partitions, {});
  solving_ = false;
  newton_in_frame_ = gradients_in_solve_ = 0;
  newton_steps_ = gradient_steps_ = 0;
}

std::string facesim::about() const {
  return std::to_string(face_.tetrahedra.size()) + " tetrahedra, " +
         std::to_string(face_.nodes.size()) + " nodes, " + std::to_string(options_.frames) +
         " frames, " + std::to_string(options_.partitions) + " partitions";
}

void facesim::verify() const {
  if (now_.frames != options_.frames)
    throw wrong_result("facesim: " + std::to_string(now_.frames) + " of " +
                       std::to_string(options_.frames) + " frames have been computed");
  apps::verify(face_, now_);
}

std::uint64_t facesim::fingerprint() const {
  mixed_bits mixed;
  for (const face_point& p : now_.places)
    for (const double x : p) mixed.add(x);
  return mixed.value();
}

std::vector<std::string> facesim::found() const {
  if (now_.frames == 0) return {};
  double furthest = 0;
  for (std::size_t n = 0; n < now_.places.size(); ++n) {
    const face_point move = between(face_.nodes[n], now_.places[n]);
    furthest = std::max(furthest, std::sqrt(dot(move, move)));
  }
  char moved[160];
  const auto frames = static_cast<double>(now_.frames);
  std::snprintf(moved, sizeof moved,
                "%.1f Newton steps and %.1f iterations of conjugate gradients a frame; in the last "
                "one the skin has moved by up to %.2f cells",
                static_cast<double>(newton_steps_) / frames,
                static_cast<double>(gradient_steps_) / frames, furthest);
  return {moved};
}

}  // namespace kilter::apps
