// What a shell may put for a word of a command line, from the commands and options themselves.

#include <algorithm>
#include <exception>
#include <set>
#include <string_view>
#include <utility>

#include "cli/command_tree.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

bool takes_positionals(const CLI::App& command) {
  return std::ranges::any_of(accepted_by(command), &CLI::Option::get_positional);
}

bool may_come_again(const CLI::Option& o) { return o.get_expected_max() > 1; }

/// "--name" or "-n"; null if there is none.
const CLI::Option* option_named(const CLI::App& command, const std::string& written) {
  for (const CLI::Option* o : accepted_by(command))
    if (!o->get_positional() && o->check_name(written)) return o;
  return nullptr;
}

/// Where the words before the last one lead.
struct situation {
  const CLI::App* command;
  const CLI::Option* awaits_value = nullptr;
  std::set<const CLI::Option*> given{};
  std::vector<std::string> positionals{};
  bool only_positionals = false;  ///< after "--"
};

situation situation_after(const CLI::App& root, std::span<const std::string> words) {
  situation s{.command = &root};
  for (const std::string& word : words) {
    if (s.awaits_value) {
      s.awaits_value = nullptr;
    } else if (s.only_positionals || !word.starts_with('-') || word == "-") {
      const auto below = commands_of(*s.command);
      const auto named = std::ranges::find(below, word, &CLI::App::get_name);
      if (named == below.end() || s.only_positionals)
        s.positionals.push_back(word);
      else
        s = {.command = *named};
    } else if (word == "--") {
      s.only_positionals = true;
    } else {
      const std::size_t equals = word.find('=');
      const CLI::Option* o = option_named(*s.command, word.substr(0, equals));
      if (!o) continue;
      s.given.insert(o);
      if (takes_value(*o) && equals == word.npos) s.awaits_value = o;
    }
  }
  return s;
}

class answer {
 public:
  explicit answer(std::string_view begun) : begun_(begun) {}

  void word(const std::string& w, const std::string& meaning = "") {
    if (w.starts_with(begun_))
      text_ += meaning.empty() ? w + "\n" : w + "\t" + meaning.substr(0, meaning.find('\n')) + "\n";
  }
  void left_to_shell(const char* what) { text_ += std::string(":") + what + "\n"; }

  /// `before`: what stands in the same word, as "--policy=".
  void value(const CLI::Option& o, std::string before) {
    const values v = values_of(o);
    if (v.files) left_to_shell("files");
    if (!v.words) return;
    std::set<std::string_view> there;
    if (v.list)
      for (std::string_view rest = begun_.substr(std::min(before.size(), begun_.size()));
           rest.find(',') != rest.npos;) {
        const std::string_view one = rest.substr(0, rest.find(','));
        there.insert(one);
        before += std::string(one) + ",";
        rest.remove_prefix(one.size() + 1);
      }
    for (const std::string& w : v.words())
      if (!there.contains(w)) word(before + w);
  }

  [[nodiscard]] bool begun_as_option() const { return begun_.starts_with('-'); }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string_view begun_;
  std::string text_;
};

void add_options(answer& to, const situation& s) {
  for (const CLI::Option* o : accepted_by(*s.command)) {
    if (o->get_positional() || (s.given.contains(o) && !may_come_again(*o))) continue;
    for (const std::string& name : o->get_lnames()) to.word("--" + name, o->get_description());
    if (to.begun_as_option())
      for (const std::string& name : o->get_snames()) to.word("-" + name, o->get_description());
  }
}

void add_commands(answer& to, const CLI::App& above) {
  for (const CLI::App* below : commands_of(above))
    to.word(below->get_name(), below->get_description());
}

void add_positional(answer& to, const situation& s, const CLI::App& root) {
  std::size_t passed = 0;
  for (const CLI::Option* o : accepted_by(*s.command)) {
    if (!o->get_positional() || (passed++ != s.positionals.size() && !may_come_again(*o))) continue;
    return values_of(*o).commands ? add_commands(to, find_command(root, s.positionals))
                                  : to.value(*o, "");
  }
}

}  // namespace

std::string completions_of(const CLI::App& root, std::span<const std::string> words) {
  const std::string begun = words.empty() ? "" : words.back();
  const situation s = situation_after(root, words.empty() ? words : words.first(words.size() - 1));
  answer to(begun);
  try {
    if (s.awaits_value) {
      to.value(*s.awaits_value, "");
    } else if (s.only_positionals) {
      // The commands that have no positional of their own take a program and its words there.
      if (takes_positionals(*s.command))
        add_positional(to, s, root);
      else
        to.left_to_shell(s.positionals.empty() ? "commands" : "files");
    } else if (const std::size_t equals = begun.find('=');
               begun.starts_with("--") && equals != begun.npos) {
      if (const CLI::Option* o = option_named(*s.command, begun.substr(0, equals));
          o && takes_value(*o))
        to.value(*o, begun.substr(0, equals + 1));
    } else if (to.begun_as_option()) {
      add_options(to, s);
    } else {
      if (s.positionals.empty()) add_commands(to, *s.command);
      add_positional(to, s, root);
      if (to.empty() && (s.positionals.empty() || takes_positionals(*s.command)))
        add_options(to, s);
    }
  } catch (const std::exception&) {
    // A list that cannot be had, as without the folder of experiments, is an empty one: nobody
    // wants a message in the middle of a line.
  }
  return std::move(to).text();
}

}  // namespace kilter::cli
