#include <memory>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

namespace {

struct help_options {
  std::vector<std::string> command;
  std::string folder;
  bool man = false;
};

void write_man_pages(const CLI::App& app, const std::string& folder) {
  lab::write_output(folder + "/" + man_page_file(app), man_page(app));
  for (const CLI::App* below : commands_of(app)) write_man_pages(*below, folder);
}

}  // namespace

action add_help(CLI::App& app) {
  const auto o = std::make_shared<help_options>();
  CLI::App* help = app.add_subcommand(
      "help", "What a command does, and all its options: the same as kilter CMD --help");
  takes(help->add_option("CMD", o->command,
                         "As topo, or compare layered (default: what commands there are)")
            ->type_name("")
            ->default_str(""),
        {.commands = true});
  help->add_flag("--man", o->man, "As a man page; man -l - shows it");
  help->add_option("--man-pages", o->folder, "Write the man pages of all commands into this folder")
      ->type_name("PATH");
  help->footer(
      "Examples:\n"
      "  kilter help\n"
      "  kilter help compare layered\n"
      "  kilter help --man graph draw | man -l -");
  return [o, &app] {
    const CLI::App& wanted = find_command(app, o->command);
    if (!o->folder.empty()) {
      if (!o->command.empty() || o->man)
        throw input_error("--man-pages '" + o->folder +
                          "' writes all of them; leave out CMD and --man");
      lab::check_output("--man-pages", o->folder + "/" + man_page_file(app));
      write_man_pages(app, o->folder);
    } else {
      o->man ? lab::write_output("-", man_page(wanted)) : lab::show(help_of(wanted));
    }
    return 0;
  };
}

}  // namespace kilter::cli
