#include "apps/programs/plate.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "kilter/error.hpp"

namespace kilter::apps {

// ---- waves --------------------------------------------------------------------------------------

namespace {

/// How much the sum of differences to two neighbours takes from a wave, as a part of its height.
double bend(std::size_t halves, std::size_t length) {
  const double s = std::sin(std::numbers::pi * static_cast<double>(halves) /
                            (2.0 * static_cast<double>(length)));
  return 4.0 * s * s;
}

double factor(std::size_t halves, std::size_t length, std::size_t at) {
  return std::cos(std::numbers::pi * static_cast<double>(halves) * (static_cast<double>(at) + 0.5) /
                  static_cast<double>(length));
}

}  // namespace

plate drawn_plate(std::size_t rows, std::size_t columns, std::uint64_t steps, std::uint64_t seed) {
  plate p{rows, columns, 0, {}, {{0, 0, 1.0}}};
  std::mt19937_64 random(seed);
  const auto drawn = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const double loss : {0.1, 0.3, 0.7, 1.5}) {  // exp(-loss) of the height is left at the end
    const double share = drawn();
    const auto halves = [&](double part, std::size_t length) {
      const double angle = std::asin(std::min(
          1.0,
          std::sqrt(part * loss /
                    (4.0 * heat_spread * static_cast<double>(std::max<std::uint64_t>(1, steps))))));
      const auto n = static_cast<std::size_t>(
          std::lround(2.0 * angle / std::numbers::pi * static_cast<double>(length)));
      return std::min(n, length - 1);
    };
    p.waves.push_back({halves(share, rows), halves(1.0 - share, columns), 0.05 + 0.1 * drawn()});
  }
  return p;
}

exact_plate::exact_plate(const plate& p, std::uint64_t steps) : waves_(p.waves.size()) {
  for (std::size_t r = 0; r < p.rows; ++r)
    for (const wave& w : p.waves) {
      const double kept = 1.0 - heat_spread * (bend(w.p, p.rows) + bend(w.q, p.columns));
      down_.push_back(w.height * std::pow(kept, static_cast<double>(steps)) *
                      factor(w.p, p.rows, r));
    }
  for (std::size_t c = 0; c < p.columns; ++c)
    for (const wave& w : p.waves) across_.push_back(factor(w.q, p.columns, c));
}

double exact_plate::at(std::size_t row, std::size_t column) const noexcept {
  double sum = 0;
  for (std::size_t w = 0; w < waves_; ++w)
    sum += down_[row * waves_ + w] * across_[column * waves_ + w];
  return sum;
}

// ---- files --------------------------------------------------------------------------------------

namespace {

static_assert(std::endian::native == std::endian::little, "plates are kept as they lie in memory");
constexpr std::string_view plate_magic = "kilter-plate 1\n";
constexpr std::size_t most_points = std::size_t{1} << 30, most_waves = 1000;

std::uint32_t checksum(std::string_view bytes) {
  uLong sum = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < bytes.size(); at += std::size_t{1} << 30)
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data() + at),
                static_cast<uInt>(std::min(std::size_t{1} << 30, bytes.size() - at)));
  return static_cast<std::uint32_t>(sum);
}

/// What has been read so far of a plate's file.
class plate_words {
 public:
  plate_words(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}
  [[noreturn]] void refuse(const std::string& why) const {
    throw input_error("'" + file_ + "': " + why);
  }
  template <class T>
  T number(char end, std::uint64_t most) {
    T value{};
    const auto [next, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || next == rest_.data() + rest_.size() || *next != end ||
        !(value >= 0 && static_cast<double>(value) <= static_cast<double>(most)))
      refuse(
          "a damaged plate: its first lines give rows, columns, steps and waves, and then each "
          "wave");
    rest_.remove_prefix(static_cast<std::size_t>(next - rest_.data()) + 1);
    return value;
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
  const std::string& file_;
};

plate read_kept(std::string_view bytes, const std::string& file) {
  plate_words words(bytes.substr(plate_magic.size()), file);
  plate p;
  p.rows = words.number<std::size_t>(' ', most_points);
  p.columns = words.number<std::size_t>(' ', most_points);
  p.steps = words.number<std::uint64_t>(' ', std::uint64_t{1} << 53);
  const auto waves = words.number<std::size_t>('\n', most_waves);
  if (p.rows == 0 || p.columns == 0 || p.rows > most_points / p.columns)
    words.refuse("a plate has from 1 to 2^30 points");
  for (std::size_t w = 0; w < waves; ++w) {
    wave& one = p.waves.emplace_back();
    one.p = words.number<std::size_t>(' ', p.rows - 1);
    one.q = words.number<std::size_t>(' ', p.columns - 1);
    one.height = words.number<double>('\n', 1000);
  }
  const std::size_t points = p.rows * p.columns,
                    wanted = points * sizeof(double) + sizeof(std::uint32_t);
  const std::string_view rest = words.rest();
  if (rest.size() != wanted)
    words.refuse("a plate of " + std::to_string(p.rows) + " x " + std::to_string(p.columns) +
                 " has " + std::to_string(wanted) + " bytes after its first lines; here are " +
                 std::to_string(rest.size()));
  std::uint32_t kept = 0;
  std::memcpy(&kept, rest.data() + points * sizeof(double), sizeof kept);
  if (kept != checksum(bytes.substr(0, bytes.size() - sizeof kept)))
    words.refuse("a damaged plate: its checksum is that of other values");
  p.values.resize(points);
  std::memcpy(p.values.data(), rest.data(), points * sizeof(double));
  if (!std::ranges::all_of(p.values, [](double v) { return std::isfinite(v); }))
    words.refuse("a plate has numbers only");
  return p;
}

}  // namespace

plate read_plate(std::string_view bytes, const std::string& file) {
  if (bytes.starts_with(plate_magic)) return read_kept(bytes, file);
  const picture from = read_picture(bytes, file);
  plate p{from.height, from.width, 0, {}, {}};
  for (std::size_t i = 0; i < from.rgb.size(); i += 3)
    p.values.push_back((0.299 * from.rgb[i] + 0.587 * from.rgb[i + 1] + 0.114 * from.rgb[i + 2]) /
                       255.0);
  return p;
}

std::string plate_file(const plate& p) {
  std::string bytes(plate_magic);
  bytes += std::to_string(p.rows) + " " + std::to_string(p.columns) + " " +
           std::to_string(p.steps) + " " + std::to_string(p.waves.size()) + "\n";
  for (const wave& w : p.waves) {
    char height[32];
    // the shortest that reads back as the same bits
    const auto end = std::to_chars(height, height + sizeof height, w.height).ptr;
    bytes +=
        std::to_string(w.p) + " " + std::to_string(w.q) + " " + std::string(height, end) + "\n";
  }
  bytes.append(reinterpret_cast<const char*>(p.values.data()), p.values.size() * sizeof(double));
  const std::uint32_t sum = checksum(bytes);
  return bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
}

picture picture_of(const plate& p) {
  constexpr std::size_t widest = 2048;
  const std::size_t every =
      std::max<std::size_t>(1, (std::max(p.rows, p.columns) + widest - 1) / widest);
  const auto [least, most] = std::ranges::minmax(p.values);
  picture drawn{(p.columns + every - 1) / every, (p.rows + every - 1) / every, {}};
  for (std::size_t r = 0; r < p.rows; r += every)
    for (std::size_t c = 0; c < p.columns; c += every) {
      const double warm =
          most > least ? (p.values[r * p.columns + c] - least) / (most - least) : 0.5;
      const auto level = [&](double centre) {
        return static_cast<std::uint8_t>(
            std::lround(255.0 * std::clamp(1.5 - 4.0 * std::fabs(warm - centre), 0.0, 1.0)));
      };
      drawn.rgb.insert(drawn.rgb.end(), {level(0.75), level(0.5), level(0.25)});
    }
  return drawn;
}

}  // namespace kilter::apps
