#pragma once
// The commands and their options as CLI11 holds them: help, man pages and completion are read from
// there, so that nothing is written twice.

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace kilter::cli {

/// Commands below this one that its help shows.
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App&);
/// Groups of options that have a rule of their own, as "one of these".
[[nodiscard]] std::vector<const CLI::App*> option_groups_of(const CLI::App&);
/// All options that its help shows, those of option groups too; positional ones have a position,
/// not a name.
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App&);
/// Those, and what a command takes that leaves options to the one above it.
[[nodiscard]] std::vector<const CLI::Option*> accepted_by(const CLI::App&);
/// False for a flag.
[[nodiscard]] bool takes_value(const CLI::Option&);
/// "kilter compare layered".
[[nodiscard]] std::string full_name(const CLI::App&);
/// What `words` name below `root`; input_error with what there is for a word that names nothing.
[[nodiscard]] const CLI::App& find_command(const CLI::App& root,
                                           std::span<const std::string> words);
/// The text of `--help`.
[[nodiscard]] std::string help_of(const CLI::App&);

/// What a shell may put for the last of `words`, which follow the program's name: a line each, a
/// word or a word, a tab and what it means. ":files" and ":commands" are lines that leave names of
/// files and of programs to the shell. A word that ends in one of = : @ , / goes on.
[[nodiscard]] std::string completions_of(const CLI::App& root, std::span<const std::string> words);

/// In roff, for man(1): what `--help` says, and what belongs to the command above and below it.
[[nodiscard]] std::string man_page(const CLI::App&);
/// "kilter-compare-layered.1".
[[nodiscard]] std::string man_page_file(const CLI::App&);

}  // namespace kilter::cli
