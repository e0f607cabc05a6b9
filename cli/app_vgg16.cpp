// `app vgg16`.

#include "apps/programs/vgg16.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "apps/programs/network_input.hpp"
#include "apps/programs/weights.hpp"
#include "base/file_text.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct vgg16_words {
  std::size_t resolution = 0, divide = 0, pictures = 8, block_length = 0;
  std::string weights, labels;
};

/// Those of a network may be larger than memory has room for twice, so they are not read as a text.
void read_weights_file(const std::string& path, apps::network& n) {
  const std::string which = "weights '" + path + "'";
  std::error_code failed;
  const auto kind = std::filesystem::status(path, failed).type();
  if (kind == std::filesystem::file_type::directory)
    throw input_error(which + " is a directory; name a file in it");
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  if (failed) throw input_error(which + " cannot be read: " + failed.message());
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(which + " cannot be read: " + std::strerror(errno));
  apps::read_weights(in, bytes, path, n);
}

made make_vgg16(const app_options& o, const vgg16_words& w, std::uint64_t seed) {
  const std::string named = !o.size.empty() ? o.size : w.weights.empty() ? "small" : "large";
  const apps::vgg16_size& size = size_named(apps::vgg16_sizes, named);
  apps::network n = apps::vgg16_network(w.resolution ? w.resolution : size.resolution,
                                        w.divide ? w.divide : size.divide);
  apps::vgg16_options how{.pictures = w.pictures, .block_length = w.block_length, .seed = seed};
  if (!w.labels.empty()) how.labels = apps::read_labels(file_text(w.labels, "labels", 1), w.labels);
  const apps::picture picture =
      o.input.empty() ? apps::drawn_picture(n.resolution, seed)
                      : apps::read_picture(file_text(o.input, "picture", most_input_mib), o.input);
  if (w.weights.empty())
    apps::draw_weights(n, seed);
  else
    read_weights_file(w.weights, n);
  made m;
  m.chosen = {{"size", named},
              {"weights", w.weights.empty() ? document(nullptr) : document(w.weights)},
              {"input", o.input.empty() ? document(nullptr) : document(o.input)},
              {"resolution", n.resolution},
              {"divide", n.divide},
              {"pictures", how.pictures},
              {"block_length", how.block_length}};
  std::vector<float> input = apps::network_input(picture, n.resolution, n.scale);
  m.program = std::make_unique<apps::vgg16>(std::move(n), std::move(input), std::move(how));
  return m;
}

}  // namespace

action add_vgg16(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<vgg16_words>();
  const std::string group(program_group);
  o->size.clear();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("vgg16", "Say what a picture shows: the neural network VGG-16");
  takes(c->add_option("--size", o->size,
                      "Which network: small (64 x 64, channels / 8), medium (128 x 128, channels / "
                      "4), large (224 x 224) or native (512 x 512); "
                      "small unless there are weights, then large")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--resolution", w->resolution,
                "Pixels of a side, a multiple of 32; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->group(group);
  c->add_option("--divide", w->divide,
                "So many times fewer channels in each layer; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 64))
      ->group(group);
  c->add_option("--input", o->input,
                "What it looks at: a PNG or PPM picture, whose middle square is resized; without "
                "it a picture is drawn")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--weights", w->weights,
                "Of a trained network: a file of Darknet (.weights) or safetensors; without it "
                "they are drawn")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--labels", w->labels, "Names of the 1,000 classes, one a line")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--output", o->output, "Write the probability of each class (CSV)")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--pictures", w->pictures, "Run the network so many times")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->group(group);
  c->add_option("--block-length", w->block_length,
                "Output channels in a task; 0: 8, 16, 32 and 64 are tried on a picture each, and "
                "every layer keeps its fastest")
      ->type_name("N")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app vgg16 --model all\n"
      "  kilter lab app vgg16 --weights vgg16.safetensors --labels names.txt --input photo.png\n"
      "  kilter lab app vgg16 --size large --model serial,kilter,loop-dynamic --block-length 16 "
      "--json "
      "-");
  return [o, w] {
    return run_program(*o, "vgg16", [&](std::uint64_t seed) { return make_vgg16(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
