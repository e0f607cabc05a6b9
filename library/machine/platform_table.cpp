// Where platform files lie, and their TOML.

#include "machine/platform_table.hpp"

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/installation.hpp"
#include "kilter/machine.hpp"

namespace kilter {
inline namespace v0 {

namespace fs = std::filesystem;

std::vector<std::string> platform_directories() {
  std::vector<std::string> directories;
  if (const char* given = std::getenv("KILTER_PLATFORMS")) {
    std::string_view rest = given;
    for (bool more = true; more;) {
      const auto colon = rest.find(':');
      more = colon != std::string_view::npos;
      if (const auto part = rest.substr(0, colon); !part.empty()) directories.emplace_back(part);
      if (more) rest.remove_prefix(colon + 1);
    }
  }
  for (std::string& ours : detail::data_directories("platforms", KILTER_SOURCE_PLATFORMS))
    directories.push_back(std::move(ours));
  return directories;
}

namespace detail {

namespace {

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos ||
         fs::path(name_or_path).extension() == ".toml";
}

std::string known_platforms() {
  std::string list;
  for (const std::string& name : platform_names()) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none is installed" : list;
}

}  // namespace

std::vector<std::string> platform_names() {
  std::set<std::string> names;
  for (const std::string& directory : platform_directories()) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".toml") names.insert(at->path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::string find_platform_file(const std::string& name_or_path) {
  std::error_code error;
  if (is_path(name_or_path)) {
    const auto status = fs::status(name_or_path, error);
    if (!fs::exists(status))
      throw input_error("platform file '" + name_or_path +
                        "' does not exist; name a file, or one of " + known_platforms());
    if (fs::is_directory(status))
      throw input_error("platform file '" + name_or_path + "' is a directory; name a file in it");
    return name_or_path;
  }
  if (!name_or_path.empty())
    for (const std::string& directory : platform_directories())
      if (fs::path file = fs::path(directory) / (name_or_path + ".toml");
          fs::is_regular_file(file, error))
        return file.string();
  throw input_error("platform '" + name_or_path +
                    "' is not known; name a file (./NAME.toml), or one of " + known_platforms());
}

toml::table parse_platform_file(const std::string& file) {
  return parse_toml_file(file, "platform file");
}

std::string rule_of(const quantity& q) {
  std::ostringstream text;
  text << (q.may_be_zero ? "a number that is not negative, 0 or " : "a number above 0, ") << "from "
       << q.least << " to " << q.most;
  if (!q.unit.empty()) text << ' ' << q.unit;
  return text.str();
}

}  // namespace detail

}  // namespace v0
}  // namespace kilter
