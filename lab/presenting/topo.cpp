#include "presenting/topo.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "words/join.hpp"

namespace kilter::lab {

namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t label_width = 12;

std::string plural(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string in_colour(std::string_view text, kind_id kind, bool colour) {
  static constexpr std::array<int, 6> codes{32, 36, 33, 35, 34, 31};
  return colour ? fmt::format("\033[{}m{}\033[0m", codes[kind % codes.size()], text)
                : std::string(text);
}

/// Words after a label, folded at the last column; further lines are indented to the first word.
std::string folded(std::string_view label, const std::vector<std::string>& words) {
  std::string out = fmt::format("  {:<{}}", label, label_width);
  std::size_t at = label_width + 2;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && at + 1 + words[i].size() > columns) {
      out += fmt::format("\n{:{}}", "", label_width + 2);
      at = label_width + 2;
    } else if (i > 0) {
      out += ' ';
      ++at;
    }
    out += words[i];
    at += words[i].size();
  }
  return out + '\n';
}

std::size_t count_places(const cluster& cl) {
  std::size_t places = 0;
  for (const std::uint32_t width : cl.widths) places += cl.size / width;
  return places;
}

std::string cluster_title(const machine& m, const cluster& cl, bool colour) {
  std::set<int> nodes;
  for (const core& c : m.cores().subspan(cl.first, cl.size)) nodes.insert(c.numa_node);
  const std::string kind = in_colour(printable(m.kinds()[cl.kind].name), cl.kind, colour);
  return fmt::format("cluster {}: {}, {}, NUMA node{} {}, width{} {}, {}\n", cl.id, kind,
                     plural(cl.size, "core"), nodes.size() == 1 ? "" : "s", joined(nodes, " "),
                     cl.widths.size() == 1 ? "" : "s", joined(cl.widths, " "),
                     plural(count_places(cl), "place"));
}

/// One column a core, a bracket a place.
std::string drawn(const machine& m, const cluster& cl, std::size_t cell, bool colour) {
  const auto cores = m.cores().subspan(cl.first, cl.size);
  std::string ids = fmt::format("  {:<{}}", "core", label_width),
              cpus = fmt::format("  {:<{}}", "OS CPU", label_width);
  for (const core& c : cores) {
    const std::string padded = fmt::format("{:^{}} ", c.id, cell), id = std::to_string(c.id);
    const auto at = padded.find(id);
    ids += padded.substr(0, at) + in_colour(id, cl.kind, colour) + padded.substr(at + id.size());
    cpus += fmt::format("{:^{}} ", c.os_index, cell);
  }
  std::string out;
  const auto add = [&out](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  add(ids);
  add(cpus);
  for (const std::uint32_t width : cl.widths) {
    std::string line = fmt::format("  {:<{}}", fmt::format("width {}", width), label_width);
    for (core_id leader = cl.first; leader < cl.first + cl.size; leader += width)
      line += '[' + std::string(width * (cell + 1) - 3, '-') + "] ";
    add(line);
  }
  return out;
}

/// For a cluster that is too large to draw.
std::string listed(const machine& m, const cluster& cl) {
  std::vector<std::string> cores, places;
  for (const core& c : m.cores().subspan(cl.first, cl.size))
    cores.push_back(fmt::format("{}=cpu{}", c.id, c.os_index));
  for (const std::uint32_t width : cl.widths)
    places.push_back(fmt::format("{} of width {}", cl.size / width, width) + ',');
  places.back().pop_back();
  return folded("cores", cores) + folded("places", places);
}

std::string cluster_picture(const machine& m, const cluster& cl, bool colour) {
  std::size_t cell = 3;
  for (const core& c : m.cores().subspan(cl.first, cl.size))
    cell = std::max({cell, fmt::formatted_size("{}", c.id), fmt::formatted_size("{}", c.os_index)});
  const bool fits = label_width + 2 + cl.size * (cell + 1) <= columns;
  return fits ? drawn(m, cl, cell, colour) : listed(m, cl);
}

std::string kind_list(const machine& m, bool colour) {
  std::size_t name_width = 0;
  for (const core_kind& k : m.kinds()) name_width = std::max(name_width, printable(k.name).size());
  std::string out;
  for (const core_kind& k : m.kinds()) {
    const bool compares = k.relative_speed > 0 && m.kinds().size() > 1;
    const std::string speed =
        compares ? fmt::format(", nominal speed {:.2f}", k.relative_speed) : "";
    out += fmt::format("kind {}: {}{} {}{}\n", k.id, in_colour(printable(k.name), k.id, colour),
                       std::string(name_width - printable(k.name).size(), ' '),
                       plural(k.cores, "core"), speed);
  }
  return out;
}

}  // namespace

std::string topo_text(const machine& m, bool colour) {
  std::string out =
      fmt::format("{}: {}, {}, {}, {}\n\n{}\n", printable(m.name()), plural(m.core_count(), "core"),
                  plural(m.clusters().size(), "cluster"), plural(m.kinds().size(), "kind"),
                  plural(m.places().size(), "place"), kind_list(m, colour));
  for (const cluster& cl : m.clusters())
    out += cluster_title(m, cl, colour) + cluster_picture(m, cl, colour) + '\n';

  out += "places (leader, width)\n";
  auto next = m.places().begin();
  for (const cluster& cl : m.clusters()) {
    std::vector<std::string> words;
    for (; next != m.places().end() && next->leader < cl.first + cl.size; ++next)
      words.push_back(fmt::format("({},{})", next->leader, next->width));
    out += folded(fmt::format("cluster {}", cl.id), words);
  }
  return out;
}

std::string topo_json(const machine& m) {
  using json = nlohmann::ordered_json;
  json kinds = json::array(), cores = json::array(), clusters = json::array(),
       places = json::array();
  for (const core_kind& k : m.kinds())
    kinds.push_back(
        {{"id", k.id}, {"name", k.name}, {"cores", k.cores}, {"relative_speed", k.relative_speed}});
  for (const core& c : m.cores())
    cores.push_back({{"id", c.id},
                     {"os_index", c.os_index},
                     {"cluster", c.cluster},
                     {"kind", c.kind},
                     {"numa_node", c.numa_node}});
  for (const cluster& cl : m.clusters())
    clusters.push_back({{"id", cl.id},
                        {"kind", cl.kind},
                        {"first", cl.first},
                        {"size", cl.size},
                        {"widths", cl.widths}});
  for (const place& p : m.places()) places.push_back({{"leader", p.leader}, {"width", p.width}});
  const json all{{"name", m.name()},
                 {"kinds", kinds},
                 {"cores", cores},
                 {"clusters", clusters},
                 {"places", places}};
  // Names come from files; one that is not UTF-8 must not make the output fail.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace kilter::lab
