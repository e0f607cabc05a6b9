#include "mutant.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace kilter::model {

mutation::mutation(const mutant& what) : what_(what) {
  std::ifstream source(std::string(KILTER_SOURCES "/") + std::string(what.file));
  if (!source)
    throw std::runtime_error("a mutant names library/" + std::string(what.file) +
                             ", which cannot be read");
  lines_.push_back(false);  // they count from 1
  for (std::string line; std::getline(source, line);)
    lines_.push_back(line.find(what.access) != std::string::npos);
  running_mutation = this;
}

mutation::~mutation() { running_mutation = nullptr; }

bool mutation::matches(harm how, const std::source_location& at) noexcept {
  const std::string_view file = at.file_name();
  if (how != what_.how || at.line() >= lines_.size() || !lines_[at.line()] ||
      !file.ends_with(what_.file))
    return false;
  if (std::string_view(at.function_name()).find(what_.function) == std::string_view::npos)
    return false;
  return happened_ = true;
}

}  // namespace kilter::model
