#include "graph_files/dag_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>

#include "graph/dag_limits.hpp"
#include "graph/generator.hpp"
#include "graph_files/dag_dax.hpp"
#include "graph_files/dag_dot.hpp"
#include "graph_files/dag_graphml.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_pegasus.hpp"
#include "graph_files/dag_starpu.hpp"
#include "graph_files/dag_stg.hpp"
#include "graph_files/dag_wfcommons.hpp"
#include "graph_files/dot_words.hpp"
#include "graph_files/gunzip.hpp"
#include "graph_files/json_reader.hpp"
#include "graph_files/source_text.hpp"
#include "graph_files/xml_events.hpp"
#include "kilter/error.hpp"

namespace kilter {

namespace {

/// A file of ten million tasks has less; what is larger is no graph file, or an endless device.
constexpr std::size_t most_bytes = std::size_t{2} << 30;

/// All that comes, up to the first NUL of what is not compressed: that is no text, and perhaps
/// endless.
std::string read_all(std::istream& in, const std::string& name, std::size_t expected) {
  std::string content;
  for (std::size_t had = 0, room = expected; in; had = content.size(), room = had) {
    content.resize(std::min(had + std::max<std::size_t>(room, 1 << 20), most_bytes + 1));
    in.read(content.data() + had, static_cast<std::streamsize>(content.size() - had));
    content.resize(had + static_cast<std::size_t>(in.gcount()));
    if (content.size() > most_bytes)
      throw input_error(name + ": is larger than 2 GiB; no graph that Kilter can hold is");
    if (!dags::is_gzip(content) && content.find('\0', had) != content.npos) break;
  }
  if (in.bad()) throw input_error(name + ": cannot be read: " + std::strerror(errno));
  return content;
}

std::string content_of(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw input_error(path + ": is a directory; name a graph file in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(path + ": cannot be read: " + std::strerror(errno));
  std::error_code unknown;
  const std::uintmax_t size =
      std::filesystem::is_regular_file(path) ? std::filesystem::file_size(path, unknown) : 0;
  return read_all(
      in, path,
      unknown ? 0 : static_cast<std::size_t>(std::min<std::uintmax_t>(size, most_bytes)) + 1);
}

/// Who asks again gets what was there the first time: commands read a graph to check it, and again
/// to run it.
dag of_standard_input() {
  static const std::string name = "standard input", content = read_all(std::cin, name, 0);
  return dags::read_dag(name, content);
}

/// JSON: the first key that only one of the three schemas has says which it is.
dag read_json(const dags::source_text& source) {
  static constexpr std::string_view workflow[] = {"workflow",      "schemaVersion", "createdAt",
                                                  "runtimeSystem", "wms",           "author"};
  static constexpr std::string_view pegasus[] = {"pegasus",        "x-pegasus",
                                                 "jobs",           "jobDependencies",
                                                 "replicaCatalog", "transformationCatalog",
                                                 "siteCatalog"};
  dags::json_reader in(source);
  bool is_workflow = false, is_pegasus = false;
  in.object_until([&](std::string_view key) {
    if (key != "name" && key != "description") {
      is_workflow = std::ranges::find(workflow, key) != std::end(workflow);
      is_pegasus = std::ranges::find(pegasus, key) != std::end(pegasus);
      return true;
    }
    in.skip();
    return false;
  });
  return is_pegasus    ? dags::read_pegasus(source)
         : is_workflow ? dags::read_wfcommons(source)
                       : dags::read_graph_json(source);
}

dag read_xml_graph(const dags::source_text& source) {
  const std::string root = dags::xml_root(source);
  if (root == "adag") return dags::read_dax(source);
  if (root == "graphml") return dags::read_graphml(source);
  throw input_error(source.file + ": is XML of <" + dags::shown(root) +
                    ">; of XML, Kilter reads Pegasus DAX (<adag>) and GraphML (<graphml>)");
}

/// Where the text goes on after empty lines and lines that '#' begins.
std::size_t first_word(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  while (at < text.size() && text[at] == '#')
    at = text.find_first_not_of(" \t\r\n", std::min(text.find('\n', at), text.size()));
  return std::min(at, text.size());
}

/// Whether a line begins with one of these keys and a colon.
bool has_key(std::string_view text, std::initializer_list<std::string_view> keys) {
  for (std::size_t at = 0; at < text.size();
       at = std::min(text.find('\n', at), text.size() - 1) + 1)
    for (const std::string_view key : keys)
      if (text.substr(at).starts_with(key) && text.substr(at + key.size()).starts_with(':'))
        return true;
  return false;
}

}  // namespace

std::string dags::readable_formats() {
  return "JSON (kilter.graph/1, WfCommons, Pegasus), Pegasus YAML and DAX, GraphML, StarPU's "
         "tasks.rec, STG and DOT, also compressed (gzip)";
}

dag dags::read_dag(const std::string& file, const std::string& content) {
  if (is_gzip(content)) return read_dag(file, gunzip(file, content, most_bytes));
  const source_text source = check_text(file, content);
  const std::string_view rest = source.text.substr(first_word(source.text));
  const char first = rest.empty() ? '\0' : rest.front();
  if (first == '{') return read_json(source);
  if (first == '<') return read_xml_graph(source);
  if (first >= '0' && first <= '9') return read_stg(source);
  if ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '/') {
    const dot_words words(source);
    for (const char* keyword : {"digraph", "strict", "graph"})
      if (words.next().is_keyword(keyword)) return read_dot(source);
  }
  if (has_key(source.text, {"JobId"})) return read_starpu(source);
  if (has_key(source.text, {"pegasus", "x-pegasus", "jobs", "jobDependencies"}))
    return read_pegasus(source);
  throw input_error(file + ": is no graph file that Kilter reads; it reads " + readable_formats());
}

dag load_dag(const std::string& path_or_generator) {
  if (path_or_generator == "-") return of_standard_input();
  std::error_code unreadable;
  if (std::filesystem::exists(path_or_generator, unreadable))
    return dags::read_dag(path_or_generator, content_of(path_or_generator));
  const std::string name = path_or_generator.substr(0, path_or_generator.find(':'));
  const auto known = dags::generators();
  if (std::ranges::find(known, name, &dags::generator::name) != known.end())
    return dags::generate(path_or_generator);
  std::string names;
  for (const dags::generator& g : known) names.append(names.empty() ? "" : ", ").append(g.name);
  throw input_error("'" + dags::shown(path_or_generator) +
                    "' is neither a file nor a generator of graphs; the generators are " + names);
}

}  // namespace kilter
