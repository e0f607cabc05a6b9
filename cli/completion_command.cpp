// Scripts by which shells ask this program what may come next: what it knows is never written into
// them.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "session/outputs.hpp"
#include "words/numbers.hpp"

namespace kilter::cli {

namespace {

// Bash cuts words at the characters of COMP_WORDBREAKS and replaces only the piece under the
// cursor, so the pieces are put together and cut again.
constexpr const char* bash_script = R"script(# bash completion of kilter
_kilter() {
  local -a words=()
  local i piece line files= rest=$COMP_LINE
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if ((i > 0)) && [[ $rest == "$piece"* && $rest != [[:blank:]]* && -n $rest ]]; then
      words[${#words[@]}-1]+=$piece
    else
      words+=("$piece")
      rest=${rest#"${rest%%[![:blank:]]*}"}
    fi
    rest=${rest#"$piece"}
  done
  local current=${words[${#words[@]}-1]} kept
  piece=${COMP_WORDS[COMP_CWORD]}
  if [[ -z ${piece//[$COMP_WORDBREAKS]/} ]]; then kept=$current; else kept=${current%"$piece"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) files=1 ;;
      :commands) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
      *)
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$kept"}")
        ;;
    esac
  done < <("${1/#\~/$HOME}" completion words -- "${words[@]:1}" 2>/dev/null)
  if [[ -n $files && ${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o default
  elif [[ -n $files ]]; then
    compopt -o filenames
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:@,/] ]]; then compopt -o nospace; fi
}
complete -F _kilter kilter
)script";

constexpr const char* zsh_script = R"script(#compdef kilter
# zsh completion of kilter
_kilter() {
  local line word files= commands=
  local -a whole begun
  for line in "${(@f)$("${(Q)words[1]}" completion words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      :commands) commands=1 ;;
      *)
        word=${line%%$'\t'*}
        line=${word//:/\\:}${${line#"$word"}/$'\t'/:}
        if [[ $word == *[=:@,/] ]]; then begun+=("$line"); else whole+=("$line"); fi
        ;;
    esac
  done
  local none=1
  (( $#whole )) && _describe kilter whole && none=0
  (( $#begun )) && _describe kilter begun -S '' && none=0
  [[ -n $commands ]] && _command_names -e && none=0
  if [[ -n $files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files && none=0
  fi
  return $none
}
if [[ $funcstack[1] == _kilter ]]; then _kilter "$@"; else compdef _kilter kilter; fi
)script";

constexpr const char* fish_script = R"script(# fish completion of kilter
function __kilter_answer
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    set -l kilter $words[1]
    set -e words[1]
    $kilter completion words -- $words "$now" 2>/dev/null
end
complete -c kilter -f -a '(__kilter_answer | string match -v ":*")'
complete -c kilter -n '__kilter_answer | string match -q :files' -F
complete -c kilter -n '__kilter_answer | string match -q :commands' -a '(__fish_complete_command)'
)script";

constexpr std::array<std::string_view, 3> shells = {"bash", "zsh", "fish"};
constexpr std::array<const char*, 3> scripts = {bash_script, zsh_script, fish_script};

struct completion_options {
  std::string shell;
  std::vector<std::string> words;
};

}  // namespace

action add_completion(CLI::App& app) {
  const auto o = std::make_shared<completion_options>();
  CLI::App* completion = app.add_subcommand(
      "completion",
      "Print the script by which bash, zsh or fish completes commands, options and their values");
  takes(completion->add_option("SHELL", o->shell, "bash, zsh or fish")->type_name(""),
        one_of(shells));
  // What the scripts call; no user types it.
  CLI::App* words =
      completion->add_subcommand("words", "What may stand for the last word")->group("");
  words->add_option("WORD", o->words)->type_name("");
  completion->footer(
      "An installed kilter brings all three to where the shells find them.\n"
      "Examples:\n"
      "  source <(kilter completion bash)\n"
      "  source <(kilter completion zsh)\n"
      "  kilter completion fish | source");
  return [o, &app, words] {
    if (words->parsed()) {
      lab::write_output("-", completions_of(app, o->words));
      return 0;
    }
    if (o->shell.empty())
      throw input_error("a shell is missing, one of bash, zsh, fish; see kilter completion --help");
    lab::write_output("-", scripts[lab::parse_choice("shell", o->shell, shells)]);
    return 0;
  };
}

}  // namespace kilter::cli
