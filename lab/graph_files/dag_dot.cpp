#include "graph_files/dag_dot.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/dot_words.hpp"
#include "graph_files/named_attributes.hpp"

namespace kilter::dags {

namespace {

constexpr int deepest = 100;

/// "map" of `map\nsample: A`, and of the tables of --filegraph, whose first words are the rule.
std::string_view rule_of_snakemake(std::string_view label) {
  if (!label.starts_with('<')) return trimmed(label.substr(0, label.find_first_of("\\\n")));
  for (std::size_t at = label.find('>'); at != label.npos; at = label.find('>', at + 1)) {
    const std::string_view rest = label.substr(at + 1);
    const std::string_view text = trimmed(rest.substr(0, rest.find_first_of("<>")));
    if (!text.empty()) return text;
  }
  return {};
}

/// "ALIGN" of "WORKFLOW:STEP:ALIGN".
std::string_view process_of_nextflow(std::string_view label) {
  return label.substr(label.rfind(':') + 1);
}

class dot_reader {
 public:
  explicit dot_reader(const source_text& source)
      : source_(source), words_(source), made_(source), meaning_(made_) {}

  dag read() {
    made_.graph().name = source_.name();
    if (words_.next().is_keyword("strict")) (void)words_.take();
    if (words_.next().is_keyword("graph"))
      source_.fail_at(words_.next().at,
                      "this graph has no directions; a graph of tasks is a digraph");
    if (!words_.next().is_keyword("digraph")) words_.unexpected("'digraph'");
    (void)words_.take();
    if (words_.next().what == dot_word::kind::id) made_.graph().name = words_.take().text;
    words_.expect("{");
    scope top;
    statements(top);
    if (words_.next().what != dot_word::kind::end)
      words_.unexpected("the end of the file (one graph a file)");
    if (made_.graph().name == "snakemake_dag") meaning_.labels_are(rule_of_snakemake);
    if (of_nextflow_) take_nextflow();
    meaning_.finish();
    return made_.finish();
  }

 private:
  /// Default attributes and the nodes spoken of so far, of a graph or subgraph.
  struct scope {
    attributes of_nodes{}, of_edges{};
    std::vector<std::uint32_t> nodes{};
  };

  void statements(scope& here) {
    if (++depth_ > deepest)
      source_.fail_at(words_.next().at,
                      "subgraphs are nested more than " + std::to_string(deepest) + " deep");
    while (!words_.take_if("}")) {
      if (words_.next().what == dot_word::kind::end) words_.unexpected("'}'");
      if (!words_.take_if(";")) statement(here);
    }
    --depth_;
  }

  void statement(scope& here) {
    const dot_word& next = words_.next();
    if (next.is_keyword("node")) return defaults(here.of_nodes);
    if (next.is_keyword("edge")) return defaults(here.of_edges);
    if (next.is_keyword("graph")) {
      attributes ignored;
      return defaults(ignored);
    }
    if (next.is("{") || next.is_keyword("subgraph")) return chain(here, subgraph(here));
    const dot_word id = words_.take_id("a node, an edge or '}'");
    if (words_.take_if("=")) {
      (void)words_.take_id("a value");
      return;
    }
    const std::uint32_t node = mention(here, id);
    if (words_.next().is("->") || words_.next().is("--")) return chain(here, {node});
    attributes own;
    read_attributes(own);
    meaning_.describe(node, own);
    note_unlabelled(node, own);
  }

  /// Nextflow draws its channels as points and its operators as circles, both without a label.
  void note_unlabelled(std::uint32_t node, const attributes& own) {
    const auto shape = own.find("shape"), label = own.find("label");
    if (shape == own.end() || (label != own.end() && !label->second.value.empty())) return;
    if (shape->second.value == "point")
      channels_.push_back(node);
    else if (shape->second.value == "circle")
      operators_.push_back(node);
    else
      return;
    of_nextflow_ = of_nextflow_ || (label != own.end() && own.contains("fixedsize"));
  }

  void take_nextflow() {
    for (const std::uint32_t node : channels_) meaning_.runs_nothing(node, "channel");
    for (const std::uint32_t node : operators_) meaning_.runs_nothing(node, "operator");
    meaning_.labels_are(process_of_nextflow);
  }

  void defaults(attributes& into) {
    (void)words_.take();
    if (!words_.next().is("[")) words_.unexpected("'['");
    read_attributes(into);
  }

  /// Puts the next end of an edge, a node or a subgraph, into a list.
  std::vector<std::uint32_t> end_of_edge(scope& here) {
    if (words_.next().is("{") || words_.next().is_keyword("subgraph")) return subgraph(here);
    return {mention(here, words_.take_id("a node or a subgraph"))};
  }

  std::vector<std::uint32_t> subgraph(scope& here) {
    if (words_.take().is_keyword("subgraph")) {
      if (words_.next().what == dot_word::kind::id) (void)words_.take();
      words_.expect("{");
    }
    scope inside{.of_nodes = here.of_nodes, .of_edges = here.of_edges};
    statements(inside);
    std::ranges::sort(inside.nodes);
    inside.nodes.erase(std::unique(inside.nodes.begin(), inside.nodes.end()), inside.nodes.end());
    here.nodes.insert(here.nodes.end(), inside.nodes.begin(), inside.nodes.end());
    return inside.nodes;
  }

  void chain(scope& here, std::vector<std::uint32_t> from) {
    std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> links;
    const std::size_t at = words_.next().at;
    for (;;) {
      if (words_.next().is("--"))
        source_.fail_at(words_.next().at, "'--' has no direction; edges of a digraph are '->'");
      if (!words_.take_if("->")) break;
      std::vector<std::uint32_t> to = end_of_edge(here);
      links.emplace_back(std::move(from), to);
      from = std::move(to);
    }
    attributes own = here.of_edges;
    read_attributes(own);
    for (const auto& [before, after] : links) meaning_.join(before, after, own, at);
  }

  /// A node exists from its first mention, with the defaults of that moment.
  std::uint32_t mention(scope& here, const dot_word& id) {
    if (words_.take_if(":")) {  // a port says where on the node an edge ends
      (void)words_.take_id("a port");
      if (words_.take_if(":")) (void)words_.take_id("a compass point");
    }
    const std::uint32_t node = made_.refer(id.text, id.at);
    if (!made_.defined(node)) {
      (void)made_.define(id.text, id.at);
      meaning_.describe(node, here.of_nodes);
    }
    if (depth_ > 1) here.nodes.push_back(node);  // of the whole graph nobody asks
    return node;
  }

  void read_attributes(attributes& into) {
    while (words_.take_if("[")) {
      while (!words_.take_if("]")) {
        const dot_word key = words_.take_id("an attribute or ']'");
        attribute value{"true", key.at};
        if (words_.take_if("=")) value = {words_.take_id("a value").text, key.at};
        if (means_something(key.text) || key.text == "shape" || key.text == "fixedsize")
          into[key.text] = std::move(value);
        if (!words_.take_if(",")) (void)words_.take_if(";");
      }
    }
  }

  source_text source_;
  dot_words words_;
  dag_builder made_;
  named_attributes meaning_;
  int depth_ = 0;
  std::vector<std::uint32_t> channels_, operators_;  ///< if Nextflow wrote the file
  bool of_nextflow_ = false;
};

/// DOT cannot write a backslash before a quote: backslashes are doubled, and come back so.
std::string quoted(std::string_view id) {
  std::string out = "\"";
  for (const char c : id) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

}  // namespace

dag read_dot(const source_text& source) { return dot_reader(source).read(); }

std::string dot_text(const dag& g) {
  std::string out = "digraph " + quoted(g.name) + " {\n";
  for (const dag::task& t : g.tasks) {
    out += "  " + quoted(t.id) + " [seconds=" + number_text(t.seconds);
    if (g.types[t.type].name != "task") out += ", type=" + quoted(g.types[t.type].name);
    if (t.priority == priority::high) out += ", priority=high";
    out += "];\n";
  }
  for (const dag::edge& e : g.edges) {
    out += "  " + quoted(g.tasks[e.from].id) + " -> " + quoted(g.tasks[e.to].id);
    std::string said;
    if (e.cost_s != 0.0) said = "seconds=" + number_text(e.cost_s);
    if (e.bytes != 0.0)
      said += std::string(said.empty() ? "" : ", ") + "bytes=" + number_text(e.bytes);
    if (!said.empty()) out += " [" + said + "]";
    out += ";\n";
  }
  return out + "}\n";
}

}  // namespace kilter::dags
