#include "graph/dag_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "graph/dag_json.hpp"
#include "graph/dag_limits.hpp"
#include "graph/generator.hpp"
#include "graph/source_text.hpp"
#include "kilter/error.hpp"

namespace kilter {

namespace {

/// A file of ten million tasks has less; what is larger is no graph file, or an endless device.
constexpr std::size_t most_bytes = std::size_t{2} << 30;

std::string content_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw input_error(path + ": is a directory; name a graph file in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(path + ": cannot be read: " + std::strerror(errno));
  std::string content;
  for (std::size_t had = 0;; had = content.size()) {
    content.resize(std::max<std::size_t>(had * 2, 1 << 20));
    in.read(content.data() + had, static_cast<std::streamsize>(content.size() - had));
    content.resize(had + static_cast<std::size_t>(in.gcount()));
    if (content.size() > most_bytes) throw input_error(path + ": is larger than 2 GiB; no graph that Kilter can hold is");
    if (!in) break;
  }
  if (in.bad()) throw input_error(path + ": cannot be read: " + std::strerror(errno));
  return content;
}

}  // namespace

dag dags::read_dag(const std::string& file, const std::string& content) {
  const source_text source = check_text(file, content);
  const char first = source.text[source.text.find_first_not_of(" \t\r\n")];
  if (first == '{') return read_graph_json(source);
  throw input_error(file + ": is no graph file that Kilter reads; it reads JSON of schema kilter.graph/1");
}

dag load_dag(const std::string& path_or_generator) {
  std::error_code unreadable;
  if (std::filesystem::exists(path_or_generator, unreadable)) return dags::read_dag(path_or_generator, content_of(path_or_generator));
  const std::string name = path_or_generator.substr(0, path_or_generator.find(':'));
  const auto known = dags::generators();
  if (std::ranges::find(known, name, &dags::generator::name) != known.end()) return dags::generate(path_or_generator);
  std::string names;
  for (const dags::generator& g : known) names.append(names.empty() ? "" : ", ").append(g.name);
  throw input_error("'" + dags::shown(path_or_generator) + "' is neither a file nor a generator of graphs; the generators are " + names);
}

}  // namespace kilter
