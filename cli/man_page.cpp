// Man pages from what the commands say of themselves.

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/command_tree.hpp"
#include "session/version.hpp"

namespace kilter::cli {

namespace {

/// Text as it stands: nothing in it is a request of roff, and quotes and dashes can be copied into
/// a shell.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += c;
    }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string sentence(const std::string& text) {
  return roff(text) + (text.ends_with('.') ? "" : ".");
}

/// A section begins a paragraph itself: a macro for one at its beginning would be skipped.
std::string section(const std::string& title, std::string_view text) {
  constexpr std::string_view paragraph = ".PP\n";
  if (text.starts_with(paragraph)) text.remove_prefix(paragraph.size());
  return ".SH " + (title.find(' ') == title.npos ? title : "\"" + title + "\"") + "\n" +
         std::string(text);
}

std::string page_name(const CLI::App& app) {
  std::string name = full_name(app);
  std::ranges::replace(name, ' ', '-');
  return name;
}

/// The default as it would be written: CLI11 puts brackets around lists.
std::string default_of(const CLI::Option& o) {
  std::string text = o.get_default_str();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return text;
}

std::string option_entry(const CLI::Option& o) {
  std::string names;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "" : ", ") + bold(name);
  };
  for (const std::string& name : o.get_snames()) add("-" + name);
  for (const std::string& name : o.get_lnames()) add("--" + name);
  if (names.empty()) names = italic(o.get_name());
  const bool has_value = takes_value(o);
  if (has_value && !o.get_positional() && !o.get_type_name().empty())
    names += " " + italic(o.get_type_name());
  std::string text = sentence(o.get_description());
  if (has_value) {
    if (o.get_required()) text += " Required.";
    if (const std::string given = default_of(o); !given.empty())
      text += " Default: " + bold(given) + ".";
    if (o.get_expected_max() > 1) text += " May be given several times.";
  }
  return ".TP\n" + names + "\n" + text + "\n";
}

/// What stands below the options in `--help`, cut into the sections of a man page.
struct footer_parts {
  std::string text, exit_status, examples;
};

footer_parts parts_of(const std::string& footer) {
  footer_parts parts;
  std::string* into = &parts.text;
  bool as_it_stands = false;
  const auto set_as_it_stands = [&](bool wanted) {
    if (as_it_stands != wanted) *into += wanted ? ".PP\n.nf\n" : ".fi\n";
    as_it_stands = wanted;
  };
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    const std::string_view line(footer.data() + at, end - at);
    at = end + 1;
    constexpr std::string_view exit_status = "Exit status: ";
    set_as_it_stands(line.starts_with(' '));
    if (line == "Examples:" || line == "Example:")
      into = &parts.examples;
    else if (line.starts_with(exit_status))
      parts.exit_status += roff(line.substr(exit_status.size())) + "\n";
    else
      *into += as_it_stands ? roff(line) + "\n" : ".PP\n" + roff(line) + "\n";
  }
  set_as_it_stands(false);
  return parts;
}

std::string options_section(const CLI::App& app) {
  std::string out;
  const auto add_groups = [&](const CLI::App& of) {
    for (const std::string& group : of.get_groups()) {
      if (group.empty()) continue;
      std::string entries;
      for (const CLI::Option* o :
           of.get_options([&](const CLI::Option* one) { return one->get_group() == group; }))
        if (&of == &app || o != of.get_help_ptr()) entries += option_entry(*o);
      if (entries.empty()) continue;
      if (group != "Options") out += ".SS " + roff(group) + "\n";
      out += entries;
    }
  };
  add_groups(app);
  for (const CLI::App* group : option_groups_of(app)) {
    out += ".PP\n" + roff(group->get_description()) + ":\n";
    add_groups(*group);
  }
  return section("OPTIONS", out);
}

std::string see_also(const CLI::App& app) {
  std::vector<const CLI::App*> others;
  if (app.get_parent()) others.push_back(app.get_parent());
  std::ranges::copy(commands_of(app), std::back_inserter(others));
  std::string out;
  for (const CLI::App* other : others)
    out += (out.empty() ? "" : ", ") + bold(page_name(*other)) + "(1)";
  return out.empty() ? "" : section("SEE ALSO", out + "\n");
}

}  // namespace

std::string man_page_file(const CLI::App& app) { return page_name(app) + ".1"; }

std::string man_page(const CLI::App& app) {
  const std::string name = page_name(app), description = app.get_description();
  std::string title = name;
  std::ranges::transform(title, title.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string usage = CLI::Formatter{}.make_usage(&app, full_name(app));
  const footer_parts footer = parts_of(app.get_footer());

  std::string page =
      ".TH \"" + roff(title) + "\" 1 \"\" \"kilter " + lab::version_text() + "\" \"Kilter\"\n";
  page += section("NAME", roff(name) + " \\- " +
                              roff(description.substr(0, description.find_last_not_of('.') + 1)) +
                              "\n");
  page += section(
      "SYNOPSIS",
      bold(usage.substr(usage.find(": ") + 2, usage.find('\n') - usage.find(": ") - 2)) + "\n");
  if (!footer.text.empty()) page += section("DESCRIPTION", footer.text);
  if (const auto commands = commands_of(app); !commands.empty()) {
    std::string entries;
    for (const CLI::App* c : commands)
      entries += ".TP\n" + bold(c->get_name()) + "\n" + sentence(c->get_description()) + "\n";
    page += section("COMMANDS", entries);
  }
  page += options_section(app);
  if (!footer.exit_status.empty()) page += section("EXIT STATUS", footer.exit_status);
  if (!footer.examples.empty()) page += section("EXAMPLES", footer.examples);
  return page + see_also(app);
}

}  // namespace kilter::cli
