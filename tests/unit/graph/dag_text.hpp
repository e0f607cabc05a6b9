#pragma once
// Graphs and messages as short texts to compare.

#include <string>

#include "graph/dag.hpp"
#include "kilter/error.hpp"

namespace kilter {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string ids_of(const dag& g) {
  std::string all;
  for (const dag::task& t : g.tasks) all += (all.empty() ? "" : " ") + t.id;
  return all;
}

inline std::string edges_of(const dag& g) {
  std::string all;
  for (const dag::edge& e : g.edges) all += (all.empty() ? "" : " ") + g.tasks[e.from].id + "-" + g.tasks[e.to].id;
  return all;
}

}  // namespace kilter
