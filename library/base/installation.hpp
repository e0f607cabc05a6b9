#pragma once
// Where the files lie that come with Kilter. An installation may be moved, and the tree that it was
// built from may be gone, so what lies beside the program counts first.

#include <string>
#include <vector>

namespace kilter::inline v0::detail {

/// Directories that may hold `folder` of Kilter's data, the first to ask in front:
/// PREFIX/share/kilter where this program is PREFIX/bin/PROGRAM or
/// PREFIX/libexec/kilter/kilter-commands, then `in_source` of the tree that it was built from, then
/// where it was to be installed. None of them has to exist.
///
/// Of a program that is none of Kilter's, as an interpreter that loads a module, `set_programs`
/// says where those lie: before anything is asked.
[[nodiscard]] std::vector<std::string> data_directories(const char* folder, const char* in_source);

/// The same for libraries: PREFIX/lib, `built`, and where they were to be installed.
[[nodiscard]] std::vector<std::string> library_directories(const char* built);

/// The same for programs that only `kilter` starts: PREFIX/libexec/kilter.
[[nodiscard]] std::vector<std::string> command_directories(const char* built);

/// Instead of the directory that this program is in.
void set_programs(std::string directory);

}  // namespace kilter::inline v0::detail
