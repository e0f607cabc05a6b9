#include "apps/programs/picture.hpp"

#include <png.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

constexpr std::size_t most_pixels = 64'000'000;
constexpr std::string_view png_magic = "\x89PNG\r\n\x1a\n", ppm_magic = "P6";

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw input_error("picture '" + file + "' " + why);
}

void check_size(std::size_t width, std::size_t height, const std::string& file) {
  if (width == 0 || height == 0) refuse(file, "has no pixels");
  if (width > most_pixels / height)
    refuse(file, "has " + std::to_string(width) + " x " + std::to_string(height) +
                     " pixels; at most 64 million are read");
}

picture read_png(std::string_view bytes, const std::string& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
    refuse(file, std::string("is no whole PNG: ") + image.message);
  picture p{image.width, image.height, {}};
  try {
    check_size(p.width, p.height, file);
    image.format = PNG_FORMAT_RGB;
    p.rgb.resize(PNG_IMAGE_SIZE(image));
  } catch (...) {
    png_image_free(&image);
    throw;
  }
  const png_color white{255, 255, 255};
  if (!png_image_finish_read(&image, &white, p.rgb.data(), 0, nullptr))
    refuse(file, std::string("is no whole PNG: ") + image.message);
  return p;
}

/// The next number of a PPM's head; comments run from # to the end of their line.
std::optional<std::size_t> number(std::string_view bytes, std::size_t& at) {
  for (; at < bytes.size(); ++at) {
    if (bytes[at] == '#')
      at = std::min(bytes.find('\n', at), bytes.size() - 1);
    else if (!std::isspace(static_cast<unsigned char>(bytes[at])))
      break;
  }
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), value);
  if (error != std::errc{}) return std::nullopt;
  at = static_cast<std::size_t>(end - bytes.data());
  return value;
}

picture read_ppm(std::string_view bytes, const std::string& file) {
  std::size_t at = ppm_magic.size();
  const auto width = number(bytes, at), height = number(bytes, at), most = number(bytes, at);
  if (!width || !height || !most)
    refuse(file, "is no PPM: width, height and largest value must follow P6");
  if (*most != 255)
    refuse(file, "has values up to " + std::to_string(*most) + "; only 255 is read");
  check_size(*width, *height, file);
  ++at;  // one blank
  const std::size_t size = *width * *height * 3;
  if (at > bytes.size() || bytes.size() - at < size)
    refuse(file, "ends early: " + std::to_string(size) + " bytes of pixels were announced, " +
                     std::to_string(bytes.size() - std::min(at, bytes.size())) + " are there");
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data()) + at;
  return {*width, *height, {first, first + size}};
}

}  // namespace

bool is_picture(std::string_view bytes) noexcept {
  return bytes.starts_with(png_magic) || bytes.starts_with(ppm_magic);
}

picture read_picture(std::string_view bytes, const std::string& file) {
  if (bytes.starts_with(png_magic)) return read_png(bytes, file);
  if (bytes.starts_with(ppm_magic)) return read_ppm(bytes, file);
  refuse(file, "is neither PNG nor binary PPM (P6)");
}

std::string as_png(const picture& p) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(p.width);
  image.height = static_cast<png_uint_32>(p.height);
  image.format = PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, p.rgb.data(), 0, nullptr))
    throw std::runtime_error(std::string("the picture cannot be written: ") + image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace kilter::apps
