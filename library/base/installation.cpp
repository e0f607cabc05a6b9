#include "base/installation.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace kilter::inline v0::detail {

namespace {

namespace fs = std::filesystem;

/// Empty: that in which this program is.
std::string& programs_directory() {
  static std::string directory;
  return directory;
}

/// `relative` from the directory of programs, without the dots; empty where the system does not
/// tell what runs.
std::vector<std::string> beside_program(const char* relative) {
  if (const fs::path given = programs_directory(); !given.empty())
    return {(given / relative).lexically_normal().string()};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path programs = program.filename() == "kilter-commands"
                                ? program.parent_path() / KILTER_PROGRAMS_FROM_COMMANDS
                                : program.parent_path();
  return {(programs / relative).lexically_normal().string()};
}

}  // namespace

std::vector<std::string> data_directories(const char* folder, const char* in_source) {
  std::vector<std::string> all = beside_program(KILTER_DATA_FROM_PROGRAM);
  for (std::string& directory : all) directory = (fs::path(directory) / folder).string();
  all.emplace_back(in_source);
  all.push_back((fs::path(KILTER_INSTALLED_DATA) / folder).string());
  return all;
}

std::vector<std::string> library_directories(const char* built) {
  std::vector<std::string> all = beside_program(KILTER_LIBRARIES_FROM_PROGRAM);
  all.emplace_back(built);
  all.emplace_back(KILTER_INSTALLED_LIBRARIES);
  return all;
}

std::vector<std::string> command_directories(const char* built) {
  std::vector<std::string> all = beside_program(KILTER_COMMANDS_FROM_PROGRAM);
  all.emplace_back(built);
  all.emplace_back(KILTER_INSTALLED_COMMANDS);
  return all;
}

void set_programs(std::string directory) { programs_directory() = std::move(directory); }

}  // namespace kilter::inline v0::detail
