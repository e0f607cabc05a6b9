#include "draw/draw.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "base/installation.hpp"
#include "draw/graphviz/library.hpp"
#include "draw/sketch.hpp"
#include "graph/dag_facts.hpp"
#include "kilter/error.hpp"

namespace kilter {

namespace {

decltype(&kilter_picture_of) load() {
  const std::vector<std::string> places = detail::library_directories(KILTER_BUILT_GRAPHVIZ);
  std::string refused = std::string(graphviz_library_name) + " is neither in " + places.front() +
                        " nor where it was built, so Kilter was built without Graphviz or is not "
                        "installed whole";
  for (const std::string& directory : places) {
    const std::string path = directory + "/" + graphviz_library_name;
    if (::access(path.c_str(), R_OK) != 0) continue;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = library ? ::dlsym(library, "kilter_picture_of") : nullptr;
    if (found) return reinterpret_cast<decltype(&kilter_picture_of)>(found);
    refused = library ? path + " is of another Kilter" : ::dlerror();
    break;
  }
  throw input_error("pictures cannot be drawn: " + refused +
                    "; kilter graph convert --to dot writes what a Graphviz elsewhere draws");
}

std::string picture_of(const sketch& s, picture_format format) {
  static const auto it = load();
  std::string bytes;
  it(s, format, bytes);
  return bytes;
}

}  // namespace

std::string draw(const dag& g, picture_format format) {
  const bool small = g.tasks.size() <= most_drawn_tasks && g.edges.size() <= most_drawn_edges &&
                     std::ranges::max(facts_of(g).widths) <= most_drawn_width;
  std::string picture;
  if (small) picture = picture_of(every_task(g), format);
  return picture.empty() ? picture_of(groups_of_tasks(g), format) : picture;
}

}  // namespace kilter
