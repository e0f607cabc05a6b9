#include "apps/programs/bodytrack.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

/// By which tasks say what they read and write in a frame's slot.
struct bodytrack::addresses {
  char pictures, parents, pose;
  std::vector<char> maps, particles;  // of each image task, and of each block of particles
};

// All tasks of a frame. Nobody waits at a barrier: a task follows those whose data it needs. So the
// pictures of the next frame are searched while this one's particles are weighed, as far as there
// are slots; a frame in order needs the particles of the one before only for its first resampling.
// What is done one after another keeps all others waiting, so it is critical.
void bodytrack::add_frame(kilter::graph& g, std::size_t frame, std::vector<addresses>& all) {
  frame_slot& slot = slot_of(frame);
  const frame_slot* const earlier = before(frame);
  addresses& at = all[frame % all.size()];
  const auto pointers = [](const std::vector<char>& each) {
    std::vector<const void*> to;
    for (const char& c : each) to.push_back(&c);
    return to;
  };
  const kilter::task_type draw_type = g.type("draw"), find_type = g.type("find"),
                          resample_type = g.type("resample"), generate_type = g.type("generate"),
                          weigh_type = g.type("weigh"), estimate_type = g.type("estimate");
  g.add({.type = draw_type}, {.out = {&at.pictures}}, [this, frame, &slot] { draw(frame, slot); });
  for (std::size_t i = 0; i < image_tasks(); ++i)
    g.add({.type = find_type}, {.in = {&at.pictures}, .out = {&at.maps[i]}},
          [this, i, &slot] { find(i, slot); });
  for (std::size_t layer = 0; layer < options_.layers; ++layer) {
    kilter::depend needs{.in = pointers(layer == 0 ? at.maps : at.particles), .out = {&at.parents}};
    if (layer == 0 && earlier) needs.in.push_back(&all[(frame - 1) % all.size()].pose);
    g.add({.type = resample_type, .priority = kilter::priority::high}, needs,
          [this, frame, layer, &slot, earlier] { resample(frame, layer, slot, earlier); });
    for (std::size_t t = 0; t < options_.tasks; ++t) {
      g.add({.type = generate_type}, {.in = {&at.parents}, .out = {&at.particles[t]}},
            [this, frame, layer, t, &slot, earlier] { generate(frame, layer, t, slot, earlier); });
      g.add({.type = weigh_type}, {.inout = {&at.particles[t]}},
            [this, layer, t, &slot] { weigh(layer, t, slot); });
    }
  }
  kilter::depend needs{.in = pointers(at.particles), .out = {&at.pose}};
  for (const char& map : at.maps) needs.in.push_back(&map);  // until here they are in use
  g.add({.type = estimate_type, .priority = kilter::priority::high}, needs,
        [this, frame, &slot] { estimate(frame, slot); });
}

bool bodytrack::frames_in_tasks(kilter::runtime& rt, const std::function<bool()>& stopped) {
  constexpr std::size_t most_tasks_in_a_graph = 50'000;
  const std::size_t frames_in_a_graph =
      std::max<std::size_t>(1, most_tasks_in_a_graph / tasks_of_a_frame());
  std::vector<addresses> all(slots_.size(), {0, 0, 0, std::vector<char>(image_tasks()),
                                             std::vector<char>(options_.tasks)});
  for (std::size_t first = 0; first < options_.frames; first += frames_in_a_graph) {
    kilter::graph g;
    for (std::size_t frame = first; frame < std::min(options_.frames, first + frames_in_a_graph);
         ++frame)
      add_frame(g, frame, all);
    if (!runs_to_its_end(rt.submit(g), stopped)) return false;
  }
  return true;
}

// Without tasks: in order a loop over the pictures and one for each layer, all waiting after each;
// independent frames are one loop over the frames.
bool bodytrack::frames_in_loops(block_loop& loop, std::uint32_t threads, program_run& r,
                                const std::function<bool()>& stopped) {
  if (options_.order == frames_order::independent) {
    for (std::size_t first = 0; first < options_.frames; first += 8 * threads) {
      if (stopped()) return false;
      const std::size_t count = std::min<std::size_t>(8 * threads, options_.frames - first);
      loop.run(count, [&](std::size_t i, std::uint32_t thread) {
        whole_frame(first + i, slots_[thread]);
      });
      r.tasks += count;
      ++r.barriers;
    }
    return true;
  }
  for (std::size_t frame = 0; frame < options_.frames; ++frame) {
    if (stopped()) return false;
    frame_slot& slot = slot_of(frame);
    const frame_slot* const earlier = before(frame);
    draw(frame, slot);
    loop.run(image_tasks(), [&](std::size_t i, std::uint32_t) { find(i, slot); });
    for (std::size_t layer = 0; layer < options_.layers; ++layer) {
      resample(frame, layer, slot, earlier);
      loop.run(options_.tasks, [&](std::size_t t, std::uint32_t) {
        generate(frame, layer, t, slot, earlier);
        weigh(layer, t, slot);
      });
    }
    estimate(frame, slot);
    r.tasks += image_tasks() + options_.layers * options_.tasks;
    r.barriers += 1 + options_.layers;
  }
  return true;
}

void bodytrack::whole_frame(std::size_t frame, frame_slot& slot) {
  draw(frame, slot);
  for (std::size_t i = 0; i < image_tasks(); ++i) find(i, slot);
  for (std::size_t layer = 0; layer < options_.layers; ++layer) {
    resample(frame, layer, slot, nullptr);
    for (std::size_t t = 0; t < options_.tasks; ++t) {
      generate(frame, layer, t, slot, nullptr);
      weigh(layer, t, slot);
    }
  }
  estimate(frame, slot);
}

program_run bodytrack::run(executor& how, const std::function<bool()>& stopped) {
  // In order: while one frame's particles are weighed, the pictures of the next are searched.
  start(options_.order == frames_order::in_order
            ? 2
            : std::max<std::size_t>(how.threads(),
                                    std::min<std::size_t>(options_.frames, 2 * how.threads())));
  const auto begin = std::chrono::steady_clock::now();
  program_run r{.begin = begin};
  if (kilter::runtime* const rt = how.tasks()) {
    r.complete = frames_in_tasks(*rt, stopped);
    r.tasks = r.complete ? options_.frames * tasks_of_a_frame() : 0;
  } else {
    r.complete = frames_in_loops(*how.loops(), how.threads(), r, stopped);
  }
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  r.iterations = options_.frames;
  return r;
}

// ---- one task -----------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t for_resampling = 3, for_moving = 4;

/// The i-th of `parts`.
constexpr std::size_t part_begin(std::size_t length, std::size_t parts, std::size_t i) noexcept {
  return length * i / parts;
}

/// From 0 to 1.
double unit_of(std::uint64_t bits) noexcept { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Nearly normal, with deviation 1: the sum of four numbers of 16 bits, which are even.
double normal_of(std::uint64_t bits) noexcept {
  const std::uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - 2 * 65535.0) * (1.7320508075688772 / 65536);
}

constexpr std::size_t points_along = 8, points_across = 3;

/// What a map lacks at a point, from 0 to 1, squared. Beyond the picture it lacks all.
double lack_at(const std::uint8_t* map, double x, double y, picture_shape shape) noexcept {
  if (!(x >= 0 && y >= 0 && x < static_cast<double>(shape.width) &&
        y < static_cast<double>(shape.height)))
    return 1;
  const double lack =
      1 -
      map[static_cast<std::size_t>(y) * shape.width + static_cast<std::size_t>(x)] * (1 / 255.0);
  return lack * lack;
}

}  // namespace

double body_error(const body_pose& pose, const body_maps& maps, picture_shape shape) noexcept {
  const auto limbs = limbs_at(pose);
  double error = 0;
  for (std::size_t c = 0; c < body_cameras; ++c) {
    double edges = 0, inside = 0;
    for (std::size_t l = 0; l < limbs_of_a_body; ++l) {
      const seen_limb s = see(limbs[l], l, c, shape.width, shape.height);
      for (std::size_t i = 0; i < points_along; ++i) {
        const double part = (static_cast<double>(i) + .5) / points_along,
                     half = s.first_half + part * (s.last_half - s.first_half);
        const double x = s.first.x + part * (s.last.x - s.first.x),
                     y = s.first.y + part * (s.last.y - s.first.y);
        for (const double side : {-1.0, 1.0})
          edges += lack_at(maps.edges[c].data(), x + side * half * s.across_x,
                           y + side * half * s.across_y, shape);
        for (const double side : {-.8, 0.0, .8})
          inside += lack_at(maps.inside[c].data(), x + side * half * s.across_x,
                            y + side * half * s.across_y, shape);
      }
    }
    error += edges / (2 * points_along * limbs_of_a_body) +
             inside / (points_across * points_along * limbs_of_a_body);
  }
  return error / (2 * body_cameras);
}

/// The pictures come from a film here, as PARSEC's come from files.
void bodytrack::draw(std::size_t frame, frame_slot& slot) const {
  draw_body(filmed_pose(frame), frame, room_, shape_, options_.seed, slot.pictures);
}

void bodytrack::find(std::size_t i, frame_slot& slot) const {
  const std::size_t strip = i / body_cameras;
  find_rows(slot.pictures, room_, shape_, i % body_cameras,
            part_begin(shape_.height, strips(), strip),
            part_begin(shape_.height, strips(), strip + 1), slot.maps);
}

/// Weights exp(-b error), together 1. b is chosen so that half of the particles survive, by the
/// measure 1 / sum w^2 (Deutscher et al., section 4).
void bodytrack::make_weights(frame_slot& slot) const {
  const double least = *std::ranges::min_element(slot.errors),
               count = static_cast<double>(slot.errors.size());
  const auto surviving = [&](double b) {
    double sum = 0, squares = 0;
    for (const double e : slot.errors) {
      const double w = std::exp(b * (least - e));
      sum += w;
      squares += w * w;
    }
    return sum * sum / squares / count;
  };
  double low = 0, high = 1;
  while (high < 1e6 && surviving(high) > .5) low = std::exchange(high, 4 * high);
  for (int i = 0; i < 10; ++i) {
    const double middle = .5 * (low + high);
    (surviving(middle) > .5 ? low : high) = middle;
  }
  double sum = 0;
  for (std::size_t p = 0; p < slot.errors.size(); ++p)
    sum += slot.weights[p] = std::exp(high * (least - slot.errors[p]));
  for (double& w : slot.weights) w /= sum;
}

/// Which particle of the layer before, or of the frame before, each new one comes from: systematic,
/// so that each has as many as its weight says, or one more.
void bodytrack::resample(std::size_t frame, std::size_t layer, frame_slot& slot,
                         const frame_slot* before) const {
  if (layer == 0 && !before) return;  // all begin in a known pose
  if (layer > 0) make_weights(slot);
  const std::vector<double>& weights = layer > 0 ? slot.weights : before->weights;
  const auto count = static_cast<double>(options_.particles);
  const double offset = unit_of(random_bits(options_.seed, for_resampling, frame, layer, 0));
  double sum = weights[0];
  std::uint32_t parent = 0;
  for (std::size_t p = 0; p < options_.particles; ++p) {
    while (parent + 1 < weights.size() && sum * count <= static_cast<double>(p) + offset)
      sum += weights[++parent];
    slot.parents[p] = parent;
  }
}

/// A new particle is its parent, moved at random; less in each layer.
void bodytrack::generate(std::size_t frame, std::size_t layer, std::size_t task, frame_slot& slot,
                         const frame_slot* before) const {
  const body_pose known = known_pose(options_.order, frame);
  const double spread = std::pow(.6, static_cast<double>(layer));
  const std::vector<body_pose>* from = layer > 0 ? &slot.poses[(layer - 1) % 2]
                                       : before  ? &before->poses[(options_.layers - 1) % 2]
                                                 : nullptr;
  for (std::size_t p = part_begin(options_.particles, options_.tasks, task);
       p < part_begin(options_.particles, options_.tasks, task + 1); ++p) {
    const body_pose& parent = from ? (*from)[slot.parents[p]] : known;
    for (std::size_t d = 0; d < degrees_of_a_body; ++d) {
      const double move =
          spread * body_degrees[d].spread *
          normal_of(random_bits(options_.seed, for_moving, frame << 8 | layer, p, d));
      slot.poses[layer % 2][p][d] =
          std::clamp(parent[d] + move, body_degrees[d].least, body_degrees[d].most);
    }
  }
}

void bodytrack::weigh(std::size_t layer, std::size_t task, frame_slot& slot) const {
  for (std::size_t p = part_begin(options_.particles, options_.tasks, task);
       p < part_begin(options_.particles, options_.tasks, task + 1); ++p)
    slot.errors[p] = body_error(slot.poses[layer % 2][p], slot.maps, shape_);
}

void bodytrack::estimate(std::size_t frame, frame_slot& slot) {
  make_weights(slot);
  const std::vector<body_pose>& poses = slot.poses[(options_.layers - 1) % 2];
  body_pose mean{};
  for (std::size_t p = 0; p < poses.size(); ++p)
    for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += slot.weights[p] * poses[p][d];
  found_.poses[frame] = mean;
  estimated_[frame] = 1;
  if (frame + 1 == options_.frames) found_.last = {poses, slot.errors, slot.weights};
}

// ---- before and after ---------------------------------------------------------------------------

namespace {

void refuse_number(const char* option, std::size_t value, std::size_t least, std::size_t most) {
  if (value < least || value > most)
    throw input_error(std::string(option) + " " + std::to_string(value) + ": write " +
                      std::to_string(least) + " to " + std::to_string(most));
}

const bodytrack_options& checked(const bodytrack_options& o) {
  refuse_number("--frames", o.frames, 1, most_bodytrack_frames);
  refuse_number("--particles", o.particles, 1, most_bodytrack_particles);
  refuse_number("--layers", o.layers, 1, most_bodytrack_layers);
  refuse_number("--tasks", o.tasks, 1, std::min(most_bodytrack_tasks, o.particles));
  refuse_number("--width", o.width, least_picture_width, most_picture_width);
  return o;
}

}  // namespace

bodytrack::bodytrack(const bodytrack_options& o)
    : options_(checked(o)),
      shape_{o.width, o.width * 3 / 4},
      room_(room_pictures(shape_, o.seed)) {}

void bodytrack::start(std::size_t slots) {
  found_ = {std::vector<body_pose>(options_.frames), {}};
  estimated_.assign(options_.frames, 0);
  frame_slot empty;
  for (body_pictures* each : {&empty.pictures, &empty.maps.inside, &empty.maps.edges})
    for (auto& picture : *each) picture.resize(shape_.width * shape_.height);
  for (auto& poses : empty.poses) poses.resize(options_.particles);
  empty.errors.resize(options_.particles);
  empty.weights.resize(options_.particles);
  empty.parents.resize(options_.particles);
  slots_.assign(slots, empty);
}

const bodytrack::frame_slot* bodytrack::before(std::size_t frame) const noexcept {
  return options_.order == frames_order::in_order && frame > 0
             ? &slots_[(frame - 1) % slots_.size()]
             : nullptr;
}

/// In order there are about as many image tasks as blocks of particles; independent frames have
/// four, as in the public code behind S1.
std::size_t bodytrack::strips() const noexcept {
  return options_.order == frames_order::independent
             ? 1
             : std::min((options_.tasks + body_cameras - 1) / body_cameras, shape_.height);
}

std::size_t bodytrack::tasks_of_a_frame() const noexcept {
  return 2 + image_tasks() + options_.layers * (1 + 2 * options_.tasks);
}

std::string bodytrack::about() const {
  return std::to_string(options_.frames) + " frames of " + std::to_string(body_cameras) +
         " pictures of " + std::to_string(shape_.width) + " x " + std::to_string(shape_.height) +
         ", " + std::to_string(options_.particles) + " particles, " +
         std::to_string(options_.layers) + " layers, frames " +
         (options_.order == frames_order::independent ? "independent" : "in order");
}

std::uint64_t bodytrack::fingerprint() const {
  mixed_bits mixed;
  for (const body_pose& pose : found_.poses)
    for (const double x : pose) mixed.add(x);
  return mixed.value();
}

std::string bodytrack::result_file() const {
  std::string text = "frame";
  for (const body_degree& d : body_degrees) text += "," + std::string(d.name);
  text += "\n";
  for (std::size_t frame = 0; frame < found_.poses.size(); ++frame) {
    text += std::to_string(frame);
    for (const double x : found_.poses[frame]) {
      char digits[32];
      text += "," + std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
    }
    text += "\n";
  }
  return text;
}

std::vector<std::string> bodytrack::found() const {
  if (std::ranges::find(estimated_, 0) != estimated_.end() || estimated_.empty()) return {};
  double sum = 0, most = 0;
  for (std::size_t frame = 0; frame < found_.poses.size(); ++frame) {
    const double distance = body_distance(found_.poses[frame], filmed_pose(frame));
    sum += distance;
    most = std::max(most, distance);
  }
  char line[128];
  std::snprintf(line, sizeof line, "the poses are %.1f cm from the right ones, %.1f cm at most",
                100 * sum / static_cast<double>(found_.poses.size()), 100 * most);
  return {line};
}

}  // namespace kilter::apps
