#include "apps/programs/weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <istream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

static_assert(std::endian::native == std::endian::little,
              "both formats are little-endian and read as they are");

constexpr std::uint64_t longest_header = 1 << 20;  // VGG-16's has some 4,000 bytes

[[noreturn]] void refuse_weights(const std::string& file, const std::string& why) {
  throw input_error("weights '" + file + "': " + why);
}

/// Where the numbers of one vector of the network lie in the file.
struct part {
  std::vector<float>* to;
  std::size_t count;
  std::string name;
  std::uint64_t begin;
};

/// All of what is at `begin`, or an early end.
void read_bytes(std::istream& in, std::uint64_t begin, void* to, std::size_t bytes,
                const std::string& file, const std::string& name) {
  in.seekg(static_cast<std::streamoff>(begin));
  in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!in)
    refuse_weights(file, name + " cannot be read whole: " + std::to_string(in.gcount()) + " of " +
                             std::to_string(bytes) + " bytes are there");
}

void read_parts(std::istream& in, const std::vector<part>& parts, const std::string& file) {
  for (const part& p : parts) {
    p.to->resize(p.count);
    read_bytes(in, p.begin, p.to->data(), p.count * sizeof(float), file, p.name);
    const auto bad = std::ranges::find_if(*p.to, [](float v) { return !std::isfinite(v); });
    if (bad != p.to->end())
      refuse_weights(file, p.name + ": number " + std::to_string(bad - p.to->begin()) + " is " +
                               std::to_string(*bad) + "; only finite ones are read");
  }
}

// ---- Darknet ------------------------------------------------------------------------------------

struct darknet_head {
  std::uint64_t bytes = 0;
  bool transposed = false;
};

darknet_head darknet_head_of(const std::array<std::int32_t, 3>& version) {
  const std::int64_t major = version[0], minor = version[1];
  const bool transposed = major > 1000 || minor > 1000;
  return {!transposed && major * 10 + minor >= 2 ? sizeof version + 8 : sizeof version + 4,
          transposed};
}

void transpose(std::vector<float>& values, std::size_t rows) {
  const std::size_t columns = values.size() / rows;
  std::vector<float> turned(values.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) turned[c * rows + r] = values[r * columns + c];
  values = std::move(turned);
}

void read_darknet(std::istream& in, std::uint64_t bytes, const std::string& file, network& n) {
  std::array<std::int32_t, 3> version{};
  read_bytes(in, 0, version.data(), sizeof version, file, "its version");
  const darknet_head head = darknet_head_of(version);
  const std::string wanted = "; the network at --resolution " + std::to_string(n.resolution) +
                             " --divide " + std::to_string(n.divide) + " has " +
                             std::to_string(head.bytes + n.weight_count() * sizeof(float)) +
                             " in Darknet's format, and safetensors begins otherwise";
  std::vector<part> parts;
  std::uint64_t at = head.bytes;
  const auto add = [&](std::vector<float>& to, std::size_t count, const std::string& name) {
    parts.push_back({&to, count, name, at});
    at += count * sizeof(float);
    if (at > bytes)
      refuse_weights(file,
                     "it has " + std::to_string(bytes) + " bytes and ends in " + name + wanted);
  };
  for (layer& l : n.layers) {
    if (!l.has_weights()) continue;
    add(l.bias, l.out.channels, l.name + "'s biases");
    add(l.weights, l.weight_count(), l.name + "'s weights");
  }
  if (at != bytes)
    refuse_weights(file, "it has " + std::to_string(bytes) + " bytes, " +
                             std::to_string(bytes - at) + " of them after fc8's weights" + wanted);
  read_parts(in, parts, file);
  if (head.transposed)
    for (layer& l : n.layers)
      if (l.kind == layer_kind::fully_connected) transpose(l.weights, l.fan_in());
  n.scale = pixel_scale::minus_one_to_one;
}

// ---- safetensors --------------------------------------------------------------------------------

using nlohmann::json;
using tensor_dimensions = std::vector<std::uint64_t>;

struct extent {
  std::uint64_t begin, end;
};

std::string text_of(const tensor_dimensions& shape) {
  std::string text;
  for (const std::uint64_t d : shape) text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text.empty() ? "no dimensions" : text;
}

/// Names that others chose, in a message of one line.
std::string shown(std::string_view name) {
  std::string text(name.substr(0, 60));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

/// Of convolutions and fully connected layers, in their order: torchvision's and timm's, which are
/// the same for convolutions. Each convolution is followed by its ReLU there, which counts in the
/// numbers; so do the ReLU and the dropout after a fully connected layer.
std::vector<std::array<std::string, 2>> tensor_names(const network& n) {
  constexpr std::array<std::string_view, 3> timm{"pre_logits.fc1", "pre_logits.fc2", "head.fc"};
  std::vector<std::array<std::string, 2>> names;
  std::size_t feature = 0, classifier = 0;
  for (const layer& l : n.layers) {
    const std::string numbered = "features." + std::to_string(feature);
    if (l.kind == layer_kind::convolution)
      names.push_back({numbered, numbered});
    else if (l.kind == layer_kind::fully_connected) {
      names.push_back(
          {"classifier." + std::to_string(3 * classifier), std::string(timm[classifier])});
      ++classifier;
    }
    feature += l.kind == layer_kind::convolution ? 2 : 1;
  }
  return names;
}

std::optional<tensor_dimensions> numbers(const json& tensor, const char* key) {
  const auto list = tensor.find(key);
  if (list == tensor.end() || !list->is_array()) return std::nullopt;
  tensor_dimensions all;
  for (const json& one : *list) {
    if (!one.is_number_unsigned()) return std::nullopt;
    all.push_back(one.get<std::uint64_t>());
  }
  return all;
}

/// Which option would make the network as large as the tensor, if one does.
std::string way_out(const layer& l, const tensor_dimensions& is) {
  if (l.name == "conv1_1" && !is.empty() && is[0] != 0 && is[0] != l.out.channels &&
      64 % is[0] == 0)
    return "; it is of --divide " + std::to_string(64 / is[0]);
  if (l.name != "fc6" || is.size() < 2 || is[0] != l.out.channels) return "";
  std::uint64_t inputs = 1;
  for (std::size_t d = 1; d < is.size(); ++d)
    inputs = is[d] > most_resolution * most_resolution * 512 ? 0 : inputs * is[d];
  const auto side = static_cast<std::uint64_t>(
      std::lround(std::sqrt(static_cast<double>(inputs) / static_cast<double>(l.in.channels))));
  return side > 0 && side * side * l.in.channels == inputs
             ? "; it is of --resolution " + std::to_string(32 * side)
             : "";
}

/// The place of a tensor, which is of one of the shapes.
extent checked(const json& tensor, const std::string& name, const layer& l,
               const std::vector<tensor_dimensions>& shapes, std::uint64_t data,
               const std::string& file) {
  const auto wrong = [&](const std::string& why) {
    refuse_weights(file, l.name + ", tensor '" + name + "' " + why);
  };
  if (!tensor.is_object()) wrong("has no dtype, shape and data_offsets");
  const auto dtype = tensor.find("dtype");
  if (dtype == tensor.end() || !dtype->is_string()) wrong("has no dtype");
  if (*dtype != "F32")
    wrong("is of type " + shown(dtype->get<std::string>()) + "; only F32 is read");
  const auto shape = numbers(tensor, "shape"), offsets = numbers(tensor, "data_offsets");
  if (!shape) wrong("has no shape");
  if (std::ranges::find(shapes, *shape) == shapes.end())
    wrong("is " + text_of(*shape) + "; " + text_of(shapes.front()) + " would be right" +
          way_out(l, *shape));
  if (!offsets || offsets->size() != 2) wrong("has no data_offsets, which are two numbers");
  std::uint64_t bytes = sizeof(float);
  for (const std::uint64_t d : *shape) bytes *= d;  // of a right shape
  const extent e{(*offsets)[0], (*offsets)[1]};
  if (e.end < e.begin || e.end - e.begin != bytes)
    wrong("lies from " + std::to_string(e.begin) + " to " + std::to_string(e.end) + "; " +
          text_of(*shape) + " numbers have " + std::to_string(bytes) + " bytes");
  if (e.end > data)
    wrong("ends at byte " + std::to_string(e.end) + " of the data; the file has " +
          std::to_string(data));
  return e;
}

void check_no_holes(std::vector<extent> extents, std::uint64_t data, const std::string& file) {
  std::ranges::sort(extents, {}, &extent::begin);
  std::uint64_t at = 0;
  for (const extent& e : extents) {
    if (e.begin != at)
      refuse_weights(file, "tensors do not follow one another: one ends at byte " +
                               std::to_string(at) + " of the data, the next begins at " +
                               std::to_string(e.begin));
    at = e.end;
  }
  if (at != data) refuse_weights(file, std::to_string(data - at) + " bytes follow the last tensor");
}

void read_safetensors(std::istream& in, std::uint64_t bytes, const std::string& file, network& n) {
  std::uint64_t length = 0;
  read_bytes(in, 0, &length, sizeof length, file, "the header's length");
  if (length > bytes - sizeof length || length > longest_header)
    refuse_weights(file, "a header of " + std::to_string(length) +
                             " bytes is announced; the file has " + std::to_string(bytes) +
                             ", and a header at most " + std::to_string(longest_header));
  std::string text(length, '\0');
  read_bytes(in, sizeof length, text.data(), length, file, "the header");
  const json header = json::parse(text, nullptr, false);
  if (!header.is_object()) refuse_weights(file, "the header is no JSON object");
  const std::uint64_t begin = sizeof length + length, data = bytes - begin;

  std::vector<part> parts;
  std::vector<extent> extents;
  std::vector<std::string> known{"__metadata__"};
  const std::vector<std::array<std::string, 2>> names = tensor_names(n);
  std::size_t with_weights = 0;
  const auto add = [&](layer& l, std::vector<float>& to, const char* what,
                       const std::vector<tensor_dimensions>& shapes) {
    const auto& [usual, other] = names[with_weights];
    const std::string name = (header.contains(usual + what) ? usual : other) + what;
    const auto tensor = header.find(name);
    if (tensor == header.end())
      refuse_weights(file, l.name + ": there is no tensor '" + usual + what + "'" +
                               (other == usual ? "" : " or '" + other + what + "'"));
    known.push_back(name);
    extents.push_back(checked(*tensor, name, l, shapes, data, file));
    const extent& e = extents.back();
    parts.push_back({&to, (e.end - e.begin) / sizeof(float), l.name + ", tensor '" + name + "'",
                     begin + e.begin});
  };
  for (layer& l : n.layers) {
    if (!l.has_weights()) continue;
    const bool convolution = l.kind == layer_kind::convolution;
    const tensor_dimensions matrix{l.out.channels, l.fan_in()},
        window{l.out.channels, l.in.channels, convolution ? 3 : l.in.height,
               convolution ? 3 : l.in.width};
    add(l, l.weights, ".weight",
        convolution ? std::vector<tensor_dimensions>{window}
                    : std::vector<tensor_dimensions>{matrix, window});
    add(l, l.bias, ".bias", {{l.out.channels}});
    ++with_weights;
  }
  for (const auto& [name, tensor] : header.items())
    if (std::ranges::find(known, name) == known.end())
      refuse_weights(file, "tensor '" + shown(name) + "' belongs to no layer of VGG-16");
  check_no_holes(std::move(extents), data, file);
  read_parts(in, parts, file);
  n.scale = pixel_scale::imagenet;
}

}  // namespace

void read_weights(std::istream& in, std::uint64_t bytes, const std::string& file, network& n) {
  constexpr std::uint64_t shortest = 16;  // of both heads
  if (bytes < shortest)
    refuse_weights(file, "it has " + std::to_string(bytes) +
                             " bytes; Darknet's format and safetensors begin with more");
  char at_eight = 0;
  read_bytes(in, 8, &at_eight, 1, file, "its beginning");
  if (at_eight == '{')
    read_safetensors(in, bytes, file, n);  // where Darknet has a revision
  else
    read_darknet(in, bytes, file, n);
}

}  // namespace kilter::apps
