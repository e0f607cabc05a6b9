#include "apps/programs/ferret_pictures.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>

#include "apps/programs/byte_store.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

namespace fs = std::filesystem;

namespace {

bool named_as_picture(const fs::path& p) {
  std::string end = p.extension().string();
  std::ranges::transform(end, end.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".png" || end == ".ppm";
}

}  // namespace

folder_pictures::folder_pictures(std::string folder, const std::string& option)
    : folder_(std::move(folder)) {
  std::error_code why;
  for (fs::directory_iterator at(folder_, why), end; !why && at != end; at.increment(why)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && named_as_picture(at->path()))
      files_.push_back(at->path().filename().string());
  }
  if (why)
    throw input_error(option + " '" + folder_ + "': the folder cannot be read: " + why.message());
  if (files_.empty())
    throw input_error(option + " '" + folder_ +
                      "': no picture is in this folder; PNG and PPM files are read");
  std::ranges::sort(files_);
}

picture folder_pictures::load(std::size_t number) const {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const std::string path = (fs::path(folder_) / files_[number]).string();
  const file_source file(path, "picture");
  if (file.size() > most_bytes)
    throw input_error("picture '" + path + "' is larger than 1 GiB, the most that is read");
  std::string bytes(file.size(), '\0');
  file.read(0, bytes);
  return read_picture(bytes, path);
}

// ---- drawn --------------------------------------------------------------------------------------

namespace {

constexpr int side = 48;
constexpr std::size_t pictures_of_a_theme = 20;

struct shape {
  int x, y, half_width, half_height;  ///< of its middle, and from there
  bool round;
  std::array<int, 3> colour;

  [[nodiscard]] bool has(int px, int py) const noexcept {
    const int dx = px - x, dy = py - y;
    if (!round) return std::abs(dx) <= half_width && std::abs(dy) <= half_height;
    return dx * dx * half_height * half_height + dy * dy * half_width * half_width <=
           half_width * half_width * half_height * half_height;
  }
};

int between(std::mt19937_64& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
}

std::array<int, 3> drawn_colour(std::mt19937_64& random) {
  return {between(random, 20, 235), between(random, 20, 235), between(random, 20, 235)};
}

std::vector<shape> drawn_theme(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<shape> shapes{{0, 0, side, side, false, drawn_colour(random)}};
  for (int left = between(random, 3, 7); left > 0; --left)
    shapes.push_back({between(random, 4, side - 5), between(random, 4, side - 5),
                      between(random, 4, 14), between(random, 4, 14), random() % 2 == 0,
                      drawn_colour(random)});
  return shapes;
}

/// Each shape a little elsewhere, and in a colour that is near.
void move_a_little(std::vector<shape>& shapes, std::mt19937_64& random) {
  for (shape& s : shapes) {
    s.x += between(random, -3, 3);
    s.y += between(random, -3, 3);
    for (int& c : s.colour) c += between(random, -8, 8);
  }
}

}  // namespace

drawn_pictures::drawn_pictures(use u, std::size_t count, std::size_t database, std::uint64_t seed)
    : use_(u), count_(count), database_(database), seed_(seed) {}

std::size_t drawn_pictures::drawn(std::size_t number) const noexcept {
  if (use_ == use::database) return number;
  return number % 4 == 0 ? number * 7919 % database_ : database_ + number;
}

std::string drawn_pictures::name(std::size_t number) const {
  const std::size_t n = drawn(number);
  return n < database_ ? "picture " + std::to_string(n) : "new " + std::to_string(n - database_);
}

picture drawn_pictures::load(std::size_t number) const {
  const std::size_t n = drawn(number),
                    themes = (database_ + pictures_of_a_theme - 1) / pictures_of_a_theme;
  std::vector<shape> shapes = drawn_theme(seed_ * 0x9e3779b97f4a7c15u + n % themes);
  std::mt19937_64 random(seed_ * 0xbf58476d1ce4e5b9u + 1 + n);
  move_a_little(shapes, random);
  picture p{side, side, {}};
  p.rgb.reserve(std::size_t{side} * side * 3);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const auto top = std::find_if(shapes.rbegin(), shapes.rend() - 1,
                                    [&](const shape& s) { return s.has(x, y); });
      std::uint64_t grain = random();
      for (const int c : top->colour) {
        p.rgb.push_back(
            static_cast<std::uint8_t>(std::clamp(c + static_cast<int>(grain % 7) - 3, 0, 255)));
        grain >>= 8;
      }
    }
  return p;
}

}  // namespace kilter::apps
