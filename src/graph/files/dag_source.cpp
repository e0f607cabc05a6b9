#include "graph/files/dag_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "graph/dag_limits.hpp"
#include "graph/files/dag_dot.hpp"
#include "graph/files/dag_json.hpp"
#include "graph/files/dag_stg.hpp"
#include "graph/files/dag_wfcommons.hpp"
#include "graph/files/dot_words.hpp"
#include "graph/files/json_reader.hpp"
#include "graph/files/source_text.hpp"
#include "graph/generator.hpp"
#include "kilter/error.hpp"

namespace kilter {

namespace {

/// A file of ten million tasks has less; what is larger is no graph file, or an endless device.
constexpr std::size_t most_bytes = std::size_t{2} << 30;

std::string content_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw input_error(path + ": is a directory; name a graph file in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(path + ": cannot be read: " + std::strerror(errno));
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::is_regular_file(path) ? std::filesystem::file_size(path, unknown) : 0;
  const std::string too_large = path + ": is larger than 2 GiB; no graph that Kilter can hold is";
  if (!unknown && size > most_bytes) throw input_error(too_large);
  std::string content;
  for (std::size_t had = 0, room = unknown ? 0 : size + 1; in; had = content.size(), room = had) {
    content.resize(std::min(had + std::max<std::size_t>(room, 1 << 20), most_bytes + 1));
    in.read(content.data() + had, static_cast<std::streamsize>(content.size() - had));
    content.resize(had + static_cast<std::size_t>(in.gcount()));
    if (content.size() > most_bytes) throw input_error(too_large);
    if (content.find('\0', had) != content.npos) break;  // no text, and perhaps endless
  }
  if (in.bad()) throw input_error(path + ": cannot be read: " + std::strerror(errno));
  return content;
}

/// JSON: the first key that only one of the two schemas has says which it is.
dag read_json(const dags::source_text& source) {
  static constexpr std::string_view workflow[] = {"workflow", "schemaVersion", "createdAt", "runtimeSystem", "wms", "author"};
  dags::json_reader in(source);
  bool is_workflow = false;
  in.object_until([&](std::string_view key) {
    if (key != "name" && key != "description") {
      is_workflow = std::ranges::find(workflow, key) != std::end(workflow);
      return true;
    }
    in.skip();
    return false;
  });
  return is_workflow ? dags::read_wfcommons(source) : dags::read_graph_json(source);
}

/// Where the text goes on after empty lines and lines that '#' begins.
std::size_t first_word(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  while (at < text.size() && text[at] == '#') at = text.find_first_not_of(" \t\r\n", std::min(text.find('\n', at), text.size()));
  return std::min(at, text.size());
}

}  // namespace

dag dags::read_dag(const std::string& file, const std::string& content) {
  const source_text source = check_text(file, content);
  const std::string_view rest = source.text.substr(first_word(source.text));
  const char first = rest.empty() ? '\0' : rest.front();
  if (first == '{') return read_json(source);
  if (first >= '0' && first <= '9') return read_stg(source);
  if ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '/') {
    const dot_words words(source);
    for (const char* keyword : {"digraph", "strict", "graph"})
      if (words.next().is_keyword(keyword)) return read_dot(source);
  }
  throw input_error(file + ": is no graph file that Kilter reads; it reads JSON (kilter.graph/1, WfCommons), STG and DOT");
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
