#include "graph_files/dag_graphml.hpp"

#include <map>
#include <string>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/named_attributes.hpp"
#include "graph_files/xml_events.hpp"

namespace kilter::dags {

namespace {

class graphml_reader : xml_events {
 public:
  explicit graphml_reader(const source_text& source) : made_(source), meaning_(made_) {}

  dag read() {
    made_.graph().name = made_.source().name();
    read_xml(made_.source(), *this);
    // `finish` of the builder refuses those that are not defined
    for (std::size_t t = 0; t < made_.graph().tasks.size(); ++t) {
      if (!made_.defined(static_cast<std::uint32_t>(t))) return made_.finish();
    }
    meaning_.finish();
    return made_.finish();
  }

 private:
  enum class within { nothing, node, edge };
  struct key {
    std::string attribute;  ///< empty: one that means nothing here
    bool of_nodes = false, of_edges = false;
  };

  void open(std::string_view element, const xml_attributes& a, std::size_t at) override {
    if (element == "key")
      open_key(a);
    else if (element == "graph")
      open_graph(a, at);
    else if (element == "node")
      open_node(a, at);
    else if (element == "edge")
      open_edge(a, at);
    else if (element == "hyperedge")
      made_.source().fail_at(
          at, "a hyperedge joins any number of nodes; an edge of a graph of tasks joins two");
    else if (element == "data" && within_ != within::nothing)
      begin_text(attribute_of(a["key"]), at);
    else if (element == "default" && !key_.empty())
      begin_text(keys_[key_].attribute, at);
    else if ((element == "NodeLabel" && within_ == within::node) ||
             (element == "EdgeLabel" && within_ == within::edge))
      begin_text("label", at);
  }

  void close(std::string_view element) override {
    if (element == "data" || element == "NodeLabel" || element == "EdgeLabel")
      end_text(own_);
    else if (element == "default")
      end_default();
    else if (element == "key")
      key_.clear();
    else if (element == "node")
      close_node();
    else if (element == "edge")
      close_edge();
  }

  void text(std::string_view piece) override {
    if (!attribute_.empty()) text_ += piece;
  }

  void open_key(const xml_attributes& a) {
    const std::string_view is_for = a["for"];
    const bool all = is_for.empty() || is_for == "all";
    key_ = a["id"];
    keys_[key_] = {attribute_named(a["attr.name"]), all || is_for == "node",
                   all || is_for == "edge"};
  }

  void open_graph(const xml_attributes& a, std::size_t at) {
    if (within_ != within::nothing)
      made_.source().fail_at(at, "a graph within node '" + shown(made_.task(node_).id) +
                                     "'; nested graphs are not read");
    if (graphs_++ > 0) made_.source().fail_at(at, "a second graph; one graph a file is read");
    directed_ = a["edgedefault"] != "undirected";
    if (!a["id"].empty()) made_.graph().name = a["id"];
  }

  void open_node(const xml_attributes& a, std::size_t at) {
    if (within_ != within::nothing) made_.source().fail_at(at, "a node within a node or an edge");
    node_ = made_.define(a["id"], at);
    within_ = within::node;
    own_.clear();
  }

  void close_node() {
    meaning_.describe(node_, of_nodes_);
    meaning_.describe(node_, own_);
    within_ = within::nothing;
  }

  void open_edge(const xml_attributes& a, std::size_t at) {
    if (within_ != within::nothing) made_.source().fail_at(at, "an edge within a node or an edge");
    const std::string_view said = a["directed"];
    if (said == "false" || (said.empty() && !directed_))
      made_.source().fail_at(at, "the edge between '" + shown(a["source"]) + "' and '" +
                                     shown(a["target"]) +
                                     "' has no direction; edges of a graph of tasks are directed");
    from_ = made_.refer(a["source"], at);
    to_ = made_.refer(a["target"], at);
    edge_at_ = at;
    within_ = within::edge;
    own_ = of_edges_;
  }

  void close_edge() {
    meaning_.join({from_}, {to_}, own_, edge_at_);
    within_ = within::nothing;
  }

  [[nodiscard]] std::string attribute_of(std::string_view key_id) const {
    const auto at = keys_.find(key_id);
    return at == keys_.end() ? "" : at->second.attribute;
  }

  void begin_text(std::string attribute, std::size_t at) {
    attribute_ = std::move(attribute);
    text_at_ = at;
    text_.clear();
  }

  void end_text(attributes& into) {
    if (!attribute_.empty()) into[attribute_] = {std::string(trimmed(text_)), text_at_};
    attribute_.clear();
  }

  void end_default() {
    attributes value;
    end_text(value);
    if (keys_[key_].of_nodes) of_nodes_.insert(value.begin(), value.end());
    if (keys_[key_].of_edges) of_edges_.insert(value.begin(), value.end());
  }

  dag_builder made_;
  named_attributes meaning_;
  std::map<std::string, key, std::less<>> keys_;
  attributes of_nodes_, of_edges_;  ///< defaults
  std::string key_;                 ///< the one that is open
  bool directed_ = true;
  int graphs_ = 0;
  within within_ = within::nothing;
  std::uint32_t node_ = 0, from_ = 0, to_ = 0;
  std::size_t edge_at_ = 0;
  attributes own_;  ///< of the node or edge that is open
  /// what the text that comes is the value of; empty: of nothing here
  std::string attribute_, text_;
  std::size_t text_at_ = 0;
};

}  // namespace

dag read_graphml(const source_text& source) { return graphml_reader(source).read(); }

}  // namespace kilter::dags
