#include "graph_files/dag_node_link.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/json_reader.hpp"
#include "graph_files/named_attributes.hpp"
#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

class node_link_reader {
 public:
  explicit node_link_reader(const source_text& source)
      : in_(source), made_(source), meaning_(made_) {}

  dag read() {
    made_.graph().name = in_.source().name();
    in_.object([&](std::string_view key) {
      if (key == "directed")
        read_directed();
      else if (key == "graph")
        read_graph();
      else if (key == "nodes")
        read_nodes();
      else if (key == "links" || key == "edges")
        read_edges();
      else
        in_.skip();
    });
    in_.end();
    check_parts();
    // `finish` of the builder refuses those that are not defined
    for (std::size_t t = 0; t < made_.graph().tasks.size(); ++t)
      if (!made_.defined(static_cast<std::uint32_t>(t))) return made_.finish();
    meaning_.finish();
    return made_.finish();
  }

 private:
  void read_directed() {
    const std::size_t at = in_.at();
    const std::string_view rest = in_.source().text.substr(at);
    if (rest.starts_with("false"))
      in_.source().fail_at(at,
                           "\"directed\": false says that edges have no direction; write true if "
                           "each runs from its source to its target");
    if (!rest.starts_with("true"))
      in_.source().fail_at(at, "\"directed\" must be true, got '" + shown(raw()) + "'");
    in_.skip();
    directed_ = true;
  }

  void read_graph() {
    if (in_.next() != json_reader::kind::object) return in_.skip();
    in_.object([&](std::string_view key) {
      if (key == "name" && in_.next() == json_reader::kind::string)
        made_.graph().name = in_.string();
      else
        in_.skip();
    });
  }

  void read_nodes() {
    has_nodes_ = true;
    in_.array([&] {
      const std::size_t at = in_.at();
      std::string id;
      attributes own;
      in_.object([&](std::string_view key) {
        if (key == "id")
          id = read_id();
        else
          take(key, own);
      });
      if (id.empty()) in_.source().fail_at(at, "a node without an id");
      meaning_.describe(made_.define(id, at), own);
    });
  }

  void read_edges() {
    has_edges_ = true;
    in_.array([&] {
      const std::size_t at = in_.at();
      std::string from, to;
      attributes own;
      in_.object([&](std::string_view key) {
        if (key == "source")
          from = read_id();
        else if (key == "target")
          to = read_id();
        else
          take(key, own);
      });
      for (const auto& [end, name] : {std::pair(&from, "source"), std::pair(&to, "target")})
        if (end->empty()) in_.source().fail_at(at, std::string("an edge without a ") + name);
      const std::uint32_t first = made_.refer(from, at), then = made_.refer(to, at);
      meaning_.join({first}, {then}, own, at);
    });
  }

  std::string read_id() {
    if (in_.next() != json_reader::kind::array) return std::string(in_.string_or_number());
    std::string id(raw());
    std::erase_if(id, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
    return id;
  }

  void take(std::string_view key, attributes& into) {
    const std::string name = attribute_named(key);
    const std::size_t at = in_.at();
    if (name.empty() || in_.next() == json_reader::kind::null)
      in_.skip();
    else if (in_.next() == json_reader::kind::truth)
      into[name] = {std::string(raw()), at};
    else
      into[name] = {std::string(in_.string_or_number()), at};
  }

  /// The next value as it is written.
  std::string_view raw() {
    const std::size_t from = in_.at();
    in_.skip();
    return trimmed(in_.source().text.substr(from, in_.at() - from));
  }

  void check_parts() const {
    const auto lacks = [&](const char* what) {
      throw input_error(in_.source().file + ": has no " + what +
                        "; node-link JSON of NetworkX has \"directed\": true, \"nodes\", and "
                        "\"links\" or \"edges\"");
    };
    if (!has_nodes_) lacks("\"nodes\"");
    if (!has_edges_) lacks("\"links\" or \"edges\"");
    if (!directed_) lacks("\"directed\"");
  }

  json_reader in_;
  dag_builder made_;
  named_attributes meaning_;
  bool directed_ = false, has_nodes_ = false, has_edges_ = false;
};

}  // namespace

dag read_node_link(const source_text& source) { return node_link_reader(source).read(); }

}  // namespace kilter::dags
