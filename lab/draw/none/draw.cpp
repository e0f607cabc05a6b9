// Stands in for graphviz/draw.cpp where there is no Graphviz, as in a cross build.

#include "draw/draw.hpp"

#include "kilter/error.hpp"

namespace kilter {

std::string draw(const dag&, picture_format) {
  throw input_error(
      "this kilter was built without Graphviz and cannot draw; convert --to dot writes what a "
      "Graphviz elsewhere draws");
}

}  // namespace kilter
