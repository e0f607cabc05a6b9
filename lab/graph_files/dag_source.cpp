#include "graph_files/dag_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <stdexcept>

#include "graph/dag_limits.hpp"
#include "graph/generator.hpp"
#include "graph_files/build_log.hpp"
#include "graph_files/dag_dax.hpp"
#include "graph_files/dag_dot.hpp"
#include "graph_files/dag_gml.hpp"
#include "graph_files/dag_graphml.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_ninja.hpp"
#include "graph_files/dag_node_link.hpp"
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
constexpr const char* standard_input = "standard input";
constexpr std::string_view way_to_builds =
    "write the graph of the build with ninja -C build -t graph >build.dot, and name that";

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
    throw input_error(path + ": is a directory; " +
                      (std::filesystem::exists(std::filesystem::path(path) / "build.ninja")
                           ? std::string(way_to_builds)
                           : "name a graph file in it"));
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
const std::string& content_of_standard_input() {
  static const std::string content = read_all(std::cin, standard_input, 0);
  return content;
}

/// A file, as `content` holds it, with what gzip packed in `unpacked`.
dags::source_text text_of(const std::string& file, const std::string& content,
                          std::string& unpacked) {
  if (!dags::is_gzip(content)) return dags::check_text(file, content);
  unpacked = dags::gunzip(file, content, most_bytes);
  while (dags::is_gzip(unpacked)) unpacked = dags::gunzip(file, unpacked, most_bytes);
  return dags::check_text(file, unpacked);
}

/// A generator's call.
bool is_generator(std::string_view text) {
  const auto known = dags::generators();
  return std::ranges::find(known, text.substr(0, text.find(':')), &dags::generator::name) !=
         known.end();
}

/// "FILE:times=LOG" in its two parts; the second is empty where none is named.
struct named_source {
  std::string graph, log;

  explicit named_source(const std::string& written) : graph(written) {
    static constexpr std::string_view key = ":times=";
    std::error_code unreadable;
    const std::size_t at = written.rfind(key);
    if (at == written.npos || std::filesystem::exists(written, unreadable)) return;
    graph = written.substr(0, at);
    log = written.substr(at + key.size());
    if (log.empty())
      throw input_error("'" + dags::shown(written) + "': name a log of Ninja behind ':times='");
  }
};

dags::build_log log_in(const std::string& path) {
  std::string unpacked;
  const std::string content = content_of(path);
  return dags::build_log(text_of(path, content, unpacked));
}

/// The log of `build` for build.dot, else the one in the graph's own folder; empty: neither is
/// there.
std::string log_beside(const std::filesystem::path& graph) {
  std::filesystem::path name = graph;
  if (name.extension() == ".gz") name.replace_extension();
  for (const auto& folder : {name.replace_extension(), graph.parent_path()}) {
    const std::filesystem::path log = folder / ".ninja_log";
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(log, unreadable)) return log.string();
  }
  return {};
}

dag read_build(const dags::source_text& source, const std::string& log) {
  const dags::build_log times = log_in(log);
  dag g = dags::read_ninja(source, &times);
  if (g.without_times)
    throw input_error(log + ": has the time of no target of " + source.file +
                      "; name the log of its build");
  return g;
}

/// A log that nobody named is welcome, and no more.
dag read_build_with_log_beside(const dags::source_text& source) {
  const std::string log = log_beside(source.file);
  std::string unused;
  try {
    if (!log.empty()) return read_build(source, log);
  } catch (const input_error& e) {
    unused = e.what();
  }
  dag g = dags::read_ninja(source, nullptr);
  if (!unused.empty()) g.notes.push_back("not used: " + unused);
  return g;
}

/// Any format but that of builds: its reader, and what people call it. X(reader, name)
// clang-format off
#define FORMATS(X) \
  X(read_graph_json, "kilter.graph/1") X(read_wfcommons, "WfCommons") \
  X(read_pegasus, "Pegasus (YAML, JSON)") X(read_dax, "Pegasus DAX") \
  X(read_node_link, "node-link JSON of NetworkX") X(read_graphml, "GraphML") X(read_gml, "GML") \
  X(read_starpu, "StarPU's tasks.rec") X(read_stg, "STG") \
  X(read_dot, "DOT (also of ninja -t graph, Snakemake and Nextflow)")
// clang-format on
#define NAME(reader, name) reader,
enum class format { FORMATS(NAME) };
#undef NAME

dag read_as(format f, const dags::source_text& source) {
  switch (f) {
#define CASE(reader, name) \
  case format::reader: return dags::reader(source);
    FORMATS(CASE)
#undef CASE
  }
  throw std::logic_error("no format");
}

/// JSON: the first key that only one of the four schemas has says which it is.
format json_format(const dags::source_text& source) {
  static constexpr std::string_view node_link[] = {"directed", "multigraph", "nodes", "links",
                                                   "graph"};
  static constexpr std::string_view workflow[] = {"workflow",      "schemaVersion", "createdAt",
                                                  "runtimeSystem", "wms",           "author"};
  static constexpr std::string_view pegasus[] = {"pegasus",        "x-pegasus",
                                                 "jobs",           "jobDependencies",
                                                 "replicaCatalog", "transformationCatalog",
                                                 "siteCatalog"};
  dags::json_reader in(source);
  bool is_workflow = false, is_pegasus = false, is_node_link = false;
  in.object_until([&](std::string_view key) {
    if (key != "name" && key != "description" && key != "edges") {
      is_node_link = std::ranges::find(node_link, key) != std::end(node_link);
      is_workflow = std::ranges::find(workflow, key) != std::end(workflow);
      is_pegasus = std::ranges::find(pegasus, key) != std::end(pegasus);
      return true;
    }
    in.skip();
    return false;
  });
  return is_pegasus     ? format::read_pegasus
         : is_workflow  ? format::read_wfcommons
         : is_node_link ? format::read_node_link
                        : format::read_graph_json;
}

format xml_format(const dags::source_text& source) {
  const std::string root = dags::xml_root(source);
  if (root == "adag") return format::read_dax;
  if (root == "graphml") return format::read_graphml;
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

/// build.ninja.
bool is_build_file(std::string_view text) {
  constexpr std::string_view line = "ninja_required_version";
  return text.starts_with(line) || text.find("\n" + std::string(line)) != text.npos;
}

format format_of(const dags::source_text& source) {
  using namespace dags;
  const auto refuse_part_of_build = [&] {
    throw input_error(source.file + ": does not tell what waits for what; " +
                      std::string(way_to_builds));
  };
  if (is_build_log(source.text)) refuse_part_of_build();
  const std::string_view rest = source.text.substr(first_word(source.text));
  const char first = rest.empty() ? '\0' : rest.front();
  if (first == '{') return json_format(source);
  if (first == '<') return xml_format(source);
  if (first >= '0' && first <= '9') return format::read_stg;
  if ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '/') {
    if (is_gml(source)) return format::read_gml;
    const dot_words words(source);
    for (const char* keyword : {"digraph", "strict", "graph"})
      if (words.next().is_keyword(keyword)) return format::read_dot;
  }
  if (has_key(source.text, {"JobId"})) return format::read_starpu;
  if (has_key(source.text, {"pegasus", "x-pegasus", "jobs", "jobDependencies"}))
    return format::read_pegasus;
  if (is_build_file(source.text)) refuse_part_of_build();
  throw input_error(source.file + ": is no graph file that Kilter reads; it reads " +
                    readable_formats());
}

dag of_file(const named_source& named) {
  const bool is_input = named.graph == "-";
  const std::string name = is_input ? standard_input : named.graph;
  const std::string read = is_input ? std::string() : content_of(name);
  std::string unpacked;
  const dags::source_text source =
      text_of(name, is_input ? content_of_standard_input() : read, unpacked);
  if (dags::is_ninja_graph(source))
    return !named.log.empty() ? read_build(source, named.log)
           : is_input         ? dags::read_ninja(source, nullptr)
                              : read_build_with_log_beside(source);
  if (!named.log.empty())
    throw input_error(name + ": is no graph of ninja -t graph, so it takes no times from '" +
                      dags::shown(named.log) + "'; leave ':times=' out");
  return read_as(format_of(source), source);
}

}  // namespace

std::string dags::readable_formats() {
  std::string all;
#define ADD(reader, name) all += name ", ";
  FORMATS(ADD)
#undef ADD
  return all + "also compressed (gzip)";
}

dag dags::read_dag(const std::string& file, const std::string& content) {
  std::string unpacked;
  const source_text source = text_of(file, content, unpacked);
  return is_ninja_graph(source) ? read_ninja(source, nullptr) : read_as(format_of(source), source);
}

bool dags::names_a_file(std::string_view path_or_generator) {
  std::error_code unreadable;
  const named_source parts{std::string(path_or_generator)};
  return parts.graph == "-" || std::filesystem::exists(parts.graph, unreadable) ||
         (!parts.log.empty() && !is_generator(parts.graph));
}

dag load_dag(const std::string& path_or_generator) {
  if (dags::names_a_file(path_or_generator)) return of_file(named_source(path_or_generator));
  if (is_generator(path_or_generator)) return dags::generate(path_or_generator);
  std::string names;
  for (const dags::generator& g : dags::generators())
    names.append(names.empty() ? "" : ", ").append(g.name);
  throw input_error("'" + dags::shown(path_or_generator) +
                    "' is neither a file nor a generator of graphs; the generators are " + names);
}

}  // namespace kilter
