// What a run of VGG-16 says to people.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "apps/programs/mixed_bits.hpp"
#include "apps/programs/vgg16.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

std::string with_commas(std::size_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

std::string vgg16::about() const {
  const std::string side = std::to_string(network_.resolution),
                    length = std::to_string(options_.block_length);
  return "VGG-16 at " + side + " x " + side +
         (network_.divide == 1 ? "" : ", channels / " + std::to_string(network_.divide)) + ", " +
         with_commas(network_.weight_count()) + " weights, " + std::to_string(options_.pictures) +
         (options_.pictures == 1 ? " picture" : " pictures") +
         (options_.block_length ? ", " + length + " channels in a task" : "");
}

std::uint64_t vgg16::fingerprint() const {
  mixed_bits mixed;
  for (const float p : now_.probabilities) mixed.add(p);
  return mixed.value();
}

std::vector<std::string> vgg16::found() const {
  std::vector<std::size_t> order(classes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto likelier = [&](std::size_t a, std::size_t b) {
    return now_.probabilities[a] > now_.probabilities[b];
  };
  std::partial_sort(order.begin(), order.begin() + 5, order.end(), likelier);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 5; ++i) {
    char probability[32];
    std::snprintf(probability, sizeof probability, "%.4f  ",
                  static_cast<double>(now_.probabilities[order[i]]));
    lines.push_back(probability + (options_.labels.empty() ? "class " + std::to_string(order[i])
                                                           : options_.labels[order[i]]));
  }
  std::string lengths = "channels in a task:";
  for (std::size_t at = 0; at < choices_.size(); ++at)
    if (network_.layers[at].has_weights())
      lengths += " " + network_.layers[at].name + " " + std::to_string(choices_[at].next());
  lines.push_back(lengths);
  return lines;
}

std::string vgg16::result_file() const {
  std::string text = "class,probability\n";
  for (std::size_t c = 0; c < now_.probabilities.size(); ++c) {
    char line[48];
    std::snprintf(line, sizeof line, "%zu,%.9g\n", c, static_cast<double>(now_.probabilities[c]));
    text += line;
  }
  return text;
}

std::vector<std::string> read_labels(std::string_view text, const std::string& file) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    all.emplace_back(line);
  }
  if (all.size() != classes)
    throw input_error("labels '" + file + "' has " + std::to_string(all.size()) +
                      " lines; a name for each of " + std::to_string(classes) +
                      " classes is wanted");
  return all;
}

}  // namespace kilter::apps
