#include "draw/graphviz/library.hpp"

#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "graph/dag_limits.hpp"

namespace {

using namespace kilter;

/// Light enough for black text; the last one is for all further types.
constexpr std::array<const char*, 10> colours{"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                              "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9",
                                              "#fccde5", "#ffffff"};

/// Graphviz takes strings that it does not change as char*.
void set(void* object, const char* attribute, const std::string& value) {
  static const char none[] = "";
  agsafeset(object, const_cast<char*>(attribute), const_cast<char*>(value.c_str()),
            const_cast<char*>(none));
}

/// In a label a backslash begins a command.
std::string label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

/// The context outlives the picture and its layout.
class picture {
 public:
  explicit picture(const sketch& s) : context_(gvContext()) {
    if (!context_) throw std::runtime_error("Graphviz does not start");
    agseterr(AGMAX);  // what it has to say beside an error is for its own developers
    graph_ = agopen(const_cast<char*>("g"), Agdirected, nullptr);
    set(graph_, "label", label(s.title));
    set(graph_, "labelloc", "t");
    set(graph_, "fontname", "Helvetica");
    std::vector<Agnode_t*> nodes;
    for (std::size_t i = 0; i < s.boxes.size(); ++i) nodes.push_back(add(s.boxes[i], i));
    for (const sketch::line& l : s.lines) {
      Agedge_t* edge = agedge(graph_, nodes[l.from], nodes[l.to], nullptr, 1);
      set(edge, "penwidth",
          dags::number_text(std::min(6.0, 1.0 + std::log10(static_cast<double>(l.edges)))));
      set(edge, "arrowsize", "0.6");
      if (l.edges > 1) set(edge, "tooltip", std::to_string(l.edges) + " edges");
    }
    if (gvLayout(context_, graph_, "dot") != 0)
      throw std::runtime_error(
          "Graphviz cannot lay the graph out; is its plugin for dot installed (libgvc6)?");
    laid_out_ = true;
  }
  picture(const picture&) = delete;
  picture& operator=(const picture&) = delete;
  ~picture() {
    if (laid_out_) gvFreeLayout(context_, graph_);
    agclose(graph_);
    gvFreeContext(context_);
  }

  /// At the 96 pixels an inch that Graphviz takes for PNG.
  [[nodiscard]] bool fits_in_pixels() const {
    constexpr double points_per_pixel = 72.0 / 96.0;
    const boxf& all = GD_bb(graph_);
    return std::max(all.UR.x - all.LL.x, all.UR.y - all.LL.y) <=
           points_per_pixel * most_drawn_pixels;
  }

  std::string rendered_as(picture_format format) {
    const std::string name(picture_format_names[static_cast<std::size_t>(format)]);
    char* data = nullptr;
    unsigned length = 0;
    if (gvRenderData(context_, graph_, name.c_str(), &data, &length) != 0 || !data)
      throw std::runtime_error("Graphviz cannot write " + name +
                               "; are its plugins installed (libgvc6)? --to svg needs the fewest");
    const std::unique_ptr<char, void (*)(char*)> owner(data, gvFreeRenderData);
    return {data, length};
  }

 private:
  Agnode_t* add(const sketch::box& b, std::size_t number) {
    std::string name = std::to_string(number);
    Agnode_t* node = agnode(graph_, name.data(), 1);
    set(node, "label", label(b.text));
    set(node, "shape", "box");
    set(node, "style", "filled,rounded");
    set(node, "fontname", "Helvetica");
    set(node, "fontsize", "10");
    set(node, "fillcolor", colours[std::min<std::size_t>(b.colour, colours.size() - 1)]);
    set(node, "penwidth", b.high ? "2.5" : "1");
    return node;
  }

  GVC_t* context_;
  Agraph_t* graph_ = nullptr;
  bool laid_out_ = false;
};

}  // namespace

void kilter_picture_of(const sketch& s, picture_format format, std::string& bytes) {
  picture all(s);
  if (format != picture_format::png || all.fits_in_pixels()) bytes = all.rendered_as(format);
}
